"""Best-first growth of regression trees on gradients, from rows that are encoded once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.encoded_rows import EncodedTable
from hornbeam.errors import ParameterError
from hornbeam.growing.settings import check_monotone, monotone_array
from hornbeam.growing.tree_builder import build_skeletons
from hornbeam.kernels.leafwise import BoostingRows, Gradients, grow_leafwise
from hornbeam.kernels.subtree import Columns, Missing, Nodes, Nominal, Rules, join_nodes
from hornbeam.tree.level_order import level_order
from hornbeam.tree.tree import Tree
from hornbeam.typing import Counts, Floats, Indices

_UNLIMITED = np.iinfo(np.int32).max
_MINIMUM = (("max_leaf_nodes", 2), ("max_depth", 1), ("max_features", 1), ("min_samples_leaf", 1))
_MIN_HESSIAN = 1e-3  # of a leaf: with less, a Newton step is not reliable


class GrownTree(NamedTuple):
    """Nodes of a tree with splits on codes, and the leaf of each row.

    `sums` has the sum of negative gradients and of hessians of each node.
    """

    nodes: Nodes
    node: Indices
    sums: Floats
    unit: Floats

    def newton(self, l2_regularization: float) -> Floats:
        """Return the Newton step of each node: its negative gradients over its hessians plus the regularization."""
        gradient, hessian = self.sums.T
        step: Floats = np.divide(
            gradient, hessian + l2_regularization, out=np.zeros(len(gradient)), where=hessian > 0
        )
        return step

    def without_rows(self) -> Self:
        """Drop the leaf of each row."""
        return self._replace(node=np.empty(0, np.int32))


def build_trees(grown: Sequence[tuple[GrownTree, Floats]], encoded: EncodedTable) -> list[Tree]:
    """Build trees, each from its nodes and their predictions; all at once, which takes less time than one by one."""
    if not grown:
        return []
    nodes, beliefs = join_nodes([one.nodes for one, _ in grown]), [belief for _, belief in grown]
    begins = np.cumsum([0, *map(len, beliefs)])
    order = level_order(nodes.parent, nodes.slot)
    order = order[np.argsort(np.searchsorted(begins, order, side="right"), kind="stable")]
    skeletons = build_skeletons(nodes, encoded.bins, order, begins)
    arrays = {
        "evidence": np.column_stack([nodes.evidence, np.zeros(len(order), np.int64)])[order],
        "rows": nodes.rows[order],
        "gain": nodes.gain[order],
        "belief": np.concatenate(beliefs)[order, None],
        "borrowed": np.zeros(len(order)),
    }
    for array in arrays.values():
        array.flags.writeable = False
    # The kernel keeps the invariants; a step of a loss may be infinite, which the check reports.
    make: Callable[..., Tree] = Tree._unchecked if np.isfinite(arrays["belief"]).all() else Tree
    return [
        make(
            schema=encoded.table.schema,
            skeleton=skeleton,
            unit=one.unit,
            history=(),
            **{name: array[begin:end] for name, array in arrays.items()},
        )
        for (one, _), skeleton, (begin, end) in zip(grown, skeletons, pairwise(begins.tolist()), strict=True)
    ]


class LeafwiseTerms(NamedTuple):
    """What all trees of some rows share: the encoded rows, and the rules without the units of a tree."""

    rows: BoostingRows
    rules: Rules


@dataclass(frozen=True, slots=True)
class Leafwise:
    """Parameters and procedure of growing a tree best first on gradients.

    Parameters
    ----------
    max_leaf_nodes : int or None, default 31
        Maximum number of leaves; None: no limit.
    max_depth : int or None, default None
        Maximum depth of the tree; None: no limit.
    min_samples_leaf : int, default 20
        Minimum number of rows of each child; with whole weights a row of weight 2 counts twice.
    l2_regularization : float, default 0.0
        Added to the sum of hessians of every node.
    max_features : int or None, default None
        Number of features that a node tries, drawn anew for each node; None: all.
    monotonic_cst : tuple of int or None, default None
        For each feature +1 where the prediction must not fall as it rises, -1 where it must not rise, 0 elsewhere.
    corrected : bool, default True
        Whether features are compared by S-values (`Grower`), if a nominal feature has more than two categories.

    Examples
    --------
    >>> Leafwise(max_leaf_nodes=1)
    Traceback (most recent call last):
        ...
    hornbeam.errors.ParameterError: max_leaf_nodes=1: expected a whole number of at least 2.
    """

    max_leaf_nodes: int | None = 31
    max_depth: int | None = None
    min_samples_leaf: int = 20
    l2_regularization: float = 0.0
    max_features: int | None = None
    monotonic_cst: tuple[int, ...] | None = None
    corrected: bool = True

    def __post_init__(self) -> None:
        for name, least in _MINIMUM:
            value = getattr(self, name)
            if value is not None and value < least:
                raise ParameterError(f"{name}={value}: expected a whole number of at least {least}.")
        if not 0.0 <= self.l2_regularization < np.inf:
            raise ParameterError(
                f"l2_regularization={self.l2_regularization}: expected a number of at least 0.0."
            )
        check_monotone(self.monotonic_cst)

    def terms(self, encoded: EncodedTable) -> LeafwiseTerms:
        """Return what all trees of some rows share; the codes must not change from then on."""
        rules = Rules()
        rules.nominal, rules.missing = Nominal.subset, Missing.learned
        rules.min_rows_leaf = self.min_samples_leaf
        rules.max_depth = min(self.max_depth or _UNLIMITED, _UNLIMITED)
        rules.max_features = self.max_features or 0
        rules.ridge = self.l2_regularization
        rules.rounding = 0.5
        rules.corrected = self.corrected and bool((encoded.bins.n_codes[encoded.bins.nominal] > 2).any())
        rules.rows_per_row = 1.0
        bins, monotone = encoded.bins, monotone_array(self.monotonic_cst, encoded.table.schema)
        columns = Columns(bins.n_codes, bins.nominal.astype(np.uint8), monotone, None, 1)
        return LeafwiseTerms(BoostingRows(encoded.codes, columns), rules)

    def grow(
        self,
        terms: LeafwiseTerms,
        gradients: Gradients,
        order: NDArray[np.int32] | None,
        n_sampled: int,
        key: int,
        n_jobs: int = 1,
    ) -> GrownTree:
        """Grow a tree from the first `n_sampled` rows of `order`, None for all rows.

        The other rows are only sent to their leaves. `order` is reordered in place.
        """
        sampled = slice(None) if order is None else order[:n_sampled]
        dispersion = _dispersion(gradients, sampled) if terms.rules.corrected else 0.0
        nodes, node = grow_leafwise(
            terms.rows,
            gradients,
            order,
            n_sampled,
            terms.rules,
            _MIN_HESSIAN,
            dispersion,
            self.max_leaf_nodes,
            key,
            n_jobs,
        )
        unit = np.array([1 / gradients.denominator_scale, 1 / gradients.numerator_scale, 1.0])
        return GrownTree(nodes, node, nodes.evidence[:, ::-1] * unit[1::-1], unit)


def _dispersion(gradients: Gradients, rows: NDArray[np.int32] | slice) -> float:
    """Mean square of the gradients over the mean hessian: the variance that the S-values assume.

    The sums are rounded to integer steps, so that they do not depend on the order of the rows.
    """
    gradient = gradients.numerator[rows]
    times = (
        np.ones(len(gradient), np.int64)
        if gradients.times is None
        else gradients.times[rows].astype(np.int64)
    )
    largest = max(float(gradient.max()), -float(gradient.min()), np.finfo(float).tiny)
    squares = _sum(np.square(gradient / largest), times) * largest * largest
    hessians = (
        float(times.sum()) if gradients.denominator is None else _sum(gradients.denominator[rows], times)
    )
    tiny = np.finfo(float).tiny
    return max(squares, tiny) / max(hessians, tiny)


def _sum(values: Floats, times: Counts) -> float:
    """Sum of values times their counts, rounded to steps so small that the order of the values does not matter."""
    largest, n = float(values.max()), max(int(times.sum()), 1)
    scale = 2.0**61 / n / largest if largest > 0 else 1.0
    return int((np.rint(values * scale).astype(np.int64) * times).sum()) / scale
