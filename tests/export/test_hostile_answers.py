"""Hostile names in every target: rows with every name of a category go where they go in the tree."""

import numpy as np
import pytest
from databases import DATABASES, ask_sql
from hostile import hostile_trees, spoken
from machines import LAYOUTS, ask_c, ask_javascript, ask_python, ask_rules, needs_node
from runtimes import ask_jpmml, ask_onnx, ask_pmml, ask_treelite, needs_jpmml

from hornbeam.data import Table


@pytest.fixture
def agree(compare):
    """A function that insists that answers to rows of hostile names are the trees' own."""

    def insist(target, runtime, answers, asked=None, **options):
        compare(target, runtime, asked or hostile_trees(), answers, trial="rows of hostile names", **options)

    return insist


def test_python(agree):
    agree("Python source", "Python", ask_python(hostile_trees()))


@needs_node
def test_javascript(agree, tmp_path):
    agree("JavaScript", "node", ask_javascript(hostile_trees(), tmp_path))


def test_rules(agree):
    agree("JSON rules", "Python", map(ask_rules, *zip(*hostile_trees(), strict=True)))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_c(layout, agree, tmp_path):
    agree(f"C, {LAYOUTS[layout]}", "gcc", ask_c(hostile_trees(), tmp_path, layout=layout))


@pytest.mark.parametrize("database", DATABASES)
def test_sql(database, agree):
    pytest.importorskip("duckdb", reason="the extra 'test' brings duckdb and sqlglot")
    for tree, table in hostile_trees():
        asked = [(tree, table)]
        agree(
            f"SQL, {database}",
            DATABASES[database],
            ask_sql(database, asked, columns=spoken(tree, database)),
            asked,
        )


def test_onnx(agree):
    pytest.importorskip("onnxruntime", reason="the extra 'test' brings onnxruntime")
    agree("ONNX", "onnxruntime", ask_onnx(hostile_trees()))


def test_columns_of_onnx(agree):
    """Where the empty string is a category, there is no text left for a missing value."""
    pytest.importorskip("onnxruntime", reason="the extra 'test' brings onnxruntime")
    asked = [(tree, told(table)) for tree, table in hostile_trees()]
    agree("ONNX, columns", "onnxruntime", ask_onnx(asked, inputs="columns"), asked)


def told(table):
    columns = [
        np.where(column == -1, 0, column) if "" in feature.categories else column
        for feature, column in zip(table.schema.features, table.columns, strict=True)
    ]
    return Table(table.schema, tuple(columns))


def test_treelite(agree):
    pytest.importorskip("treelite", reason="the extra 'test' brings treelite")
    agree("treelite", "treelite", ask_treelite(hostile_trees()))


def test_pmml(agree):
    asked = hostile_trees("XML")
    agree("PMML", "Python", ask_pmml(asked), asked)


@needs_jpmml
def test_jpmml(agree):
    asked = hostile_trees("XML")
    agree("PMML, JPMML", "jpmml_evaluator", ask_jpmml(asked), asked, bound=1e-14)
