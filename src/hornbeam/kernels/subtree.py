"""The growing kernels: a subtree from a range of rows, and its steps one by one.

Rows are parallel arrays: ``codes`` [n, F] (``uint8`` or ``uint16``), ``label`` (``uint16``) and ``weight`` (``int64``,
or None where every row has weight 1). For regression ``label`` is empty and ``numerator`` (``int64``) is summed; the
weight is the denominator. ``grow`` and ``partition`` reorder the rows.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import inf
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.errors import DataError
from hornbeam.kernels import _native
from hornbeam.kernels.route import Slots, narrow_slots
from hornbeam.typing import Codes, Counts, Floats, Indices

type Cells = NDArray[np.int32] | NDArray[np.int64]

Columns = _native.Columns
Missing = _native.Missing
Nominal = _native.Nominal
PathRules = _native.PathRules
Rules = _native.Rules
child_key = _native.child_key

_MOST = 2**50  # maximum weight of a row, in steps
_WRONG_ROWS = "the coded rows do not fit the bins"
_DELETE = "If they come from a cache, delete it: it was changed."
CRITERIA = {"entropy": 0, "gini": 1, "hellinger": 2, "squared_error": 3, "poisson": 4, "gamma": 5}
_COUNTS, _WEIGHTS, _SUMS, _RATIOS = range(4)  # kinds of cells


class Rows(NamedTuple):
    """Encoded rows: parallel arrays."""

    codes: Codes
    label: NDArray[np.uint16]
    weight: Counts | None
    numerator: Counts | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    def take(self, selected: NDArray[Any] | slice) -> "Rows":
        """Return some rows: views of a slice, copies otherwise."""
        return Rows(
            self.codes[selected],
            self.label if self.numerator is not None else self.label[selected],
            None if self.weight is None else self.weight[selected],
            None if self.numerator is None else self.numerator[selected],
        )


class GrowthSpec(NamedTuple):
    """Columns, split criterion and rules of growing."""

    columns: Columns
    criterion: int
    rules: Rules
    nominal: NDArray[np.uint8]
    monotone: NDArray[np.int8] | None
    offsets: Counts
    n_cells: int
    n_classes: int
    value: Floats | None = None
    paths: PathRules | None = None
    position: Indices | None = None
    reliability: Floats | None = None

    @classmethod
    def of(
        cls,
        n_codes: Indices,
        nominal: NDArray[np.uint8],
        monotone: NDArray[np.int8] | None,
        value: Floats | None,
        n_classes: int,
        criterion: int,
        rules: Rules,
        paths: PathRules | None = None,
        position: Indices | None = None,
        reliability: Floats | None = None,
    ) -> Self:
        """Check the columns; each has a cell per code, the missing code included."""
        columns = Columns(n_codes, nominal, monotone, value, n_classes, position, reliability)
        offsets = np.concatenate([[0], np.cumsum(n_codes + 1, dtype=np.int64)])
        n_cells = int(offsets[-1])
        return cls(
            columns,
            criterion,
            rules,
            nominal,
            monotone,
            offsets,
            n_cells,
            n_classes,
            value,
            paths,
            position,
            reliability,
        )

    @property
    def sums(self) -> bool:
        """Whether rows carry numerators instead of classes."""
        return self.criterion >= CRITERIA["squared_error"]

    @property
    def needs_variance(self) -> bool:
        """Whether the choice of a split needs the target variance of the node."""
        return self.sums and self.rules.corrected

    @property
    def n_channels(self) -> int:
        """Columns of a node's evidence: the classes; or weight and sum."""
        return 2 if self.sums else self.n_classes

    @property
    def bounds(self) -> tuple[float, float]:
        """Bounds of the probability of the second class, or of a mean, without constraints."""
        return (-inf, inf) if self.sums else (0.0, 1.0)

    @property
    def n_codes(self) -> Indices:
        """Number of codes per feature, without the missing code."""
        return (np.diff(self.offsets) - 1).astype(np.int32)

    def with_order(self, position: Indices, reliability: Floats) -> Self:
        """Return the spec with an order of categories: their positions, and a factor of gains for each feature.

        The position of a category that does not occur is -1, like the factor of a feature whose categories each node
        orders by itself.
        """
        given = (*self._plain, position, reliability)
        return self.of(*given)

    def some(self, first: int, last: int) -> Self:
        """Return the spec of the features from ``first`` up to ``last`` alone, without rules of paths."""
        monotone = None if self.monotone is None else self.monotone[first:last]
        value = None if self.value is None else self.value[self.offsets[first] : self.offsets[last]]
        n_codes, nominal = self.n_codes[first:last], self.nominal[first:last]
        position = None if self.position is None else self.position[self.offsets[first] : self.offsets[last]]
        reliability = None if self.reliability is None else self.reliability[first:last]
        common = (self.n_classes, self.criterion, self.rules, None, position, reliability)
        return self.of(n_codes, nominal, monotone, value, *common)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as plain arrays; the columns are checked again when they are loaded."""
        return self.of, (*self._plain, self.position, self.reliability)

    @property
    def _plain(self) -> tuple[Any, ...]:
        """The arguments of `of`, without the order of categories."""
        columns = (self.n_codes, self.nominal, self.monotone, self.value, self.n_classes)
        return (*columns, self.criterion, self.rules, self.paths)


class NodeRange(NamedTuple):
    """A node's rows [begin, end), depth, bounds from monotone constraints, and key of its feature sampling.

    ``path`` are the features that split its ancestors, in any order; repetitions do not matter.
    """

    begin: int
    end: int
    depth: int = 0
    lower: float = 0.0
    upper: float = 1.0
    key: int = 0
    path: tuple[int, ...] = ()

    @classmethod
    def root(cls, n_rows: int, spec: GrowthSpec, key: int = 0) -> Self:
        """Return the range of all rows."""
        return cls(0, n_rows, 0, *spec.bounds, key)


class Nodes(NamedTuple):
    """Grown nodes: parents before children, siblings in slot order."""

    parent: Indices
    slot: Indices
    feature: Indices
    left: Indices
    right: Indices
    missing_slot: Indices
    gain: Floats
    rows: Counts
    evidence: Counts
    map_start: Counts
    map: Slots


def join_nodes(trees: Sequence[Nodes]) -> Nodes:
    """Put the nodes of several trees one after the other."""
    if len(trees) == 1:
        return trees[0]
    begins = np.cumsum([0, *(len(nodes.parent) for nodes in trees)])
    maps = np.cumsum([0, *(len(nodes.map) for nodes in trees)])
    joined = {name: np.concatenate([getattr(nodes, name) for nodes in trees]) for name in Nodes._fields}
    tree = np.repeat(np.arange(len(trees)), np.diff(begins))
    for name, offset in (("parent", begins), ("map_start", maps)):
        joined[name] = np.where(joined[name] < 0, -1, joined[name] + offset[tree]).astype(joined[name].dtype)
    return Nodes(**joined)


class Split(NamedTuple):
    """A split: the slot of each code of one feature, the missing code last."""

    feature: int
    gain: float
    left: int
    right: int
    missing_slot: int
    n_slots: int
    slot_of: Indices

    def summed(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Add up the numbers of the codes in each slot."""
        present = self.slot_of >= 0
        total = np.zeros((self.n_slots, *numbers.shape[1:]), numbers.dtype)
        np.add.at(total, self.slot_of[present], numbers[present])
        return total


