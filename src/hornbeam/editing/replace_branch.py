"""The one edit that all others are: a node and all below it are replaced by another branch.

The rows are counted anew, and the smoothers of the tree, with their fitted parameters, give the predictions; new nodes
of a tree with a teacher have fitted ones. An edit
that leaves a child without rows, or that breaks a constraint of growing, is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.editing.fitted_bases import with_bases
from hornbeam.errors import ParameterError
from hornbeam.explain.candidates.list_splits import check_node
from hornbeam.explain.candidates.training_rows import TrainingRows
from hornbeam.smoothing.replay import replay, smoothers_of, smoothers_that_give
from hornbeam.smoothing.teacher_prior import is_distilled
from hornbeam.tree.condition import branch_condition
from hornbeam.tree.edit import with_belief, with_decision, with_slopes
from hornbeam.tree.evidence.count import count_rows, fractional_unit
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.slopes import Slopes
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.walk import features_above, replace_subtree
from hornbeam.typing import Bools, Floats


def replace_branch(
    tree: Tree,
    rows: TrainingRows,
    node: int,
    branch: Skeleton,
    *,
    terms: Slopes | None = None,
    gain: Floats | None = None,
    step: Step | None = None,
    own: Any = None,
) -> Tree:
    """Replace a node and all below it, count the rows and smooth as before.

    `branch` is a leaf, one split or more, `terms` are the terms of its nodes; by default the node keeps its own, and
    those of the nodes below it are gone. `own` is a smoother of the user that the tree was smoothed with. Of a tree
    with a teacher the bases of the new nodes are fitted (`with_bases`), and all others stay. An error says that a child
    has no rows, or that a constraint is broken.
    """
    check_node(tree, node)
    taught = is_distilled(tree)
    smoothers = smoothers_of(tree.history[-1:]) if taught else smoothers_that_give(tree, own)
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
    if len(tree.slopes):
        terms = tree.slopes.of_nodes(node, node + 1) if terms is None else terms
        counted = with_slopes(counted, _put_terms(tree.slopes, source, new, terms))
    counted = with_decision(counted, tree.decision)
    if taught:
        old = np.where(new, node, source)
        known = with_belief(counted, tree.belief[old], tree.borrowed[old])
        has_terms = len(tree.path_slopes.of_node(node)) or len(tree.slopes) > len(counted.slopes)
        # A pruned node without terms has its own prediction already.
        counted = with_bases(tree, known, new, rows.table) if branch.n_nodes > 1 or has_terms else known
    return replay(smoothers, counted)


def _put_terms(slopes: Slopes, source: NDArray[np.intp], new: Bools, terms: Slopes) -> Slopes:
    """Combine the terms of the nodes that stay with those of a branch, by the new numbers of the nodes."""
    number = np.full(max(int(source.max()), int(slopes.node.max(initial=0))) + 1, -1, np.int32)
    number[source[~new]] = np.flatnonzero(~new)
    stay = slopes.renumbered(number)
    node = np.concatenate([stay.node, np.flatnonzero(new)[terms.node].astype(np.int32)])
    order = np.argsort(node, kind="stable")
    rest = (np.concatenate(pair) for pair in zip(stay.arrays[1:], terms.arrays[1:], strict=True))
    return Slopes(node[order], *(array[order] for array in rest))


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
        if signs[column] != 0 and is_distilled(tree):
            raise ParameterError(
                f"a split of {names[column]!r}, which has a monotone constraint: in a tree with a teacher such a "
                "feature has terms and no splits. Expected a split of another feature."
            )
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
