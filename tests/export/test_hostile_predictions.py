"""Hostile names in every target: rows with every category get the tree's predictions."""

import numpy as np
import pytest
from databases import DATABASES, run_sql
from hostile import column_names, hostile_trees
from model_runners import needs_jpmml, run_jpmml, run_onnx, run_pmml, run_treelite
from source_runners import LAYOUTS, needs_node, run_c, run_javascript, run_python, run_rules

from hornbeam.data.table import Table


@pytest.fixture
def agree(compare):
    """A function that asserts that predictions for rows with hostile names are the trees' own."""

    def assert_equal(target, runtime, predictions, cases=None, **options):
        compare(
            target, runtime, cases or hostile_trees(), predictions, trial="rows of hostile names", **options
        )

    return assert_equal


def test_python_predicts_the_same_bits(agree):
    agree("Python source", "Python", run_python(hostile_trees()))


@needs_node
def test_javascript_predicts_the_same_bits(agree, tmp_path):
    agree("JavaScript", "node", run_javascript(hostile_trees(), tmp_path))


def test_json_rules_add_up_to_the_prediction(agree):
    agree("JSON rules", "Python", map(run_rules, *zip(*hostile_trees(), strict=True)))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_c_predicts_the_same_bits(layout, agree, tmp_path):
    agree(f"C, {LAYOUTS[layout]}", "gcc", run_c(hostile_trees(), tmp_path, layout=layout))


@pytest.mark.parametrize("database", DATABASES)
def test_databases_predict_the_same_bits(database, agree):
    pytest.importorskip("duckdb", reason="the extra 'test' brings duckdb and sqlglot")
    for tree, table in hostile_trees():
        cases = [(tree, table)]
        agree(
            f"SQL, {database}",
            DATABASES[database],
            run_sql(database, cases, columns=column_names(tree, database)),
            cases,
        )


def test_onnxruntime_predicts_the_same_bits(agree):
    pytest.importorskip("onnxruntime", reason="the extra 'test' brings onnxruntime")
    agree("ONNX", "onnxruntime", run_onnx(hostile_trees()))


def test_onnxruntime_predicts_the_same_bits_from_columns(agree):
    """If the empty string is a category, no text is left for a missing value."""
    pytest.importorskip("onnxruntime", reason="the extra 'test' brings onnxruntime")
    cases = [(tree, without_missing_text(table)) for tree, table in hostile_trees()]
    agree("ONNX, columns", "onnxruntime", run_onnx(cases, inputs="columns"), cases)


def without_missing_text(table):
    columns = [
        np.where(column == -1, 0, column) if "" in feature.categories else column
        for feature, column in zip(table.schema.features, table.columns, strict=True)
    ]
    return Table(table.schema, tuple(columns))


def test_treelite_predicts_the_same_bits(agree):
    pytest.importorskip("treelite", reason="the extra 'test' brings treelite")
    agree("treelite", "treelite", run_treelite(hostile_trees()))


def test_a_pmml_reader_predicts_the_same_bits(agree):
    cases = hostile_trees("XML")
    agree("PMML", "Python", run_pmml(cases), cases)


@needs_jpmml
def test_jpmml_predicts_the_same(agree):
    cases = hostile_trees("XML")
    agree("PMML, JPMML", "jpmml_evaluator", run_jpmml(cases), cases, bound=1e-14)
