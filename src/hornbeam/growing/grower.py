"""Parameters of growing, and the two ways to grow: in memory, and level by level through an engine."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import ceil, inf
from numbers import Integral, Real
from os import PathLike
from typing import Any, Self

import numpy as np

from hornbeam.data.binning.bins import Bins
from hornbeam.data.encoded_rows import EncodedSource
from hornbeam.data.engine import Engine
from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.schema import Schema
from hornbeam.data.sources import Source
from hornbeam.data.table import Table
from hornbeam.errors import DataError, ParameterError, TreeError, shown
from hornbeam.growing import in_memory
from hornbeam.growing.constraints import check_monotone, monotone_array
from hornbeam.growing.criterion import Criterion, Missing, Nominal
from hornbeam.growing.encoded_table import EncodedTable
from hornbeam.growing.forced_splits import check_forced, forced_skeleton
from hornbeam.growing.path_rules import Interactions, check_features, check_interactions, make_path_rules
from hornbeam.growing.progress import PassReport, Watch
from hornbeam.growing.tree_builder import build_tree
from hornbeam.kernels import subtree
from hornbeam.kernels.subtree import CRITERIA, GrowthSpec, Nodes, PathRules, Rules
from hornbeam.tree.leaf_budget import keep_best_leaves
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Step, Tree
from hornbeam.typing import Codes, Counts, Floats

__all__ = ["Grower"]

_UNSET = ("min_samples_missing", "interactions", "once_per_path", "forbidden_below", "forced")
_UNLIMITED = np.iinfo(np.int32).max
_MOST_CLASSES = 65_535
_KINDS: dict[str, type[StrEnum]] = {"criterion": Criterion, "nominal": Nominal, "missing": Missing}
_RANGES = (
    ("max_depth", 1, inf, Integral),
    ("max_leaf_nodes", 2, inf, Integral),
    ("max_features", 1, inf, Integral),
    ("min_samples_split", 2, inf, Integral),
    ("min_samples_leaf", 1, inf, Integral),
    ("min_samples_missing", 0, inf, Real),
    ("min_weight_leaf", 0, inf, Real),
    ("min_weight_fraction_leaf", 0, 0.5, Real),
    ("min_impurity_decrease", 0, inf, Real),
    ("design_effect", 1, inf, Real),
)
_TOO_LARGE = 2**62


def _member(kind: type[StrEnum], name: str, value: str) -> StrEnum:
    """Return the member of an enumeration, given as itself or as its value."""
    try:
        return kind(value)
    except ValueError:
        known = ", ".join(repr(one.value) for one in kind)
        raise ParameterError(f"{name}={value!r}: expected one of {known}.") from None


@dataclass(frozen=True, slots=True)
class Grower:
    """Parameters and procedure of growing a tree.

    Parameters
    ----------
    criterion : Criterion or str
        Measure of the gain of a split.
    nominal : Nominal or str
        How nominal features split.
    missing : Missing or str
        Where a row goes whose tested value is missing.
    max_depth : int or None
        Maximum depth of the tree. None: no limit.
    min_samples_split, min_samples_leaf : int
        Minimum number of rows of a node that is split, and of each child. A multiway split needs two such children.
    min_samples_missing : int
        Minimum number of rows of a branch of missing values of its own; a row of weight 2 is two rows, and weights
        that are not whole count as shares of all rows. With fewer at a node, missing values go to the child where the
        gain is larger. Not for a multiway split, where they are a category.
    min_weight_leaf : float
        Minimum weight of each child (C4.5's minimum number of objects).
    min_weight_fraction_leaf : float
        Minimum weight of each child, as a share of the weight of all rows.
    min_impurity_decrease : float
        Minimum of the gain times the node's share of all weight.
    max_leaf_nodes : int or None
        Largest number of leaves; the splits with the largest gain are kept. None: no limit.
    monotone : tuple of int or None
        For two classes: +1 where the probability of the second class must not fall as the feature rises, -1 where
        it must not rise, 0 elsewhere. For a numeric target: the same for the mean.
    max_features : int or None
        Number of features that a node tries, drawn anew for each node from the `key` of `grow`. If none of them has a
        valid split, further features are drawn one by one. None: all features.
    corrected : bool
        Whether features are compared by the S-values of their best splits instead of the gains. An S-value is -log2 of
        the probability that a search over the same number of cuts or subsets reaches this gain by chance, so that
        features with many values have no advantage. Without sampling, features with many categories have one order of
        them for the whole tree. C4.5's gain ratio has its own correction and ignores this.
    design_effect : float
        Number of rows of weight 1 that count as one independent row: above 1 for rows drawn with replacement. Only the
        correction uses it.
    interactions : tuple of tuples of int, "pairwise", "no_interactions" or None
        Groups of features that may occur together on a path: one group must contain all features of a path. Features
        in no group form one more group. "pairwise": all pairs; "no_interactions": each feature alone; None: all may
        occur together.
    once_per_path : bool
        Whether a feature splits at most one node of a path.
    forbidden_below : tuple of pairs of int or None
        Pairs of features, of which the second may not split a node below a split of the first.
    forced : tuple of ForcedSplit or None
        The splits that the tree begins with (`hornbeam.growing.forced_splits.forced_splits` of a skeleton); growing
        goes on from its leaves. They are kept whatever their gain and the sizes of their children.

    Notes
    -----
    Ties go to the first feature and to its lowest cut. All sums are integers: neither the order of rows nor the number
    of threads or partitions changes the tree.

    Within a feature the split with the largest gain is taken; the correction decides between features, and between the
    treatments of missing values. If the best S-value is below log2 of the number of features, a value that chance alone
    reaches, the search among up to five categories is not penalised.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.data import Bins, LocalEngine, MemorySource, Table
    >>> table = Table.read(np.array([[1.0], [2.0], [3.0], [4.0]]), ["a", "a", "b", "b"])
    >>> bins = Bins.fit(MemorySource(table), LocalEngine(), max_bins=None)
    >>> Grower().grow(table, bins).n_leaves
    2
    """

    criterion: Criterion = Criterion.ENTROPY
    nominal: Nominal = Nominal.SUBSET
    missing: Missing = Missing.OWN
    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_samples_missing: int = 0
    min_weight_leaf: float = 0.0
    min_weight_fraction_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    max_leaf_nodes: int | None = None
    monotone: tuple[int, ...] | None = None
    max_features: int | None = None
    corrected: bool = False
    design_effect: float = 1.0
    interactions: Interactions = None
    once_per_path: bool = False
    forbidden_below: tuple[tuple[int, int], ...] | None = None
    forced: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        for name, kind in _KINDS.items():
            object.__setattr__(self, name, _member(kind, name, getattr(self, name)))
        for name, least, most, number in _RANGES:
            value = getattr(self, name)
            if value is None and name.startswith("max"):
                continue
            fits = isinstance(value, number) and not isinstance(value, bool)
            if not fits or not least <= value <= most or value >= _TOO_LARGE:
                whole = "whole " * (number is Integral)
                expected = f"of at least {least}" if most == inf else f"from {least} to {most}"
                unlimited = ", or None for no limit" if name.startswith("max") else ""
                raise ParameterError(
                    f"{name}={shown(value)}: expected a {whole}number {expected}{unlimited}. "
                    f"Pass {name}={least} for the smallest."
                )
        for name in ("corrected", "once_per_path"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise ParameterError(f"{name}={shown(getattr(self, name))}: expected True or False.")
        check_monotone(self.monotone)
        check_interactions(self.interactions)
        check_features("forbidden_below", self.forbidden_below)

    @classmethod
    def recorded(cls, step: Step, schema: Schema) -> Self:
        """Return the grower of a step of a history, which may come from a file.

        Raises
        ------
        TreeError
            If the parameters are not those of a grower, or do not fit the schema.

        Examples
        --------
        >>> Grower.recorded(Step.of("grow", max_depth="int8"), Schema((), ("no", "yes")))
        Traceback (most recent call last):
            ...
        hornbeam.errors.TreeError: the history has a step 'grow' that cannot be repeated: max_depth='int8': expected ...
        """
        try:
            grower = cls(**dict(step.parameters))
            monotone_array(grower.monotone, schema)
            grower.path_rules(schema)
            grower.forced_skeleton(schema)
        except (TypeError, ValueError) as error:
            raise TreeError(
                f"the history has a step 'grow' that cannot be repeated: {error!s:.200}"
            ) from error
        return grower

    def grow(
        self,
        table: Table | EncodedTable,
        bins: Bins | None = None,
        codes: Codes | None = None,
        *,
        n_jobs: int = 1,
        key: int = 0,
        on_progress: Callable[[int], None] | None = None,
    ) -> Tree:
        """Grow a tree from a table in memory.

        Parameters
        ----------
        table : Table or EncodedTable
            Rows with their target. Class weights change the choice of splits only, not the evidence. An encoded table
            stays as it is: its codes are copied before they are reordered.
        bins : Bins, optional
            Bin edges and category codes; not given with an encoded table.
        codes : array, optional
            ``bins.encode(table)``, if it is known already; its rows are reordered in place.
        n_jobs : int
            Threads; the tree does not depend on them.
        key : int
            Seed of the features that each node draws, with `max_features`: 64 bits, for example
            `hornbeam.kernels.subtree.child_key` of a seed and the number of the tree.
        on_progress : callable or None
            Called about ten times a second with the number of rows that have reached their leaf.

        Returns
        -------
        Tree
            With the evidence of the rows at their own weights, and raw frequencies as belief.
        """
        if isinstance(table, EncodedTable):
            bins, codes, table = table.bins, table.codes.copy(), table.table
        elif bins is None:
            raise ParameterError("bins=None: expected the bins of the table. Pass them, or an EncodedTable.")
        elif codes is not None:
            EncodedTable(table, bins, codes)  # checks the codes
        watch = Watch(on_progress)
        return in_memory.grow_in_memory(self, table, bins, codes, n_jobs=n_jobs, key=key, watch=watch)

    def grow_by_level(
        self,
        source: EncodedSource,
        bins: Bins,
        schema: Schema,
        engine: Engine,
        *,
        unit: float | Floats = 1.0,
        class_weight: Floats | None = None,
        target: Source | None = None,
        gather_rows: int | None = None,
        budget: int = 2**28,
        checkpoint: str | PathLike[str] | None = None,
        on_progress: Callable[[PassReport], None] | None = None,
    ) -> Tree:
        """Grow the tree that `grow` grows, from sums that an engine computes.

        Parameters
        ----------
        source : EncodedSource
            Units of encoded rows.
        bins : Bins
            The bins that encoded the rows.
        schema : Schema
            Features and target.
        engine : Engine
            Runs the passes over the rows.
        unit : float, or float64 array of shape (3,)
            Value of one integer step of the rows' weight; for a numeric target those of weight, sum and sum of
            squares (`hornbeam.tree.evidence.numeric.numeric_units`).
        class_weight : array of shape (n_classes,), optional
            Factor of each class. Class weights change the choice of splits only, not the evidence.
        target : Source, optional
            For a numeric target: the rows that were encoded, in the same partitions. Splits need sums only; a last
            pass reads the target again to add up its squares at each leaf.
        gather_rows : int, optional
            A node of at most this many rows is finished by the local kernel, where its rows are gathered.
            Default: the number of rows that take a quarter of `budget`, for nodes that may grow four more levels;
            for fewer levels counting is cheaper than moving rows. All rows, if they fit.
        budget : int, default 2**28
            Largest size in bytes of the histograms of one task, and of the rows that are gathered for each parallel
            task of the engine. The tree does not depend on it.
        checkpoint : path, optional
            File that holds the tree so far after every pass. If it exists, growing continues from it; it is
            deleted at the end.
        on_progress : callable, optional
            Called with a `PassReport` after every pass.

        Returns
        -------
        Tree
            The tree that `grow` grows from the same rows.

        Raises
        ------
        ParameterError
            If the checkpoint belongs to other data or parameters.
        StorageError
            If the file is not a valid checkpoint.
        """
        # Imported here because growing in memory does not need it, and start-up is faster without it.
        from hornbeam.growing.levelwise import phase

        return phase.grow(
            self,
            source,
            bins,
            schema,
            engine,
            unit=unit,
            class_weight=class_weight,
            target=target,
            gather_rows=gather_rows,
            budget=budget,
            checkpoint=checkpoint,
            on_progress=on_progress,
        )

    @property
    def compares_all_rows(self) -> bool:
        """Whether every node compares all features on rows that were not drawn: not so in a forest."""
        return self.max_features is None and self.design_effect == 1.0

    def forced_skeleton(self, schema: Schema) -> Skeleton | None:
        """Return the splits that the tree begins with; None if there are none.

        Raises
        ------
        ParameterError
            If they do not fit the features of the rows, or break another parameter.
        """
        if self.forced is None:
            return None
        skeleton = forced_skeleton(self.forced)
        check_forced(skeleton, schema, self.max_depth, self.monotone, self.path_rules(schema))
        return skeleton

    def refine(self, bins: Bins, schema: Schema) -> Bins:
        """Return bins whose edges include the thresholds of the forced splits."""
        skeleton = self.forced_skeleton(schema)
        if skeleton is None:
            return bins
        numeric = np.flatnonzero(np.isfinite(skeleton.threshold)).tolist()
        return bins.with_edges(
            [(skeleton.feature.item(node), skeleton.threshold.item(node)) for node in numeric]
        )

    def path_rules(self, schema: Schema) -> PathRules | None:
        """Return which features may follow each other on a path; None if all may.

        Raises
        ------
        ParameterError
            If a constraint names a feature that the schema does not have.
        """
        return make_path_rules(
            schema, self.interactions, self.forbidden_below, once_per_path=self.once_per_path
        )

    def _check_target(self, schema: Schema) -> None:
        """Refuse a classification criterion for a numeric target, and the reverse."""
        if schema.is_regression != (self.criterion is Criterion.SQUARED_ERROR):
            numeric = ("numeric", "'squared_error'")
            target, expected = numeric if schema.is_regression else ("categorical", "'entropy', for example")
            raise ParameterError(
                f"criterion={self.criterion.value!r}, and the target is {target}; expected criterion={expected}."
            )
        if schema.is_regression and self.missing is Missing.FRACTIONAL:
            raise ParameterError(
                "missing='fractional' shares out rows of classes, and the target is numeric; expected 'own' or "
                "'learned'. Choose one of these."
            )

    def _growth_spec(self, schema: Schema, bins: Bins, rules: Rules) -> GrowthSpec:
        if schema.n_classes > _MOST_CLASSES:
            raise DataError(
                f"The target has {schema.n_classes:,} classes; at most {_MOST_CLASSES:,} are supported. "
                "Merge the rare ones, or fit a regression tree if the target is numeric."
            )
        nominal, monotone = bins.nominal.astype(np.uint8), monotone_array(self.monotone, schema)
        gaps = bins.cell_values() if self.criterion is Criterion.GAIN_RATIO else None
        kind = "entropy" if self.criterion is Criterion.GAIN_RATIO else self.criterion.value
        n_classes = 1 if schema.is_regression else schema.n_classes
        paths = self.path_rules(schema)
        return GrowthSpec.of(bins.n_codes, nominal, monotone, gaps, n_classes, CRITERIA[kind], rules, paths)

    def _regression_rules(self, table: Table, target: NumericTarget) -> Rules:
        total = table.n_rows if table.weight is None else int(table.weight.sum())
        rules = self._rules(self.missing, table.unit, total, table.n_rows, in_memory.n_copies(table))
        rules.numerator_unit = target.unit
        rules.rounding = NumericTarget.rounding(table.weight, table.unit)
        return rules

    def _rules(
        self, missing: Missing, unit: float, total_weight: int, total_rows: int, copies: int | None = None
    ) -> Rules:
        """Return the rules for the kernels.

        With whole weights, which count a row several times, `copies` is the number of rows before class weights.
        """
        rules = Rules()
        rules.nominal = getattr(subtree.Nominal, self.nominal)
        rules.missing = getattr(subtree.Missing, missing)
        rules.gain_ratio = self.criterion is Criterion.GAIN_RATIO
        rules.corrected = self.corrected and not rules.gain_ratio
        rules.min_rows_split = self.min_samples_split
        rules.min_rows_leaf = self.min_samples_leaf
        rules.min_rows_missing = max(self.min_samples_missing - 1e-6, 0.0)
        rules.min_weight_leaf = max(
            ceil((self.min_weight_leaf - 1e-6) / unit), ceil(self.min_weight_fraction_leaf * total_weight), 0
        )
        rules.max_depth = min(self.max_depth or _UNLIMITED, _UNLIMITED)
        rules.min_decrease = self.min_impurity_decrease
        rules.unit = unit
        rules.total_weight = total_weight
        rules.total_rows = total_rows
        independent = (total_rows if copies is None else copies) / self.design_effect
        rules.rows_per_step = independent / max(total_weight, 1)
        # Weights that do not count copies are relative: the size of a category is then its number of rows.
        rules.rows_per_row = independent / max(total_rows, 1) if copies is None else 0.0
        rules.max_features = self.max_features or 0
        return rules

    def _build_tree(
        self,
        nodes: Nodes,
        bins: Bins,
        schema: Schema,
        unit: float | Floats,
        thresholds: Mapping[int, float],
        squares: Counts | None = None,
    ) -> Tree:
        at_values = self.criterion is Criterion.GAIN_RATIO
        tree = build_tree(
            nodes, bins, schema, unit, self._step(), squares, at_values=at_values, thresholds=thresholds
        )
        return self._limit_leaves(tree)

    def _limit_leaves(self, tree: Tree) -> Tree:
        return tree if self.max_leaf_nodes is None else keep_best_leaves(tree, self.max_leaf_nodes)

    def _step(self) -> Step:
        """Return the parameters as an entry of the tree's history, without constraints that are not set."""
        values = {name: getattr(self, name) for name in self.__slots__}
        plain = {name: value.value if isinstance(value, StrEnum) else value for name, value in values.items()}
        return Step.of(
            "grow", **{name: value for name, value in plain.items() if name not in _UNSET or value}
        )
