"""Best-first growth of regression trees on gradients, from rows that are encoded once."""

from copy import copy
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.encoded_rows import EncodedTable
from hornbeam.errors import ParameterError
from hornbeam.growing.settings import check_monotone, monotone_array
from hornbeam.growing.tree_builder import build_skeleton
from hornbeam.kernels.leafwise import Gradients, grow_leafwise
from hornbeam.kernels.subtree import CRITERIA, GrowthSpec, Missing, Nodes, Nominal, Rules
from hornbeam.tree.level_order import level_order
from hornbeam.tree.tree import Tree
from hornbeam.typing import Counts, Floats, Indices

_UNLIMITED = np.iinfo(np.int32).max
_MINIMUM = (("max_leaf_nodes", 2), ("max_depth", 1), ("max_features", 1), ("min_samples_leaf", 1))
_MIN_HESSIAN = 1e-3  # of a leaf: with less, a Newton step is not reliable
_MAX_STEPS = 2.0**61  # twice this still fits 64 bits


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

    def tree(self, belief: Floats, encoded: EncodedTable) -> Tree:
        """Build the tree that predicts these numbers, one per node."""
        nodes, n_nodes = self.nodes, len(belief)
        order = level_order(nodes.parent, nodes.slot)
        # The kernel keeps the invariants; a step of a loss may be infinite, which the check reports.
        make = Tree._unchecked if np.isfinite(belief).all() else Tree
        return make(
            schema=encoded.table.schema,
            skeleton=build_skeleton(nodes, encoded.bins, order),
            evidence=np.column_stack([nodes.evidence[order], np.zeros(n_nodes, np.int64)]),
            unit=self.unit,
            rows=nodes.rows[order],
            gain=nodes.gain[order],
            belief=belief[order, None],
            borrowed=np.zeros(n_nodes),
            history=(),
        )


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

    def terms(self, encoded: EncodedTable) -> GrowthSpec:
        """Return the specification that all trees share; `grow` adds the units of each tree."""
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
        criterion = CRITERIA["squared_error"]
        return GrowthSpec.of(bins.n_codes, bins.nominal.astype(np.uint8), monotone, None, 1, criterion, rules)

    def grow(
        self,
        encoded: EncodedTable,
        spec: GrowthSpec,
        gradients: Gradients,
        order: NDArray[np.int32],
        n_sampled: int,
        key: int,
        n_jobs: int = 1,
    ) -> GrownTree:
        """Grow a tree from the first `n_sampled` rows of `order`.

        The other rows are only sent to their leaves. `order` is reordered in place.
        """
        rules = copy(spec.rules)  # the specification is shared by all trees
        rules.numerator_unit, rules.unit = 1 / gradients.numerator_scale, 1 / gradients.denominator_scale
        rules.min_weight_leaf = max(1, ceil(min(_MIN_HESSIAN / rules.unit, _MAX_STEPS)))
        if rules.corrected:
            rules.dispersion = _dispersion(gradients, order[:n_sampled])
        spec = spec._replace(rules=rules)
        nodes, node = grow_leafwise(
            encoded.codes, gradients, order, n_sampled, spec, self.max_leaf_nodes, key, n_jobs
        )
        unit = np.array([rules.unit, rules.numerator_unit, 1.0])
        return GrownTree(nodes, node, nodes.evidence[:, ::-1] * unit[1::-1], unit)


def _dispersion(gradients: Gradients, rows: NDArray[np.int32]) -> float:
    """Mean square of the gradients over the mean hessian: the variance that the S-values assume.

    The sums are rounded to integer steps, so that they do not depend on the order of the rows.
    """
    times = (
        np.ones(len(rows), np.int64) if gradients.times is None else gradients.times[rows].astype(np.int64)
    )
    gradient = gradients.numerator[rows]
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
