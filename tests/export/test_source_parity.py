"""Exported source answers as the tree does, in real compilers and interpreters."""

import json

import numpy as np
import pytest
from machines import ask_c, ask_javascript, ask_python, needs_node

from hornbeam.data import Table
from hornbeam.data.schema import Kind
from hornbeam.export import to_json
from hornbeam.tree.route import answer, route
from parity import MODELS, random_model, random_rows, values

BATCH = 20  # models in one translation unit

batches = pytest.mark.parametrize("first", range(0, MODELS, BATCH))


def models(first, dtype=np.float64, *, shared=True):
    """Random models with rows; without those that share missing values among branches, if told so."""
    grown = [(seed, random_model(seed)) for seed in range(first, min(first + BATCH, MODELS))]
    kept = [(seed, tree) for seed, tree in grown if shared or not (tree.skeleton.missing_slot == -2).any()]
    return [(tree, random_rows(tree, seed, dtype=dtype)) for seed, tree in kept]


def assert_same(asked, answers, *, bound=0.0, one=1):
    """Nodes and classes are the tree's, and probabilities are within the bound."""
    for (tree, table), (node, best, p) in zip(asked, answers, strict=True):
        expected = answer(tree, table)
        assert (node == route(tree.skeleton, table)).all()
        assert (best == expected.argmax(axis=1)).all()
        error = np.abs(p.astype(np.float64) / one - expected).max()
        assert error <= bound
        if one > 1:
            assert (p.sum(axis=1, dtype=np.int64) == one).all()


@batches
def test_python_gives_the_very_bits(first):
    asked = models(first)
    assert_same(asked, ask_python(asked))


@needs_node
@batches
def test_javascript_gives_the_very_bits(first, tmp_path):
    asked = models(first)
    assert_same(asked, ask_javascript(asked, tmp_path))


@batches
@pytest.mark.parametrize("layout", ["table", "bins"])
def test_c_gives_the_very_bits(first, layout, tmp_path):
    asked = models(first)
    assert_same(asked, ask_c(asked, tmp_path, layout=layout))


@batches
def test_nested_c_gives_the_very_bits(first, tmp_path):
    asked = models(first, shared=False)
    assert_same(asked, ask_c(asked, tmp_path, layout="if"))


@batches
@pytest.mark.parametrize(
    ("layout", "probability", "bound", "one"),
    [("if", "float", 2.0**-25, 1), ("table", "uint8", 1 / 255, 255), ("bins", "uint16", 1 / 65535, 65535)],
)
def test_c_of_floats_decides_alike_for_every_float(first, layout, probability, bound, one, tmp_path):
    asked = models(first, np.float32, shared=False)
    found = ask_c(asked, tmp_path, layout=layout, input="float", probability=probability)
    assert_same(asked, found, bound=bound, one=one)


@batches
@pytest.mark.parametrize("layout", ["if", "table", "bins"])
def test_c_of_integers_decides_alike_for_every_integer(first, layout, tmp_path):
    asked = [(tree, whole(table)) for tree, table in models(first, shared=False)[::3]]
    assert_same(asked, ask_c(asked, tmp_path, layout=layout, input="int16"))


@batches
@pytest.mark.parametrize("layout", ["if", "table", "bins"])
def test_c_for_rows_without_missing_values(first, layout, tmp_path):
    asked = [(tree, without_missing(table)) for tree, table in models(first)[::3]]
    assert_same(asked, ask_c(asked, tmp_path, layout=layout, complete=True))


@batches
def test_rules_add_up_to_the_tree(first):
    for tree, table in models(first):
        rules = json.loads(to_json(tree))["rules"]
        some = table.slice(0, table.n_rows // 4)
        names = tree.schema.names
        found = [apply(rules, dict(zip(names, row, strict=True))) for row in values(some)]
        assert (np.array(found) == answer(tree, some)).all()


def apply(rules, row):
    """The rules' answer, read as they say they are read."""
    total = np.zeros(len(rules[0]["probabilities"]))
    for rule in rules:
        weight = 1.0
        for condition in rule["if"]:
            weight *= holds(condition, row[condition["feature"]])
        if weight:
            total += weight * np.array(rule["probabilities"])
    return total


def holds(condition, value):
    if value is None:
        return condition.get("missing", 0)
    if "at_most" in condition:
        return value <= condition["at_most"]
    if "above" in condition:
        return value > condition["above"]
    if "in" in condition:
        return value in condition["in"]
    return value not in condition["not_in"] if "not_in" in condition else condition.get("known", False)


def whole(table):
    """The rows in whole numbers of 16 bits, where they are numbers."""
    columns = [
        c if f.kind is not Kind.NUMERIC else np.clip(np.floor(c), -32767, 32767)
        for f, c in zip(table.schema.features, table.columns, strict=True)
    ]
    return Table(table.schema, tuple(columns))


def without_missing(table):
    columns = [
        np.where(c == -1, 0, c) if f.kind is Kind.NOMINAL else np.where(np.isnan(c), 0.0, c)
        for f, c in zip(table.schema.features, table.columns, strict=True)
    ]
    return Table(table.schema, tuple(columns))
