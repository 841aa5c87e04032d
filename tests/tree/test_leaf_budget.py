"""A maximum number of leaves, against best-first growing of one node at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.data.table import Table
from hornbeam.growing.criterion import Missing
from hornbeam.growing.grower import Grower
from hornbeam.tree.edit import keep_best_leaves
from support.examples import examples
from support.reference_growing import Node, Twin, weight_of
from support.strategies_growing import bins_of, growers, random_table, training_tables


def grow_best_first(twin: Twin, max_leaves: int) -> list[tuple[int, ...]]:
    """Evidence of the leaves after best-first growing, which splits the leaf of highest priority."""
    leaves = [Node(twin.cases, 0, (0.0, 1.0))]

    def priority(node: Node) -> float:
        node.trial = twin.best(node) if twin.may_split(node) else None
        return -1.0 if node.trial is None else node.trial.gain * weight_of(node.cases)

    while True:
        priorities = [priority(leaf) for leaf in leaves]
        best = int(np.argmax(priorities))
        if priorities[best] < 0:
            break
        node = leaves[best]
        branches = twin.spread(node) if node.trial.spreads else twin.part(node)
        if len(leaves) + len(branches) - 1 > max_leaves:
            break
        bounds = [twin.bounds_below(node, slot, branches) for slot in range(len(branches))]
        children = [Node(b, node.depth + 1, bound) for b, bound in zip(branches, bounds, strict=True)]
        leaves[best : best + 1] = children
    return sorted(tuple(twin.counts(leaf.cases)) for leaf in leaves)


@examples(60)
@given(st.data(), st.integers(2, 9))
def test_the_result_is_that_of_best_first_growing(data, max_leaves):
    # With real weights no two nodes have the same priority, so the order of splits is unique.
    seed = data.draw(st.integers(0, 2**32 - 1))
    missing = data.draw(st.sampled_from(Missing))
    table = random_table(seed, n_rows=40, n_classes=3, noise=0.7, weights="real")
    bins = bins_of(table)
    tree = Grower(missing=missing, max_leaf_nodes=max_leaves).grow(table, bins)
    leaves = sorted(map(tuple, tree.evidence[tree.skeleton.is_leaf].tolist()))
    assert leaves == grow_best_first(Twin(Grower(missing=missing), table, bins), max_leaves)


@examples(100)
@given(st.data(), st.integers(2, 12))
def test_the_tree_has_as_many_leaves_as_allowed(data, max_leaves):
    table = data.draw(training_tables())
    full = data.draw(growers(table)).grow(table, bins_of(table))
    tree = keep_best_leaves(full, max_leaves)
    assert tree.n_leaves <= max_leaves
    if full.n_leaves <= max_leaves:
        assert tree is full
    elif (full.skeleton.n_children <= 2).all():
        assert tree.n_leaves == max_leaves


def test_the_first_of_tied_nodes_is_split():
    x, y = (grid.ravel() for grid in np.meshgrid([0.0, 1.0], [0.0, 1.0, 2.0, 3.0]))
    table = Table.read(
        np.c_[x, y], (y > 1.5) ^ (x > 0.5)
    )  # no gain at the root, one bit per row in both halves
    tree = Grower(max_leaf_nodes=3).grow(table, bins_of(table))
    assert tree.skeleton.n_children.tolist() == [2, 2, 0, 0, 0]


@pytest.mark.parametrize("max_leaves", [2, 5, 17])
def test_the_history_has_the_step(max_leaves):
    table = random_table(0, n_rows=200, noise=1.0)
    tree = Grower(max_leaf_nodes=max_leaves).grow(table, bins_of(table))
    assert [step.name for step in tree.history] == ["grow", "keep_best_leaves"]
    assert tree.n_leaves <= max_leaves
