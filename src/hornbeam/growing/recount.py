"""The evidence of every node, counted from coded rows in one pass."""

from collections.abc import Sequence

import numpy as np

from hornbeam.data.binning.bins import Bins
from hornbeam.data.encoded_rows import EncodedSource
from hornbeam.data.engine import Engine
from hornbeam.data.sources import Unit
from hornbeam.errors import ParameterError
from hornbeam.kernels import levelwise
from hornbeam.kernels.levelwise import CodeTree
from hornbeam.kernels.subtree import CRITERIA, GrowthSpec, Rules
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.walk import pull_up
from hornbeam.typing import Counts

__all__ = ["code_tree_of", "count_encoded"]


def count_encoded(
    tree: Tree,
    source: EncodedSource,
    bins: Bins,
    engine: Engine,
    *,
    unit: float = 1.0,
    step: Step | None = None,
) -> Tree:
    """Count coded rows on the skeleton of a tree.

    Parameters
    ----------
    tree : Tree
    source : EncodedSource
        Rows coded with `bins`, whose cuts the tree's tests are made of.
    bins : Bins
    engine : Engine
        Where they are counted.
    unit : float
        What one step of the rows' weight is worth.
    step : Step, optional
        Added to the history.

    Returns
    -------
    Tree
        With the tests and gains of `tree`, the evidence of these rows, and raw frequencies as belief.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.data import LocalEngine, MemorySource, Table
    >>> from hornbeam.growing import Grower
    >>> from hornbeam.data.encoded_rows import EncodedRows
    >>> from hornbeam.kernels.subtree import Rows
    >>> table = Table.read(np.array([[1.0], [2.0], [3.0], [4.0]]), ["a", "a", "b", "b"])
    >>> bins = Bins.fit(MemorySource(table), LocalEngine(), max_bins=None)
    >>> rows = Rows(bins.encode(table), np.array([0, 1, 1, 1], np.uint16), None)
    >>> count_encoded(Grower().grow(table, bins), EncodedRows(rows), bins, LocalEngine()).evidence.tolist()
    [[1, 3], [1, 1], [0, 2]]
    """
    nominal, n_classes = bins.nominal.astype(np.uint8), tree.schema.n_classes
    terms = GrowthSpec.of(bins.n_codes, nominal, None, None, n_classes, CRITERIA["entropy"], Rules())
    shared = (source, terms, code_tree_of(tree.skeleton, bins))
    [stopped] = engine.reduce(_count_stops, source.units(), shared)
    total = pull_up(tree.skeleton, stopped)
    return Tree.raw(
        tree.schema,
        tree.skeleton,
        total[:, :-1].copy(),
        unit=unit,
        rows=total[:, -1].copy(),
        gain=tree.gain,
        history=tree.history if step is None else (*tree.history, step),
    )


def code_tree_of(skeleton: Skeleton, bins: Bins) -> CodeTree:
    """Turn tests on values into tests on their codes."""
    if (skeleton.missing_slot == -2).any():
        raise ParameterError(
            "a test of this tree sends missing values to every child; expected tests with one way for each row. "
            "Count such a tree on a table"
        )
    nominal = np.diff(skeleton.slot_start) > 0
    left = np.full(skeleton.n_nodes, -1, dtype=np.int32)
    for f in np.unique(skeleton.feature[(skeleton.feature >= 0) & ~nominal]).tolist():
        mine = skeleton.feature == f
        values = () if bins.values is None else bins.values[f]
        if len(values):
            left[mine] = np.searchsorted(values, skeleton.threshold[mine], side="right") - 1
        else:
            left[mine] = np.searchsorted(bins.edges[f], skeleton.threshold[mine], side="left")
    map_start = np.where(nominal, skeleton.slot_start[:-1], -1).astype(np.int64)
    return CodeTree(
        skeleton.feature,
        skeleton.first_child,
        left,
        skeleton.missing_slot,
        map_start,
        skeleton.slot_of.astype(np.int32, copy=False),
    )


def _count_stops(units: Sequence[Unit], shared: tuple[EncodedSource, GrowthSpec, CodeTree]) -> list[Counts]:
    """Weight of each class, and rows, that end their way at each node."""
    source, terms, guide = shared
    stopped = np.zeros((len(guide.feature), terms.n_classes + 1), dtype=np.int64)
    for unit in units:
        rows = source.read(unit)
        node = levelwise.descend(rows.codes, terms, guide)
        np.add.at(stopped, (node, rows.label), 1 if rows.weight is None else rows.weight)
        stopped[:, -1] += np.bincount(node, minlength=len(stopped))
    return [stopped]
