"""Exported source answers as the tree does, in real compilers and interpreters."""

import numpy as np
import pytest
from machines import LAYOUTS, ask_c, ask_javascript, ask_python, ask_rules, needs_node

from hornbeam.data import Table
from hornbeam.data.schema import Kind
from parity import batches, models

layouts = pytest.mark.parametrize("layout", LAYOUTS)


@batches
def test_python_gives_the_very_bits(first, compare):
    asked = models(first)
    compare("Python source", "Python", asked, ask_python(asked))


@needs_node
@batches
def test_javascript_gives_the_very_bits(first, tmp_path, compare):
    asked = models(first)
    compare("JavaScript", "node", asked, ask_javascript(asked, tmp_path))


@batches
@layouts
def test_c_gives_the_very_bits(first, layout, tmp_path, compare):
    asked = models(first, shared=layout != "if")
    compare(f"C, {LAYOUTS[layout]}", "gcc", asked, ask_c(asked, tmp_path, layout=layout))


@batches
@pytest.mark.parametrize(
    ("layout", "probability", "bound", "one"),
    [("if", "float", 2.0**-25, 1), ("table", "uint8", 1 / 255, 255), ("bins", "uint16", 1 / 65535, 65535)],
)
def test_c_of_floats_decides_alike_for_every_float(first, layout, probability, bound, one, tmp_path, compare):
    asked = models(first, np.float32, shared=False)
    found = ask_c(asked, tmp_path, layout=layout, input="float", probability=probability)
    target = f"C, {LAYOUTS[layout]}, float to {probability}"
    compare(target, "gcc", asked, found, bound=bound, one=one)


@batches
@layouts
def test_c_of_integers_decides_alike_for_every_integer(first, layout, tmp_path, compare):
    asked = [(tree, whole(table)) for tree, table in models(first, shared=False)]
    found = ask_c(asked, tmp_path, layout=layout, input="int16")
    compare(f"C, {LAYOUTS[layout]}, int16", "gcc", asked, found)


@batches
@layouts
def test_c_for_rows_without_missing_values(first, layout, tmp_path, compare):
    asked = [(tree, without_missing(table)) for tree, table in models(first)]
    found = ask_c(asked, tmp_path, layout=layout, complete=True)
    compare(f"C, {LAYOUTS[layout]}, complete rows", "gcc", asked, found)


@batches
def test_rules_add_up_to_the_tree(first, compare):
    asked = [(tree, table.slice(0, table.n_rows // 4)) for tree, table in models(first)]
    compare("JSON rules", "Python", asked, [ask_rules(tree, table) for tree, table in asked])


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
