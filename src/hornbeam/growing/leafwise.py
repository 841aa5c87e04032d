"""Trees of gradients: grown best first on rows that were encoded once."""

from dataclasses import dataclass, replace
from math import ceil
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.binning.bins import Bins
from hornbeam.data.schema import Kind, Schema
from hornbeam.errors import ParameterError
from hornbeam.growing.grower import Grower
from hornbeam.growing.tree_builder import build_skeleton
from hornbeam.kernels.leafwise import Gradients, grow_leafwise
from hornbeam.kernels.subtree import CRITERIA, GrowthSpec, Missing, Nodes, Nominal, Rules
from hornbeam.tree.level_order import level_order
from hornbeam.tree.tree import Tree
from hornbeam.typing import Codes, Counts, Floats, Indices

__all__ = ["EncodedColumns", "GrownTree", "Leafwise"]

_UNLIMITED = np.iinfo(np.int32).max
_LEAST = (("max_leaf_nodes", 2), ("max_depth", 1), ("max_features", 1), ("min_samples_leaf", 1))
_LEAST_HESSIAN = 1e-3  # of a leaf: with less, a Newton step may go anywhere
_OUT_OF_REACH = 2.0**61  # steps: twice as many still fit 64 bits


@dataclass(frozen=True, slots=True, eq=False)
class EncodedColumns:
    """Rows encoded once, on which tree after tree is grown.

    Parameters
    ----------
    schema : Schema
        What the columns are, and that the target is numeric.
    bins : Bins
        Quantile bins: a code says all that a test may ask.
    codes : array of shape (n_rows, n_features)
    """

    schema: Schema
    bins: Bins
    codes: Codes

    @classmethod
    def of(cls, schema: Schema, bins: Bins, codes: Codes) -> Self:
        """Take rows of any target: those of trees here are gradients."""
        return cls(replace(schema, classes=(), target=Kind.NUMERIC), bins, codes)


class GrownTree(NamedTuple):
    """A tree on its way: nodes whose tests are on codes, and the node that answers for every row.

    `sums` has the sum of pulls and of hessians of each node.
    """

    nodes: Nodes
    node: Indices
    sums: Floats
    unit: Floats

    def newton(self, ridge: float) -> Floats:
        """Give each node its Newton step: the sum of its pulls over that of its hessians."""
        pull, hessian = self.sums.T
        step: Floats = np.divide(pull, hessian + ridge, out=np.zeros(len(pull)), where=hessian > 0)
        return step

    def tree(self, belief: Floats, field: EncodedColumns) -> Tree:
        """Make the tree in which each node answers with this number."""
        nodes, n_nodes = self.nodes, len(belief)
        order = level_order(nodes.parent, nodes.slot)
        return Tree(
            schema=field.schema,
            skeleton=build_skeleton(nodes, field.bins, order),
            evidence=np.column_stack([nodes.evidence[order], np.zeros(n_nodes, np.int64)]),
            unit=self.unit,
            rows=nodes.rows[order],
            gain=nodes.gain[order],
            belief=belief[order, None],
            borrowed=np.zeros(n_nodes),
        )


@dataclass(frozen=True, slots=True)
class Leafwise:
    """How a tree of gradients is grown.

    Parameters
    ----------
    max_leaf_nodes : int or None, default 31
        Leaves at most, best first; None for no limit.
    max_depth : int or None, default None
        Tests on a path at most.
    min_samples_leaf : int, default 20
        Rows each child must hold, one of weight 2 counting twice where weights are whole.
    ridge : float, default 0.0
        Added to the hessians of every node.
    max_features : int or None, default None
        Features a node looks at, drawn anew for each node.
    monotone : tuple of int or None, default None
        For each feature +1 where the answer must not fall as it rises, -1 where it must not rise, 0 elsewhere.
    corrected : bool, default True
        Whether features are compared by S-values (`Grower`), where there is a feature of more than two categories.

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
    ridge: float = 0.0
    max_features: int | None = None
    monotone: tuple[int, ...] | None = None
    corrected: bool = True

    def __post_init__(self) -> None:
        for name, least in _LEAST:
            value = getattr(self, name)
            if value is not None and value < least:
                raise ParameterError(f"{name}={value}: expected a whole number of at least {least}.")
        if not 0.0 <= self.ridge < np.inf:
            raise ParameterError(f"l2_regularization={self.ridge}: expected a number of at least 0.0.")

    def terms(self, field: EncodedColumns) -> GrowthSpec:
        """Say what the columns are, and which rules hold for every tree; those of a tree add their units."""
        rules = Rules()
        rules.nominal, rules.missing = Nominal.subset, Missing.learned
        rules.min_rows_leaf = self.min_samples_leaf
        rules.max_depth = min(self.max_depth or _UNLIMITED, _UNLIMITED)
        rules.max_features = self.max_features or 0
        rules.ridge = self.ridge
        rules.rounding = 0.5
        rules.corrected = self.corrected and bool((field.bins.n_codes[field.bins.nominal] > 2).any())
        rules.rows_per_row = 1.0
        bins, signs = field.bins, Grower(monotone=self.monotone).signs(field.schema)
        criterion = CRITERIA["squared_error"]
        return GrowthSpec.of(bins.n_codes, bins.nominal.astype(np.uint8), signs, None, 1, criterion, rules)

    def grow(
        self,
        field: EncodedColumns,
        terms: GrowthSpec,
        pulls: Gradients,
        order: NDArray[np.int32],
        n_added: int,
        key: int,
        n_jobs: int = 1,
    ) -> GrownTree:
        """Grow a tree; `order` lists first the rows that are added up, then those that look on, and is reordered."""
        rules = terms.rules
        rules.numerator_unit, rules.unit = 1 / pulls.numerator_scale, 1 / pulls.denominator_scale
        rules.min_weight_leaf = max(1, ceil(min(_LEAST_HESSIAN / rules.unit, _OUT_OF_REACH)))
        if rules.corrected:
            rules.dispersion = _dispersion(pulls, order[:n_added])
        nodes, node = grow_leafwise(
            field.codes, pulls, order, n_added, terms, self.max_leaf_nodes, key, n_jobs
        )
        unit = np.array([rules.unit, rules.numerator_unit, 1.0])
        return GrownTree(nodes, node, nodes.evidence[:, ::-1] * unit[1::-1], unit)


def _dispersion(pulls: Gradients, rows: NDArray[np.int32]) -> float:
    """Mean square of the gradients of some rows over their mean hessian: the variance that chance is measured in.

    Numbers are added up as whole steps, so that the order of the rows plays no part.
    """
    times = np.ones(len(rows), np.int64) if pulls.times is None else pulls.times[rows].astype(np.int64)
    gradient = pulls.numerator[rows]
    largest = max(float(gradient.max()), -float(gradient.min()), np.finfo(float).tiny)
    squares = _sum(np.square(gradient / largest), times) * largest * largest
    hessians = float(times.sum()) if pulls.denominator is None else _sum(pulls.denominator[rows], times)
    tiny = np.finfo(float).tiny
    return max(squares, tiny) / max(hessians, tiny)


def _sum(values: Floats, times: Counts) -> float:
    """The sum of numbers that count some times each, rounded to steps so small that no order changes it."""
    largest, n = float(values.max()), max(int(times.sum()), 1)
    scale = 2.0**61 / n / largest if largest > 0 else 1.0
    return int((np.rint(values * scale).astype(np.int64) * times).sum()) / scale
