"""Exports of trees with slopes predict as the tree does, in real runtimes."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from databases import DATABASES, rows_of
from model_runners import needs_jpmml, run_jpmml
from pmml_reader import evaluate_segments
from random_models import batches, models_with_slopes
from source_runners import needs_node, run_c, run_javascript, run_python, run_rules
from test_source_parity import whole, without_missing

from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.table import Table
from hornbeam.errors import ExportError
from hornbeam.export import to_c, to_javascript, to_onnx, to_pmml, to_python, to_shap, to_sql, to_treelite
from hornbeam.tree import DecisionRule, Skeleton, Slopes, with_slopes
from hornbeam.tree.edit import with_decision
from hornbeam.tree.route import predict_rows
from hornbeam.tree.tree import Tree

TRIAL = "leaves with slopes"
LAYOUTS = {"if": "nested ifs", "table": "tables"}
layouts = pytest.mark.parametrize("layout", LAYOUTS)


@batches
def test_python_predicts_the_same_bits(first, compare):
    cases = models_with_slopes(first)
    compare("Python source", "Python", cases, run_python(cases), trial=TRIAL)


@needs_node
@batches
def test_javascript_predicts_the_same_bits(first, tmp_path, compare):
    cases = models_with_slopes(first)
    compare("JavaScript", "node", cases, run_javascript(cases, tmp_path), trial=TRIAL)


@batches
@layouts
def test_c_predicts_the_same_bits(first, layout, tmp_path, compare):
    cases = models_with_slopes(first)
    found = run_c(cases, tmp_path, layout=layout)
    compare(f"C, {LAYOUTS[layout]}", "gcc", cases, found, trial=TRIAL)


@batches
@layouts
def test_c_with_float_input_and_output(first, layout, tmp_path, compare):
    cases = models_with_slopes(first, np.float32)
    found = run_c(cases, tmp_path, layout=layout, input="float", probability="float")
    compare(f"C, {LAYOUTS[layout]}, float", "gcc", cases, found, trial=TRIAL, bound=2.0**-25)


@batches
@layouts
def test_c_with_integer_input(first, layout, tmp_path, compare):
    cases = [(tree, whole(table)) for tree, table in models_with_slopes(first)]
    found = run_c(cases, tmp_path, layout=layout, input="int16")
    compare(f"C, {LAYOUTS[layout]}, int16", "gcc", cases, found, trial=TRIAL)


@batches
@layouts
def test_c_for_rows_without_missing_values(first, layout, tmp_path, compare):
    cases = [(tree, without_missing(table)) for tree, table in models_with_slopes(first)]
    found = run_c(cases, tmp_path, layout=layout, complete=True)
    compare(f"C, {LAYOUTS[layout]}, complete rows", "gcc", cases, found, trial=TRIAL)


@pytest.mark.long
@batches
@pytest.mark.parametrize("database", DATABASES)
def test_databases_predict_the_same(database, first, compare):
    pytest.importorskip("sqlglot")
    pytest.importorskip("duckdb")
    from databases import run_sql

    cases = models_with_slopes(first)
    found = run_sql(database, cases)
    compare(f"SQL, {database}", DATABASES[database], cases, found, trial=TRIAL, bound=1e-12)


@pytest.mark.parametrize("database", DATABASES)
def test_slopes_of_many_classes_and_terms_are_in_several_tables(database, compare, monkeypatch):
    """SQLite has 2,000 columns at most; here a table has 20."""
    pytest.importorskip("sqlglot")
    pytest.importorskip("duckdb")
    from databases import run_sql

    from hornbeam.export.sql import prediction_tables

    cases = [(tree, table.slice(0, 100)) for tree, table in models_with_slopes(0) if tree.n_leaves < 30][:2]
    whole = [to_sql(tree, dialect=database) for tree, _ in cases]
    monkeypatch.setattr(prediction_tables, "_MOST_COLUMNS", 20)
    assert sum(a != to_sql(tree, dialect=database) for a, (tree, _) in zip(whole, cases, strict=True)) > 0
    found = run_sql(database, cases)
    compare(f"SQL, {database}", DATABASES[database], cases, found, trial=TRIAL, bound=1e-12)


@batches
def test_json_rules_predict_the_same(first, compare):
    cases = [(tree, table.slice(0, table.n_rows // 4)) for tree, table in models_with_slopes(first)]
    found = [run_rules(tree, table) for tree, table in cases]
    compare("JSON rules", "Python", cases, found, trial=TRIAL, bound=1e-12)


@pytest.mark.parametrize(
    "dialect",
    ["bigquery", "databricks", "mysql", "postgres", "redshift", "snowflake", "spark", "trino", "tsql"],
)
def test_every_dialect_writes_sql_that_parses(dialect):
    sqlglot = pytest.importorskip("sqlglot")
    from hornbeam.export.sql.select import probability_names

    for tree in (models_with_slopes(0)[0][0], REGRESSION):
        query = to_sql(tree, dialect=dialect)
        assert "hornbeam_distances" in query
        parsed = sqlglot.parse_one(query, dialect=dialect)
        outputs = ["mean"] if tree.is_regression else ["label", *probability_names(tree)]
        assert parsed.named_selects == ["leaf", *outputs]


@batches
@pytest.mark.parametrize(
    ("tree_operators", "dtype", "inputs"),
    [
        (5, "float64", "matrix"),
        (5, "float32", "matrix"),
        (3, "float64", "matrix"),
        (3, "float32", "matrix"),
        (5, "float64", "columns"),
        (3, "float64", "columns"),
    ],
)
def test_onnxruntime_predicts_the_same(tree_operators, dtype, inputs, first, compare):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from model_runners import run_onnx

    cases = models_with_slopes(first, np.dtype(dtype).type)
    found = run_onnx(cases, dtype=dtype, tree_operators=tree_operators, inputs=inputs)
    wide = [(leaf, label, p.astype(np.float64)) for leaf, label, p in found]
    target = f"ONNX, ai.onnx.ml {tree_operators}, {dtype}, {inputs}"
    bound = 1e-6 if dtype == "float32" else 1e-12
    compare(target, "onnxruntime", cases, wide, trial=TRIAL, bound=bound)


def most_probable(first):
    return [(with_decision(tree, DecisionRule()), table) for tree, table in models_with_slopes(first)]


def text_codes(tree, labels):
    return np.array([list(map(str, tree.schema.classes)).index(label) for label in labels])


@batches
def test_a_pmml_reader_predicts_the_same(first, compare):
    cases = [(tree, table.slice(0, 150)) for tree, table in most_probable(first)]
    found = []
    for tree, table in cases:
        leaf, label, p = evaluate_segments(to_pmml(tree), rows_of(table))
        found.append((leaf, text_codes(tree, label), p))
    compare("PMML, a small reader", "Python", cases, found, trial=TRIAL, bound=1e-12)


@needs_jpmml
@batches
def test_jpmml_predicts_the_same(first, compare):
    cases = most_probable(first)
    found = run_jpmml(cases, text_codes)
    compare("PMML", "jpmml_evaluator", cases, found, trial=TRIAL, bound=1e-12)


def compiled(tmp_path: Path, source: str, *command: str) -> Path:
    path, program = tmp_path / "tree.c", tmp_path / "tree"
    path.write_text(source, encoding="ascii")
    subprocess.run([*command, "-o", str(program), str(path)], check=True)
    return program


@pytest.mark.parametrize(
    "command",
    [
        ("gcc", "-std=c99", "-O0", "-Wall", "-Wextra", "-Werror", "-pedantic"),
        ("gcc", "-std=gnu17", "-O3", "-mfma", "-ffp-contract=fast", "-Wall", "-Werror"),
        ("clang", "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic"),
        ("clang", "-std=gnu17", "-O3", "-mfma", "-ffp-contract=on", "-Wall", "-Werror"),
    ],
    ids=lambda command: " ".join(command[:3]),
)
def test_the_c_file_tests_itself_with_every_compiler(command, tmp_path):
    """Also where the processor can multiply and add in one step, and the compiler would."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    if "-mfma" in command and "fma" not in Path("/proc/cpuinfo").read_text(encoding="utf-8"):
        pytest.skip("the processor has no fused multiplication")
    for tree, table in models_with_slopes(0)[:6]:
        for layout in LAYOUTS:
            source = to_c(tree, layout=layout, vectors=table.slice(0, 300))
            assert (
                subprocess.run([compiled(tmp_path, source, *command, "-DTREE_TEST")], check=False).returncode
                == 0
            )
    wrong = re.sub(r"(_centre\[\] = \{\n *)", r"\g<1>1.0 + ", source)
    assert subprocess.run([compiled(tmp_path, wrong, *command, "-DTREE_TEST")], check=False).returncode == 1


