"""The one edit that all others are: a node and all below it are replaced by another branch.

The rows are counted anew, and the smoothers of the tree, with their fitted parameters, give the predictions. An edit
that leaves a child without rows, or that breaks a constraint of growing, is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.errors import ParameterError
from hornbeam.explain.candidates.list_splits import check_node
from hornbeam.explain.candidates.training_rows import TrainingRows
from hornbeam.smoothing.replay import replay, smoothers_of, smoothers_that_give
from hornbeam.smoothing.teacher_prior import is_distilled
from hornbeam.tree.condition import branch_condition
from hornbeam.tree.edit import collapse, with_decision, with_slopes
from hornbeam.tree.evidence.count import count_rows, fractional_unit
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.walk import features_above, replace_subtree
from hornbeam.typing import Floats


def replace_branch(
    tree: Tree,
    rows: TrainingRows,
    node: int,
    branch: Skeleton,
    *,
    gain: Floats | None = None,
    step: Step | None = None,
    own: Any = None,
) -> Tree:
    """Replace a node and all below it, count the rows and smooth as before.

    The node keeps its terms; those of the nodes below it are gone.

    `branch` is a leaf, one split or more; `own` is a smoother of the user that the tree was smoothed with. An error
    says that a child has no rows, that a constraint is broken, or that a tree with a teacher gets a new split.
    """
    check_node(tree, node)
    if is_distilled(tree):
        return _prune_taught(tree, node, branch, step)
    smoothers = smoothers_that_give(tree, own)
    skeleton, source = replace_subtree(tree.skeleton, node, branch)
    gains = np.full(branch.n_nodes, np.nan) if gain is None else gain
    counted = count_rows(
        skeleton,
        rows.table,
        unit=fractional_unit(skeleton, rows.table),
        gain=np.append(tree.gain, gains)[source],
        history=tree.history if step is None else (*tree.history, step),
    )
    new = source >= tree.n_nodes
    _check_new_nodes(counted, np.flatnonzero(new), rows)
    number = np.full(tree.n_nodes, -1, np.int32)
    number[source[~new]] = np.flatnonzero(~new)
    number[node] = np.flatnonzero(new)[0]
    counted = with_slopes(counted, tree.slopes.renumbered(number))
    return replay(smoothers, with_decision(counted, tree.decision))


def _prune_taught(tree: Tree, node: int, branch: Skeleton, step: Step | None) -> Tree:
    """Prune a tree whose predictions come from a teacher: those of the remaining nodes stay."""
    if branch.n_nodes > 1:
        raise ParameterError(
            "this tree has the predictions of a teacher, which new nodes do not have; expected a tree without a "
            "teacher. Such a tree can be pruned."
        )
    pruned = collapse(tree, np.arange(tree.n_nodes) == node, step)
    return replay(smoothers_of(tree.history[-1:]), pruned)  # intervals stay calibrated


def _check_new_nodes(tree: Tree, nodes: NDArray[np.intp], rows: TrainingRows) -> None:
    """Refuse new children without rows, and splits against a constraint."""
    skeleton, names = tree.skeleton, tree.schema.names
    for node in nodes[tree.rows[nodes] == 0].tolist():
        name = names[skeleton.feature.item(skeleton.parent.item(node))]
        raise ParameterError(
            f"no row has {_words(tree, node)}: a child of the split of {name!r} would be empty. Expected a split with "
            "rows in every child."
        )
    _check_paths(tree, nodes[skeleton.n_children[nodes] > 0].tolist(), rows)
    signs = rows.grower.monotonic_cst
    if signs is None:
        return
    for node in nodes[np.isfinite(skeleton.threshold[nodes])].tolist():
        column, first = skeleton.feature.item(node), skeleton.first_child.item(node)
        # Of the second class, or the mean: the tree is not smoothed yet.
        low, high = tree.belief[first : first + 2, -1]
        if signs[column] * (high - low) < 0:
            raise ParameterError(
                f"the split {_words(tree, first)} breaks the monotone constraint {signs[column]:+d} of "
                f"{names[column]!r}: the rate is {low:.4g} below and {high:.4g} above. Expected a split that keeps it."
            )


def _check_paths(tree: Tree, inner: list[int], rows: TrainingRows) -> None:
    """Refuse splits whose features may not follow those above them."""
    rules, skeleton = rows.grower.path_rules(tree.schema), tree.skeleton
    if rules is None:
        return
    for node in inner:
        column = skeleton.feature.item(node)
        if not rules.allowed(features_above(skeleton, node))[column]:
            raise ParameterError(
                f"a split of {tree.schema.names[column]!r} at node {node}: a constraint does not allow the feature "
                "below the splits above. Expected another feature."
            )


def _words(tree: Tree, node: int) -> str:
    return str(branch_condition(tree, node))
