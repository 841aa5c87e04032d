"""Schemas compare by value, are hashable, and are checked when they are built."""

import pickle

import pytest

from hornbeam.data.schema import Feature, Kind, Schema, sorted_categories
from hornbeam.data.table import Table
from hornbeam.errors import DataError, HornbeamError, SchemaError


def test_equal_schemas_are_equal_and_have_equal_hashes():
    def make():
        return Schema((Feature("a"), Feature("b", Kind.NOMINAL, (1, "x"))), ("no", "yes"))

    assert make() == make()
    assert hash(make()) == hash(make())
    assert pickle.loads(pickle.dumps(make())) == make()
    assert make() != Schema((Feature("a"), Feature("b", Kind.ORDINAL, (1, "x"))), ("no", "yes"))


def test_a_schema_counts_and_names_features_and_classes():
    schema = Schema((Feature("a"), Feature("b", Kind.NOMINAL, ("x", "y"))), (0, 1, 2))
    assert (schema.n_features, schema.n_classes, schema.names) == (2, 3, ("a", "b"))
    assert not schema.is_numeric
    assert not schema.has_generated_names
    assert Schema((Feature("x0"), Feature("x1"))).has_generated_names


def test_categories_sort_numbers_before_strings():
    assert sorted_categories(["b", 10, 9.5, "a", 9, "b"]) == (9, 9.5, 10, "a", "b")
    assert sorted_categories([True, False]) == (False, True)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Schema((Feature("a"), Feature("a"))), "Two columns are named 'a'"),
        (lambda: Schema((Feature("a"),), ("no", "no")), "class 'no' is listed twice"),
        (lambda: Feature("a", Kind.NUMERIC, (1, 2)), "Numeric feature 'a' has categories"),
        (lambda: Feature("a", Kind.NOMINAL, ("x", "x")), "'x' twice"),
        (lambda: Feature("a", Kind.NOMINAL, (1, True)), "True twice"),
        (lambda: Feature("a", Kind.NOMINAL, (float("nan"),)), "no NaN"),
        (lambda: Feature("a", Kind.NOMINAL, (None,)), "category None"),
        (lambda: Feature(3), "named 3; expected a string"),
        (lambda: Feature("a", "wild"), "kind 'wild'"),
    ],
)
def test_wrong_schemas_are_refused(make, message):
    with pytest.raises(SchemaError, match=message) as caught:
        make()
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, HornbeamError)


def test_more_than_65534_categories_are_refused():
    Feature("id", Kind.NOMINAL, tuple(range(65_534)))
    with pytest.raises(DataError, match="65535 categories; at most 65534"):
        Feature("id", Kind.NOMINAL, tuple(range(65_535)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Schema(3), "features is 3; expected a tuple of Feature"),
        (lambda: Schema(("age",)), "expected a tuple of Feature"),
        (lambda: Schema((Feature("age"),), 3), "classes is 3; expected a tuple of labels"),
        (lambda: Schema((Feature("age"),), ([],)), "expected a tuple of labels"),
        (lambda: Feature("size", "nominal", 3), "has the categories 3; expected a tuple"),
        (lambda: Schema((Feature("age"),)).select([1]), "expected positions of features, below 1"),
        (lambda: Table.read([[1.0]], schema="x"), "schema is a str; expected a Schema"),
    ],
)
def test_arguments_of_a_wrong_kind_are_refused(make, message):
    with pytest.raises(HornbeamError, match=message):
        make()
