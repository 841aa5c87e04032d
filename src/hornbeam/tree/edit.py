"""Functions that make a new tree from another one.

`collapse` turns nodes into leaves, `keep_best_leaves` leaves a maximum number of leaves, `raise_child` replaces a node
by one of its children; `with_belief`, `with_slopes` and `with_decision` set the predictions, the slopes and
the decision rule.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.errors import ParameterError, TreeError, shown
from hornbeam.kernels.sweep import PrunedShape, prune_shape
from hornbeam.tree.check import check_belief, check_decision
from hornbeam.tree.decision import DecisionRule
from hornbeam.tree.evidence.count import count_rows
from hornbeam.tree.level_order import take_ranges
from hornbeam.tree.skeleton import STOP, Skeleton
from hornbeam.tree.slopes import Slopes, check_slopes
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.unwrap import single_tree
from hornbeam.tree.walk import replace_subtree, subtree
from hornbeam.typing import Bools, Counts, Floats

EDIT = "edit"  #: step of the history
_GROUPS = "groups"  # step of the history


class RecordedEdit(NamedTuple):
    """An edit in a history: what was done, and the reason and author, empty if they were not given.

    `before` has the first 16 digits of the digest of the tree before the edit; it and `date` are empty in older files.
    `effect` is the change of the loss on held-out rows in words, empty without such rows.
    """

    what: str
    reason: str = ""
    author: str = ""
    before: str = ""
    date: str = ""
    effect: str = ""

    @classmethod
    def of(cls, step: Step) -> Self:
        """Read an edit from a step."""
        known = dict(step.parameters)
        return cls(*(str(known.get(name, "")) for name in cls._fields))

    def step(self) -> Step:
        """Return the edit as a step of a history, without empty fields."""
        return Step.of(EDIT, **{name: text for name, text in self._asdict().items() if text})

    def __str__(self) -> str:
        said = {"effect": self.effect, "reason": self.reason, "author": self.author, "date": self.date}
        said["tree before"] = self.before
        return "; ".join([self.what, *(f"{name}: {text}" for name, text in said.items() if text)])


def with_effect(tree: Tree, edit: RecordedEdit, effect: str) -> Tree:
    """Add the effect of the last edit to the history of the tree that it made."""
    step, history = edit.step(), list(tree.history)
    history[len(history) - 1 - history[::-1].index(step)] = edit._replace(effect=effect).step()
    return tree._edited(history=tuple(history))


def recorded_edits(history: Sequence[Step]) -> tuple[RecordedEdit, ...]:
    """Return the edits of a history, first to last."""
    return tuple(RecordedEdit.of(step) for step in history if step.name == EDIT)


def with_decision(tree: Tree, decision: DecisionRule) -> Tree:
    """Replace the decision rule of a tree."""
    check_decision(decision, tree.schema)
    return tree if decision == tree.decision else tree._edited(decision=decision)


def collapse(tree: Tree, mask: Bools, step: Step | None = None) -> Tree:
    """Turn some nodes into leaves, and remove all nodes below them, with their terms.

    Parameters
    ----------
    tree : Tree
    mask : bool array of shape (n_nodes,)
        The nodes. Leaves, and nodes below others in the mask, have no effect.
    step : Step, optional
        Added to the history.

    Returns
    -------
    Tree

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart").fit([[0], [1], [2]], ["a", "b", "a"]).tree_
    >>> tree.rows.tolist(), collapse(tree, tree.rows < 3).rows.tolist()
    ([3, 1, 2, 1, 1], [3, 1, 2])
    """
    tree = single_tree(tree)
    mask = np.asarray(mask)
    if mask.dtype != np.bool_ or mask.shape != (tree.n_nodes,):
        raise TreeError(
            f"mask is {mask.dtype} of shape {mask.shape}, expected bool of shape ({tree.n_nodes},): "
            "one entry per node"
        )
    if not (mask & ~tree.skeleton.is_leaf).any():
        return tree._edited(history=_append(tree.history, step))
    left = prune_shape(tree.skeleton.first_child, tree.skeleton.n_children, np.ascontiguousarray(mask))
    cut = np.flatnonzero(mask.take(left.node))
    # A node keeps its arrays and all its children or none, so no invariant can break.
    return tree._edited(
        skeleton=_cut_skeleton(tree.skeleton, left, cut),
        evidence=_pick(tree.evidence, left.node),
        rows=_pick(tree.rows, left.node),
        gain=_pick(tree.gain, left.node, cut, np.nan),
        belief=_pick(tree.belief, left.node),
        borrowed=_pick(tree.borrowed, left.node),
        slopes=_cut_slopes(tree, left),
        history=_append(tree.history, step),
    )


def _cut_skeleton(skeleton: Skeleton, left: PrunedShape, cut: Counts) -> Skeleton:
    """Copy the remaining nodes of a skeleton; nodes in `cut` become leaves."""
    slot_start, slot_of = np.zeros(len(left.node) + 1, np.int32), skeleton.slot_of
    if len(slot_of):
        begin = skeleton.slot_start[left.node]
        run = skeleton.slot_start[left.node + 1] - begin
        run[cut] = 0
        starts, slot_of = take_ranges(slot_of, begin, run)
        slot_start = starts.astype(np.int32)
    return Skeleton._unchecked(
        parent=left.parent,
        first_child=left.first_child,
        n_children=left.n_children,
        feature=_pick(skeleton.feature, left.node, cut, -1),
        threshold=_pick(skeleton.threshold, left.node, cut, np.nan),
        missing_slot=_pick(skeleton.missing_slot, left.node, cut, STOP),
        slot_start=slot_start,
        slot_of=slot_of,
    )


def _cut_slopes(tree: Tree, left: PrunedShape) -> Slopes:
    """Copy the terms of the remaining nodes."""
    if not len(tree.slopes):
        return tree.slopes
    number = np.full(tree.n_nodes, -1, np.int32)
    number[left.node] = np.arange(len(left.node))
    return tree.slopes.renumbered(number)


def _pick[T: np.generic](
    array: NDArray[T], nodes: Counts, cut: Counts | None = None, blank: float = np.nan
) -> NDArray[T]:
    """Copy entries of some nodes as a read-only array, with `blank` at the positions in `cut`."""
    picked: NDArray[T] = array.take(nodes, axis=0)
    if cut is not None:
        picked[cut] = blank
    picked.flags.writeable = False
    return picked


def raise_child(tree: Tree, node: int, slot: int, table: Table, step: Step | None = None) -> Tree:
    """Replace a node by the subtree of one of its children, and remove the other children.

    Rows of the removed children now go through the raised subtree, so evidence is recounted from `table`, the rows the
    tree's evidence came from. Belief is raw, no node has slopes, and gains in the raised subtree are unknown, because
    its rows have changed.
    """
    skeleton = tree.skeleton
    if not (0 <= node < tree.n_nodes and 0 <= slot < skeleton.n_children[node]):
        raise TreeError(f"node {node} has no slot {slot}, expected an inner node and one of its slots")
    child = skeleton.first_child.item(node) + slot
    raised, source = replace_subtree(skeleton, node, subtree(skeleton, child))
    gain = np.append(tree.gain, np.full(raised.n_nodes, np.nan))[source]
    history = _append(tree.history, step)
    return count_rows(raised, table, unit=float(tree.unit[0]), gain=gain, history=history)


def with_belief(tree: Tree, belief: Floats, borrowed: Floats | None = None, step: Step | None = None) -> Tree:
    """Replace the predictions of all nodes of a tree: what a smoother does.

    Parameters
    ----------
    tree : Tree
    belief : float64 array of shape (n_nodes, n_classes)
        Class probabilities; in regression means, of shape (n_nodes, 1).
    borrowed : float64 array of shape (n_nodes,), optional
        Number of rows that each node borrowed from its ancestors; default: none.
    step : Step, optional
        Added to the history.

    Returns
    -------
    Tree

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart").fit([[0], [1]], ["a", "b"]).tree_
    >>> half = with_belief(tree, np.full((3, 2), 0.5), step=Step.of("one-half"))
    >>> half.belief[1].tolist(), str(half.history[-1])
    ([0.5, 0.5], 'one-half()')
    """
    tree = single_tree(tree)
    borrowed = np.zeros(tree.n_nodes) if borrowed is None else borrowed
    check_belief(belief, borrowed, tree.n_nodes, tree.schema.n_outputs, regression=tree.is_regression)
    return tree._edited(belief=belief, borrowed=borrowed, history=_append(tree.history, step))


def with_slopes(tree: Tree, slopes: Slopes, step: Step | None = None) -> Tree:
    """Replace the slopes of a tree.

    Parameters
    ----------
    tree : Tree
    slopes : Slopes
    step : Step, optional
        Added to the history.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.tree import Feature, Schema
    >>> leaf = Tree.raw(Schema((Feature("age"),), ("no", "yes")), Skeleton.leaf(), np.array([[3, 1]]))
    >>> slopes = Slopes.of([0], [0], low=[20], high=[60], centre=[35], slope=[[0.0, 0.1]])
    >>> with_slopes(leaf, slopes).slopes
    Slopes(1 term of 1 node)
    """
    tree = single_tree(tree)
    if not isinstance(slopes, Slopes):
        raise ParameterError(f"slopes={shown(slopes)}: expected Slopes. Make them with Slopes.of.")
    check_slopes(slopes, tree.schema, tree.skeleton)
    slopes = slopes if len(slopes) else Slopes.none(tree.schema.n_outputs)
    return tree._edited(slopes=slopes, history=_append(tree.history, step))


def record_groups(tree: Tree, n_groups: int | None) -> Tree:
    """Record the number of groups of the training rows as the first step of the history, unless it is None."""
    return tree if n_groups is None else tree._edited(history=(Step.of(_GROUPS, n=n_groups), *tree.history))


def recorded_groups(tree: Tree) -> int | None:
    """Return the number of groups of the training rows; None if there were none."""
    found = (dict(step.parameters).get("n") for step in tree.history if step.name == _GROUPS)
    return next((n for n in found if type(n) is int), None)


def _append(history: tuple[Step, ...], step: Step | None) -> tuple[Step, ...]:
    if step is None:
        return history
    if not isinstance(step, Step):
        raise TreeError(f"step={shown(step)}: expected a Step, such as Step.of('my step'), or None.")
    return (*history, step)


def keep_best_leaves(tree: Tree, max_leaf_nodes: int) -> Tree:
    """Keep the splits that best-first growing makes with at most ``max_leaf_nodes`` leaves.

    A split does not depend on other parts of the tree. So the result of best-first growing is the full tree cut back to
    the splits of largest gain times weight, parents before children. Of tied splits the first in level order is
    kept; splits of unknown gain come last. A multiway split with too many children ends the growing.
    """
    if tree.n_leaves <= max_leaf_nodes:
        return tree
    skeleton = tree.skeleton
    priority = np.nan_to_num(tree.gain) * tree.weight
    kept = np.zeros(tree.n_nodes, dtype=bool)
    frontier = [(-float(priority[0]), 0)]
    n_leaves = 1
    while frontier:
        _, node = heapq.heappop(frontier)
        n_children = int(skeleton.n_children[node])
        if n_leaves + n_children - 1 > max_leaf_nodes:
            break
        kept[node] = True
        n_leaves += n_children - 1
        first = int(skeleton.first_child[node])
        for child in range(first, first + n_children):
            if skeleton.n_children[child]:
                heapq.heappush(frontier, (-float(priority[child]), child))
    return collapse(
        tree, ~kept & ~skeleton.is_leaf, Step.of("keep_best_leaves", max_leaf_nodes=max_leaf_nodes)
    )
