"""Methods of forests and of boosted trees: training, scores and feature importances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from hornbeam.data.sources import names_of
from hornbeam.data.table import Table
from hornbeam.data.threads import n_threads
from hornbeam.ensembles.boosting.boosted_trees import BoostedTrees
from hornbeam.ensembles.boosting.losses import Loss
from hornbeam.ensembles.forest.forest import Forest
from hornbeam.ensembles.prediction import vote
from hornbeam.errors import warn
from hornbeam.estimators.fit_tree import fit_forest
from hornbeam.estimators.inputs.fit_warnings import warn_about_columns, warn_about_rows
from hornbeam.estimators.inputs.training import open_training
from hornbeam.estimators.methods.initial_scores import InitialScores, predicted_scores
from hornbeam.estimators.methods.locks import exclusive
from hornbeam.estimators.methods.predict_to import PredictsTo
from hornbeam.estimators.methods.progress import Progress, with_callbacks
from hornbeam.estimators.methods.reads_rows import accepts_source
from hornbeam.estimators.parameters.boosting import boosting_trainer
from hornbeam.estimators.parameters.fields import ForestParameters
from hornbeam.estimators.parameters.validators import resolve_trees, size
from hornbeam.tree.decision import Costs
from hornbeam.tree.route import route
from hornbeam.typing import Bools, Floats, Indices

if TYPE_CHECKING:
    from hornbeam.ensembles.forest.distribution import ForestDistribution


class EnsembleMethods(PredictsTo):
    """Feature importances of several trees."""

    n_jobs: int | None

    @property
    def feature_importances_(self) -> Floats:
        """Importance of each feature: its share of the gain of all splits, averaged over the trees that split."""
        check_is_fitted(self, self._fitted)
        importance: Floats = getattr(self, self._fitted).importance()
        return importance


class ForestMethods(EnsembleMethods, ForestParameters):
    """`fit` of a forest."""

    _fitted = "forest_"
    # How to fit is no property of rows, so scikit-learn does not route it.
    __metadata_request__fit: ClassVar[Any] = dict.fromkeys(("engine", "grow_rows", "memory"), UNUSED)
    forest_: Forest
    _distribution: ForestDistribution | None = None  # only a numeric target has one, if it was asked for

    @exclusive
    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        engine: Any = None,
        grow_rows: int | None = None,
        memory: int | None = None,
    ) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths, Source or dask collection
            Numbers, booleans, strings or categories, with missing values in any form. Or Parquet files, folders or
            patterns, whose rows need not fit in memory. Or a dask DataFrame or Array, which Dask writes as Parquet
            files first, one per partition.
        y : array-like of shape (n_rows,), or str
            Class labels or numbers; for files, the name of the column; for a dask collection that or a collection.
        sample_weight : array-like of shape (n_rows,) or str, default=None
            Row weights, as `y`: a row of weight 2 counts as two rows. For files, the name of the column.
        groups : array-like of shape (n_rows,) or str, default=None
            Rows that belong together, such as the visits of a patient: they are drawn together for a tree. Or the name
            of their column in a data frame or in files, which is then no feature. "copies": equal rows are a group.
        engine : Engine, default=None
            What reads and counts the rows of files, and grows the trees, such as a cluster; None: `n_jobs` threads of
            this process, or for a dask collection its current client (`distributed.get_client`). The forest does not
            depend on it.
        grow_rows : int, default=None
            Grow on a sample of this size, then count all rows in every tree. None: on all rows if they fit in
            `memory`, else on a sample of as many as fit, up to 5 million.
        memory : int, default=None
            Bytes of memory for the rows of files. None: 2**29.

        Returns
        -------
        estimator
            Itself, fitted.
        """
        grow_rows, memory = size("grow_rows", grow_rows, "1_000_000"), size("memory", memory, "2**30")
        with (
            Progress(self, X, y, sample_weight) as progress,
            open_training(self, X, y, sample_weight, groups, engine) as training,
        ):
            rows, classes = training.rows, training.classes
            if classes is not None:
                Costs.of(getattr(self, "costs", None), classes.tolist())  # wrong costs raise an error here
            result, table = fit_forest(
                self,
                rows,
                engine=training.engine,
                grow_rows=grow_rows,
                memory=memory,
                n_jobs=self.n_jobs,
                on_progress=progress.listener(resolve_trees(self.n_estimators)),
                warn=warn_about_rows,
            )
            self._set_fitted(result.forest, names_of(rows))
            self.smoother_ = None if result.smoother is vote else result.smoother
            if classes is None:
                self._distribution = result.distribution
            for name in ("oob_score_", "oob_decision_function_", "oob_prediction_"):  # of an earlier fit
                self.__dict__.pop(name, None)
            if classes is not None:
                self.classes_ = classes
                self.n_classes_ = len(classes)
                self.class_weight_ = np.ones(len(classes)) if rows.class_weight is None else rows.class_weight
            if result.out_of_bag is not None:
                self._score_out_of_bag(result.out_of_bag, table)
        return self

    @accepts_source
    def apply(self, X: Any) -> Indices:
        """Find the node of each tree where each row ends.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows like those of `fit`.

        Returns
        -------
        ndarray of int32 of shape (n_rows, n_trees)
            Numbers of nodes of the trees of `forest_`: a leaf, or an inner node where a row stops early.

        Examples
        --------
        >>> from hornbeam import ForestRegressor
        >>> ForestRegressor(3).fit([[0.0], [1.0]], [1.0, 3.0]).apply([[0.0]]).shape
        (1, 3)
        """
        table, threads = self._read(X), n_threads(self.n_jobs)
        return np.stack([route(tree.skeleton, table, threads) for tree in self.forest_.trees], axis=1)

    def _score_out_of_bag(self, predicted: Floats, table: Table) -> None:
        raise NotImplementedError


class BoostingMethods(EnsembleMethods):
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
        scores = self.boosted_.scores(table, n_jobs=self.n_jobs)
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
