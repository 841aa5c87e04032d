"""Exported source predicts as the tree does, with real compilers and interpreters."""

import numpy as np
import pytest
from random_models import batches, models
from source_runners import LAYOUTS, needs_node, run_c, run_javascript, run_python, run_rules

from hornbeam.data.schema import Kind
from hornbeam.data.table import Table

layouts = pytest.mark.parametrize("layout", LAYOUTS)


@batches
def test_python_predicts_the_same_bits(first, compare):
    cases = models(first)
    compare("Python source", "Python", cases, run_python(cases))


@needs_node
@batches
def test_javascript_predicts_the_same_bits(first, tmp_path, compare):
    cases = models(first)
    compare("JavaScript", "node", cases, run_javascript(cases, tmp_path))


@batches
@layouts
def test_c_predicts_the_same_bits(first, layout, tmp_path, compare):
    cases = models(first, shared=layout != "if")
    compare(f"C, {LAYOUTS[layout]}", "gcc", cases, run_c(cases, tmp_path, layout=layout))


@batches
@pytest.mark.parametrize(
    ("layout", "probability", "bound", "one"),
    [("if", "float", 2.0**-25, 1), ("table", "uint8", 1 / 255, 255), ("bins", "uint16", 1 / 65535, 65535)],
)
def test_c_with_float_input_takes_the_same_path(first, layout, probability, bound, one, tmp_path, compare):
    cases = models(first, np.float32, shared=False)
    found = run_c(cases, tmp_path, layout=layout, input="float", probability=probability)
    target = f"C, {LAYOUTS[layout]}, float to {probability}"
    compare(target, "gcc", cases, found, bound=bound, one=one)


@batches
@layouts
def test_c_with_integer_input_takes_the_same_path(first, layout, tmp_path, compare):
    cases = [(tree, whole(table)) for tree, table in models(first, shared=False)]
    found = run_c(cases, tmp_path, layout=layout, input="int16")
    compare(f"C, {LAYOUTS[layout]}, int16", "gcc", cases, found)


@batches
@layouts
def test_c_for_rows_without_missing_values(first, layout, tmp_path, compare):
    cases = [(tree, without_missing(table)) for tree, table in models(first)]
    found = run_c(cases, tmp_path, layout=layout, complete=True)
    compare(f"C, {LAYOUTS[layout]}, complete rows", "gcc", cases, found)


@batches
def test_json_rules_add_up_to_the_prediction(first, compare):
    cases = [(tree, table.slice(0, table.n_rows // 4)) for tree, table in models(first)]
    compare("JSON rules", "Python", cases, [run_rules(tree, table) for tree, table in cases])


def whole(table):
    """The rows with numbers rounded to 16-bit integers."""
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