@contextmanager
def as_data_error(what: str = _WRONG_ROWS, remedy: str = _DELETE) -> Iterator[None]:
    """Turn a ValueError of a kernel into a `DataError`: what is wrong, the kernel's reason, what to do."""
    try:
        yield
    except ValueError as error:
        raise DataError(f"{what}: {error}. {remedy}") from error


def check_rows(rows: Rows, spec: GrowthSpec) -> None:
    """Raise `DataError` if a code, a label, a weight or a numeric target is outside its range."""
    with as_data_error():
        _native.check_codes(*rows, spec.columns)
    check_target(rows, spec)
    if rows.weight is not None and rows.n_rows and not 0 <= rows.weight.min() <= rows.weight.max() < _MOST:
        raise DataError(
            "a coded row has a weight out of range; expected 0 to 2**50. If it comes from a cache, delete that: it was "
            "changed."
        )


def check_target(rows: Rows, spec: GrowthSpec) -> None:
    """Raise `DataError` if a numeric target is outside the range of the criterion."""
    least = {CRITERIA["poisson"]: 0, CRITERIA["gamma"]: 1}.get(spec.criterion)
    if least is None or rows.numerator is None:
        return
    if ((rows.numerator < least) & (1 if rows.weight is None else rows.weight > 0)).any():
        name, range_ = ("gamma", "above 0") if least else ("poisson", "of 0 or more")
        raise DataError(
            f"y has values below the range of criterion={name!r}: expected numbers {range_}. Leave out these rows, or "
            "pass criterion='squared_error'."
        )


def grow(rows: Rows, spec: GrowthSpec, node: NodeRange, progress: Counts) -> Nodes:
    """Grow a subtree from the rows of a node; ``progress`` is the array [rows done, stop]."""
    given = (*rows, spec.columns, spec.criterion, spec.rules, *node, spec.paths, progress)
    nodes = Nodes(*_native.grow(*given))
    return nodes._replace(map=narrow_slots(nodes.map))


def grow_each(rows: Rows, specs: Sequence[GrowthSpec], begin: Counts, progress: Counts) -> Nodes:
    """Grow a tree from each run of rows, from ``begin[i]`` up to ``begin[i + 1]``; the nodes of one after the other.

    The specifications have the same codes, classes, criterion and rules of paths. A root has the parent -1.
    """
    first = specs[0]
    columns, rules = [spec.columns for spec in specs], [spec.rules for spec in specs]
    given = (*rows, columns, first.criterion, rules, begin, *first.bounds, first.paths, progress)
    nodes = Nodes(*_native.grow_each(*given))
    return nodes._replace(map=narrow_slots(nodes.map))


