"""Weights: 2 is the same as two rows that are held out together, 0 as no row, and a sum of 1 as shares."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy.special import ndtr
from sklearn.datasets import load_breast_cancer

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.data.row_order import rows_have_copies
from hornbeam.data.table import Table
from hornbeam.recipe import PRESETS
from support.examples import examples

tables = st.integers(2, 25).flatmap(
    lambda n: st.tuples(
        npst.arrays(np.float64, (n, 3), elements=st.sampled_from([0.0, 1.0, 2.0, 3.0])),
        npst.arrays(np.int64, n, elements=st.integers(0, 2)),
        npst.arrays(np.int64, n, elements=st.integers(0, 3)).filter(np.any),
    )
)


@examples(30)
@given(tables)
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 0.3, 1: 1.7}])
@pytest.mark.parametrize("preset", PRESETS)
def test_a_row_of_weight_two_equals_two_rows(preset, class_weight, table):
    X, y, weight = table
    again = np.repeat(np.arange(len(y)), weight)
    assume(set(y[again]) == set(y))  # a class without weight stays a class
    if isinstance(class_weight, dict):
        class_weight = {label: factor for label, factor in class_weight.items() if label in y}
    classifier = TreeClassifier(preset, class_weight=class_weight)
    groups = "copies" if rows_have_copies(Table.read(X, y, sample_weight=weight)) else None
    weighted = classifier.fit(X, y, sample_weight=weight).tree_
    repeated = classifier.fit(X[again], y[again], groups=groups).tree_
    assert weighted.digest == repeated.digest


@pytest.mark.parametrize("regression", [False, True])
def test_whole_weights_do_not_weaken_smoothing(regression):
    """A row of weight 5 is not tested on its own copies: no worse than without weights, and than the weight 5.5."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_400, 4))
    truth = np.sin(2 * X[:, 0])
    number = truth + rng.normal(size=1_400)
    y = number if regression else (number > 0).astype(int)
    truth = truth if regression else ndtr(truth)
    model = TreeRegressor() if regression else TreeClassifier()
    train, test, rows = np.arange(400), np.arange(400, 1_400), np.repeat(np.arange(400), 5)

    def error(weight):
        model.fit(X[train], y[train], sample_weight=weight)
        found = model.predict(X[test]) if regression else model.predict_proba(X[test])[:, 1]
        return np.sqrt(((found - truth[test]) ** 2).mean())

    plain, fractional, whole = error(None), error(np.full(400, 5.5)), error(np.full(400, 5))
    assert whole < 1.1 * min(plain, fractional)
    weighted = model.tree_.digest
    assert weighted == model.fit(X[rows], y[rows], groups="copies").tree_.digest


def test_whole_weights_of_a_table_of_counts_are_cases():
    """Cells with both classes: their weights are numbers of cases, held out one by one."""
    X = np.repeat(np.arange(12), 2)[:, None] % [4, 3]
    y, weight = np.tile([0, 1], 12), np.arange(1, 25)
    rows = np.repeat(np.arange(24), weight)
    weighted = TreeClassifier().fit(X, y, sample_weight=weight).tree_
    assert weighted.digest == TreeClassifier().fit(X[rows], y[rows]).tree_.digest


@examples(30)
@given(tables, st.randoms(use_true_random=False))
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_the_order_of_rows_changes_nothing(class_weight, table, random):
    X, y, weight = table
    order = list(range(len(y)))
    random.shuffle(order)
    classifier = TreeClassifier(class_weight=class_weight)
    straight = classifier.fit(X, y, sample_weight=weight / 7).tree_.digest
    shuffled = classifier.fit(X[order], y[order], sample_weight=weight[order] / 7).tree_.digest
    assert straight == shuffled


@examples(30)
@given(tables)
@pytest.mark.parametrize("preset", PRESETS)
def test_shares_are_scaled_to_the_number_of_rows(preset, table):
    X, y, weight = table
    n_rows = np.count_nonzero(weight)
    # A power of two, so that rounding does not differ.
    whole = weight * 2.0 ** np.ceil(np.log2(n_rows))
    tree = TreeClassifier(preset).fit(X, y, sample_weight=whole / whole.sum()).tree_
    evidence = tree.evidence * tree.unit
    np.testing.assert_allclose(evidence[0].sum(), n_rows, rtol=1e-12)
    np.testing.assert_allclose(
        evidence[0], n_rows * np.bincount(y, weight, 3)[np.unique(y)] / weight.sum(), rtol=1e-12
    )


@pytest.mark.parametrize("preset", PRESETS)
def test_equal_shares_change_nothing(preset):
    X, y = load_breast_cancer(return_X_y=True)
    plain = TreeClassifier(preset).fit(X, y)
    shared = TreeClassifier(preset).fit(X, y, sample_weight=np.full(len(y), 1 / len(y)))
    assert shared.tree_.digest == plain.tree_.digest


@pytest.mark.parametrize("preset", PRESETS)
def test_shares_give_nearly_the_same_tree_as_the_weights(preset):
    X, y = load_breast_cancer(return_X_y=True)
    weight = np.random.default_rng(0).uniform(0.5, 1.5, len(y))
    weight *= len(y) / weight.sum()
    whole = TreeClassifier(preset).fit(X, y, sample_weight=weight)
    shared = TreeClassifier(preset).fit(X, y, sample_weight=weight / weight.sum())
    np.testing.assert_array_equal(whole.apply(X), shared.apply(X))
    np.testing.assert_allclose(whole.predict_proba(X), shared.predict_proba(X), rtol=1e-9)


def test_weights_with_a_sum_above_one_are_not_scaled():
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), [0, 0, 1, 1]
    half = TreeClassifier(smoothing="laplace").fit(X, y, sample_weight=[0.5] * 4)
    # One row per leaf: (1 + 1) / (1 + 2)
    np.testing.assert_allclose(half.predict_proba([[0.0]]), [[2 / 3, 1 / 3]])
    share = TreeClassifier(smoothing="laplace").fit(X, y, sample_weight=[0.25] * 4)
    np.testing.assert_allclose(share.predict_proba([[0.0]]), [[3 / 4, 1 / 4]])


@pytest.mark.parametrize("preset", ["c4.5", "c4.4"])
def test_c45_requires_a_weight_of_two_in_two_children(preset):
    X, y = np.array([[0.0], [0.0], [1.0], [1.0], [1.0], [1.0]]), [0, 0, 1, 1, 1, 1]
    light = [0.5, 0.5, 1, 1, 1, 1]
    assert TreeClassifier(preset).fit(X, y).tree_.n_leaves == 2
    assert TreeClassifier(preset).fit(X, y, sample_weight=light).tree_.n_leaves == 1


def test_weight_zero_equals_an_absent_row():
    X, y = load_breast_cancer(return_X_y=True)
    weight = np.arange(len(y)) % 2
    positive = weight > 0
    assert (
        TreeClassifier().fit(X, y, sample_weight=weight).tree_.digest
        == TreeClassifier().fit(X[positive], y[positive]).tree_.digest
    )
