"""Stability: worked numbers, a slow reference, and laws over refits on halves of the rows."""

from __future__ import annotations

import warnings
from collections import Counter
from statistics import median, stdev
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from hornbeam import BoostedTreesRegressor, ForestClassifier, RuleClassifier, TreeClassifier, TreeRegressor
from hornbeam.errors import DataError, HornbeamWarning, ParameterError
from hornbeam.evaluation import stability
from hornbeam.evaluation.refits import Refits
from hornbeam.evaluation.stability import RootSplit

ARRAYS = ("probability", "sd", "low", "high", "moved", "changed")


def noisy(n: int = 60, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (n, 3)).astype(float)
    return X, np.where(X[:, 0] + X[:, 1] + rng.normal(0, 3, n) > 5, "yes", "no")


# ---- worked numbers ----------------------------------------------------------------------------------------


def test_means_of_two_halves():
    """The half with the 8 has the mean 4, the other 0; all rows have the mean 2."""
    found = stability(DummyRegressor(), [[0.0]] * 4, [0.0, 0.0, 0.0, 8.0], n_refits=2)
    assert found.probability.tolist() == [[2.0]] * 4
    assert found.sd[0, 0] == pytest.approx(8**0.5)
    assert (found.low[0, 0], found.high[0, 0]) == (0.0, 4.0)
    assert found.moved.tolist() == [2.0] * 4
    assert (found.changed, found.n_changed(0.1), found.roots, found.leaves) == (None, None, None, None)


def test_decisions_of_two_halves_of_one_class_each():
    """One refit decides a for both rows, the other b; the model of both rows decides a, with probability 1/2."""
    found = stability(DummyClassifier(), [[0.0], [1.0]], ["a", "b"], n_refits=2)
    assert found.probability.tolist() == [[0.5, 0.5]] * 2
    assert found.changed is not None
    assert found.changed.tolist() == [0.5, 0.5]
    assert found.moved.tolist() == [0.5, 0.5]
    assert (found.n_changed(0.5), found.n_changed(0.51)) == (2, 0)


def test_groups_stay_together():
    """The halves are the two groups, with the means 0 and 8."""
    found = stability(DummyRegressor(), [[0.0]] * 4, [0, 8, 0, 8], groups=["p", "q", "p", "q"], n_refits=2)
    assert found.moved.tolist() == [4.0] * 4
    assert found.sd[0, 0] == pytest.approx(32**0.5)
    assert found._sentences()[0] == "2 refits on halves of 2 groups."


def test_nineteen_refits_range_from_the_least_to_the_most():
    """The k-th of 19 values is the quantile k / 20."""
    y = np.arange(8.0) ** 2
    found = stability(DummyRegressor(), np.zeros((8, 1)), y, n_refits=19)
    refits = drawn(DummyRegressor(), np.zeros((8, 1)), y, n_refits=19, classification=False)
    means = [y[rows].mean() for rows in refits.rows]
    assert (found.low[0, 0], found.high[0, 0]) == pytest.approx((min(means), max(means)))


def test_the_spread_of_halves_is_the_standard_error_of_a_mean():
    y = np.random.default_rng(0).normal(size=400)
    found = stability(DummyRegressor(), np.zeros((400, 1)), y, n_refits=400)
    assert found.sd[0, 0] == pytest.approx(y.std(ddof=1) / 20, rel=0.1)


def test_a_certain_root():
    """Rows with squares from 400 on are positive: every threshold lies between two squares around 19.5 * 19.5."""
    X = [[at * at, at % 3] for at in range(40)]
    found = stability(TreeClassifier("cart"), X, [at >= 20 for at in range(40)])
    assert found.roots is not None
    [root] = found.roots
    assert (root.feature, root.share, root.chosen) == ("x0", 1.0, True)
    assert root.threshold is not None
    assert root.low is not None
    assert root.high is not None
    assert 15**2 < root.low <= root.threshold <= root.high < 25**2


# ---- a slow reference --------------------------------------------------------------------------------------


def drawn(
    estimator: Any, X: Any, y: Any, n_refits: int, *, classification: bool = True, **other: Any
) -> Refits:
    rows = {"sample_weight": None, "groups": None, "only_seeds": False, "random_state": 0} | other
    return Refits.draw(estimator, X, y, n_refits=n_refits, classification=classification, **rows)


