"""Predictions with slopes, one row and one term at a time: the slow twin of the compiled one."""

import math
from dataclasses import fields

import numpy as np

from hornbeam.kernels.elementary import exp, log
from support import reference_route
from support.reference_route import MISSING, Arrays

__all__ = ["decided", "path", "predicted", "scores", "stop", "sum_of_terms"]


def stop(tree, row):
    """The node where a row stops."""
    arrays = Arrays(*[getattr(tree.skeleton, field.name) for field in fields(Arrays)])
    return reference_route.stop(arrays, row)


def path(tree, row):
    """The nodes of a row, the root first."""
    nodes = [stop(tree, row)]
    while tree.skeleton.parent[nodes[0]] >= 0:
        nodes.insert(0, tree.skeleton.parent.item(nodes[0]))
    return nodes


def _change(slopes, term, value):
    """The value of a term minus its centre; None where the value is missing."""
    category = slopes.category.item(term)
    if category >= 0:
        return None if value == MISSING else float(value == category) - slopes.centre.item(term)
    if math.isnan(value):
        return None
    return min(max(float(value), slopes.low.item(term)), slopes.high.item(term)) - slopes.centre.item(term)


def _add_terms(tree, row, start):
    total = list(start)
    for node in path(tree, row):
        for term in np.flatnonzero(tree.slopes.node == node).tolist():
            change = _change(tree.slopes, term, row[tree.slopes.feature[term]])
            if change is not None:
                total = [
                    s + slope * change
                    for s, slope in zip(total, tree.slopes.slope[term].tolist(), strict=True)
                ]
    return total


def sum_of_terms(tree, row):
    """The change of the scores of one row."""
    return _add_terms(tree, row, [0.0] * tree.schema.n_outputs)


def scores(tree, row):
    """The scores of one row, or its mean; None if its path has no terms."""
    node = stop(tree, row)
    if not np.isin(path(tree, row), tree.slopes.node).any():
        return None
    base = tree.belief[node] if tree.is_regression else log(tree.belief[node].copy())
    return _add_terms(tree, row, base.tolist())


def predicted(tree, row):
    """The prediction of one row, a list."""
    found = scores(tree, row)
    if found is None:
        return tree.belief[stop(tree, row)].tolist()
    if tree.is_regression:
        return found
    powers = exp(np.array([score - max(found) for score in found])).tolist()
    total = 0.0
    for power in powers:
        total += power
    return [power / total for power in powers]


def decided(tree, row):
    """The class of one row without costs."""
    found = scores(tree, row)
    if found is None:
        found = tree.belief[stop(tree, row)].tolist()
    return found.index(max(found))
