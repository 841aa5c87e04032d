"""The grower: parameters, and the one way from coded rows to a tree."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from math import ceil, inf
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.binning.bins import Bins
from hornbeam.data.encoded_rows import EncodedSource
from hornbeam.data.engine import Engine
from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.schema import Kind, Schema
from hornbeam.data.table import Table
from hornbeam.data.weights import apply_class_weight
from hornbeam.errors import DataError, ParameterError
from hornbeam.growing.criterion import Criterion, Missing, Nominal
from hornbeam.growing.encoded_table import EncodedTable
from hornbeam.growing.in_memory import grow_in_memory
from hornbeam.growing.levelwise.pass_report import PassReport
from hornbeam.growing.progress import Watch
from hornbeam.growing.tree_builder import build_regression_tree, build_tree
from hornbeam.kernels import subtree
from hornbeam.kernels.subtree import CRITERIA, GrowthSpec, Nodes, Rows, Rules
from hornbeam.tree.edit import recount
from hornbeam.tree.leaf_budget import keep_best_leaves
from hornbeam.tree.tree import Step, Tree
from hornbeam.typing import Codes, Floats

__all__ = ["Grower"]

_UNLIMITED = np.iinfo(np.int32).max
_MOST_CLASSES = 65_535
_KINDS: dict[str, type[StrEnum]] = {"criterion": Criterion, "nominal": Nominal, "missing": Missing}
_RANGES = (
    ("max_depth", 1, inf),
    ("max_leaf_nodes", 2, inf),
    ("max_features", 1, inf),
    ("min_samples_split", 2, inf),
    ("min_samples_leaf", 1, inf),
    ("min_weight_leaf", 0, inf),
    ("min_weight_fraction_leaf", 0, 0.5),
    ("min_impurity_decrease", 0, inf),
    ("design_effect", 1, inf),
)
_FRACTION_BITS = 48  # fractional rows: total weight is about 2**48 steps


def _member(kind: type[StrEnum], name: str, value: str) -> StrEnum:
    """Return the member that may be spelled out."""
    try:
        return kind(value)
    except ValueError:
        known = ", ".join(repr(one.value) for one in kind)
        raise ParameterError(f"{name}={value!r}: expected one of {known}.") from None


@dataclass(frozen=True, slots=True)
class Grower:
    """How a tree is grown.

    Parameters
    ----------
    criterion : Criterion or str
        What a split is worth.
    nominal : Nominal or str
        How nominal features split.
    missing : Missing or str
        Where rows go whose tested value is missing.
    max_depth : int or None
        Largest number of tests on a path from the root to a leaf. None: no limit.
    min_samples_split, min_samples_leaf : int
        Rows a node must hold to be split, and each child after it. Multiway tests need two such children.
    min_weight_leaf : float
        Weight each child must hold (C4.5's minimum number of objects).
    min_weight_fraction_leaf : float
        Share of all weight each child must hold.
    min_impurity_decrease : float
        Gain times the node's share of all weight must reach this.
    max_leaf_nodes : int or None
        Largest number of leaves; the splits with the largest gain are kept. None: no limit.
    monotone : tuple of int or None
        For two classes: +1 where the second class's probability must not fall as the feature rises, -1 where
        it must not rise, 0 elsewhere. For a numeric target the same of its mean.
    max_features : int or None
        Features a node looks at, drawn anew for each node from the key that `grow` is given; more, one at a time,
        while none of them offers a split. None: all.
    corrected : bool
        Whether features are compared by the S-values of their best splits instead of the gains. An S-value is -log2 of
        the probability that a search over as many cuts or subsets gains as much by chance, so that features with many
        values have no advantage. C4.5's gain ratio has a correction of its own and ignores this.
    design_effect : float
        How many rows of weight 1 count as one independent row: above 1 where rows are drawn with replacement. Only the
        correction needs it.

    Notes
    -----
    Ties go to the feature that stands first and to its lowest cut. All sums are integers: neither the order
    of rows nor the number of threads or partitions can change the tree.

    Within a feature the split of the largest gain is taken; the correction decides between features, and between the
    ways to treat missing values. Where the best S-value is below log2 of the number of features, which chance alone
    reaches, the search among up to five categories costs nothing.

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
    min_weight_leaf: float = 0.0
    min_weight_fraction_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    max_leaf_nodes: int | None = None
    monotone: tuple[int, ...] | None = None
    max_features: int | None = None
    corrected: bool = False
    design_effect: float = 1.0

    def __post_init__(self) -> None:
        for name, kind in _KINDS.items():
            object.__setattr__(self, name, _member(kind, name, getattr(self, name)))
        for name, least, most in _RANGES:
            value = getattr(self, name)
            if value is None and name.startswith("max"):
                continue
            if not least <= value <= most:
                expected = f"of at least {least}" if most == inf else f"from {least} to {most}"
                unlimited = ", or None for no limit" if name.startswith("max") else ""
                raise ParameterError(
                    f"{name}={value}: expected a number {expected}{unlimited}. "
                    f"Pass {name}={least} for the smallest."
                )
        if self.monotone is not None and any(sign not in (-1, 0, 1) for sign in self.monotone):
            raise ParameterError(
                f"monotone={self.monotone}: expected for each feature 1 (rises), -1 (falls) or 0 (free). "
                "Pass None for no constraints."
            )

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
            Rows with their target; class weights change the search only, not the evidence. An encoded table stays as
            it is: its codes are copied before they are reordered.
        bins : Bins, optional
            Bin edges and category codes; not given with an encoded table.
        codes : array, optional
            ``bins.encode(table)``, if it was computed before; its rows are reordered.
        n_jobs : int
            Threads; the tree does not depend on them.
        key : int
            Which features the nodes draw, with `max_features`: 64 bits, `hornbeam.kernels.subtree.child_key` of a seed
            and the number of the tree, say.
        on_progress : callable or None
            Called about ten times a second with the number of rows that have reached their leaf.

        Returns
        -------
        Tree
            With the evidence of the rows, each at its own weight, and raw frequencies for belief.
        """
        if isinstance(table, EncodedTable):
            bins, codes, table = table.bins, table.codes.copy(), table.table
        elif bins is None:
            raise ParameterError("bins=None: expected the bins of the table. Pass them, or an EncodedTable.")
        elif codes is not None:
            EncodedTable(table, bins, codes)  # checks the codes
        self._check_target(table.schema)
        if codes is None:
            codes = bins.encode(table, n_jobs)
        weight, unit = None if table.weight is None else table.weight.copy(), table.unit
        if table.numeric_target is not None:
            rows = Rows(codes, np.empty(0, np.uint16), weight, table.numeric_target.numerators(weight, unit))
            terms = self._terms(table.schema, bins, self._sum_rules(table, table.numeric_target))
            nodes = grow_in_memory(rows, terms, n_jobs, Watch(on_progress), key)
            return self._cut_back(build_regression_tree(nodes, bins, table, self._step()))
        assert table.target is not None
        if table.class_weight is not None:
            weight, unit = apply_class_weight(weight, unit, table.class_weight, table.target)
        rows, missing = Rows(codes, table.target.astype(np.uint16), weight), self.missing
        if missing is Missing.FRACTIONAL:
            if (codes == bins.n_codes).any():
                self._refuse_shared_constraints()
                rows, unit = _finer(rows, unit)
            else:
                missing = Missing.OWN
        total = table.n_rows if rows.weight is None else int(rows.weight.sum())
        rules = self._rules(missing, unit, total, table.n_rows, _copies(table))
        terms = self._terms(table.schema, bins, rules)
        nodes = grow_in_memory(rows, terms, n_jobs, Watch(on_progress), key)
        tree = self._finish(nodes, bins, table.schema, unit)
        if table.class_weight is None:
            return tree
        return recount(tree, table, Step.of("recount", class_weight=tuple(table.class_weight.tolist())))

    def grow_by_level(
        self,
        source: EncodedSource,
        bins: Bins,
        schema: Schema,
        engine: Engine,
        *,
        unit: float = 1.0,
        class_weight: Floats | None = None,
        home_rows: int | None = None,
        budget: int = 2**28,
        checkpoint: str | PathLike[str] | None = None,
        on_progress: Callable[[PassReport], None] | None = None,
    ) -> Tree:
        """Grow the same tree from sums alone, through an engine.

        Parameters
        ----------
        source : EncodedSource
            Units of coded rows.
        bins : Bins
            The bins the rows were coded with.
        schema : Schema
            What the columns and the classes are.
        engine : Engine
            Where the work runs.
        unit : float
            What one step of the rows' weight is worth.
        class_weight : array of shape (n_classes,), optional
            A factor for each class, as a table has them; they steer the search, and only that.
        home_rows : int, optional
            Nodes of at most this many rows are finished by the local kernel, where their rows are brought
            together. Default: of as many rows as take a quarter of `budget`, if the node may still grow four
            levels; for fewer, counting is cheaper than moving. All rows, if they fit.
        budget : int, default 2**28
            Bytes of cells that a task may hold, and of rows that are brought together for each of the engine's
            tasks. The tree does not depend on it.
        checkpoint : path, optional
            Where the tree so far is kept after every pass. If the file is there, growing goes on from it; it is
            deleted when the tree is done.
        on_progress : callable, optional
            Told about every `PassReport` once it is over.

        Returns
        -------
        Tree
            The tree `grow` would have grown from the same rows.

        Raises
        ------
        ParameterError
            If the checkpoint belongs to other data or parameters.
        StorageError
            If the file is no sound checkpoint.
        """
        # Only those whose rows are elsewhere wait for it.
        from hornbeam.growing.levelwise.checkpoint import Checkpoint
        from hornbeam.growing.levelwise.class_weighted import ClassWeightedSource
        from hornbeam.growing.levelwise.first_pass import summarise_rows
        from hornbeam.growing.levelwise.frontier import PassBudget
        from hornbeam.growing.levelwise.phase import LevelPhase
        from hornbeam.growing.recount import count_encoded

        self._check_level_phase(schema, budget, home_rows)
        terms = self._terms(schema, bins, Rules())
        found, rows, worth = summarise_rows(source, terms, engine), source, unit
        copies = int(found.counts.sum()) if unit == 1.0 else None
        if class_weight is not None:
            rows = ClassWeightedSource.of(source, unit, class_weight, found, engine)
            found, worth = summarise_rows(rows, terms, engine), rows.unit
        total = int(found.counts.sum())
        terms = terms._replace(rules=self._rules(self.missing, worth, total, found.n_rows, copies))
        kept = None
        if checkpoint is not None:
            kept = Checkpoint.of(checkpoint, source, bins, schema, unit, class_weight, self._step())
        phase = LevelPhase(rows, terms, engine, PassBudget(found, budget, home_rows), kept, on_progress)
        tree = self._finish(phase.grow(), bins, schema, worth)
        if class_weight is not None:
            step = Step.of("recount", class_weight=tuple(class_weight.tolist()))
            tree = count_encoded(tree, source, bins, engine, unit=unit, step=step)
        if kept is not None:
            kept.remove()
        return tree

    def _check_target(self, schema: Schema) -> None:
        """Refuse a criterion for classes where the target is a number, and the other way round."""
        if schema.is_regression != (self.criterion is Criterion.SQUARED_ERROR):
            target, expected = (
                ("numeric", "'squared_error'") if schema.is_regression else ("of classes", "'entropy', say")
            )
            raise ParameterError(
                f"criterion={self.criterion.value!r}, and the target is {target}; expected criterion={expected}."
            )
        if schema.is_regression and self.missing is Missing.FRACTIONAL:
            raise ParameterError(
                "missing='fractional' shares out rows of classes, and the target is numeric; expected 'own' or "
                "'learned'. Choose one of these."
            )

    def _check_level_phase(self, schema: Schema, budget: int, home_rows: int | None) -> None:
        self._check_target(schema)
        if schema.is_regression or self.max_features is not None:
            what = "a numeric target" if schema.is_regression else f"max_features={self.max_features}"
            raise ParameterError(
                f"growing level by level does not know {what}; expected classes, and all features. Grow at home, or on "
                "a sample that fits memory."
            )
        if self.missing is Missing.FRACTIONAL:
            raise ParameterError(
                "missing='fractional' needs all rows in one place; expected 'own' or 'learned' here. "
                "Choose one of these, or grow at home."
            )
        if budget < 1:
            raise ParameterError(f"budget={budget}: expected a number of bytes, such as {2**28}.")
        if home_rows is not None and home_rows < 0:
            raise ParameterError(
                f"home_rows={home_rows}: expected a number of rows of 0 or more. Pass None for the default."
            )

    def _refuse_shared_constraints(self) -> None:
        """Rows shared out over the branches mix them: the bounds a constraint sets would no longer hold."""
        if self.monotone is not None and any(self.monotone):
            raise ParameterError(
                "Monotone constraints do not hold for missing='fractional' where values are missing: "
                "expected missing='own' or 'learned', or no constraints."
            )

    def _terms(self, schema: Schema, bins: Bins, rules: Rules) -> GrowthSpec:
        if schema.n_classes > _MOST_CLASSES:
            raise DataError(
                f"The target has {schema.n_classes:,} classes; at most {_MOST_CLASSES:,} are supported. "
                "Merge the rare ones; a target that measures rather than names needs a regression tree."
            )
        nominal, monotone = bins.nominal.astype(np.uint8), self.signs(schema)
        gaps = bins.cell_values() if self.criterion is Criterion.GAIN_RATIO else None
        kind = "entropy" if self.criterion is Criterion.GAIN_RATIO else self.criterion.value
        n_classes = 1 if schema.is_regression else schema.n_classes
        return GrowthSpec.of(bins.n_codes, nominal, monotone, gaps, n_classes, CRITERIA[kind], rules)

    def _sum_rules(self, table: Table, measured: NumericTarget) -> Rules:
        total = table.n_rows if table.weight is None else int(table.weight.sum())
        rules = self._rules(self.missing, table.unit, total, table.n_rows, _copies(table))
        rules.numerator_unit = measured.unit
        rules.rounding = 0.0 if table.weight is None or table.unit == 1.0 else 0.5
        return rules

    def _rules(
        self, missing: Missing, unit: float, total_weight: int, total_rows: int, copies: int | None = None
    ) -> Rules:
        """What the kernels go by; `copies`: rows before class weights, where whole weights are copies of rows."""
        rules = Rules()
        rules.nominal = getattr(subtree.Nominal, self.nominal)
        rules.missing = getattr(subtree.Missing, missing)
        rules.gain_ratio = self.criterion is Criterion.GAIN_RATIO
        rules.corrected = self.corrected and not rules.gain_ratio
        rules.min_rows_split = self.min_samples_split
        rules.min_rows_leaf = self.min_samples_leaf
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
        # Weights that are no copies say how much rows count beside each other: categories are sized by rows.
        rules.rows_per_row = independent / max(total_rows, 1) if copies is None else 0.0
        rules.max_features = self.max_features or 0
        return rules

    def signs(self, schema: Schema) -> NDArray[np.int8] | None:
        """The monotone constraints as the kernels want them; None if there are none."""
        if self.monotone is None or not any(self.monotone):
            return None
        if schema.n_classes != 2 and not schema.is_regression:
            raise ParameterError(
                f"monotonic_cst is about the probability of the second of two classes; found "
                f"{schema.n_classes} classes. Leave it out, or train a tree for each class against the rest."
            )
        if len(self.monotone) != schema.n_features:
            raise ParameterError(
                f"monotonic_cst has {len(self.monotone)} entries for {schema.n_features} features; expected "
                "one each. Pass a dict from feature names to leave out those that are free."
            )
        for sign, feature in zip(self.monotone, schema.features, strict=True):
            if sign and feature.kind is Kind.NOMINAL:
                raise ParameterError(
                    f"monotonic_cst constrains {feature.name!r}, which is nominal; expected features with an "
                    "order. Make it an ordered category, or leave it free (0)."
                )
        return np.array(self.monotone, dtype=np.int8)

    def _finish(self, nodes: Nodes, bins: Bins, schema: Schema, unit: float) -> Tree:
        at_values = self.criterion is Criterion.GAIN_RATIO
        return self._cut_back(build_tree(nodes, bins, schema, unit, self._step(), at_values=at_values))

    def _cut_back(self, tree: Tree) -> Tree:
        return tree if self.max_leaf_nodes is None else keep_best_leaves(tree, self.max_leaf_nodes)

    def _step(self) -> Step:
        """Write the grower as a line of history, its choices as plain words."""
        values = [getattr(self, name) for name in self.__slots__]
        plain = [value.value if isinstance(value, StrEnum) else value for value in values]
        return Step("grow", tuple(zip(self.__slots__, plain, strict=True)))


def _copies(table: Table) -> int | None:
    """How many rows there are, one of weight 2 twice; None where weights are not whole."""
    if table.unit != 1.0:
        return None
    return table.n_rows if table.weight is None else int(table.weight.sum())


def _finer(rows: Rows, unit: float) -> tuple[Rows, float]:
    """Weights in steps small enough to be shared out again and again."""
    weight = np.ones(len(rows.label), dtype=np.int64) if rows.weight is None else rows.weight
    shift = max(0, _FRACTION_BITS - int(weight.max() * len(weight)).bit_length())
    return rows._replace(weight=weight << shift), unit / (1 << shift)