def test_all_numbers_as_by_hand():
    X, y = noisy()
    clf, n = TreeClassifier("c4.4", max_depth=3).fit(X, y), 8
    found, refits = stability(clf, X, y, n_refits=n), drawn(clf, X, y, n)
    models = [
        TreeClassifier("c4.4", max_depth=3, random_state=seed).fit(X[rows], y[rows])
        for rows, seed in zip(refits.rows, refits.seeds, strict=True)
    ]
    each = [model.predict_proba(X) for model in models]
    base = clf.predict_proba(X)
    for row in range(len(X)):
        values = [p[row, 1] for p in each]
        assert found.sd[row, 1] == pytest.approx(stdev(values))
        assert found.moved[row] == pytest.approx(max(abs(value - base[row, 1]) for value in values))
        assert found.low[row, 1] == pytest.approx(min(*values, base[row, 1]))  # of less than 19 refits
        others = sum(model.predict(X)[row] != clf.predict(X)[row] for model in models)
        assert found.changed is not None
        assert found.changed[row] == others / n
    roots: dict[str, list[float]] = {}
    for model in models:
        tree = model.tree_
        roots.setdefault(tree.schema.names[tree.skeleton.feature[0]], []).append(tree.skeleton.threshold[0])
    assert found.roots is not None
    assert {root.feature: root.share for root in found.roots if root.share} == {
        name: len(values) / n for name, values in roots.items()
    }
    for root in found.roots:
        if root.share:
            assert root.threshold == pytest.approx(median(roots[str(root.feature)]))
    leaf_of = clf.apply(X)
    assert found.leaves is not None
    assert dict(zip(found.leaves.node.tolist(), found.leaves.rows.tolist(), strict=True)) == Counter(
        leaf_of.tolist()
    )
    for at, node in enumerate(found.leaves.node.tolist()):
        means = [p[leaf_of == node, 1].mean() for p in each]
        assert found.leaves.probability[at, 1] == pytest.approx(base[leaf_of == node, 1].mean())
        assert found.leaves.sd[at, 1] == pytest.approx(stdev(means))


# ---- laws --------------------------------------------------------------------------------------------------


@given(st.integers(2, 40), st.integers(2, 7), st.integers(0, 2**32))
@settings(max_examples=30)
def test_halves_are_disjoint_and_complete(n, n_refits, seed):
    y = np.arange(n) % 2
    refits = drawn(DummyClassifier(), np.arange(n, dtype=float)[:, None], y, n_refits, random_state=seed)
    assert len(refits.rows) == n_refits
    for first, second in zip(refits.rows[::2], refits.rows[1::2], strict=False):
        assert sorted([*first, *second]) == list(range(n))
        assert len(first) == n // 2


@given(st.integers(0, 2**32), st.booleans())
@settings(max_examples=12, deadline=None)
def test_no_result_depends_on_the_order_of_the_rows(seed, grouped):
    rng = np.random.default_rng(seed)
    X, y = noisy(50, seed % 1000)
    group = rng.integers(0, 9, 50) if grouped else None
    order = rng.permutation(50)
    clf = TreeClassifier("c4.4", max_depth=3)
    first = stability(clf, X, y, groups=group, n_refits=4)
    second = stability(clf, X[order], y[order], groups=None if group is None else group[order], n_refits=4)
    assert first.roots == second.roots
    for name in ARRAYS:
        assert_array_equal(getattr(first, name)[order], getattr(second, name))
    for name in ("node", "rows", "probability", "sd", "low", "high"):
        assert_array_equal(getattr(first.leaves, name), getattr(second.leaves, name))


