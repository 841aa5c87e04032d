"""Frames of three libraries: the same columns, the same tree; categories by value; rows that stop early."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from hornbeam import TreeClassifier
from hornbeam.data import Kind
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
    # Declared in an order of their own, with one that never occurs: neither may matter.
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
def test_a_tree_of_one_library_answers_another(first, later):
    classifier = TreeClassifier().fit(first(COLUMNS), LABELS)
    expected = TreeClassifier().fit(in_pandas(COLUMNS), LABELS).predict_proba(in_pandas(COLUMNS))
    np.testing.assert_array_equal(classifier.predict_proba(later(COLUMNS)), expected)


# size <= 1.5 parts off the four c's; below it, colour parts a from b.
SIZES = [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0]
COLOURS = ["red", "red", "blue", "blue", "red", "blue", "red", "blue"]


def stock(size, colour):
    return {"size": size, "colour": colour}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("nominal", ["subset", "multiway"])
@pytest.mark.parametrize("missing", ["own", "learned", "fractional"])
@pytest.mark.parametrize("preset", ["id3", "cart"])
def test_a_row_that_nobody_can_place_stops_and_is_answered_there(preset, missing, nominal, frame):
    classifier = TreeClassifier(preset, missing=missing, nominal=nominal).fit(
        frame(stock(SIZES, COLOURS)), LABELS
    )
    assert classifier.tree_.n_leaves == 3
    asked = frame(stock([1.0, 1.0, 2.0, None, None], ["red", None, None, "red", None]))
    np.testing.assert_array_equal(
        classifier.predict_proba(asked),
        [
            [1.0, 0.0, 0.0],  # a leaf
            [0.5, 0.5, 0.0],  # no colour: the node that asks for it, two a's and two b's
            [0.0, 0.0, 1.0],  # nobody asks for the colour
            [0.25, 0.25, 0.5],  # no size: the root
            [0.25, 0.25, 0.5],
        ],
    )
    # The nodes in level order: root, small, large, then small's two colours.
    assert classifier.apply(asked).tolist() == [4, 1, 2, 0, 0]


@pytest.mark.parametrize("frame", [in_pandas, pl.DataFrame, in_polars_categories, pa.table])
@pytest.mark.parametrize("nominal", ["subset", "multiway"])
def test_a_category_never_seen_stops_where_it_is_asked_for(nominal, frame):
    classifier = TreeClassifier("id3", nominal=nominal).fit(frame(stock(SIZES, COLOURS)), LABELS)
    asked = frame(stock([1.0, 2.0], ["mauve", "mauve"]))
    np.testing.assert_array_equal(classifier.predict_proba(asked), [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])


def test_early_stops_are_answered_with_smoothed_probabilities():
    classifier = TreeClassifier(smoothing="hgs").fit(pd.DataFrame(stock(SIZES, COLOURS)), LABELS)
    asked = pd.DataFrame(stock([1.0, np.nan], ["mauve", "red"]))
    # One row lent by the root (1/4, 1/4, 1/2), one by nobody in particular (1/3, 1/3, 1/3), its own beside.
    small = np.array([2 + 1 / 4 + 1 / 3, 2 + 1 / 4 + 1 / 3, 0 + 1 / 2 + 1 / 3]) / 6
    root = np.array([2 + 1 / 3, 2 + 1 / 3, 4 + 1 / 3]) / 9
    np.testing.assert_allclose(classifier.predict_proba(asked), [small, root], rtol=1e-15)


def test_a_category_seen_elsewhere_but_not_at_the_node_stops_there_too():
    # Parting off green is worth as much as parting by size, which stands first: no green below "small".
    colours = ["red", "red", "blue", "blue", "green", "green", "green", "green"]
    classifier = TreeClassifier("cart").fit(pd.DataFrame(stock(SIZES, colours)), LABELS)
    asked = pd.DataFrame(stock([1.0, 1.0], ["green", "red"]))
    np.testing.assert_array_equal(classifier.predict_proba(asked), [[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])


def test_categories_are_known_by_value_whatever_their_codes():
    train = pd.DataFrame({"colour": pd.Categorical(["red", "blue"] * 3, categories=["red", "blue"])})
    classifier = TreeClassifier("cart").fit(train, ["r", "b"] * 3)
    recoded = pd.DataFrame({"colour": pd.Categorical(["red", "blue"], categories=["blue", "mauve", "red"])})
    assert recoded["colour"].cat.codes.tolist() != train["colour"].cat.codes[:2].tolist()
    assert classifier.predict(recoded).tolist() == ["r", "b"]


def test_a_frame_without_missing_values_of_its_own_type_is_still_read():
    classifier = TreeClassifier("cart").fit(pd.DataFrame({"sold": [True, False] * 3}), [1, 0] * 3)
    assert classifier.tree_.schema.features[0].categories == (False, True)
    assert classifier.predict(pd.DataFrame({"sold": [False, True]})).tolist() == [0, 1]
    nullable = pd.DataFrame({"sold": pd.array([None, True], dtype="boolean")})
    np.testing.assert_array_equal(classifier.predict_proba(nullable), [[0.5, 0.5], [0.0, 1.0]])


def test_an_ordered_category_is_cut_in_its_order():
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


def test_generated_looking_names_are_names_too():
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


def test_a_mixed_array_of_objects_is_read_as_a_frame_would_be():
    rows = np.array(list(zip(SIZES, COLOURS, strict=True)), dtype=object)
    classifier = TreeClassifier("id3").fit(rows, LABELS)
    assert classifier.predict(rows).tolist() == LABELS
    assert classifier.predict_proba([[1.0, "mauve"]]).tolist() == [[0.5, 0.5, 0.0]]
