"""Columns are selected by name: from dicts, from frames with more columns, and by `select_columns`."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from hornbeam import (
    AdaBoostClassifier,
    BoostedTreesClassifier,
    BoostedTreesRanker,
    BoostedTreesRegressor,
    ForestClassifier,
    ForestRegressor,
    RuleClassifier,
    SmoothedClassifier,
    TreeClassifier,
    TreeRegressor,
)
from hornbeam.errors import DataError, SchemaError
from hornbeam.tree import Table

pytestmark = [
    # scikit-learn 1.6, which SmoothedClassifier uses, ignores the names of polars frames.
    pytest.mark.filterwarnings("ignore:X does not have valid feature names"),
]

DRAW = np.random.default_rng(0)
N = 120
X = pd.DataFrame(
    {"age": DRAW.integers(20, 70, N).astype(float), "noise": np.zeros(N), "pay": DRAW.lognormal(3, 1, N)}
)
Y = ((X.age > 45) & (X.pay > 15)).astype(int)
MORE = X.assign(when=pd.Timestamp("2026-01-01"), id=range(N))[["when", "pay", "noise", "id", "age"]]

ESTIMATORS = [
    TreeClassifier(),
    TreeRegressor(),
    ForestClassifier(3),
    ForestRegressor(3),
    BoostedTreesClassifier(n_estimators=3),
    BoostedTreesRegressor(n_estimators=3),
    BoostedTreesRanker(n_estimators=3),
    AdaBoostClassifier(3),
    RuleClassifier(),
    SmoothedClassifier(),
]


@pytest.fixture(params=ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def fitted(request):
    return request.param.fit(X, Y)


@pytest.mark.parametrize("frame", [lambda X: X, pl.from_pandas, pa.Table.from_pandas])
def test_additional_columns_are_ignored_and_allow_any_order(fitted, frame):
    assert fitted.predict(frame(MORE)).tolist() == fitted.predict(X).tolist()


@pytest.mark.parametrize("frame", [lambda X: X, pl.from_pandas, pa.Table.from_pandas])
def test_selected_columns_may_be_reordered_and_unused_ones_absent(fitted, frame):
    arrived = frame(X[["pay", "age"]])
    selected = fitted.select_columns(arrived)
    assert type(selected) is type(arrived)
    assert fitted.predict(selected).tolist() == fitted.predict(X).tolist()


def test_selecting_from_the_training_data_changes_nothing(fitted):
    pd.testing.assert_frame_equal(fitted.select_columns(MORE), X)
    array = X.to_numpy()
    assert fitted.select_columns(array) is array


def test_dicts_are_rows_by_name(fitted):
    rows = MORE.drop(columns="noise").to_dict("records")
    assert fitted.predict(rows).tolist() == fitted.predict(X).tolist()
    assert fitted.predict(rows[5]).tolist() == fitted.predict(X[5:6]).tolist()


def test_a_used_column_must_be_present(fitted):
    with pytest.raises(SchemaError, match=r"lacks 2 columns that the model tests: 'age', 'pay'\. Add them"):
        fitted.select_columns(X[["noise"]])
    with pytest.raises(SchemaError, match=r"lacks 1 column that the model tests: 'age' \(first in row 1\)"):
        fitted.predict([{"age": 30.0, "pay": 2.0}, {"pay": 2.0}])
    with pytest.raises(SchemaError, match="Feature names seen at fit time, yet now missing:\n- age\n"):
        fitted.predict(X[["noise", "pay"]])


def test_a_frame_with_the_same_names_must_have_the_same_order(fitted):
    with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
        fitted.predict(X[["pay", "noise", "age"]])


def test_none_in_a_dict_is_a_missing_value():
    colour = pd.DataFrame({"colour": ["red", "blue", None] * 20, "x": np.zeros(60)})
    clf = TreeClassifier("cart").fit(colour, [0, 1, 2] * 20)
    assert clf.predict([{"colour": None}, {"colour": "red"}, {"colour": "mauve"}]).tolist()[:2] == [2, 0]
    table = Table.read([{"colour": None, "x": 1}, {"colour": "mauve", "x": None}], schema=clf.tree_.schema)
    assert table.columns[0].tolist() == [-1, -2]
    assert np.isnan(table.columns[1]).tolist() == [False, True]


def test_a_dict_of_columns_and_dicts_in_fit_are_refused():
    clf = TreeClassifier().fit(X, Y)
    for use in (lambda: clf.predict(X.to_dict("list")), lambda: clf.fit(X.to_dict("records"), Y)):
        with pytest.raises(DataError, match=r"Convert it to a frame: pandas.DataFrame\(X\)"):
            use()


def test_every_method_accepts_dicts():
    clf = TreeClassifier().fit(X, Y)
    row = {"age": 50.0, "pay": 20.0}
    frame = pd.DataFrame([{"age": 50.0, "noise": 0.0, "pay": 20.0}])
    assert str(clf.explain(row)) == str(clf.explain(frame))
    assert clf.apply([row, row]).tolist() == clf.apply(frame).tolist() * 2
    assert clf.update(row, [1]).tree_.rows[0] == N + 1


def test_columns_without_names_match_by_position():
    clf = TreeClassifier().fit(X.to_numpy(), Y)
    assert clf.predict({"x0": 50.0, "x2": 20.0}).tolist() == clf.predict([[50.0, 0.0, 20.0]]).tolist()