@pytest.mark.parametrize(
    ("command", "fused"),
    [
        (("gcc", "-mfma"), r"\bvfn?m(add|sub)"),
        (("clang", "-mfma", "-ffp-contract=on"), r"\bvfn?m(add|sub)"),
        (("aarch64-linux-gnu-gcc",), r"\bf(n?m(add|sub)|ml[as])\b"),
        (("clang", "--target=aarch64-linux-gnu", "-ffp-contract=on"), r"\bf(n?m(add|sub)|ml[as])\b"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_nothing_is_fused(command, fused, tmp_path):
    """Read in the assembly; without the pragma these compilers do fuse."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    source = to_c(models_with_slopes(0)[0][0])
    free = source.replace(
        "#include <stdint.h>",
        "typedef int int32_t; typedef unsigned char uint8_t; "
        "typedef unsigned short uint16_t; typedef signed char int8_t; typedef short int16_t;",
    )

    def assembly(text):
        (tmp_path / "tree.c").write_text(text, encoding="ascii")
        out = tmp_path / "tree.s"
        subprocess.run([*command, "-std=gnu17", "-O2", "-S", "-o", out, tmp_path / "tree.c"], check=True)
        return out.read_text(encoding="utf-8")

    assert not re.search(fused, assembly(free))
    assert re.search(fused, assembly(re.sub(r"#pragma (GCC|STDC).*", "", free)))


SCHEMA = Schema((Feature("size"), Feature("kind", Kind.NOMINAL, ("a", "b", "c"))), (), Kind.NUMERIC)
STUMP = Skeleton.of([2, 0, 0], [0, -1, -1], [2.0, np.nan, np.nan])
REGRESSION = with_slopes(
    Tree.raw(SCHEMA, STUMP, np.array([[6, 9, 30], [4, 8, 20], [2, 1, 10]])),
    Slopes.of([1, 2, 2], [0, 0, 1], [0, 3, 0], [2, 9, 1], [1, 4, 0.3], [[0.7], [-0.1], [1 / 3]], [-1, -1, 1]),
)
ROWS = Table(
    SCHEMA,
    (np.array([-5.0, 0.3, 2.0, 3.7, 99.0, np.inf, np.nan]), np.array([0, 1, 2, 1, -2, -1, 1], np.int32)),
)


def test_means_have_the_same_bits(tmp_path):
    expected = predict_rows(REGRESSION, ROWS)[:, 0].tolist()
    assert len(set(expected)) > 4
    module = {}
    exec(to_python(REGRESSION, vectors=ROWS), module)
    assert module["check"]() == 0
    for layout in LAYOUTS:
        source = to_c(REGRESSION, layout=layout, vectors=ROWS)
        program = compiled(tmp_path, source, "gcc", "-std=c99", "-Wall", "-Werror", "-DTREE_TEST")
        assert subprocess.run([program], check=False).returncode == 0


@pytest.mark.parametrize("database", DATABASES)
def test_means_have_the_same_bits_in_a_database(database):
    pytest.importorskip("sqlglot")
    pytest.importorskip("duckdb")
    from databases import run_query

    query = to_sql(REGRESSION, dialect=database, keep=["row id"])
    found = sorted(run_query(database, query, SCHEMA.names, SCHEMA.features, rows_of(ROWS)))
    assert [row[2] for row in found] == predict_rows(REGRESSION, ROWS)[:, 0].tolist()


def test_means_have_the_same_bits_in_onnxruntime():
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from databases import codes
    from model_runners import run_session

    for tree_operators in (5, 3):
        model = to_onnx(REGRESSION, tree_operators=tree_operators)
        _, mean = run_session(model, {"X": codes(ROWS)})
        assert mean.tolist() == predict_rows(REGRESSION, ROWS)[:, 0].tolist()


def test_means_have_the_same_bits_in_a_pmml_reader():
    _, _, mean = evaluate_segments(to_pmml(REGRESSION), rows_of(ROWS))
    assert mean.tolist() == predict_rows(REGRESSION, ROWS).tolist()


@needs_node
def test_means_have_the_same_bits_in_javascript(tmp_path):
    path = tmp_path / "tree.js"
    path.write_text(to_javascript(REGRESSION, vectors=ROWS), encoding="ascii")
    run = subprocess.run(
        ["node", "-e", f"process.exit(require({str(path)!r}).check())"], capture_output=True, check=False
    )
    assert run.returncode == 0


def test_what_cannot_hold_slopes_refuses_them():
    tree = models_with_slopes(0)[0][0]
    for options in ({"layout": "bins"}, {"probability": "uint8"}, {"probability": "uint16"}):
        with pytest.raises(
            ExportError,
            match=r"This tree has slopes.*Expected layout='if' or 'table'.*slopes=0 exports",
        ):
            to_c(tree, **options)
    pytest.importorskip("onnx")
    with pytest.raises(ExportError, match=r"has slopes.*Expected tree_operators=3 or 5"):
        to_onnx(tree, tree_operators=1, dtype="float32")
    with pytest.raises(ExportError, match="has slopes, and it decides by costs"):
        to_pmml(with_decision(tree, DecisionRule(class_weight=np.arange(1.0, tree.n_classes + 1))))
    for export, name in ((to_treelite, "treelite"), (to_shap, "shap")):
        with pytest.raises(ExportError, match=rf"Node \d+ has slopes, .*{name} has one prediction"):
            export(tree)
