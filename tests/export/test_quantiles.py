"""Quantiles in every target that has them: those of `predict_quantile`, beside the same mean."""

import json
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from databases import DATABASES, codes, rows_of, run_query
from model_runners import run_session
from random_models import values
from source_runners import GCC, _holds, needs_node

from hornbeam import TreeRegressor
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.export import to_c, to_javascript, to_json, to_onnx, to_python, to_sql, to_text
from hornbeam.tree.unwrap import with_quantiles

LEVELS = [0.025, 0.5, 0.9]


def rows(n, seed):
    """Numbers, categories and missing values, with a target of unequal spread."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"size": rng.normal(size=n), "kind": rng.choice(["a", "b", "c"], n), "age": rng.normal(size=n)}
    )
    y = X["size"] * (1 + (X["kind"] == "a")) + (1 + (X["age"] > 0)) * rng.normal(size=n)
    X.loc[rng.random(n) < 0.2, "size"] = np.nan
    X.loc[rng.random(n) < 0.1, "kind"] = None
    return X, y.to_numpy()


@pytest.fixture(scope="module")
def model():
    return TreeRegressor(distribution=True).fit(*rows(300, 0))


@pytest.fixture(scope="module")
def sloped():
    found = TreeRegressor(teacher="ensemble", max_leaf_nodes=4, slopes=1, distribution=True).fit(
        *rows(100, 0)
    )
    assert len(found.tree_.slopes)
    return found


@pytest.fixture(params=["model", "sloped"])
def case(request):
    """A model, new rows as a table, and their mean and quantiles."""
    fitted = request.getfixturevalue(request.param)
    X, _ = rows(150, 1)
    X.loc[:3, "kind"] = "unseen"
    expected = np.column_stack([fitted.predict(X), fitted.predict_quantile(X, LEVELS)])
    return fitted, Table.read(X, schema=fitted.tree_.schema), expected


def equal(found, expected):
    np.testing.assert_allclose(np.asarray(found, np.float64), expected, rtol=1e-12, atol=1e-12)


def test_python(case):
    fitted, table, expected = case
    module = {}
    exec(to_python(fitted, quantiles=LEVELS, vectors=table), module)
    assert module["check"]() == 0
    assert module["QUANTILES"] == tuple(LEVELS)
    equal([[module["predict"](row), *module["quantiles"](row)] for row in values(table)], expected)


@needs_node
def test_javascript(case, tmp_path):
    fitted, table, expected = case
    script = to_javascript(fitted, name="tree", quantiles=np.array(LEVELS), vectors=table)
    found = f"{json.dumps(values(table))}.map((row) => [tree.predict(row), ...tree.quantiles(row)])"
    path = tmp_path / "tree.js"
    path.write_text(
        f"{script}\nprocess.stdout.write(JSON.stringify([tree.check(), {found}]));", encoding="ascii"
    )
    done = subprocess.run(["node", str(path)], capture_output=True, text=True, check=True)
    wrong, predicted = json.loads(done.stdout)
    assert wrong == 0
    equal(predicted, expected)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@pytest.mark.parametrize(("layout", "number"), [("if", "double"), ("table", "float"), ("bins", "double")])
def test_c(case, layout, number, tmp_path):
    """The test inside the file compares nodes, means and quantiles of all rows."""
    fitted, table, _ = case
    if layout == "bins" and len(fitted.tree_.slopes):
        pytest.skip("bins have no terms")
    source = tmp_path / "tree.c"
    source.write_text(
        to_c(fitted, layout=layout, probability=number, quantiles=LEVELS, vectors=table), encoding="ascii"
    )
    program = source.with_suffix(".out")
    subprocess.run([*GCC, "-DTREE_TEST", str(source), "-o", str(program)], check=True)
    assert subprocess.run([program], check=False).returncode == 0
    wrong = source.read_text(encoding="ascii").replace("q[k] != tree_test", "q[k] == tree_test")
    source.write_text(wrong, encoding="ascii")
    subprocess.run([*GCC, "-DTREE_TEST", str(source), "-o", str(program)], check=True)
    assert subprocess.run([program], check=False).returncode == 1  # the comparison is made


@pytest.mark.parametrize("database", DATABASES)
def test_databases(case, database):
    pytest.importorskip("sqlglot", reason="the extra 'test' brings duckdb and sqlglot")
    fitted, table, expected = case
    query = to_sql(fitted, dialect=database, keep=["row id"], quantiles=LEVELS)
    found = sorted(run_query(database, query, table.schema.names, table.schema.features, rows_of(table)))
    assert " AS mean" in query
    assert all(f" AS {name}" in query for name in ("q2_5", "q50", "q90"))
    equal([row[2:] for row in found], expected)


@pytest.mark.parametrize("tree_operators", [5, 3])
def test_onnx(case, tree_operators):
    pytest.importorskip("onnxruntime", reason="the extra 'test' brings onnxruntime")
    fitted, table, expected = case
    exported = to_onnx(fitted, quantiles=LEVELS, tree_operators=tree_operators)
    leaf, mean, quantiles = run_session(exported, {"X": codes(table)})
    assert [field.name for field in exported.graph.output] == ["leaf", "mean", "quantiles"]
    assert leaf.tolist() == fitted.apply(table).tolist()
    equal(np.column_stack([mean, quantiles]), expected)


def test_json(case):
    fitted, table, expected = case
    document = json.loads(to_json(fitted, quantiles=LEVELS, vectors=table))
    assert document["quantiles"] == LEVELS
    equal([[row["mean"], *row["quantiles"]] for row in document["vectors"]], expected)
    names, found = table.schema.names, []
    for row in values(table):
        named = dict(zip(names, row, strict=True))
        [rule] = [one for one in document["rules"] if all(_holds(c, named[c["feature"]]) for c in one["if"])]
        change = sum(
            term["slope"][0] * (_known(term, named[term["feature"]]) - term["centre"])
            for term in rule.get("slopes", [])
            if named[term["feature"]] is not None
        )
        found.append([number + change for number in (rule["mean"], *rule["quantiles"])])
    equal(found, expected)


def _known(term, value):
    return (
        float(value == term["category"]) if "category" in term else min(max(value, term["low"]), term["high"])
    )


def test_text_has_quantiles_beside_the_evidence():
    model = TreeRegressor(distribution=True).fit(np.zeros((100, 1)), np.array([1, 2, 2, 3, 9] * 20, float))
    text = to_text(model, quantiles=[0.1, 0.5, 0.975])
    assert text == f"{to_text(model)}, 10 % 1, 50 % 2, 97.5 % 9"


def test_without_quantiles_nothing_changes(model):
    for export in (to_c, to_javascript, to_json, to_python, to_text):
        assert export(model) == export(model.tree_)


def test_wrong_quantiles(model):
    for wrong, words in (
        (0.5, r"expected probabilities between 0 and 1\. Pass"),
        ([], "expected probabilities"),
        ([0.1, 1.5], "expected a number between 0 and 1"),
        ([0.1, 0.1], "expected different probabilities"),
    ):
        with pytest.raises(ParameterError, match=words):
            to_python(model, quantiles=wrong)
    for other in (model.tree_, TreeRegressor().fit([[0.0]], [1.0])):
        with pytest.raises(ParameterError, match="fitted with distribution=True"):
            to_python(other, quantiles=[0.5])


def test_a_tree_with_quantiles_keeps_its_schema_in_another_process(model):
    import pickle

    wide = with_quantiles(model, LEVELS)
    again = pickle.loads(pickle.dumps(wide))
    assert again.schema.number_names == ["mean", "q2_5", "q50", "q90"]
    assert again.digest == wide.digest != model.tree_.digest
