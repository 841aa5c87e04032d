"""Several trees side by side: each step gives what it gives for each tree alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.data.table import Table
from hornbeam.growing.grower import Grower
from hornbeam.kernels.elementary import dot
from hornbeam.kernels.smoothing import StackedTrees
from hornbeam.pruning import Collapse
from hornbeam.pruning.leaf_price import LeafPrice
from hornbeam.smoothing import Borrowing, Laplace
from hornbeam.smoothing.monotone import Monotone
from hornbeam.tree.edit import collapse
from hornbeam.tree.level_order import level_order
from hornbeam.tree.route import route
from hornbeam.tree.several import apart, apply_to_each, ends, root_weights, roots, side_by_side
from hornbeam.tree.walk import n_roots, pull_up
from support.examples import examples
from support.strategies_growing import bins_of, random_table, regression_tables

ARRAYS = ("evidence", "rows", "gain", "belief", "borrowed")
ROUTES = (
    "parent",
    "first_child",
    "n_children",
    "feature",
    "threshold",
    "slot_start",
    "slot_of",
    "missing_slot",
)


def grown(seed, n_rows, **parameters):
    table = random_table(seed, n_rows=n_rows, n_values=50, missing=0.0)
    return Grower(**parameters).grow(table, bins_of(table))


def several(seed, **parameters):
    """Four trees of one schema: one of a single leaf."""
    return [grown(seed + at, n, **parameters) for at, n in enumerate((40, 1, 90, 7))]


def assert_same(one, other):
    for name in ROUTES:
        np.testing.assert_array_equal(getattr(one.skeleton, name), getattr(other.skeleton, name), name)
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)


STEPS = {
    "borrowing": Borrowing(0.7, 0.2, -0.1, 0.3, 0.1, -0.2),
    "laplace": Laplace(),
    "collapse": Collapse(),
    "leaf price": lambda tree: LeafPrice(0.01)(Laplace()(tree)),
}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("seed", range(5))
def test_a_step_works_on_each_tree(step, seed):
    trees = several(10 * seed)
    together = apply_to_each(STEPS[step], side_by_side(trees))
    for (one, _), tree in zip(apart(together), trees, strict=True):
        assert_same(one, STEPS[step](tree))


@pytest.mark.parametrize(
    "step", [Borrowing(0.7, 0.2, -0.1, 0.3, 0.1, -0.2), LeafPrice(0.01), Monotone((1, 0, 0))]
)
@pytest.mark.parametrize("seed", range(5))
def test_a_step_for_several_trees_works_on_each(step, seed):
    assert step._for_several
    trees = [Laplace()(tree) for tree in several(10 * seed, monotonic_cst=(1, 0, 0))]
    for (one, _), tree in zip(apart(step(side_by_side(trees))), trees, strict=True):
        assert_same(one, step(tree))


@examples(40)
@given(st.data())
def test_steps_for_several_trees_work_on_numbers(data):
    table = data.draw(regression_tables(max_rows=30))
    half = np.arange(table.n_rows) % 2 == 0
    tables = [table, table.take(np.flatnonzero(half))]
    grower = Grower("squared_error", missing="learned")
    trees = [grower.grow(one, bins_of(table)) for one in tables]
    for step in (Borrowing(0.7, 0.2, -0.1, 0.3, 0.1, -0.2), LeafPrice(0.01)):
        for (one, _), tree in zip(apart(step(side_by_side(trees))), trees, strict=True):
            assert_same(one, step(tree))


def test_nodes_know_the_root_above_them():
    trees = several(3)
    together = side_by_side(trees)
    assert n_roots(together.skeleton) == 4
    root = roots(together.skeleton)
    for number, (tree, nodes) in enumerate(apart(together)):
        assert (root[nodes] == number).all()
        np.testing.assert_array_equal(root_weights(together, nodes), np.full(len(nodes), float(tree.rows[0])))
    assert (np.diff(nodes) > 0).all()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_rows_stop_where_they_stop_in_their_own_tree(n_jobs, monkeypatch):
    """A tree that is a leaf beside trees whose first split is nominal, and a column that no tree reads."""
    monkeypatch.setattr("hornbeam.tree.route.SERIAL_ROWS", 8)
    X = np.column_stack([np.full(60, 7.0), np.repeat([0, 1, 2], 20), np.tile([0.0, 1.0, 2.0, 3.0], 15)])
    frame = {"a": X[:, 0], "b": X[:, 1].astype(int).astype(str), "c": X[:, 2]}
    y = ((X[:, 1] > 0) & (X[:, 2] < 2)).astype(int)
    table = Table.read(pandas_frame(frame), y)
    trees = [
        Grower().grow(table.take(rows), bins_of(table))
        for rows in (np.arange(60), np.arange(3), np.arange(40))
    ]
    assert [tree.n_leaves > 1 for tree in trees] == [True, False, True]
    together = side_by_side(trees)
    rows, start = np.tile(np.arange(60), 3), np.repeat(np.arange(3, dtype=np.int32), 60)
    found = ends(together.skeleton, table, rows, start, n_jobs)
    expected = [nodes[route(tree.skeleton, table)] for tree, nodes in apart(together)]
    np.testing.assert_array_equal(found, np.concatenate(expected))


def pandas_frame(columns):
    return pytest.importorskip("pandas").DataFrame(columns)


@pytest.mark.parametrize("seed", range(10))
def test_children_are_added_up_and_cut_in_each_tree(seed):
    trees = several(10 * seed)
    together, rng = side_by_side(trees), np.random.default_rng(seed)
    values = rng.integers(-9, 9, (together.n_nodes, 2))
    mask = rng.random(together.n_nodes) < 0.3
    whole, cut = pull_up(together.skeleton, values), collapse(together, mask)
    for (tree, nodes), (less, _) in zip(apart(together), apart(cut), strict=True):
        np.testing.assert_array_equal(whole[nodes], pull_up(tree.skeleton, values[nodes]))
        np.testing.assert_array_equal(
            pull_up(tree.skeleton, values[nodes] * 0.1), pull_up(together.skeleton, values * 0.1)[nodes]
        )
        assert_same(less, collapse(tree, mask[nodes]))


def test_level_order_puts_all_roots_first():
    """Two trees, one after the other in the order of growing: 0 > 1, 2; 2 > 3, 4; and 5 > 7, 6."""
    parent, rank = [-1, 0, 0, 2, 2, -1, 5, 5], [0, 0, 1, 0, 1, 0, 1, 0]
    order = level_order(np.array(parent, np.int32), np.array(rank, np.int32))
    assert order.tolist() == [0, 5, 1, 2, 7, 6, 3, 4]


@pytest.mark.parametrize("seed", range(5))
def test_the_loss_does_not_depend_on_nodes_without_held_out_rows(seed):
    """Squared errors added up over all nodes, and slopes by differences."""
    trees = several(10 * seed)
    together, rng = side_by_side(trees), np.random.default_rng(seed)
    held = np.zeros(together.evidence.shape)
    leaf = np.flatnonzero(together.skeleton.is_leaf)
    held[rng.choice(leaf, len(leaf) // 2, replace=False)] = 1.0
    strengths = rng.normal(size=6) / 4
    evidence = together.evidence.astype(float)
    stacked = StackedTrees(together.skeleton.parent, evidence, held)
    belief, _ = stacked.predict(strengths)
    loss, slope = stacked.loss(strengths)
    expected = (held * ((1 - belief) ** 2 + (belief**2).sum(axis=1, keepdims=True) - belief**2)).sum()
    assert loss == pytest.approx(expected, rel=1e-12)
    step = 1e-6
    for at in range(6):
        above, below = (stacked.loss(strengths + sign * step * np.eye(6)[at])[0] for sign in (1, -1))
        assert slope[at] == pytest.approx((above - below) / (2 * step), rel=1e-4, abs=1e-5)


def test_a_dot_product_is_added_up_from_the_first_number_on():
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(2, 1001)) * 10.0 ** rng.integers(-9, 9, (2, 1001))
    total = 0.0
    for a, b in zip(one.tolist(), other.tolist(), strict=True):
        total += a * b
    assert dot(one, other) == total
    assert dot(np.empty(0), np.empty(0)) == 0.0
    with pytest.raises(ValueError, match="arrays of one length"):
        dot(one, other[1:])