class NodeRules(NamedTuple):
    """The rules of paths at one node: 1 for each feature that may split it, and what is to pay for each.

    None: all may, and all are free.
    """

    allowed: NDArray[np.uint8] | None = None
    price: Floats | None = None

    @classmethod
    def of(cls, spec: GrowthSpec, node: NodeRange) -> Self:
        """Return the rules below the splits of the node's ancestors."""
        if spec.paths is None:
            return cls()
        return cls(spec.paths.allowed(node.path), spec.paths.prices(node.path))

    def some(self, first: int, last: int) -> Self:
        """Return those of the features from ``first`` up to ``last``."""
        allowed = None if self.allowed is None else self.allowed[first:last]
        return type(self)(allowed, None if self.price is None else self.price[first:last])


def empty_cells(rows: Rows, spec: GrowthSpec, n_slots: int = 1) -> Cells:
    """Return zeroed cells [slot, feature x code x class]: counts, or pairs of weight and rows.

    For regression [slot, feature x code]: sum and rows; with weights sum, weight and rows.
    """
    return zero_cells(spec, n_slots, weighted=rows.weight is not None)


def zero_cells(spec: GrowthSpec, n_slots: int, *, weighted: bool) -> Cells:
    """Return zeroed cells for rows with or without weights; without, a cell is one int32."""
    if spec.sums:
        return np.zeros(n_slots * spec.n_cells * (3 if weighted else 2), dtype=np.int64)
    if weighted:
        return np.zeros(n_slots * spec.n_cells * spec.n_classes * 2, dtype=np.int64)
    return np.zeros(n_slots * spec.n_cells * spec.n_classes, dtype=np.int32)


def histogram(
    rows: Rows, spec: GrowthSpec, begin: int, end: int, cells: Cells, slots: Indices | None = None
) -> None:
    """Count rows [begin, end) into cells; ``slots`` is the slot of each row, -1: none."""
    _native.histogram(*rows, spec.columns, slots, begin, end, cells)


def target_variance(rows: Rows, spec: GrowthSpec, node: NodeRange) -> float:
    """Return the target variance of a node's rows, for corrected splits in regression; else 0."""
    return variance_of_rows(rows, spec, node.begin, node.end) if spec.needs_variance else 0.0


def variance_of_rows(rows: Rows, spec: GrowthSpec, begin: int, end: int) -> float:
    """Return the variance of a numeric target over a range of rows."""
    assert rows.numerator is not None
    return _native.target_variance(rows.numerator, rows.weight, begin, end, spec.rules)


def best_split(
    cells: Cells,
    spec: GrowthSpec,
    evidence: Counts,
    n_rows: int,
    node: NodeRange | None = None,
    variance: float = 0.0,
) -> Split | None:
    """Find the best split of one node from its cells, evidence, rows, bounds and target variance."""
    node = NodeRange.root(n_rows, spec) if node is None else node
    bounds = (node.lower, node.upper, node.key)
    common = (cell_kind(spec, cells), spec.columns, spec.criterion, spec.rules)
    here = NodeRules.of(spec, node)
    found = _native.best_split(cells, *common, evidence, n_rows, *bounds, variance, *here)
    return None if found is None else Split(*found)


def cell_kind(spec: GrowthSpec, cells: Cells | None = None) -> int:
    """Return the kind of the cells of one node, as a number for the kernels; without cells, that of unweighted rows."""
    if spec.sums:
        return _RATIOS if cells is not None and cells.size == 3 * spec.n_cells else _SUMS
    return _WEIGHTS if cells is not None and cells.dtype == np.int64 else _COUNTS


def channels(cells: Cells, spec: GrowthSpec) -> tuple[Counts, Counts]:
    """Return the evidence and the number of rows per code of every feature, from the cells of one node."""
    if spec.sums:
        sums = cells.reshape(spec.n_cells, -1)
        return sums[:, [1, 0]].astype(np.int64), sums[:, -1].astype(np.int64)
    counts = cells.reshape(spec.n_cells, spec.n_classes, -1)
    return counts[:, :, 0].astype(np.int64), counts[:, :, -1].sum(axis=1, dtype=np.int64)


def children_totals(cells: Cells, split: Split, spec: GrowthSpec) -> tuple[Counts, Counts]:
    """Return the evidence and rows of each child, from the cells of the split's feature."""
    evidence, n_rows = channels(cells, spec)
    mine = slice(*spec.offsets[split.feature : split.feature + 2])
    return split.summed(evidence[mine]), split.summed(n_rows[mine])


def partition(rows: Rows, spec: GrowthSpec, begin: int, end: int, split: Split) -> Counts:
    """Reorder rows so that the rows of each slot are contiguous; return where each slot begins, and the end."""
    starts: Counts = _native.partition(
        *rows, spec.columns, begin, end, split.feature, split.slot_of, split.n_slots
    )
    return starts
