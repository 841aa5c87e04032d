"""`update` and `forget` of a regressor: rows are added and removed exactly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes

import hornbeam
from hornbeam import TreeRegressor
from hornbeam.data.schema import Kind
from hornbeam.data.table import Table
from hornbeam.errors import DataError, ParameterError
from hornbeam.tree.evidence.count import recount
from hornbeam.tree.evidence.update import add_rows, decay, remove_rows
from support.examples import examples


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True)


@examples(60)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_added_rows_are_forgotten_exactly(seed, weighted):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 6, (40, 2)).astype(float), rng.normal(size=40) * 10.0 ** rng.integers(-5, 5)
    weight = rng.integers(1, 5, 40) if weighted else None
    some = slice(20), slice(20, 40)
    reg = TreeRegressor("cart").fit(
        X[some[0]], y[some[0]], sample_weight=None if weight is None else weight[:20]
    )
    before = reg.tree_
    late = None if weight is None else weight[20:]
    y[20:] = rng.permutation(y[:20])  # values that the unit of the first rows can represent
    reg.update(X[20:], y[20:], sample_weight=late)
    order = rng.permutation(20)
    reg.forget(X[20:][order], y[20:][order], sample_weight=None if late is None else late[order])
    assert reg.tree_.digest == before.digest
    np.testing.assert_array_equal(reg.tree_.evidence, before.evidence)


def test_update_is_the_mean_of_all_rows(diabetes):
    X, y = diabetes
    reg = TreeRegressor("cart", max_depth=3).fit(X[:300], y[:300])
    reg.update(X[300:], y[300:])
    whole = recount(reg.tree_, Table.read(X, y, target_kind=Kind.NUMERIC))
    np.testing.assert_allclose(reg.tree_.belief, whole.belief, rtol=1e-12)
    np.testing.assert_array_equal(reg.tree_.rows, whole.rows)


def test_cross_fitted_trees_keep_their_strengths(diabetes, tmp_path):
    X, y = diabetes
    reg = TreeRegressor(max_depth=3).fit(X[:300], y[:300])
    before = reg.tree_.digest
    hornbeam.save(reg, tmp_path / "model.hornbeam")
    again = hornbeam.load(tmp_path / "model.hornbeam").update(X[300:], y[300:])
    assert again.tree_.digest == reg.update(X[300:], y[300:]).tree_.digest != before
    assert reg.forget(X[300:], y[300:]).tree_.digest == before


def test_the_other_half_can_be_forgotten(diabetes):
    """The remaining sums are those of the remaining rows."""
    X, y = diabetes
    tree = TreeRegressor("cart", max_depth=3).fit(X, y).tree_
    left = remove_rows(tree, Table.read(X[::2], y[::2], schema=tree.schema))
    alone = recount(tree, Table.read(X[1::2], y[1::2], target_kind=Kind.NUMERIC))
    np.testing.assert_allclose(left.belief, alone.belief, rtol=1e-12)


@pytest.mark.parametrize("y", [[5.0], [-3.0]])
def test_forgetting_unknown_numbers_is_refused(y):
    reg = TreeRegressor("cart").fit([[0.0], [0.0], [1.0]], [1.0, 2.0, 5.0])
    before = reg.tree_
    with pytest.raises(DataError, match="leaf 1 has no such numbers as are to be forgotten"):
        reg.forget([[0.0]], y)
    with pytest.raises(DataError, match="leaf 2"):
        reg.forget([[1.0]], [4.0])
    assert reg.tree_ is before


def test_overflow_of_the_sums_is_refused():
    reg = TreeRegressor("cart").fit([[0.0], [1.0]], [1.0, 2.0])
    with pytest.raises(DataError, match="or grow a new tree"):
        reg.update([[1.0]], [1e6])
    assert reg.update([[0.0], [1.0]], [2.0, 2.0]).predict([[0.0]]).tolist() == [1.5]


def test_a_decay_of_one_changes_nothing_and_others_are_refused():
    tree = TreeRegressor("cart").fit([[0.0], [1.0]], [1.0, 2.0]).tree_
    assert decay(tree, 1.0) is tree
    with pytest.raises(ParameterError, match=r"decay=1\.5: expected a number above 0, up to 1"):
        decay(tree, 1.5)


def test_decay_of_a_numeric_target():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), rng.normal(5, 2, 300)
    batches = np.split(np.arange(300), [100, 150, 200, 250])
    reg = TreeRegressor("cart", max_leaf_nodes=4).fit(X[batches[0]], y[batches[0]])
    worth = np.zeros(300)
    worth[batches[0]] = 1
    for batch in batches[1:]:
        worth *= 0.8
        worth[batch] = 1
        reg.update(X[batch], y[batch], decay=0.8)
    home = reg.apply(X)
    for leaf in np.unique(home):
        there = home == leaf
        weight, total, squares = reg.tree_.evidence[leaf] * reg.tree_.unit
        assert weight == pytest.approx(worth[there].sum(), rel=1e-9)
        assert total == pytest.approx((worth * y)[there].sum(), rel=1e-9)
        assert squares == pytest.approx((worth * y**2)[there].sum(), rel=1e-9)
        assert reg.tree_.belief.item(leaf) == pytest.approx(np.average(y[there], weights=worth[there]))
        assert reg.tree_.rows[leaf] == np.count_nonzero(there)


def test_a_tree_after_decay_is_saved_and_forgets(tmp_path):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 2)), rng.normal(size=200)
    y += 3 * (X[:, 0] > 0)
    reg = TreeRegressor().fit(X, y)
    for _ in range(30):
        reg.update(X[:20], y[:20], decay=0.9)
    hornbeam.save(reg, tmp_path / "m.hornbeam")
    again = hornbeam.load(tmp_path / "m.hornbeam")
    assert again.tree_.digest == reg.tree_.digest
    before = reg.tree_.evidence[0] * reg.tree_.unit
    reg.forget(X[:5], y[:5])
    after = reg.tree_.evidence[0] * reg.tree_.unit
    np.testing.assert_allclose(before - after, [5, y[:5].sum(), (y[:5] ** 2).sum()], rtol=1e-9)
    low, high = reg.predict_interval(X[:50])
    assert (low <= reg.predict(X[:50])).all()
    assert (reg.predict(X[:50]) <= high).all()


def test_the_schema_must_match_the_tree():
    tree = TreeRegressor("cart").fit([[0.0], [1.0]], [1.0, 2.0]).tree_
    with pytest.raises(DataError, match="schema is not the tree's"):
        add_rows(tree, Table.read([[0.0]], ["a"]))
