"""A few rows are predicted without a table, and as with one."""

import datetime
import decimal
import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.data.table import Table
from hornbeam.errors import HornbeamError
from hornbeam.tree.few_rows import few_rows_of
from hornbeam.tree.route import predict_rows
from support.examples import examples

pytestmark = pytest.mark.filterwarnings("ignore")

N = 300
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "number": RNG.normal(size=N),
        "whole": RNG.integers(0, 9, N),
        "text": RNG.choice(["a", "b", "c"], N),
        "flag": RNG.random(N) < 0.5,
        "order": pd.Categorical(RNG.choice(["low", "mid", "high"], N), ["low", "mid", "high"], ordered=True),
        "code": pd.Categorical(RNG.choice([10, 20, 30], N)),
        "unused": np.zeros(N),
    }
)
Y = (
    (FRAME.number > 0)
    ^ (FRAME.text == "a")
    ^ FRAME.flag
    ^ (FRAME.order == "mid")
    ^ (FRAME.code == 20)
    ^ (FRAME.whole > 4)
).to_numpy()
HOLED = (
    FRAME.astype(object)
    .where(RNG.random(FRAME.shape) > 0.1, None)
    .astype(FRAME.dtypes.replace("int64", "float64").replace("bool", "object"))
)
MODELS = {
    "frame": TreeClassifier("cart", smoothing="hgs").fit(FRAME, Y),
    "holes": TreeClassifier("c4.5", smoothing="laplace").fit(HOLED, Y),
    "costs": TreeClassifier("cart", costs=[[0, 5], [1, 0]]).fit(FRAME, Y),
    "readable": TreeClassifier("readable", max_leaf_nodes=4).fit(FRAME, Y),
    "regressor": TreeRegressor().fit(FRAME, FRAME.number * FRAME.whole),
    "unnamed": TreeClassifier(smoothing="hgs").fit(FRAME[["number", "whole"]].to_numpy(), Y),
    "mixed list": TreeClassifier("cart").fit(FRAME[["number", "text"]].to_numpy().tolist(), Y),
}
NUMBERS = [None, math.nan, math.inf, -math.inf, 0, 1, -1, 10, 20, 99, 10.0, 0.5, 2**53, 2**53 + 1, 10**400]
OF_LIBRARIES = [np.float64(0.25), np.float32(0.1), np.int64(3), np.bool_(True), np.str_("a"), pd.NA, pd.NaT]
OTHERS = [
    True,
    False,
    "a",
    "b",
    "z",
    "",
    "low",
    "mid",
    datetime.date(2020, 1, 1),
    decimal.Decimal("0.5"),
    1j,
    b"a",
    [1],
]
VALUES = st.sampled_from([*NUMBERS, *OF_LIBRARIES, *OTHERS]) | st.floats() | st.integers(-10, 40)


