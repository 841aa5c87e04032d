"""What both forests do with a table, and say of their trees."""

from sklearn.utils.validation import check_is_fitted

from hornbeam.data.table import Table
from hornbeam.ensembles import Forest, ForestResult
from hornbeam.estimators.inputs.class_warning import warn_of_classes
from hornbeam.estimators.inputs.column_warnings import warn_of_columns
from hornbeam.estimators.methods.progress import Progress
from hornbeam.estimators.methods.reads_rows import ReadsRows
from hornbeam.estimators.parameters.forest import forest_trainer
from hornbeam.estimators.parameters.threads import n_threads
from hornbeam.typing import Floats

__all__ = ["ForestMethods"]


class ForestMethods(ReadsRows):
    """Plants a forest, and reads rows by its schema."""

    _fitted = "forest_"
    forest_: Forest
    n_jobs: int | None

    @property
    def feature_importances_(self) -> Floats:
        """Share of the trees' gain that is due to tests of each feature, the mean over trees that have any."""
        check_is_fitted(self, "forest_")
        return self.forest_.importance()

    def _plant(self, table: Table, progress: Progress) -> ForestResult:
        planting, n_jobs = forest_trainer(self, table), n_threads(self.n_jobs)
        warn_of_columns(table)
        if not table.schema.is_regression:
            warn_of_classes(table)
        planted = planting.fit(table, n_jobs=n_jobs, on_progress=progress.listener(planting.n_trees))
        self._remember(planted.forest, table.names)
        self.smoother_ = planted.smoother
        return planted
