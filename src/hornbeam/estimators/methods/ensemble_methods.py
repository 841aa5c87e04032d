"""Methods of forests and of boosted trees: training, scores and feature importances."""

import sys
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hornbeam.data.sources import MemorySource, Source
from hornbeam.data.table import Table
from hornbeam.ensembles.boosting.boosted_trees import BoostedTrees
from hornbeam.ensembles.boosting.losses import Loss
from hornbeam.ensembles.forest.forest import Forest
from hornbeam.ensembles.forest.trainer import ForestResult
from hornbeam.errors import warn
from hornbeam.estimators.inputs.fit_warnings import (
    warn_about_classes,
    warn_about_columns,
    warn_about_source,
)
from hornbeam.estimators.inputs.sources import names_of
from hornbeam.estimators.methods.initial_scores import InitialScores, predicted_scores
from hornbeam.estimators.methods.predict_to import PredictsTo
from hornbeam.estimators.methods.progress import Progress
from hornbeam.estimators.parameters.boosting import boosting_trainer
from hornbeam.estimators.parameters.forest import forest_trainer
from hornbeam.estimators.parameters.threads import n_threads
from hornbeam.typing import Bools, Floats

__all__ = ["BoostingMethods", "ForestMethods", "oob_mask"]


class _EnsembleMethods(PredictsTo):
    """Feature importances of several trees."""

    n_jobs: int | None

    @property
    def feature_importances_(self) -> Floats:
        """Importance of each feature: its share of the gain of all splits, averaged over the trees that split."""
        check_is_fitted(self, self._fitted)
        importance: Floats = getattr(self, self._fitted).importance()
        return importance


class ForestMethods(_EnsembleMethods):
    """Training of a forest."""

    _fitted = "forest_"
    forest_: Forest

    def _train(
        self, rows: Table | Source, progress: Progress, engine: Any, grow_rows: int | None, memory: int | None
    ) -> tuple[ForestResult, Table]:
        """Grow the forest; return it with the rows that it was grown on."""
        source, memory = (MemorySource(rows), sys.maxsize) if isinstance(rows, Table) else (rows, memory)
        trainer, n_jobs = forest_trainer(self, source), n_threads(self.n_jobs)
        warn_about_source(source)
        if isinstance(source, MemorySource) and not source.schema.is_regression:
            warn_about_classes(source.table)
        listener = progress.listener(trainer.n_trees)
        if isinstance(source, MemorySource) and grow_rows is None:
            table = source.table
            result = trainer.fit(table, engine=engine, n_jobs=n_jobs, on_progress=listener)
        else:
            # Imported when needed: slow to import.
            from hornbeam.ensembles.forest.from_source import fit_forest
            from hornbeam.out_of_core import Plan

            plan = Plan.of(source, None, grow_rows, memory)
            if plan.rows < source.n_rows:  # parameters that are shares of all rows are shares of the sample
                trainer = forest_trainer(self, source, plan.rows)
            result, table = fit_forest(
                source, trainer, engine, plan=plan, n_jobs=n_jobs, on_progress=listener
            )
        self._set_fitted(result.forest, names_of(source))
        self.smoother_ = result.smoother
        for name in ("oob_score_", "oob_decision_function_", "oob_prediction_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        return result, table


class BoostingMethods(_EnsembleMethods):
    """Training and raw scores of boosted trees."""

    _fitted = "boosted_"
    boosted_: BoostedTrees

    def _train(
        self, table: Table, loss: Loss, progress: Progress, initial: InitialScores | None = None
    ) -> None:
        can_hold_out = initial is None or initial.out_of_bag
        trainer, n_jobs = boosting_trainer(self, table, loss, can_hold_out), n_threads(self.n_jobs)
        warn_about_columns(table)
        result = trainer.fit(
            table,
            start=None if initial is None else initial.scores,
            n_jobs=n_jobs,
            on_progress=progress.listener(trainer.n_rounds),
        )
        self._set_fitted(result.boosted, table.names)
        if initial is not None:
            self.init_ = initial.estimator
        elif hasattr(self, "init_"):
            del self.init_
        self.n_iter_ = len(result.boosted.rounds)
        if result.losses is not None:
            self.validation_losses_ = np.array(result.losses)
        elif hasattr(self, "validation_losses_"):
            del self.validation_losses_

    def _scores(self, X: Any, loss: Loss | None = None) -> Floats:
        table = self._read(X)
        scores = self.boosted_.scores(table, n_threads(self.n_jobs))
        if loss is not None and hasattr(self, "init_"):
            scores += predicted_scores(self.init_, X, loss)
        return scores

    def _used_features(self) -> frozenset[str]:
        return frozenset(self._schema.names) if hasattr(self, "init_") else super()._used_features()


def oob_mask(predicted: Floats) -> Bools:
    """Find the rows that have an out-of-bag prediction; warn if some have none."""
    out_of_bag: Bools = ~np.isnan(predicted[:, 0])
    if not out_of_bag.all():
        warn(
            f"{np.count_nonzero(~out_of_bag)} of {len(out_of_bag)} rows do not have OOB scores: every tree has seen "
            "them. Grow more trees, or draw fewer rows for each (max_samples)."
        )
    return out_of_bag