def outcome(call):
    """What a call returns, or the class of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.asarray(call(), float).tolist()
        except HornbeamError as error:
            return type(error).__name__


def assert_as_with_a_table(model, X):
    tree, named = model.tree_, hasattr(model, "feature_names_in_")
    few = few_rows_of(tree).predict(X, named=named)
    used = [tree.schema.names[at] for at in tree.features_used]
    expected = outcome(lambda: predict_rows(tree, Table.read(X, schema=tree.schema, needed=used)))
    if few is not None:
        assert few.tolist() == expected
    return few is not None


def usual(name):
    """A few rows of the values that a model was fitted to, in all forms."""
    frame = {
        "holes": HOLED,
        "unnamed": FRAME[["number", "whole"]],
        "mixed list": FRAME[["number", "text"]],
    }.get(name, FRAME)
    rows = [0, 7, 19]
    dicts = frame.iloc[rows].to_dict("records")
    if name in ("unnamed", "mixed list"):
        values = frame.iloc[rows].to_numpy().tolist()
        dicts = [{f"x{at}": value for at, value in enumerate(row)} for row in values]
        matrix = [np.array(values)] if name == "unnamed" else []
        return [values, values[:1], dicts, dicts[0], *matrix]
    return [frame.iloc[rows], frame.iloc[:1], dicts[0], dicts]


@pytest.mark.parametrize("name", MODELS)
def test_usual_rows_need_no_table(name):
    model = MODELS[name]
    for X in usual(name):
        assert assert_as_with_a_table(model, X)
        predicted = model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)
        assert (
            predicted.ravel().tolist()
            == few_rows_of(model.tree_).predict(X, named=model._has_names).ravel().tolist()
        )


def test_a_frame_of_polars_needs_no_table():
    model = MODELS["frame"]
    frame = pl.from_pandas(FRAME.assign(order=FRAME.order.astype(str), code=FRAME.code.astype(int)))
    assert assert_as_with_a_table(model, frame[:3])
    np.testing.assert_array_equal(model.predict_proba(frame[:3]), model.predict_proba(FRAME)[:3])


@pytest.mark.parametrize("name", MODELS)
@examples(150)
@given(data=st.data())
def test_any_values_are_read_as_with_a_table(name, data):
    model = MODELS[name]
    schema = model.tree_.schema
    row = data.draw(st.lists(VALUES, min_size=schema.n_features, max_size=schema.n_features))
    some = data.draw(st.lists(st.booleans(), min_size=schema.n_features, max_size=schema.n_features))
    usual_row = usual(name)[-1] if isinstance(usual(name)[-1], dict) else usual(name)[2]
    usual_row = usual_row[0] if isinstance(usual_row, list) else usual_row
    mixed = [mine if wrong else good for mine, good, wrong in zip(row, usual_row.values(), some, strict=True)]
    assert_as_with_a_table(model, dict(zip(schema.names, mixed, strict=True)))
    assert_as_with_a_table(model, [dict(zip(schema.names, mixed, strict=True)), usual_row])
    if not hasattr(model, "feature_names_in_"):
        assert_as_with_a_table(model, [mixed])
    else:
        frame = pd.DataFrame([mixed, list(usual_row.values())], columns=list(schema.names), dtype=object)
        assert_as_with_a_table(model, frame)
        try:
            frame = frame.convert_dtypes()
        except (OverflowError, TypeError):  # pandas 2 cannot convert 10**400, nor complex numbers
            return
        assert_as_with_a_table(model, frame)


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint64", "Float64", "Int64", "bool", "object"])
def test_columns_of_other_types(dtype):
    model = MODELS["unnamed"]
    names = list(model.tree_.schema.names)
    named = TreeClassifier(smoothing="hgs").fit(FRAME[["number", "whole"]].set_axis(names, axis=1), Y)
    frame = pd.DataFrame([[1, 0], [0, 1]], columns=names).astype(dtype)
    assert_as_with_a_table(named, frame)
    assert_as_with_a_table(model, frame.to_numpy())


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((1, 3)),
        np.zeros(2),
        np.zeros((0, 2)),
        np.zeros((9, 2)),
        np.zeros((1, 2), ">f8"),
        np.zeros((1, 2), np.float32),
        np.ma.masked_array(np.zeros((1, 2)), True),
        np.zeros((1, 17), np.uint8)[:, 1:].view(np.float64),
        [],
        [[0.0]],
        [[0.0, 1.0, 2.0]],
        [(0.0, "a")],
        [np.zeros(2)],
        [{"x0": 1.0}],
        {"x0": [1.0], "x1": [2.0]},
        "rows.parquet",
        3,
        None,
    ],
    ids=repr,
)
def test_other_rows_are_left_to_a_table(X):
    assert few_rows_of(MODELS["unnamed"].tree_).predict(X, named=False) is None


def test_rows_without_names_are_left_to_a_table_that_warns():
    few = few_rows_of(MODELS["frame"].tree_)
    assert few.predict([[0.0] * 7], named=True) is None
    assert few.predict(np.zeros((1, 7)), named=True) is None
    assert few.predict(FRAME[:1][FRAME.columns[::-1]], named=True) is None
    assert few.predict(FRAME[:1].assign(more=1), named=True) is None


@pytest.mark.parametrize("name", MODELS)
def test_one_row_has_its_decision_prediction_and_leaf(name):
    model = MODELS[name]
    answer = model.row_predictor(full=True)
    rows = next(X for X in usual(name) if isinstance(X, list) and isinstance(X[0], dict))
    for row in rows:
        label, predicted, leaf = answer(row)
        assert label == model.predict([row])[0]
        expected = model.predict_proba([row])[0] if hasattr(model, "predict_proba") else model.predict([row])
        assert predicted.tolist() == expected.tolist()
        assert leaf == model.apply([row])[0]


def test_an_unusual_row_has_its_decision_too():
    model = MODELS["unnamed"]
    row = {"x0": decimal.Decimal("0.5"), "x1": np.int8(3)}
    label, predicted, leaf = model.row_predictor(full=True)(row)
    assert (label, predicted.tolist(), leaf) == (
        model.predict([row])[0],
        model.predict_proba([row])[0].tolist(),
        model.apply([row])[0],
    )
    with pytest.raises(HornbeamError, match="text in row 0"):
        model.row_predictor(full=True)({"x0": "much", "x1": 3})


def test_a_changed_tree_is_predicted_anew():
    model = TreeClassifier(smoothing="laplace").fit(FRAME[["number"]].to_numpy(), Y)
    row = [[0.5]]
    before = model.predict_proba(row)
    model.update(np.full((200, 1), 0.5), np.full(200, True))
    assert model.predict_proba(row)[0, 1] > before[0, 1]


def test_a_series_is_read_by_the_names_of_its_values():
    model = MODELS["frame"]
    answer, row = model.row_predictor(full=True), FRAME.iloc[7]
    expected = model.predict_proba(FRAME.iloc[[7]])[0].tolist()
    for given_row in (row, row[::-1], FRAME.iloc[[7]], row.to_dict()):
        assert answer(given_row)[1].tolist() == expected
    with pytest.raises(HornbeamError, match="lacks 1 column that the model tests: 'number'"):
        answer(row.rename({"number": "Number"}))
    with pytest.raises(HornbeamError, match=r"X is a Series. Pass one row as a frame.*X.to_dict"):
        model.predict_proba(row)
