"""Intervals of class probabilities and means, per node and per row."""

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.smoothing.interval_calibration import effective_size, interval
from hornbeam.tree.evidence.base_rate import adjust_bound_to_rates
from hornbeam.tree.evidence.fractional import next_slots
from hornbeam.tree.level_order import concat_ranges
from hornbeam.tree.route import predict_rows, route
from hornbeam.tree.statistics import moved_rate_bounds
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import descendants
from hornbeam.typing import Floats, Indices

_OF_NUMBERS = 2 / 3  # variance of the values of a term, relative to the largest possible one
_LEAST_VARIANCE, _LEAST_ROWS = 1e-6, 1e-3  # below, the interval has every rate


def predict_interval(
    tree: Tree, table: Table, level: float = 0.9, *, factors: Floats | None = None, n_jobs: int = 1
) -> tuple[Floats, Floats]:
    """Compute intervals of the class probabilities, or of the mean, of each row of a table.

    `factors` are the ratios of new to old base rate of each class (`hornbeam.tree.evidence.base_rate`).

    The interval of a row is that of the node where it stops. If a missing value goes to every child, it is the mean of
    the bounds of the children, weighted by their evidence: that assumes errors in the same direction, so it is the
    widest possible interval of the average. With terms on its path the bounds move with the prediction of the row:
    their odds by the same factor, or their mean by the same amount. They are wider, the farther the row is from the
    centres of these terms (`_widening`).
    """
    stop = route(tree.skeleton, table, n_jobs)
    nodes = stops(tree, table, stop)
    bounds = np.empty((tree.n_nodes, 3 * tree.belief.shape[1]))  # of the nodes that are read
    bounds[nodes] = np.hstack([*interval(tree, level, nodes), tree.belief[nodes]])
    low, high, belief = np.split(predict_rows(tree, table, n_jobs, node_values=bounds), 3, axis=1)
    if len(tree.slopes):
        moved, wider = predict_rows(tree, table, n_jobs), _widening(tree, table, stop)[:, None]
        if tree.is_regression:
            low, high = moved - wider * (belief - low), moved + wider * (high - belief)
        else:
            low, high = moved_rate_bounds(low, high, belief, moved, wider)
        belief = moved
    if factors is None:
        return low, high
    return adjust_bound_to_rates(low, belief, factors), adjust_bound_to_rates(high, belief, factors)


def _widening(tree: Tree, table: Table, stop: Indices) -> Floats:
    """Compute how many times as wide the interval of each row is as that of a row at the centres of its terms.

    As in a regression, the variance of a prediction is that of the base and of each slope times the squared distance
    from its centre. A base is known from the s rows of its node, a slope from those of the node of its term, where the
    values have a variance v: the factor is the root of ``1 + s * (distance² / (s_term * v) + ...)``. A tree does not
    keep v. Of values between two ends with this mean the largest possible one is (centre - low) * (high - centre),
    which categories have; of numbers two thirds of it are taken.
    """
    slopes, size = tree.slopes, effective_size(tree)
    added = np.zeros(table.n_rows)
    for term, node in enumerate(slopes.node.tolist()):
        below = np.zeros(tree.n_nodes, np.bool_)
        below[descendants(tree.skeleton, node)] = True
        rows = np.flatnonzero(below[stop])
        length = slopes.high.item(term) - slopes.low.item(term)
        centre = (slopes.centre.item(term) - slopes.low.item(term)) / length if length > 0 else 0.5
        variance = centre * (1 - centre) * (_OF_NUMBERS if slopes.category.item(term) < 0 else 1.0)
        distance = slopes.distances(term, table.columns[slopes.feature.item(term)][rows])
        distance /= length if length > 0 else 1.0
        added[rows] += np.square(distance) / (
            max(variance, _LEAST_VARIANCE) * max(size.item(node), _LEAST_ROWS)
        )
    return np.sqrt(1 + size[stop] * added)


def stops(tree: Tree, table: Table, stop: Indices) -> NDArray[np.intp]:
    """List the nodes where rows of a table, or parts of rows, can stop, each once; `stop` is the result of `route`."""
    skeleton, node = tree.skeleton, stop.astype(np.intp)
    if not skeleton.router.fractional:
        return _distinct(node, tree.n_nodes)
    if table.n_rows >= tree.n_nodes:  # then it takes longer to find them than to compute all intervals
        return np.arange(tree.n_nodes)
    row, found = np.arange(table.n_rows), []
    while len(row):
        found.append(node)
        slot, is_split = next_slots(skeleton, table, row, node)
        moves, parent = slot >= 0, node[is_split]
        children = concat_ranges(skeleton.first_child[parent], skeleton.n_children[parent])
        row = np.concatenate((row[moves], np.repeat(row[is_split], skeleton.n_children[parent])))
        node = np.concatenate((skeleton.first_child[node[moves]] + slot[moves], children))
    return _distinct(np.concatenate(found) if found else node, tree.n_nodes)


def _distinct(node: NDArray[np.intp], n_nodes: int) -> NDArray[np.intp]:
    """Return each node once, in order; nothing is sorted."""
    reached = np.zeros(n_nodes, np.bool_)
    reached[node] = True
    return np.flatnonzero(reached)
