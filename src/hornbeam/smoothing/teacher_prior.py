"""The prior of a distilled tree: the teacher's mean prediction at each node, worth a number of rows.

In a tree with terms the prediction of a node is that of a row whose values are the centres of the terms. It differs
from the mean of the node's rows by an offset, which new rows do not change.
"""

from itertools import pairwise

import numpy as np

from hornbeam.kernels.elementary import exp, log, row_sums
from hornbeam.tree.edit import with_belief
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

DISTILLED = "distill"  #: step of the history
_STEP = 2.0**-20  # of pseudo-rows; up to 2**29 rows are added to them without a larger rounding error
_STEPS_OF_UNIT = 2.0**20  # of sums of a target, in units of its evidence
_OFFSET_STEP = 2.0**-20  # of log-odds
_OFFSET_STEPS_OF_UNIT = 2.0**14  # of means, in units of the evidence


def is_distilled(tree: Tree) -> bool:
    """Whether the predictions of a tree are its evidence and the predictions of a teacher."""
    return any(step.name == DISTILLED for step in tree.history)


def with_prior_of(old: Tree, new: Tree) -> Tree:
    """Smooth a tree with new evidence by the prior of the distilled tree that it was made from.

    The prior is what the old prediction, times its rows and pseudo-rows, has beyond the old evidence. With terms, the
    predictions keep their offsets: new rows multiply the odds of a node by what they change in the odds of its rows.
    """
    if len(old.slopes):
        return with_belief(new, _belief_with_offset(new, _offsets(old, old.belief)), old.borrowed)
    borrowed = old.borrowed[:, None]
    prior = old.belief * (old.weight_in_rows[:, None] + borrowed) - _amounts(old)
    return with_belief(new, belief_with_prior(new, prior, borrowed), old.borrowed)


def belief_with_prior(tree: Tree, prior: Floats, borrowed: float | Floats) -> Floats:
    """Compute predictions from the evidence of each node and a prior.

    The prior has pseudo-rows of each class, or the sum of their target; `borrowed` is their number, one or of shape
    (n_nodes, 1). The prior is rounded to steps that are larger than the rounding errors of `with_prior_of`, which finds
    the same steps again: after the same rows are added and removed, the predictions are the same, bit for bit.
    """
    step = tree.unit[1] * _STEPS_OF_UNIT if tree.is_regression else _STEP
    prior = np.rint(prior / step) * step
    if not tree.is_regression:  # the classes add up to the pseudo-rows
        left = borrowed - prior.sum(axis=1, keepdims=True)
        prior[np.arange(len(prior)), prior.argmax(axis=1)] += left[:, 0]
    belief: Floats = (_amounts(tree) + prior) / (tree.weight_in_rows[:, None] + borrowed)
    return belief


def belief_beside_terms(tree: Tree, belief: Floats) -> Floats:
    """Round predictions to offsets that `with_prior_of` finds again, bit for bit."""
    return _belief_with_offset(tree, _offsets(tree, belief))


def _offsets(tree: Tree, belief: Floats) -> Floats:
    """Compute what predictions have beyond the evidence, in steps: log-odds against the first class, or means."""
    if tree.is_regression:
        step = tree.unit[1] * _OFFSET_STEPS_OF_UNIT
        offset = belief - _expected(tree)
    else:
        step = _OFFSET_STEP
        offset = log(belief) - log(_expected(tree))
        offset -= offset[:, :1]
    rounded: Floats = np.rint(offset / step) * step
    return rounded


def _belief_with_offset(tree: Tree, offset: Floats) -> Floats:
    if tree.is_regression:
        return _expected(tree) + offset
    score = log(_expected(tree)) + offset
    odds = exp(score - score.max(axis=1, keepdims=True))
    belief: Floats = odds / row_sums(odds)[:, None]
    return belief


def _expected(tree: Tree) -> Floats:
    """Return the shares of the classes at each node, or its mean, with one more row like those of its parent."""
    amounts, weight = _amounts(tree), tree.weight_in_rows[:, None]
    expected = np.empty_like(amounts)
    if tree.is_regression:
        expected[0] = amounts[0] / weight[0] if weight[0] > 0 else 0.0
    else:
        expected[0] = (amounts[0] + 1.0 / amounts.shape[1]) / (weight[0] + 1.0)
    for begin, end in pairwise(tree.skeleton.levels[1:]):
        above = expected[tree.skeleton.parent[begin:end]]
        expected[begin:end] = (amounts[begin:end] + above) / (weight[begin:end] + 1.0)
    return expected


def _amounts(tree: Tree) -> Floats:
    """Return the weight of each class at each node, or the sum of the target."""
    amounts: Floats = tree.evidence * tree.unit
    return amounts[:, 1:2] if tree.is_regression else amounts
