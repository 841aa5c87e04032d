"""Methods of both estimators of one tree: routing, update, notebook display."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn import get_config
from sklearn.base import clone
from sklearn.utils import Bunch, estimator_html_repr
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from hornbeam.data.engine import LocalEngine
from hornbeam.data.rows import is_source_like, open_rows, read_rows
from hornbeam.data.sources import Source
from hornbeam.data.table import Table
from hornbeam.data.threads import n_threads
from hornbeam.errors import ParameterError
from hornbeam.estimators.fit_tree import Fitted, fit_tree, known_shares
from hornbeam.estimators.inputs.fit_warnings import warn_about_rows
from hornbeam.estimators.inputs.training import open_training
from hornbeam.estimators.methods.explain_methods import ExplainMethods
from hornbeam.estimators.methods.locks import exclusive, serialised
from hornbeam.estimators.methods.predict_to import TreePredictsTo
from hornbeam.estimators.methods.progress import Progress, with_callbacks
from hornbeam.estimators.methods.reads_rows import accepts_source
from hornbeam.estimators.methods.update import forget, recount, update
from hornbeam.estimators.parameters.fields import TreeParameters
from hornbeam.estimators.parameters.validators import FROM_TREE, boolean, has_own_teacher, number, size
from hornbeam.smoothing.teacher_prior import is_distilled
from hornbeam.tree.few_rows import few_rows_of
from hornbeam.tree.route import decide_rows, decision_path, predict_rows, route, row_predictor
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import single_tree
from hornbeam.tuning.size_path import SizePath, size_path
from hornbeam.typing import Counts, Floats, Indices

if TYPE_CHECKING:
    from hornbeam.editing.editor import TreeEditor
    from hornbeam.pruning.cost_complexity import CostComplexityPath


_STYLE = 'style="font:13px/1.7 system-ui,sans-serif;cursor:pointer"'


class TreeMethods(TreePredictsTo, ExplainMethods, TreeParameters):
    """Methods of an estimator with one fitted tree in `tree_`."""

    tree_: Tree
    # How to fit is no property of rows, so scikit-learn does not route it.
    __metadata_request__fit: ClassVar[Any] = dict.fromkeys(("engine", "grow_rows", "memory", "cache"), UNUSED)
    _shares: Counts | None = None  # a numeric target has no fractional rows

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
        cache: Any = None,
    ) -> Self:
        """Grow, prune and smooth a tree.

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
            Rows that belong together, such as the visits of a patient: they are held out together. Or the name of
            their column in a data frame or in files, which is then no feature. "copies": equal rows are a group.
        engine : Engine, default=None
            What reads and counts the rows of files, such as a cluster; None: `n_jobs` threads of this process, or for
            a dask collection its current client (`distributed.get_client`). The tree does not depend on it.
        grow_rows : int, default=None
            Grow on a sample of this size, then count all rows. None: on all rows if they fit in memory or are at
            most 20 million, else on a sample of up to 5 million.
        memory : int, default=None
            Bytes of memory for the rows of files; more rows are read in several passes, and strengths and size of the
            default tree are then chosen on another sample than in memory. None: 2**29. The process needs about 2.5
            times as much for rows that are read into memory.
        cache : path or False, default=None
            Folder for the encoded rows of files that do not fit in memory, and for the tree so far: the same call
            continues an interrupted fit. None: a temporary folder, or none on a cluster. False: no cache, the files
            are read again for each level. The files of a dask collection are written to a temporary folder in this
            one, which all workers must see under this name.

        Returns
        -------
        estimator
            Itself, fitted.
        """
        grow_rows, memory = size("grow_rows", grow_rows, "1_000_000"), size("memory", memory, "2**30")
        with (
            Progress(self, X, y, sample_weight) as progress,
            open_training(self, X, y, sample_weight, groups, engine, cache) as training,
        ):
            own_teacher = None
            if has_own_teacher(self):
                from hornbeam.estimators.methods.teacher import Teacher  # imports ensembles, which are slow

                own_teacher = Teacher.of(self, training.rows, X, y, sample_weight, groups, grow_rows)
            fitted = fit_tree(
                self,
                training.rows,
                engine=training.engine,
                grow_rows=grow_rows,
                memory=memory,
                cache=training.cache,
                n_jobs=self.n_jobs,
                on_progress=progress.listener(training.rows.n_rows),
                warn=warn_about_rows,
                own_teacher=own_teacher,
            )
            # Last, so that a failed fit leaves the old attributes.
            self._set_fitted_tree(fitted, training.classes)
        return self

    @classmethod
    def from_tree(cls, tree: Any) -> Self:
        """Make a fitted estimator of a tree, so that a tree from elsewhere has all methods.

        Parameters
        ----------
        tree : Tree
            Of another library (`hornbeam.interop`), from a file, smoothed, pruned or made by hand. The tree of a fitted
            estimator is taken too.

        Returns
        -------
        estimator
            Fitted, with this tree in `tree_`, and with ``preset="from_tree"``: its parameters do not describe the tree.
            Costs and class weights are those of the tree's decision rule. `fit`, also that of a clone, raises an
            error: make an estimator with the parameters that you want.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from hornbeam import TreeClassifier
        >>> from hornbeam.interop import from_sklearn
        >>> from hornbeam.smoothing import HGS
        >>> X, y = load_iris(return_X_y=True)
        >>> other = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
        >>> clf = TreeClassifier.from_tree(HGS()(from_sklearn(other)))
        >>> clf
        TreeClassifier(preset='from_tree')
        >>> clf.predict_proba(X[:1]).round(3)
        array([[0.974, 0.013, 0.013]])
        """
        tree = single_tree(tree)
        estimator, schema, decision = cls(FROM_TREE), tree.schema, tree.decision
        if schema.is_regression == hasattr(cls, "predict_proba"):
            found, fit = ("means", "TreeRegressor") if schema.is_regression else ("classes", "TreeClassifier")
            raise ParameterError(
                f"the tree predicts {found}; expected a tree for a {cls.__name__}. Pass it to {fit}.from_tree."
            )
        classes = None
        if not schema.is_regression:
            labels = list(schema.classes)
            classes = np.array(labels)
            if classes.tolist() != labels:  # of several types
                classes = np.array(labels, object)
            if decision.costs is not None:
                estimator.costs = decision.costs.matrix  # type: ignore[attr-defined]
            if decision.class_weight is not None:
                weights = zip(labels, decision.class_weight.tolist(), strict=True)
                estimator.class_weight = dict(weights)  # type: ignore[attr-defined]
        names = None if schema.has_generated_names else schema.names
        estimator._set_fitted_tree(Fitted(tree, names, decision.class_weight), classes)
        return estimator

    def _set_fitted_tree(self, fitted: Fitted, classes: NDArray[Any] | None) -> None:
        """Set the fitted attributes."""
        self._set_fitted(fitted.tree, fitted.names)
        if classes is not None:
            self._shares = fitted.shares
            self.classes_ = classes
            self.n_classes_ = len(classes)
            self.class_weight_ = np.ones(len(classes)) if fitted.class_weight is None else fitted.class_weight
        else:
            self._distribution = fitted.distribution

    @property
    def size_path_(self) -> SizePath:
        """Loss on held-out rows of every size of the tree, from the size at tolerance 0 to one leaf.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from hornbeam import TreeClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> clf = TreeClassifier().fit(X, y)
        >>> clf.tree_.n_leaves, clf.size_path_.smallest(tolerance=0.1)
        (11, 6)
        >>> TreeClassifier(tolerance=0.1).fit(X, y).tree_.n_leaves
        6
        """
        check_is_fitted(self)
        path = size_path(self.tree_)
        if path is None:
            raise AttributeError(
                "size_path_: this tree was fitted without a comparison of sizes, which needs smoothing='cross-fitted' "
                "and pruning='auto'."
            )
        return path

    @accepts_source
    def apply(self, X: Any) -> Indices:
        """Find the node where each row ends.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.

        Returns
        -------
        ndarray of int32 of shape (n_rows,)
            Numbers of nodes: a leaf, or an inner node where a row stops early.
        """
        table = self._read(X)
        return route(self.tree_.skeleton, table, n_threads(self.n_jobs))

    def decision_path(self, X: Any) -> csr_matrix:
        """Mark the nodes that each row passes, from the root to the node where it ends.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows like those of `fit`; files are read into memory.

        Returns
        -------
        sparse matrix of shape (n_rows, n_nodes)
            1 where a row passes a node.
        """
        table = self._read(X)
        indptr, indices = decision_path(self.tree_.skeleton, table, n_threads(self.n_jobs))
        ones = np.ones(len(indices), dtype=np.int64)
        return csr_matrix((ones, indices, indptr), shape=(table.n_rows, self.tree_.n_nodes))

    def _predict_few_rows(self, X: Any) -> Floats | None:
        """Predict a few rows of the usual types without a table; None for all others."""
        tree = self.__dict__.get("tree_")
        return None if tree is None else few_rows_of(tree).predict(X, named=self._has_names)

    @property
    def _has_names(self) -> bool:
        return "feature_names_in_" in self.__dict__

    def _predict_rows(self, X: Any) -> Floats:
        few = self._predict_few_rows(X)
        if few is not None:
            return few
        table = self._read(X)
        return predict_rows(self.tree_, table, n_threads(self.n_jobs))

    def row_predictor(self, *, full: bool = False) -> Callable[[Any], tuple[Any, ...]]:
        """Return a function that predicts a single row with the least overhead.

        Parameters
        ----------
        full : bool, default=False
            Whether the function takes a row as `predict` does, such as a dict from names to values, and returns the
            decision, the prediction and the leaf.

        Returns
        -------
        callable
            Takes a row as a float64 array or a tuple of floats. A category is its position in the schema's
            categories; an unseen one is -2 in a nominal column and NaN in an ordinal one; a missing value is NaN.
            Returns a tuple: the class probabilities, or the one predicted mean. A full one takes a dict, a list of
            values, a series or a frame of one row. It returns the class, or the mean; the class probabilities, or the
            mean, as an array; and the node where the row stops.

        Examples
        --------
        >>> from hornbeam import TreeClassifier, TreeRegressor
        >>> predict = TreeClassifier(smoothing=None).fit([[0.0], [1.0]], ["no", "yes"]).row_predictor()
        >>> predict((1.0,))
        (0.0, 1.0)
        >>> TreeRegressor("cart").fit([[0.0], [1.0]], [2.0, 4.0]).row_predictor()((1.0,))
        (4.0,)
        >>> clf = TreeClassifier(smoothing=None).fit([[20, "a"], [40, "b"]], ["no", "yes"])
        >>> clf.row_predictor(full=True)({"x0": 41, "x1": "b"})
        ('yes', array([0., 1.]), 2)
        """
        check_is_fitted(self, "tree_")
        return self._predict_one if boolean("full", full) else row_predictor(self.tree_)

    def _predict_one(self, row: Any) -> tuple[Any, Floats, int]:
        if self._has_names and hasattr(row, "to_dict") and not hasattr(row, "columns"):
            row = row.to_dict()  # a series of pandas, by the names of its values
        X = row if isinstance(row, Mapping) or hasattr(row, "columns") else [row]
        tree, few_rows = self.tree_, few_rows_of(self.tree_)
        rows = few_rows.read(X, named=self._has_names)
        if rows is None:
            predicted, node = self._predict_rows(X)[0], self.apply(X).item()
        else:
            predicted, node = (
                np.array(few_rows.predict_row(rows[0])),
                tree.skeleton.router.node_of_row(rows[0]),
            )
        if tree.is_regression:
            return predicted.item(), predicted, node
        code = tree.decided[node] if tree.predicts_by_node else decide_rows(tree, self._read(X))[0]
        return tree.schema.classes[code], predicted, node

    @serialised
    def update(self, X: Any, y: Any, *, sample_weight: Any = None, decay: float = 1.0) -> Self:
        """Add rows to the evidence of the tree; its splits stay as they are.

        Unlike `partial_fit` this does not grow, prune or tune. The rows are counted at the nodes they pass, and the
        predictions are estimated again from all counts, with the smoothing strengths that `fit` found.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`. A row with an unseen category counts down to the node where it stops.
        y : array-like of shape (n_rows,)
            Their target. Class labels must be among `classes_`.
        sample_weight : array-like of shape (n_rows,), default=None
            Row weights: whole numbers, unless the tree was fitted with fractional weights.
        decay : float, default=1.0
            Factor for the weight of all earlier rows, above 0; 1 leaves it unchanged.

        Returns
        -------
        estimator
            Itself, with the same skeleton and new evidence in `tree_`.

        Raises
        ------
        DataError
            If the sums of a numeric target would overflow. There is room for at least as many rows again as in `fit`.

        See Also
        --------
        forget : remove rows again.
        drift : test whether the splits still suit the rows.

        Examples
        --------
        >>> from hornbeam import TreeClassifier, TreeRegressor
        >>> clf = TreeClassifier(smoothing="laplace").fit([[0], [0], [1], [1]], ["no", "no", "yes", "yes"])
        >>> clf.predict_proba([[1]]), clf.update([[1], [1]], ["yes", "no"]).predict_proba([[1]]).round(3)
        (array([[0.25, 0.75]]), array([[0.333, 0.667]]))
        >>> reg = TreeRegressor("cart").fit([[0], [1]], [2.0, 4.0])
        >>> reg.update([[1]], [7.0]).predict([[1]])
        array([5.5])
        >>> reg.update([[1]], [8.0], decay=0.5).predict([[1]])
        array([6.75])
        """
        table = self._read(X, self._read_target(y))
        update(self, table, sample_weight, number("decay", decay, 1.0))
        return self

    @serialised
    def forget(self, X: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Remove rows from the evidence of the tree; its splits stay as they are.

        The counts are then exactly those of the other rows. The splits and the smoothing strengths, which the removed
        rows helped to choose, do not change. After an `update` with the same rows the tree is the one before it.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows of an earlier `fit` or `update`.
        y : array-like of shape (n_rows,)
            The target they had.
        sample_weight : array-like of shape (n_rows,), default=None
            The weights they had, times every `decay` since.

        Returns
        -------
        estimator
            Itself, with the same skeleton and less evidence in `tree_`.

        Raises
        ------
        DataError
            If the rows cannot be part of the evidence; the message names the leaf.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier().fit([[0], [0], [1], [1]], ["no", "no", "yes", "yes"])
        >>> before = clf.tree_.digest
        >>> clf.update([[1]], ["no"]).forget([[1]], ["no"]).tree_.digest == before
        True
        """
        table = self._read(X, self._read_target(y))
        forget(self, table, sample_weight)
        return self

    @serialised
    def recount(self, X: Any, y: Any = None, *, sample_weight: Any = None, engine: Any = None) -> Self:
        """Replace the evidence of the tree by that of some rows; its splits stay as they are.

        Use it after splits were changed by hand, in the file or with `dataclasses.replace`: the tree still has the
        counts of its old splits. Or to see what a tree predicts by the counts of other rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows with the columns of the tree. Files are read a part at a time, and need not fit in memory.
        y : array-like of shape (n_rows,) or str, default=None
            Their target; for files, the name of the column.
        sample_weight : array-like of shape (n_rows,) or str, default=None
            A row of weight 2 counts as two rows. For files, the name of the column.
        engine : Engine, default=None
            What reads and counts the rows of files; None: `n_jobs` threads. The tree does not depend on it.

        Returns
        -------
        estimator
            Itself, with the same splits, gains and decision rule, and the counts of these rows alone. Predictions are
            estimated with the smoothing strengths that `fit` found.

        Raises
        ------
        SchemaError
            If the columns or the classes are not those of the tree.

        See Also
        --------
        update : adds the counts of more rows.

        Examples
        --------
        >>> from dataclasses import replace
        >>> import numpy as np
        >>> from hornbeam import TreeClassifier
        >>> X, y = [[20], [25], [40], [50]], ["no", "yes", "yes", "yes"]
        >>> tree = TreeClassifier("cart", max_depth=1).fit(X, y).tree_
        >>> tree.skeleton.threshold.item(0), tree.evidence.tolist()
        (22.0, [[1, 3], [1, 0], [0, 3]])
        >>> edited = replace(tree, skeleton=replace(tree.skeleton, threshold=np.array([30.0, np.nan, np.nan])))
        >>> TreeClassifier.from_tree(edited).recount(X, y).tree_.evidence.tolist()
        [[1, 3], [1, 1], [0, 2]]
        """
        engine = LocalEngine(n_threads(self.n_jobs)) if engine is None else engine
        recount(self, self._open_counted(X, y, sample_weight, engine), engine)
        return self

    def _open_counted(self, X: Any, y: Any, sample_weight: Any, engine: Any = None) -> Source:
        """Open rows that are counted as in `fit`: rows of a class of weight 0 are left out."""
        check_is_fitted(self, "tree_")
        own, schema = is_source_like(X) or isinstance(X, Table), self.tree_.schema
        y = y if own else self._read_target(y)
        weights = getattr(self, "class_weight_" if own else "class_weight", None)
        return open_rows(
            X,
            y,
            sample_weight,
            class_weight=weights,
            schema=schema,
            target_kind=schema.target_kind,
            engine=engine,
        )

    def get_depth(self) -> int:
        """Return the depth of the tree: the most tests on a path, as scikit-learn's trees do.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> TreeClassifier("cart").fit([[1], [2], [3]], ["no", "yes", "no"]).get_depth()
        2
        """
        check_is_fitted(self)
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves of the tree, as scikit-learn's trees do.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> TreeClassifier("cart").fit([[1], [2], [3]], ["no", "yes", "no"]).get_n_leaves()
        3
        """
        check_is_fitted(self)
        return self.tree_.n_leaves

    def cost_complexity_pruning_path(self, X: Any, y: Any = None, sample_weight: Any = None) -> Bunch:
        """Grow a tree without pruning, and find the penalties per leaf of its subtrees, as scikit-learn's trees do.

        Parameters
        ----------
        X, y, sample_weight : array-like, data frame or files
            Rows as `fit` takes them. The estimator itself stays as it is.

        Returns
        -------
        sklearn.utils.Bunch
            ``ccp_alphas``, the penalties in increasing order, from 0 to that of one leaf; and ``impurities``, those of
            the leaves of each subtree. ``pruning=CostComplexity(alpha)`` is scikit-learn's ``ccp_alpha=alpha``.

        See Also
        --------
        cost_complexity_path : the same for the fitted tree, with the number of leaves.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> from hornbeam.pruning import CostComplexity
        >>> X, y = [[1], [2], [3], [4], [5], [6]], ["a", "a", "b", "a", "b", "b"]
        >>> path = TreeClassifier("cart").cost_complexity_pruning_path(X, y)
        >>> path.ccp_alphas.round(4).tolist(), path.impurities.round(4).tolist()
        ([0.0, 0.125, 0.25], [0.0, 0.25, 0.5])
        >>> TreeClassifier("cart", pruning=CostComplexity(path.ccp_alphas[1])).fit(X, y).get_n_leaves()
        2
        """
        grown = clone(self).set_params(pruning=None).fit(X, y, sample_weight)
        path = grown.cost_complexity_path()
        return Bunch(ccp_alphas=path.alphas, impurities=path.impurities)

    def cost_complexity_path(self) -> CostComplexityPath:
        """Find every penalty per leaf at which cost-complexity pruning of the tree changes it."""
        raise NotImplementedError

    def edit(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        held_out: Any = None,
        author: str = "",
        date: str | None = None,
        data: str = "",
    ) -> TreeEditor:
        """Make an editor of the tree: prune, move a threshold, replace or grow a split, undo.

        The estimator keeps its tree until `TreeEditor.finish`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths, Source or Table
            The rows of `fit`, and of every `update`: they are read into memory, and counted again after each edit.
        y : array-like of shape (n_rows,) or str
            Their target; for files, the name of the column; None for a Source or a Table.
        sample_weight : array-like of shape (n_rows,) or str, default=None
            Their weights; for files, the name of the column.
        held_out : tuple of X and y, optional
            Other rows with their target, for the gains of candidate splits and the effect of edits on rows that the
            tree was not grown from. A third entry is their weights.
        author : str, default ""
            Author of the edits, for the approval log.
        date : str, optional
            Date of the edits. None: the time of each, in UTC; if the variable SOURCE_DATE_EPOCH is set, that time, so
            that files can be made again with the same bytes.
        data : str, default ""
            Name of the rows, for the approval log, such as that of their file.

        Returns
        -------
        TreeEditor

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> X, y = [[21], [34], [52], [70]], ["no", "no", "yes", "yes"]
        >>> classifier = TreeClassifier("cart").fit(X, y)
        >>> editor = classifier.edit(X, y)
        >>> editor.set_threshold(0, 50, reason="a round number")
        >>> editor.finish().tree_.skeleton.threshold[0]
        np.float64(50.0)
        """
        from hornbeam.editing.editor import TreeEditor  # slow to import: programs that only predict need not

        table = read_rows(self._open_counted(X, y, sample_weight))
        if isinstance(held_out, tuple) and len(held_out) > 1 and not is_source_like(held_out[0]):
            held_out = (held_out[0], self._read_target(held_out[1]), *held_out[2:])
        on_finish = partial(self._replace_tree, table)
        return TreeEditor._of(
            self, table, None, author=author, on_finish=on_finish, held_out=held_out, date=date, data=data
        )

    @serialised
    def _replace_tree(self, table: Table, old: Tree, new: Tree) -> Self:
        """Replace the tree by an edited one that counts the rows of a table."""
        if self.tree_ is not old:
            raise ParameterError(
                "the estimator was fitted or updated after the editor was made; expected the tree that was edited. "
                "Make a new editor."
            )
        self._shares = known_shares(new, table)
        if self._distribution is not None:
            self._distribution = self._distribution.recount(new, table)
        self.tree_ = new
        return self

    @serialised
    def calibrate_intervals(self, X: Any, y: Any, *, sample_weight: Any = None, groups: Any = None) -> Self:
        """Calibrate the width of the intervals, so that they contain the true rate or mean as often as they claim.

        `fit` does this if smoothing is cross-fitted, which is the default, or if the tree has a teacher. With any other
        smoothing call this method; it takes about as long as a default fit.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            The rows of `fit`.
        y : array-like of shape (n_rows,)
            The target of `fit`.
        sample_weight : array-like of shape (n_rows,), default=None
            The weights of `fit`.
        groups : array-like of shape (n_rows,) or str, default=None
            The groups of `fit`.

        Returns
        -------
        estimator
            Itself; in `tree_` only the last step of the history is new.

        See Also
        --------
        predict_interval : the intervals.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from hornbeam import TreeClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> clf = TreeClassifier(smoothing="hgs").fit(X, y).calibrate_intervals(X, y)
        >>> print(clf.tree_.history[-1])
        interval-calibration(borrowed=0.35, own=0.35)
        """
        from hornbeam.estimators.parameters.recipes import tree_fitter  # imports all that fits
        from hornbeam.tuning.calibrate import calibrate_intervals

        check_is_fitted(self)
        weights = {"sample_weight": sample_weight, "class_weight": getattr(self, "class_weight", None)}
        table = Table.read(X, self._read_target(y), groups=groups, schema=self.tree_.schema, **weights)
        fitter = None if is_distilled(self.tree_) else tree_fitter(self, table)
        self.tree_ = calibrate_intervals(self.tree_, table, fitter, n_jobs=n_threads(self.n_jobs))
        return self

    def _read_target(self, y: Any) -> Any:
        """Read class labels or numbers, whichever the estimator predicts."""
        raise NotImplementedError

    # Notebooks: scikit-learn calls `_html_repr` since 1.7, and the other two before.

    def _html_repr(self) -> str:
        own: str = estimator_html_repr(self)
        tree = getattr(self, "tree_", None)
        if tree is None:
            return own
        from hornbeam.export.people.html import to_html  # imported only for notebooks

        page = to_html(tree, title=type(self).__name__)
        return f"<div>{page}<details><summary {_STYLE}>Parameters</summary>{own}</details></div>"

    def _repr_html_inner(self) -> str:
        return self._html_repr()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        shown = {"text/plain": repr(self)}
        if get_config()["display"] == "diagram":
            shown["text/html"] = self._html_repr()
        return shown
