"""Frames of three libraries give the same tree; categories match by value; rows may stop early."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from hornbeam import TreeClassifier
from hornbeam.data.schema import Kind
from hornbeam.errors import SchemaError
from hornbeam.recipe import PRESETS

COLUMNS = {
    "size": [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, None],
    "colour": ["red", "red", "blue", "blue", "red", "blue", None, "red"],
    "sold": [True, False, True, None, False, True, False, True],
    "rooms": [1, 2, 3, 4, 5, 6, 7, 8],
}
LABELS = ["a", "a", "b", "b", "c", "c", "c", "c"]


def in_pandas(columns):
    frame = pd.DataFrame(columns)
    return frame.assign(sold=frame["sold"].astype("boolean")) if "sold" in columns else frame


def in_pandas_categories(columns):
    frame = in_pandas(columns)
    # Declared in another order, and with a category that never occurs: neither changes the tree.
    return frame.assign(colour=pd.Categorical(frame["colour"], categories=["red", "mauve", "blue"]))


def in_polars_categories(columns):
    return pl.DataFrame(columns).with_columns(pl.col("colour").cast(pl.Categorical))


def in_pyarrow_dictionary(columns):
    table = pa.table(columns)
    at = table.column_names.index("colour")
    return table.set_column(at, "colour", table["colour"].dictionary_encode())


FRAMES = [
    in_pandas,
    in_pandas_categories,
    pl.DataFrame,
    in_polars_categories,
    pa.table,
    in_pyarrow_dictionary,
]


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("frame", FRAMES)
def test_every_library_gives_the_same_tree(frame, preset):
    classifier = TreeClassifier(preset).fit(frame(COLUMNS), LABELS)
    assert classifier.feature_names_in_.tolist() == list(COLUMNS)
    assert [feature.kind for feature in classifier.tree_.schema.features] == [
        Kind.NUMERIC,
        Kind.NOMINAL,
        Kind.NOMINAL,
        Kind.NUMERIC,
    ]
    assert classifier.tree_.digest == TreeClassifier(preset).fit(in_pandas(COLUMNS), LABELS).tree_.digest


@pytest.mark.parametrize("later", FRAMES)
@pytest.mark.parametrize("first", FRAMES)
def test_a_tree_fitted_with_one_library_predicts_another(first, later):
    classifier = TreeClassifier().fit(first(COLUMNS), LABELS)
    expected = TreeClassifier().fit(in_pandas(COLUMNS), LABELS).predict_proba(in_pandas(COLUMNS))
    np.testing.assert_array_equal(classifier.predict_proba(later(COLUMNS)), expected)


# size <= 1.5 separates the four c's; below it, colour separates a from b.
SIZES = [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0]
COLOURS = ["red", "red", "blue", "blue", "red", "blue", "red", "blue"]


def stock(size, colour):
    return {"size": size, "colour": colour}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("nominal", ["subset", "multiway"])
@pytest.mark.parametrize("missing", ["own", "learned", "fractional"])
@pytest.mark.parametrize("preset", ["id3", "cart"])
def test_a_missing_value_stops_where_training_had_none(preset, missing, nominal, frame):
    classifier = TreeClassifier(preset, missing=missing, nominal_split=nominal).fit(
        frame(stock(SIZES, COLOURS)), LABELS
    )
    assert classifier.tree_.n_leaves == 3
    rows = frame(stock([1.0, 1.0, 2.0, None, None], ["red", None, None, "red", None]))
    np.testing.assert_array_equal(
        classifier.predict_proba(rows),
        [
            [1.0, 0.0, 0.0],  # a leaf
            [0.5, 0.5, 0.0],  # no colour: the node that splits by it, two a's and two b's
            [0.0, 0.0, 1.0],  # colour is not used
            [0.25, 0.25, 0.5],  # no size: the root
            [0.25, 0.25, 0.5],
        ],
    )
    # The nodes in level order: root, small, large, then small's two colours.
    assert classifier.apply(rows).tolist() == [4, 1, 2, 0, 0]


@pytest.mark.parametrize("frame", [in_pandas, pl.DataFrame, in_polars_categories, pa.table])
@pytest.mark.parametrize("nominal", ["subset", "multiway"])
def test_an_unseen_category_stops_at_its_split(nominal, frame):
    classifier = TreeClassifier("id3", nominal_split=nominal).fit(frame(stock(SIZES, COLOURS)), LABELS)
    rows = frame(stock([1.0, 2.0], ["mauve", "mauve"]))
    np.testing.assert_array_equal(classifier.predict_proba(rows), [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])


def test_rows_that_stop_early_get_smoothed_probabilities():
    classifier = TreeClassifier(smoothing="hgs").fit(pd.DataFrame(stock(SIZES, COLOURS)), LABELS)
    rows = pd.DataFrame(stock([1.0, np.nan], ["mauve", "red"]))
    # Own rows, one borrowed from the root (1/4, 1/4, 1/2), and one from the uniform prior (1/3, 1/3, 1/3).
    small = np.array([2 + 1 / 4 + 1 / 3, 2 + 1 / 4 + 1 / 3, 0 + 1 / 2 + 1 / 3]) / 6
    root = np.array([2 + 1 / 3, 2 + 1 / 3, 4 + 1 / 3]) / 9
    np.testing.assert_allclose(classifier.predict_proba(rows), [small, root], rtol=1e-15)


def test_a_category_not_seen_at_the_node_stops_there():
    # A split by green has the same gain as one by size, which is the first feature: no green below "small".
    colours = ["red", "red", "blue", "blue", "green", "green", "green", "green"]
    classifier = TreeClassifier("cart").fit(pd.DataFrame(stock(SIZES, colours)), LABELS)
    rows = pd.DataFrame(stock([1.0, 1.0], ["green", "red"]))
    np.testing.assert_array_equal(classifier.predict_proba(rows), [[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])


def test_categories_match_by_value_and_not_by_code():
    train = pd.DataFrame({"colour": pd.Categorical(["red", "blue"] * 3, categories=["red", "blue"])})
    classifier = TreeClassifier("cart").fit(train, ["r", "b"] * 3)
    recoded = pd.DataFrame({"colour": pd.Categorical(["red", "blue"], categories=["blue", "mauve", "red"])})
    assert recoded["colour"].cat.codes.tolist() != train["colour"].cat.codes[:2].tolist()
    assert classifier.predict(recoded).tolist() == ["r", "b"]


def test_a_frame_with_another_missing_type_is_read():
    classifier = TreeClassifier("cart").fit(pd.DataFrame({"sold": [True, False] * 3}), [1, 0] * 3)
    assert classifier.tree_.schema.features[0].categories == (False, True)
    assert classifier.predict(pd.DataFrame({"sold": [False, True]})).tolist() == [0, 1]
    nullable = pd.DataFrame({"sold": pd.array([None, True], dtype="boolean")})
    np.testing.assert_array_equal(classifier.predict_proba(nullable), [[0.5, 0.5], [0.0, 1.0]])


def test_an_ordered_category_is_split_in_its_order():
    sizes = pd.Categorical(["s", "m", "l", "xl"] * 2, categories=["s", "m", "l", "xl"], ordered=True)
    classifier = TreeClassifier("cart").fit(pd.DataFrame({"size": sizes}), [0, 0, 1, 1] * 2)
    assert classifier.tree_.schema.features[0].kind is Kind.ORDINAL
    assert classifier.tree_.n_leaves == 2
    assert classifier.predict(pd.DataFrame({"size": ["m", "l"]})).tolist() == [0, 1]


@pytest.mark.parametrize("frame", FRAMES)
def test_columns_in_another_order_are_refused(frame):
    classifier = TreeClassifier().fit(frame(stock(SIZES, COLOURS)), LABELS)
    with pytest.raises(SchemaError, match=r"same order as they were in fit.*\n.*model\.select_columns\(X\)"):
        classifier.predict(frame(dict(reversed(stock(SIZES, COLOURS).items()))))


def test_names_that_look_generated_are_checked_too():
    X = pd.DataFrame({"x0": [0.0, 1.0], "x1": [1.0, 1.0]})
    classifier = TreeClassifier().fit(X, [0, 1])
    with pytest.raises(SchemaError, match="same order"):
        classifier.predict(X[["x1", "x0"]])


def test_labels_come_from_any_series():
    frame = pd.DataFrame(stock(SIZES, COLOURS))
    expected = TreeClassifier().fit(frame, LABELS)
    for y in (
        pd.Series(LABELS),
        pd.Series(LABELS, dtype="category"),
        pl.Series(LABELS),
        pa.array(LABELS),
        np.array(LABELS),
    ):
        classifier = TreeClassifier().fit(frame, y)
        assert classifier.classes_.tolist() == ["a", "b", "c"]
        assert classifier.tree_.digest == expected.tree_.digest
        assert classifier.predict(frame).tolist() == LABELS


def test_a_mixed_object_array_is_read_like_a_frame():
    rows = np.array(list(zip(SIZES, COLOURS, strict=True)), dtype=object)
    classifier = TreeClassifier("id3").fit(rows, LABELS)
    assert classifier.predict(rows).tolist() == LABELS
    assert classifier.predict_proba([[1.0, "mauve"]]).tolist() == [[0.5, 0.5, 0.0]]
