"""The router against a Python reference, other libraries and invalid trees."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.kernels.route import Router
from support import reference_route as twin
from support.examples import examples

MIXED = (2, 0, 0, 5, 3)
NUMERIC = (0, 0, 0)
seeds = st.integers(0, 2**32 - 1)


def router_of(tree):
    return Router(**tree.copies())


def beliefs(tree, seed, n_classes=3):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(n_classes), len(tree.feature)), rng.integers(0, 4, len(tree.feature)) * 1.0


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@examples(300)
@given(tree=twin.trees(kinds=MIXED), seed=seeds, n_rows=st.integers(1, 40), n_classes=st.integers(1, 4))
def test_columns_are_routed_and_predicted_as_by_the_reference(tree, seed, n_rows, n_classes):
    columns = twin.columns(tree, MIXED, n_rows, seed)
    belief, weight = beliefs(tree, seed, n_classes)
    rows = list(zip(*columns, strict=True))
    router = router_of(tree)
    assert router.nodes(columns).tolist() == [twin.stop(tree, row) for row in rows]
    expected = np.array([twin.answer(tree, row, belief, weight) for row in rows])
    assert same_bits(router.predict(columns, belief, weight), expected)
    for row, answer in zip(rows, expected, strict=True):
        assert router.node_of_row(tuple(map(float, row))) == twin.stop(tree, row)
        assert router.predict_row(list(map(float, row)), belief, weight) == tuple(answer)
        assert router.predict_row(np.array(row, np.float64), belief, weight) == tuple(answer)


@examples(200)
@given(tree=twin.trees(kinds=NUMERIC, max_inner=40), seed=seeds, n_rows=st.integers(1, 40))
def test_matrices_of_any_layout_are_routed_as_by_the_reference(tree, seed, n_rows):
    columns = twin.columns(tree, NUMERIC, n_rows, seed)
    X = np.column_stack(columns)
    expected = [twin.stop(tree, row) for row in X]
    router = router_of(tree)
    wide = np.full((2 * n_rows, 7), 1e300)
    wide[::2, 1::2] = X
    for layout in (X, np.asfortranarray(X), wide[::2, 1::2], X[::-1][::-1], columns, tuple(columns)):
        assert router.nodes(layout).tolist() == expected
    assert router.nodes(X[::-1]).tolist() == expected[::-1]


@pytest.mark.parametrize("layout", ["C", "F"])
def test_blocks_of_rows_are_routed_as_single_rows(layout):
    rng = np.random.default_rng(0)
    tree = balanced(depth=10, n_features=6, rng=rng)
    X = np.asarray(rng.normal(size=(1003, 6)), order=layout)
    X[rng.random(X.shape) < 0.1] = np.nan
    router = router_of(tree)
    whole = router.nodes(X)
    assert whole.tolist() == [twin.stop(tree, row) for row in X]
    assert whole.tolist() == [router.node_of_row(row) for row in X]
    halves = [router.nodes(X[:500]), router.nodes(X[500:])]
    assert same_bits(whole, np.concatenate(halves))


def balanced(depth, n_features, rng):
    n_inner = 2**depth - 1
    n = 2 * n_inner + 1
    inner = np.arange(n) < n_inner
    return twin.numeric_tree(
        np.where(inner, 2, 0),
        np.where(inner, rng.integers(0, n_features, n), -1),
        np.where(inner, rng.normal(size=n), np.nan),
        np.where(inner, rng.integers(-1, 2, n), -1),
    )


@pytest.mark.parametrize("cut", [0.0, -0.0, 1.0, 0.1 + 0.2, 5e-324, 1.7976931348623157e308, np.inf, -np.inf])
def test_the_threshold_itself_goes_left_and_one_ulp_more_goes_right(cut):
    router = router_of(twin.numeric_tree([2, 0, 0], [0, -1, -1], [cut, np.nan, np.nan], [-1, -1, -1]))
    assert router.node_of_row((cut,)) == 1
    assert router.node_of_row((-np.inf,)) == 1
    assert router.node_of_row((np.nan,)) == 0
    if np.isfinite(cut):
        with np.errstate(over="ignore", under="ignore"):
            below, above = np.nextafter(cut, -np.inf), np.nextafter(cut, np.inf)
        assert router.nodes(np.array([[below], [cut], [above], [np.inf]])).tolist() == [1, 1, 2, 2]


def test_negative_zero_equals_zero():
    router = router_of(twin.numeric_tree([2, 0, 0], [0, -1, -1], [-0.0, np.nan, np.nan], [-1, -1, -1]))
    assert router.nodes(np.array([[0.0], [-0.0]])).tolist() == [1, 1]


def test_a_chain_of_ten_thousand_tests():
    depth = 10_000
    n_children = np.array([2] + [2, 0] * (depth - 1) + [0, 0])  # the first of each pair goes on
    inner = n_children > 0
    cuts = np.full(len(n_children), np.nan)
    cuts[inner] = -np.arange(depth)
    tree = twin.numeric_tree(n_children, np.where(inner, 0, -1), cuts, np.where(inner, twin.EVERY_CHILD, -1))
    router = router_of(tree)
    assert router.depth == depth
    X = -np.array([[-1.0], [0.5], [5000.5], [9998.5], [10_000.0]])
    assert router.nodes(X).tolist() == [2, 4, 10_004, 20_000, 19_999]
    belief, weight = beliefs(tree, 0, 2)
    weight += 1
    missing = np.array([[np.nan]])
    answers = router.predict(missing, belief, weight)
    assert same_bits(answers[0], twin.answer(tree, missing[0], belief, weight))
    assert router.predict_row((np.nan,), belief, weight) == tuple(answers[0])


def test_a_million_nodes():
    rng = np.random.default_rng(1)
    tree = balanced(depth=19, n_features=4, rng=rng)
    X = rng.normal(size=(200, 4))
    assert len(tree.feature) == 2**20 - 1
    assert router_of(tree).nodes(X).tolist() == [twin.stop(tree, row) for row in X]


def test_fractions_are_in_proportion_to_the_evidence():
    """C4.5: of 14 rows 5, 4 and 5 went to the three branches."""
    tree = twin.arrays([3, 0, 0, 0], [0, -1, -1, -1], [np.nan] * 4, [[0, 1, 2], [], [], []], [-2, -1, -1, -1])
    belief = np.array([[9 / 14, 5 / 14], [2 / 5, 3 / 5], [1, 0], [3 / 5, 2 / 5]])
    router = router_of(tree)
    columns = [np.array([-1, 1, -2], np.int32)]
    weight = np.array([14.0, 5, 4, 5])
    assert router.fractional
    assert router.nodes(columns).tolist() == [0, 2, 0]
    np.testing.assert_allclose(router.predict(columns, belief, weight)[0], [9 / 14, 5 / 14], rtol=1e-15)
    assert router.predict(columns, belief, weight)[1:].tolist() == [[1, 0], [9 / 14, 5 / 14]]
    no_rows = np.zeros(4)
    assert router.predict(columns, belief, no_rows)[0].tolist() == [9 / 14, 5 / 14]


def test_a_single_leaf_predicts_every_row():
    router = router_of(twin.numeric_tree([0], [-1], [np.nan], [-1]))
    belief = np.array([[0.25, 0.75]])
    assert router.nodes(np.zeros((3, 0))).tolist() == [0, 0, 0]
    assert router.predict(np.zeros((2, 5)), belief).tolist() == [[0.25, 0.75]] * 2
    assert router.nodes(np.zeros((0, 2))).tolist() == []
    assert router.node_of_row(()) == 0


def test_scikit_learn_agrees():
    tree_module = pytest.importorskip("sklearn.tree")
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2000, 5)).astype(np.float32)  # scikit-learn compares in float32
    y = (X[:, 0] * X[:, 1] > 0) ^ (rng.random(2000) < 0.2)
    fitted = tree_module.DecisionTreeClassifier(random_state=0).fit(X, y).tree_
    order = [0]
    for node in order:
        if fitted.children_left[node] >= 0:
            order += [fitted.children_left[node], fitted.children_right[node]]
    order = np.array(order)
    leaf = fitted.children_left[order] < 0
    tree = twin.numeric_tree(
        np.where(leaf, 0, 2),
        np.where(leaf, -1, fitted.feature[order]),
        np.where(leaf, np.nan, fitted.threshold[order]),
        np.where(leaf, -1, 1),
    )
    assert (order[router_of(tree).nodes(X.astype(np.float64))] == fitted.apply(X)).all()


def test_threads_share_a_router():
    rng = np.random.default_rng(4)
    tree = balanced(depth=8, n_features=3, rng=rng)
    router, X = router_of(tree), rng.normal(size=(5000, 3))
    out = np.empty(5000, np.int32)
    blocks = [slice(begin, begin + 500) for begin in range(0, 5000, 500)]
    threads = [threading.Thread(target=router.nodes, args=(X[block], out[block])) for block in blocks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert same_bits(out, router.nodes(X))


GOOD = twin.arrays(
    [2, 3, 2, 0, 0, 0, 0, 0],
    [0, 1, 0, -1, -1, -1, -1, -1],
    [0.5, np.nan, 1.5, *[np.nan] * 5],
    [[], [0, 2, 1], *[[]] * 6],
    [1, -2, -1, *[-1] * 5],
)


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("first_child", 0, 0),  # a circle
        ("first_child", 0, 2),
        ("first_child", 1, -5),
        ("first_child", 2, 7),  # runs past the end
        ("first_child", 2, 2**31 - 1),
        ("first_child", 2, 4),  # the child of another node
        ("n_children", 0, -1),
        ("n_children", 0, 1),
        ("n_children", 1, 2**31 - 1),
        ("n_children", 2, 0),  # orphans
        ("n_children", 7, 2),
        ("feature", 0, -1),
        ("feature", 1, -(2**31)),
        ("feature", 2, 1),  # a number here, a category there
        ("threshold", 0, np.nan),
        ("slot_start", 0, 1),
        ("slot_start", 1, -1),
        ("slot_start", 2, 4),
        ("slot_start", 2, 2**31 - 1),
        ("slot_start", 8, 4),
        ("slot_of", 0, 3),
        ("slot_of", 2, -2),
        ("missing_slot", 0, 2),
        ("missing_slot", 1, 3),
        ("missing_slot", 2, -3),
    ],
)
def test_invalid_trees_are_rejected(name, place, value):
    router_of(GOOD)
    broken = GOOD.copies()
    broken[name][place] = value
    with pytest.raises(ValueError, match="expected"):
        Router(**broken)


def test_a_feature_beyond_the_columns_is_rejected():
    last = 2**31 - 1
    router = router_of(twin.numeric_tree([2, 0, 0], [last, -1, -1], [0.5, np.nan, np.nan], [-1, -1, -1]))
    assert router.n_features == 2**31
    for X in (np.zeros((3, 2)), np.zeros((3, 2), order="F"), [np.zeros(3)] * 2):
        with pytest.raises(ValueError, match=f"2 columns, but the tree tests feature {last}"):
            router.nodes(X)
    with pytest.raises(ValueError, match="2 columns"):
        router.node_of_row((0.0, 0.0))


@pytest.mark.parametrize("name", list(GOOD.copies()))
def test_arrays_of_wrong_type_or_shape_are_rejected(name):
    array = GOOD.copies()[name]
    for wrong in (array.astype(np.float32), array[None], np.repeat(array, 2)[::2], array.astype(complex)):
        with pytest.raises(ValueError, match=name):
            Router(**{**GOOD.copies(), name: wrong})
    with pytest.raises(ValueError, match=r"items|run of slots"):
        Router(**{**GOOD.copies(), name: array[:-1]})


@examples(300)
@given(data=st.data(), seed=seeds)
def test_hostile_arrays_raise_or_route_within_bounds(data, seed):
    broken = GOOD.copies()
    for _ in range(data.draw(st.integers(1, 4))):
        array = broken[data.draw(st.sampled_from(sorted(broken)))]
        integers = st.integers(-(2**31), 2**31 - 1) | st.integers(-3, 9)
        values = st.floats() if array.dtype == np.float64 else integers
        array[data.draw(st.integers(0, len(array) - 1))] = data.draw(values)
    try:
        router = Router(**broken)
    except ValueError:
        return
    if router.n_features > 10:
        return
    kinds = [0] * router.n_features
    for node in np.flatnonzero(broken["n_children"]):
        if broken["slot_start"][node] < broken["slot_start"][node + 1]:
            kinds[broken["feature"][node]] = 3
    nodes = router.nodes(twin.columns(GOOD, kinds, 50, seed))
    assert nodes.min() >= 0
    assert nodes.max() < router.n_nodes


@pytest.mark.parametrize(
    "X",
    [
        [np.zeros(3)],  # a column short
        [np.zeros(3), np.zeros(3)],  # codes wanted
        [np.zeros(3, np.float32), np.zeros(3, np.int32)],
        [np.zeros(3), np.zeros(2, np.int32)],
        [np.zeros(3), np.zeros((3, 1), np.int32)],
        [np.zeros(3), None],
        np.zeros((3, 2)),  # nominal tests have no place in a matrix
        [],
    ],
)
def test_wrong_columns_are_rejected(X):
    with pytest.raises(ValueError, match=r"column|nominal"):
        router_of(GOOD).nodes(X)


@pytest.mark.parametrize(
    "X", [np.zeros((3, 1)), np.zeros(3), np.zeros((3, 2), np.float32), np.zeros((3, 2, 1))]
)
def test_wrong_matrices_are_rejected(X):
    stump = twin.numeric_tree([2, 0, 0], [1, -1, -1], [0.5, np.nan, np.nan], [-1, -1, -1])
    with pytest.raises(ValueError, match=r"columns|matrix"):
        router_of(stump).nodes(X)


def test_wrong_outputs_beliefs_and_weights_are_rejected():
    router = router_of(GOOD)
    columns = [np.zeros(3), np.zeros(3, np.int32)]
    belief, weight = np.full((8, 2), 0.5), np.ones(8)
    assert router.predict(columns, belief, weight).shape == (3, 2)
    for wrong in (belief[:-1], np.zeros((8, 0)), np.asfortranarray(belief), belief.astype(np.float32)):
        with pytest.raises(ValueError, match="belief"):
            router.predict(columns, wrong, weight)
    for wrong_weight in (None, weight[:-1], np.ones(16)[::2]):
        with pytest.raises(ValueError, match="weight"):
            router.predict(columns, belief, wrong_weight)
    for out in (np.empty((3, 3)), np.empty((3, 2), order="F"), np.empty(3)):
        with pytest.raises(ValueError, match="out"):
            router.predict(columns, belief, weight, out)
    for out in (np.empty(3, np.int64), np.empty(6, np.int32)[::2]):
        with pytest.raises(ValueError, match="out"):
            router.nodes(columns, out)


def test_read_only_inputs_are_fine_and_read_only_outputs_are_not():
    router = router_of(twin.numeric_tree([2, 0, 0], [0, -1, -1], [0.5, np.nan, np.nan], [-1, -1, -1]))
    X, out = np.zeros((2, 1)), np.zeros(2, np.int32)
    X.flags.writeable = out.flags.writeable = False
    assert router.nodes(X).tolist() == [1, 1]
    with pytest.raises((TypeError, ValueError)):
        router.nodes(X, out)


class Awkward:
    """A number that empties the list it lies in when it is read."""

    def __init__(self, row):
        self.row = row

    def __float__(self):
        self.row.clear()
        return 0.0


def test_single_rows_without_numbers_are_rejected():
    router = router_of(GOOD)
    with pytest.raises(ValueError, match="columns"):
        router.node_of_row((0.0,))
    with pytest.raises(TypeError):
        router.node_of_row(("a", 0))
    with pytest.raises(ValueError, match="row"):
        router.node_of_row("ab")
    with pytest.raises(ValueError, match="row"):
        router.node_of_row(np.zeros(2, np.float32))
    row = []
    row += [Awkward(row), 1.0]
    assert router.node_of_row(row) == 5  # x0 = 0.0 goes to node 1, whose category 1 is slot 2
