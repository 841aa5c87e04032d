"""What all boosted trees do with a table, and say of their trees."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hornbeam.data.table import Table
from hornbeam.ensembles.boosting.boosted_trees import BoostedTrees
from hornbeam.ensembles.boosting.losses import Loss
from hornbeam.estimators.inputs.column_warnings import warn_of_columns
from hornbeam.estimators.methods.progress import Progress
from hornbeam.estimators.methods.reads_rows import ReadsRows
from hornbeam.estimators.parameters.boosting import boosting_trainer
from hornbeam.estimators.parameters.threads import n_threads
from hornbeam.typing import Floats

__all__ = ["BoostingMethods"]


class BoostingMethods(ReadsRows):
    """Boosts trees, and adds up their answers to rows like those they were fitted to."""

    _fitted = "boosted_"
    boosted_: BoostedTrees
    n_jobs: int | None

    @property
    def feature_importances_(self) -> Floats:
        """Share of the trees' gain that is due to tests of each feature, the mean over trees that have any."""
        check_is_fitted(self, "boosted_")
        return self.boosted_.importance()

    def _boost(self, table: Table, loss: Loss, progress: Progress) -> None:
        boosting, n_jobs = boosting_trainer(self, table, loss), n_threads(self.n_jobs)
        warn_of_columns(table)
        result = boosting.fit(table, n_jobs=n_jobs, on_progress=progress.listener(boosting.n_rounds))
        self._remember(result.boosted, table.names)
        self.n_iter_ = len(result.boosted.rounds)
        if result.losses is not None:
            self.validation_losses_ = np.array(result.losses)
        elif hasattr(self, "validation_losses_"):
            del self.validation_losses_

    def _scores(self, X: Any) -> Floats:
        table = self._read(X)
        return self.boosted_.scores(table, n_threads(self.n_jobs))
