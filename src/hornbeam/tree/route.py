"""Routing rows through a tree: the node where each stops, its prediction, its class, its decision path."""

from collections.abc import Callable, Sequence
from math import isnan

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Feature
from hornbeam.data.table import Table
from hornbeam.kernels.pool import Pool
from hornbeam.kernels.route import SlopedTree, Values
from hornbeam.tree.condition import is_missing
from hornbeam.tree.level_order import concat_ranges
from hornbeam.tree.skeleton import STOP, Skeleton
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import depths
from hornbeam.typing import Counts, Floats, Indices

# With fewer rows, starting threads takes longer than they save.
SERIAL_ROWS = 50_000


def route(skeleton: Skeleton, table: Table, n_jobs: int = 1) -> Indices:
    """Find the node where each row of a table stops.

    It is a leaf or an inner node: one without a branch for the missing value, one without a slot for the category, or
    the first one that splits the row over every child because its value is missing. `n_jobs` threads do not change it.
    """
    router = skeleton.router
    stops = np.empty(table.n_rows, np.int32)

    def fill(begin: int, end: int) -> None:
        router.nodes(values(table, begin, end), stops[begin:end])

    in_blocks(fill, table.n_rows, n_jobs)
    return stops


def predict_rows(tree: Tree, table: Table, n_jobs: int = 1, *, node_values: Floats | None = None) -> Floats:
    """Predict each row of a table: class probabilities or the mean, of shape (n_rows, n_classes) or (n_rows, 1).

    A row has the belief of the node where it stops, changed by the terms of its path. Where a missing value goes to
    every child, it has the mean of the children's predictions, weighted by their evidence. `node_values`, of shape
    (n_nodes, m), takes the place of the belief; slopes are then left out.

    With terms on the path the score of a class is the logarithm of its belief plus the terms, from the root down; the
    probabilities are ``exp(score)`` divided by their sum. In regression the terms are added to the mean.
    """
    router = tree.skeleton.router
    belief, weight = tree.belief if node_values is None else node_values, _weight(tree)
    predictions = np.empty((table.n_rows, belief.shape[1]))

    if len(tree.slopes) and node_values is None:
        sloped = _sloped(tree)

        def fill(begin: int, end: int) -> None:
            sloped.predict(values(table, begin, end), predictions[begin:end])
    else:

        def fill(begin: int, end: int) -> None:
            router.predict(values(table, begin, end), belief, weight, predictions[begin:end])

    in_blocks(fill, table.n_rows, n_jobs)
    return predictions


def decides_by_prediction(tree: Tree) -> bool:
    """Whether the class of a row follows from its prediction: not with slopes without costs."""
    return not len(tree.slopes) or not tree.decision.is_default


def decide_rows(tree: Tree, table: Table, n_jobs: int = 1) -> NDArray[np.intp]:
    """Decide the class of each row of a table, as its code.

    Without costs it is the first class of the largest score with terms on the path, of the largest probability
    elsewhere. No exponential function is needed, so all exports decide the same.
    """
    if decides_by_prediction(tree):
        return tree.decision(predict_rows(tree, table, n_jobs))
    sloped, classes = _sloped(tree), np.empty(table.n_rows, np.int32)

    def fill(begin: int, end: int) -> None:
        sloped.classes(values(table, begin, end), classes[begin:end])

    in_blocks(fill, table.n_rows, n_jobs)
    return classes.astype(np.intp)


def sums_of_terms(tree: Tree, table: Table, n_jobs: int = 1) -> Floats:
    """Add up the terms of each row of a table: the change of its scores by the slopes of its path; 0 without terms."""
    sums = np.zeros((table.n_rows, tree.schema.n_outputs))
    if len(tree.slopes):
        sloped = _sloped(tree)
        in_blocks(
            lambda begin, end: sloped.terms(values(table, begin, end), sums[begin:end]), table.n_rows, n_jobs
        )
    return sums


def _sloped(tree: Tree) -> SlopedTree:
    skeleton, terms = tree.skeleton, tree.slopes.arrays
    return SlopedTree(skeleton.router, skeleton.parent, tree.belief, *terms, regression=tree.is_regression)


def follow(skeleton: Skeleton, node: int, feature: Feature, value: float) -> int:
    """Find the child slot of a node for a value; `STOP` (-1), or `EVERY_CHILD` (-2)."""
    if is_missing(feature, value):
        return skeleton.missing_slot.item(node)
    threshold = skeleton.threshold.item(node)
    if not isnan(threshold):
        return 0 if value <= threshold else 1
    return STOP if value < 0 else skeleton.slot_of.item(skeleton.slot_start.item(node) + int(value))


def row_predictor(tree: Tree) -> Callable[[Floats | Sequence[float]], tuple[float, ...]]:
    """Return a function that predicts one row in about a microsecond, for serving.

    The row is a tuple, a list or a float64 array with one number per feature: ordinal features as positions, nominal
    ones as codes into the feature's categories, NaN for a missing value.
    """
    if not tree.skeleton.router.fractional:
        return _sloped(tree).predict_row
    predict, belief, weight = tree.skeleton.router.predict_row, tree.belief, _weight(tree)
    return lambda row: predict(row, belief, weight)


def decision_path(skeleton: Skeleton, table: Table, n_jobs: int = 1) -> tuple[Counts, Indices]:
    """List the nodes on the path of each row, from the root to where it stops, as `indptr` and `indices`.

    The path of row i is ``indices[indptr[i]:indptr[i + 1]]``, in ascending order: a sparse matrix of rows by nodes.
    """
    stops, stop_of_row = np.unique(route(skeleton, table, n_jobs), return_inverse=True)
    length = depths(skeleton)[stops].astype(np.int64) + 1
    begin = np.cumsum(length) - length
    nodes = _root_paths(skeleton.parent, stops, begin + length - 1)
    indptr = np.zeros(table.n_rows + 1, np.int64)
    np.cumsum(length[stop_of_row], out=indptr[1:])
    return indptr, nodes[concat_ranges(begin[stop_of_row], length[stop_of_row])]


def _root_paths(parent: Indices, node: Indices, last: Counts) -> Indices:
    """Concatenate the paths from the root to each node; `last` is the position of the node, the end of its path."""
    paths = np.empty(last[-1] + 1 if len(last) else 0, np.int32)
    while len(node):
        paths[last] = node
        below_root = parent[node] >= 0
        last, node = last[below_root] - 1, parent[node[below_root]]
    return paths


def _weight(tree: Tree) -> Floats | None:
    return tree.weight.astype(np.float64) if tree.skeleton.router.fractional else None


def values(table: Table, begin: int = 0, end: int | None = None) -> Values:
    """Return some rows of a table as a router reads them."""
    if table.matrix is not None:
        return table.matrix[begin:end]
    return [column[begin:end] for column in table.columns]


def in_blocks(fill: Callable[[int, int], None], n_rows: int, n_jobs: int) -> None:
    """Call ``fill(begin, end)`` for all rows, in blocks if several threads are worth it."""
    if n_jobs == 1 or n_rows < SERIAL_ROWS:
        fill(0, n_rows)
        return
    # Several blocks per thread, so that one slow thread does not delay the rest.
    block = max(SERIAL_ROWS // 4, -(-n_rows // (4 * n_jobs)))
    begins = range(0, n_rows, block)
    ends = [min(begin + block, n_rows) for begin in begins]
    with Pool(n_jobs) as threads:
        for _ in threads.map(fill, begins, ends):
            pass