def test_threads_change_nothing():
    X, y = noisy(30)
    one, two = (stability(TreeClassifier(), X, y, n_refits=4, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.summary() == two.summary()
    for name in ARRAYS:
        assert_array_equal(getattr(one, name), getattr(two, name))


def test_the_range_holds_the_fitted_prediction():
    X, y = noisy(30)
    found = stability(TreeClassifier(), X, y, n_refits=4)
    assert (found.low <= found.probability).all()
    assert (found.probability <= found.high).all()


def test_another_seed_draws_other_halves():
    X, y = noisy()
    first, second = (drawn(DummyClassifier(), X, y, 2, random_state=seed).rows[0] for seed in (0, 1))
    assert set(first) != set(second)


# ---- seeds -------------------------------------------------------------------------------------------------


def test_only_seeds_fits_to_all_rows():
    X, y = noisy(30)
    refits = drawn(TreeClassifier(), X, y, 3, only_seeds=True)
    assert all(sorted(rows) == list(range(30)) for rows in refits.rows)
    assert len({*refits.seeds}) == 3
    found = stability(TreeClassifier(), X, y, n_refits=3, only_seeds=True)
    halves = stability(TreeClassifier(), X, y, n_refits=3)
    assert 0 < found.moved.max() < halves.moved.max()
    assert found._sentences()[0] == "3 refits with other seeds on all 30 rows."


def test_a_method_without_random_steps_has_no_spread_between_seeds():
    X, y = noisy()
    found = stability(TreeClassifier("cart"), X, y, n_refits=3, only_seeds=True)
    assert found.moved.max() == 0.0
    assert found.roots is not None
    assert [root.share for root in found.roots] == [1.0]


def test_seeds_inside_a_pipeline_are_set():
    X, y = noisy(30)
    pipeline = make_pipeline(StandardScaler(), TreeClassifier())
    assert stability(pipeline, X, y, n_refits=3, only_seeds=True).moved.max() > 0


# ---- kinds of estimators and rows --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "estimator",
    [
        TreeClassifier("readable", max_leaf_nodes=3),
        DecisionTreeClassifier(max_depth=2),
        make_pipeline(StandardScaler(), TreeClassifier("cart", max_depth=2)),
        GridSearchCV(TreeClassifier("cart"), {"max_depth": [1, 2]}, cv=2),
    ],
)
def test_one_tree(estimator):
    X, y = noisy()
    found = stability(estimator, X, y, n_refits=2)
    assert found.roots is not None
    assert found.leaves is not None
    assert sum(root.share for root in found.roots) == 1.0
    assert found.leaves.rows.sum() == 60
    assert "root split" in repr(found)
    assert "<table" in found._repr_html_()


@pytest.mark.parametrize(
    "estimator",
    [ForestClassifier(5), LogisticRegression(), RidgeClassifier(), RuleClassifier(TreeClassifier("cart"))],
)
def test_no_tree_or_many(estimator):
    X, y = noisy()
    found = stability(estimator, X, y, n_refits=2)
    assert found.roots is None
    assert found.summary()["leaves"] is None
    assert_array_equal(found.probability.sum(axis=1).round(9), 1.0)
    assert "root split" not in repr(found)
    assert "Root splits" not in found._repr_html_()


def test_numeric_targets():
    X, _ = noisy()
    y = X[:, 0] * 1000 + X[:, 1]
    found = stability(TreeRegressor(), X, y, n_refits=4)
    assert found.leaves is not None
    assert found.leaves.probability.shape[1] == 1
    assert "largest change of a prediction" in repr(found)
    assert "mean" in found._leaf_header
    assert stability(BoostedTreesRegressor(n_estimators=3), X, y, n_refits=2).roots is None


def test_several_classes_show_the_most_probable_one():
    X, y = load_iris(return_X_y=True)
    found = stability(TreeClassifier("cart", max_depth=2), X, y, n_refits=2)
    assert [cells[2] for cells in found._leaf_cells()] == ["0", "1", "2"]
    assert [cells[2] for cells in found._leaf_cells(code=0)] == ["0", "0", "0"]


def test_every_container():
    X, y = noisy()
    names = ["a", "b", "c"]
    frame = pd.DataFrame(X, columns=names)
    expected = stability(TreeClassifier("c4.4"), frame, y, n_refits=4)
    for rows, labels in (
        (frame.set_index(frame.index[::-1]), pd.Series(y)),
        (pl.from_pandas(frame), pl.Series(y)),
        (pa.table(frame), pa.chunked_array([y.tolist()])),
        (X.tolist(), y.tolist()),
        (csr_array(X), y),
    ):
        found = stability(TreeClassifier("c4.4"), rows, labels, n_refits=4)
        for name in ARRAYS:
            assert_array_equal(getattr(found, name), getattr(expected, name))


def test_categories_and_missing_values():
    X = pd.DataFrame({"place": ["a", "b", None, "c"] * 10, "size": [1.0, np.nan, 3.0, 4.0] * 10})
    found = stability(TreeClassifier("cart"), X, ["no", "no", "yes", "yes"] * 10, n_refits=4)
    assert found.moved.max() == 0.0
    assert found.roots is not None
    assert all(isinstance(root, RootSplit) for root in found.roots)


def test_a_split_off_of_missing_values_has_no_threshold():
    X = [[np.nan], [1.0]] * 20
    found = stability(DecisionTreeClassifier(), X, ["no", "yes"] * 20, n_refits=2)
    assert found.roots is not None
    [root] = found.roots
    assert (root.share, root.threshold, root.threshold_text) == (1.0, None, "–")


def test_weights_are_those_of_the_rows():
    y = [0.0, 0.0, 0.0, 8.0]
    found = stability(DummyRegressor(), [[0.0]] * 4, y, sample_weight=[1, 1, 1, 3], n_refits=2)
    assert found.probability[0, 0] == 4.0
    assert found.high[0, 0] == 6.0  # (0 + 3 * 8) / 4


class Grouped(DummyRegressor):
    """A regressor whose fit takes groups."""

    def fit(self, X, y, sample_weight=None, groups=None):
        assert len(groups) == len(y)
        self.groups_ = sorted(set(groups))
        return super().fit(X, y, sample_weight)


def test_groups_are_passed_to_a_fit_that_takes_them():
    y = [0.0, 8.0] * 3
    assert stability(Grouped(), [[0.0]] * 6, y, groups=["p", "q"] * 3, n_refits=2).moved[0] == 4.0


# ---- what must not happen ----------------------------------------------------------------------------------


def test_the_estimator_does_not_change():
    X, y = noisy()
    clf = TreeClassifier("cart")
    stability(clf, X, y, n_refits=2)
    assert not hasattr(clf, "tree_")
    pipeline = make_pipeline(StandardScaler(), clf).fit(X[:20], y[:20])
    digest = clf.tree_.digest
    stability(pipeline, X, y, n_refits=2)
    assert clf.tree_.digest == digest
    assert clf.random_state is None


def test_a_fitted_estimator_is_compared_as_it_is():
    X, y = noisy()
    clf = TreeClassifier("cart", max_depth=1).fit(X, y)
    clf.max_depth = 4
    found = stability(clf, X, y, n_refits=2)
    assert_array_equal(found.probability, clf.predict_proba(X))


def test_refits_do_not_warn():
    X = pd.DataFrame({"customer": [f"C-{i}" for i in range(60)], "x": noisy()[0][:, 0]})
    y = noisy()[1]
    with pytest.warns(HornbeamWarning):
        clf = TreeClassifier("cart").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stability(clf, X, y, n_refits=2)


def test_progress_counts_the_refits():
    X, y = noisy()
    heard: list[int] = []
    stability(TreeClassifier("cart"), X, y, n_refits=3, n_jobs=2, on_progress=heard.append)
    assert heard == [1, 2, 3]


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({"n_refits": 1}, ParameterError, "n_refits=1"),
        ({"n_refits": True}, ParameterError, "n_refits=True"),
        ({"n_jobs": 0}, ParameterError, "n_jobs=0"),
        ({"random_state": None}, ParameterError, "random_state=None"),
        ({"groups": ["a"]}, DataError, r"groups has the shape \(1,\)"),
        ({"groups": [0.5] * 60}, DataError, "label of a group"),
        ({"groups": ["a"] * 60}, DataError, "one group"),
        ({"sample_weight": [[1.0]] * 60}, DataError, "sample_weight"),
    ],
)
def test_wrong_parameters(parameters, error, words):
    X, y = noisy()
    with pytest.raises(error, match=words):
        stability(TreeClassifier("cart").fit(X, y), X, y, **parameters)


def test_what_is_no_estimator_or_has_no_seed():
    X, y = noisy()
    with pytest.raises(ParameterError, match="without fit"):
        stability(TreeClassifier("cart").fit(X, y).tree_, X, y)
    with pytest.raises(ParameterError, match="no parameter random_state"):
        stability(StandardScaledMean(), X, y, only_seeds=True)
    with pytest.raises(ParameterError, match="rows in memory"):
        stability(TreeClassifier(), "rows.parquet", "y")


class StandardScaledMean(Grouped):
    """A regressor without a seed."""

    def __init__(self):
        super().__init__()

    def fit(self, X, y, sample_weight=None):
        self.constant_ = 0.0
        return self
