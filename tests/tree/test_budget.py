"""The leaf budget against a grower that opens one node at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbeam.data import Table
from hornbeam.growing import Grower, Missing
from hornbeam.tree.leaf_budget import keep_best_leaves
from reference_growing import Node, Twin, weight_of
from strategies_growing import bins_of, growers, random_table, training_tables


def grow_best_first(twin: Twin, budget: int) -> list[tuple[int, ...]]:
    """Evidence of the leaves a best-first grower ends with: open the most worthy leaf, again and again."""
    leaves = [Node(twin.cases, 0, (0.0, 1.0))]

    def worth(node: Node) -> float:
        node.trial = twin.best(node) if twin.may_split(node) else None
        return -1.0 if node.trial is None else node.trial.gain * weight_of(node.cases)

    while True:
        worths = [worth(leaf) for leaf in leaves]
        best = int(np.argmax(worths))
        if worths[best] < 0:
            break
        node = leaves[best]
        branches = twin.spread(node) if node.trial.spreads else twin.part(node)
        if len(leaves) + len(branches) - 1 > budget:
            break
        bounds = [twin.bounds_below(node, slot, branches) for slot in range(len(branches))]
        children = [Node(b, node.depth + 1, bound) for b, bound in zip(branches, bounds, strict=True)]
        leaves[best : best + 1] = children
    return sorted(tuple(twin.counts(leaf.cases)) for leaf in leaves)


@settings(max_examples=60)
@given(st.data(), st.integers(2, 9))
def test_the_replay_keeps_what_a_best_first_grower_makes(data, budget):
    # Real weights: no two nodes are worth the same, so the order of opening is beyond dispute.
    seed = data.draw(st.integers(0, 2**32 - 1))
    missing = data.draw(st.sampled_from(Missing))
    table = random_table(seed, n_rows=40, n_classes=3, noise=0.7, weights="real")
    bins = bins_of(table)
    tree = Grower(missing=missing, max_leaf_nodes=budget).grow(table, bins)
    leaves = sorted(map(tuple, tree.evidence[tree.skeleton.is_leaf].tolist()))
    assert leaves == grow_best_first(Twin(Grower(missing=missing), table, bins), budget)


@settings(max_examples=100)
@given(st.data(), st.integers(2, 12))
def test_the_budget_is_kept_and_used(data, budget):
    table = data.draw(training_tables())
    full = data.draw(growers(table)).grow(table, bins_of(table))
    tree = keep_best_leaves(full, budget)
    assert tree.n_leaves <= budget
    if full.n_leaves <= budget:
        assert tree is full
    elif (full.skeleton.n_children <= 2).all():
        assert tree.n_leaves == budget


def test_ties_go_to_the_node_that_comes_first():
    x, y = (grid.ravel() for grid in np.meshgrid([0.0, 1.0], [0.0, 1.0, 2.0, 3.0]))
    table = Table.read(
        np.c_[x, y], (y > 1.5) ^ (x > 0.5)
    )  # nothing at the root, one bit a row in both halves
    tree = Grower(max_leaf_nodes=3).grow(table, bins_of(table))
    assert tree.skeleton.n_children.tolist() == [2, 2, 0, 0, 0]


@pytest.mark.parametrize("budget", [2, 5, 17])
def test_history_names_the_budget(budget):
    table = random_table(0, n_rows=200, noise=1.0)
    tree = Grower(max_leaf_nodes=budget).grow(table, bins_of(table))
    assert [step.name for step in tree.history] == ["grow", "keep_best_leaves"]
    assert tree.n_leaves <= budget
