"""Whether nodes that come from a file can be the beginning of a tree: everything growing on would trust."""

import numpy as np

from hornbeam.errors import StorageError
from hornbeam.growing.levelwise.first_pass import RowSummary
from hornbeam.kernels.subtree import GrowthSpec, Nodes
from hornbeam.typing import Bools, Counts, Floats

__all__ = ["check_nodes", "check_waiting"]


def check_nodes(nodes: Nodes, terms: GrowthSpec, survey: RowSummary) -> Counts:
    """Refuse nodes that are no tree over these columns and rows; return the depth of each."""
    n = len(nodes.parent)
    same_length = all(len(getattr(nodes, name)) == n for name in Nodes._fields if name != "map")
    _expect(n > 0 and same_length, "arrays of one length, one entry a node")
    _expect(nodes.evidence.shape[1] == terms.n_classes, "evidence of every class")
    n_children = _check_shape(nodes)
    _check_tests(nodes, n_children, terms)
    _check_counts(nodes, n_children, survey)
    depth = np.zeros(n, dtype=np.int64)
    for node, parent in enumerate(nodes.parent[1:].tolist(), start=1):
        depth[node] = depth[parent] + 1
    return depth


def check_waiting(nodes: Nodes, waiting: Counts, lower: Floats, upper: Floats) -> None:
    """Refuse unfinished nodes that are no leaves, stand twice, or have bounds that are none."""
    _expect(len(waiting) == len(lower) == len(upper), "two bounds an unfinished node")
    _expect((waiting >= 0) & (waiting < len(nodes.parent)), "unfinished nodes among the nodes")
    _expect(nodes.feature[waiting] < 0, "unfinished nodes without a test")
    _expect(len(np.unique(waiting)) == len(waiting), "each unfinished node once")
    _expect((lower >= 0) & (lower <= upper) & (upper <= 1), "bounds from 0 to 1")


def _check_shape(nodes: Nodes) -> Counts:
    """Parents before children, siblings in a row, two or more; the root first."""
    n, parent, slot = len(nodes.parent), nodes.parent, nodes.slot
    _expect(parent[0] == -1 and slot[0] == 0, "the root first")
    _expect((parent[1:] >= 0) & (parent[1:] < np.arange(1, n)), "parents before their children")
    follows = (parent[1:] == parent[:-1]) & (slot[1:] == slot[:-1] + 1)
    first = slot[1:] == 0
    _expect(follows | first, "siblings in a row")
    _expect(len(np.unique(parent[1:][first])) == np.count_nonzero(first), "one run of children a node")
    n_children = np.bincount(parent[1:], minlength=n)
    _expect(n_children != 1, "two children or more a test")
    return n_children


def _check_tests(nodes: Nodes, n_children: Counts, terms: GrowthSpec) -> None:
    inner = n_children > 0
    _expect((nodes.feature >= 0) == inner, "a test where there are children")
    _expect((nodes.feature >= -1) & (nodes.feature < len(terms.nominal)), "tests of these features")
    _expect(
        (nodes.missing_slot >= -1) & (nodes.missing_slot < np.maximum(n_children, 1)), "slots of children"
    )
    _expect(np.isfinite(nodes.gain) == inner, "a gain where there is a test")
    n_codes, is_nominal = terms.n_codes, terms.nominal > 0
    ordered, mapped = (np.flatnonzero(inner)[is_nominal[nodes.feature[inner]] == kind] for kind in (0, 1))
    left, right = nodes.left[ordered], nodes.right[ordered]
    _expect((left >= 0) & (left < right) & (right <= n_codes[nodes.feature[ordered]]), "cuts between codes")
    _expect(n_children[ordered] <= 3, "two or three children of an ordered test")
    _expect(np.delete(nodes.map_start, mapped) == -1, "slots of categories where a nominal feature is tested")
    _expect(np.delete(nodes.left, ordered) == -1, "cuts where an ordered feature is tested")
    for node in mapped.tolist():
        begin, end = int(nodes.map_start[node]), int(nodes.map_start[node] + n_codes[nodes.feature[node]])
        _expect(0 <= begin <= end <= len(nodes.map), "slots of every category")
        slots = nodes.map[begin:end]
        _expect((slots >= -1) & (slots < n_children[node]), "slots of children")


def _check_counts(nodes: Nodes, n_children: Counts, survey: RowSummary) -> None:
    """Every row of a node is in one of its children, and all rows are in the root."""
    _expect(
        nodes.rows[0] == survey.n_rows and (nodes.evidence[0] == survey.counts).all(), "all rows in the root"
    )
    for values in (nodes.rows, nodes.evidence):
        _expect((values >= 0) & (values <= values[0]), "counts within the root's")
        below = np.zeros_like(values)
        np.add.at(below, nodes.parent[1:], values[1:])
        inner = n_children > 0
        _expect(below[inner] == values[inner], "children that add up to their parent")


def _expect(holds: Bools | bool | np.bool_, what: str) -> None:
    if not np.all(holds):
        raise StorageError(f"its nodes are no tree of these rows; expected {what}")
