"""Regression trees in every target: random ones with rows on every threshold, and ones with hostile names."""

import json
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from databases import DATABASES, codes, rows_of, run_query
from hostile import column_names, hostile_trees
from model_runners import columns, run_session
from pmml_reader import evaluate
from random_models import models, values
from sklearn.datasets import load_diabetes
from source_runners import GCC, _holds, needs_node

from hornbeam import TreeRegressor
from hornbeam.data.schema import Kind, Schema
from hornbeam.export import (
    to_c,
    to_javascript,
    to_json,
    to_onnx,
    to_pmml,
    to_python,
    to_shap,
    to_sql,
    to_treelite,
)
from hornbeam.interop import to_sklearn
from hornbeam.tree.edit import with_belief
from hornbeam.tree.route import predict_rows, route
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import evidence_stopping, pull_up


def as_regression(tree, seed):
    """A regression tree with the same splits, with evidence of its own at each node and random means."""
    rng = np.random.default_rng([seed, 7])
    own = evidence_stopping(tree.skeleton, tree.weight)
    value = rng.integers(-1000, 1000, tree.n_nodes)
    evidence = pull_up(tree.skeleton, np.stack([own, own * value, own * value**2], axis=1))
    schema = Schema(tree.schema.features, (), Kind.NUMERIC)
    unit = np.array([tree.unit[0], 2.0**-20, 2.0**-20])
    regression = Tree.raw(schema, tree.skeleton, evidence, unit=unit, rows=tree.rows)
    belief = rng.normal(size=(tree.n_nodes, 1)) * 10.0 ** rng.integers(-9, 9, (tree.n_nodes, 1))
    return with_belief(regression, belief, regression.borrowed, None)


def cases(pairs):
    """Regression trees with rows, the node where each row stops, and its mean."""
    for seed, (tree, table) in enumerate(pairs):
        regression = as_regression(tree, seed)
        table = replace(table, schema=regression.schema)
        yield regression, table, route(regression.skeleton, table), predict_rows(regression, table)[:, 0]


def some(allowed="every"):
    return [*models(0, shared=False)[:8], *hostile_trees(allowed)]


def equal(found, expected):
    np.testing.assert_array_equal(np.asarray(found, np.float64), expected)


def test_python_predicts_the_same_means():
    for tree, table, node, mean in cases(some()):
        module = {}
        exec(to_python(tree, vectors=table), module)
        assert module["check"]() == 0
        equal([module["predict"](row) for row in values(table)], mean)
        equal([module["node"](row) for row in values(table)], node)


@needs_node
def test_javascript_predicts_the_same_means(tmp_path):
    script, means = ["const found = [];"], []
    for i, (tree, table, _, mean) in enumerate(cases(some())):
        script += [
            to_javascript(tree, name=f"m{i}", vectors=table),
            f"const r{i} = {json.dumps(values(table))};",
        ]
        script.append(f"found.push([m{i}.check(), r{i}.map(m{i}.predict)]);")
        means.append(mean)
    path = tmp_path / "models.js"
    path.write_text("\n".join([*script, "process.stdout.write(JSON.stringify(found));"]), encoding="ascii")
    done = subprocess.run(["node", str(path)], capture_output=True, text=True, check=True)
    for (wrong, found), mean in zip(json.loads(done.stdout), means, strict=True):
        assert wrong == 0
        equal(found, mean)


def test_json_rules_predict_the_same_means():
    for tree, table, _, mean in cases(some()):
        rules = json.loads(to_json(tree))["rules"]
        named = [dict(zip(tree.schema.names, row, strict=True)) for row in values(table)[:300]]
        found_mean = [
            sum(rule["mean"] for rule in rules if all(_holds(one, row[one["feature"]]) for one in rule["if"]))
            for row in named
        ]
        equal(found_mean, mean[:300])


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@pytest.mark.parametrize("layout", ["if", "table", "bins"])
def test_c_predicts_the_same_means(layout, tmp_path):
    """The test inside the file compares nodes and means of all rows."""
    for i, (tree, table, _, _) in enumerate(cases([*models(0, shared=False)[:3], *hostile_trees()])):
        source = tmp_path / f"{layout}{i}.c"
        source.write_text(to_c(tree, layout=layout, vectors=table), encoding="ascii")
        program = source.with_suffix(".out")
        subprocess.run([*GCC, "-DTREE_TEST", str(source), "-o", str(program)], check=True)
        assert subprocess.run([program], check=False).returncode == 0


@pytest.mark.parametrize("database", DATABASES)
def test_databases_predict_the_same_means(database):
    pytest.importorskip("duckdb", reason="the extra 'test' brings duckdb and sqlglot")
    for tree, table, node, mean in cases(some()):
        names = column_names(tree, database)
        query = to_sql(tree, dialect=database, keep=["row id"], columns=names)
        used = [names.get(name, name) for name in tree.schema.names]
        found = sorted(run_query(database, query, used, tree.schema.features, rows_of(table)))
        equal([row[1] for row in found], node)
        equal([row[2] for row in found], mean)


@pytest.mark.parametrize(("tree_operators", "dtype"), [(5, "float64"), (3, "float64"), (1, "float32")])
def test_onnxruntime_predicts_the_same_means(tree_operators, dtype):
    pytest.importorskip("onnxruntime", reason="the extra 'test' brings onnxruntime")
    number = np.dtype(dtype)
    for tree, table, node, mean in cases(models(0, number.type, shared=False)[:8]):
        model = to_onnx(tree, dtype=dtype, tree_operators=tree_operators)
        found, found_mean = run_session(model, {"X": codes(table).astype(number)})
        equal(found, node)
        equal(found_mean, mean.astype(number))
        assert [field.name for field in model.graph.output] == ["leaf", "mean"]


def test_onnxruntime_predicts_the_same_means_with_hostile_names():
    pytest.importorskip("onnxruntime", reason="the extra 'test' brings onnxruntime")
    for tree, table, _, mean in cases(hostile_trees()):
        equal(run_session(to_onnx(tree), {"X": codes(table)})[1], mean)
        model = to_onnx(tree, inputs="columns")
        empty = [f for f, feature in enumerate(tree.schema.features) if "" in feature.categories]
        is_known = ~np.any([table.columns[f] == -1 for f in empty] or [np.zeros(len(mean), bool)], axis=0)
        equal(run_session(model, columns(model, tree, table))[1][is_known], mean[is_known])


def test_treelite_predicts_the_same_means():
    treelite = pytest.importorskip("treelite", reason="the extra 'test' brings treelite")
    for tree, table, _, mean in cases(some()):
        equal(treelite.gtil.predict(to_treelite(tree), codes(table), nthread=1).ravel(), mean)


def test_pmml_predicts_the_same_means():
    for tree, table, node, mean in cases(some("XML")):
        document = to_pmml(tree)
        assert 'functionName="regression"' in document
        leaf, found_mean, _ = evaluate(document, rows_of(table))
        equal(leaf, node)
        equal(found_mean, mean)


def test_scikit_learn_predicts_the_same_means():
    X, y = load_diabetes(return_X_y=True)
    X = X.astype(np.float32)
    reg = TreeRegressor("cart", max_depth=5, smoothing="hierarchical-shrinkage").fit(X, y)
    theirs = to_sklearn(reg.tree_, on_missing="majority")
    equal(theirs.predict(X), reg.predict(X))
    np.testing.assert_allclose(theirs.tree_.impurity[0], y.var())


def test_shap_adds_up_to_the_mean():
    shap = pytest.importorskip("shap", reason="the extra 'test' brings shap")
    X, y = load_diabetes(return_X_y=True)
    X[::7, 2] = np.nan
    reg = TreeRegressor(max_depth=4).fit(X, y)
    explainer = shap.TreeExplainer(to_shap(reg.tree_))
    total = np.ravel(explainer.expected_value)[0] + explainer.shap_values(X).reshape(len(X), -1).sum(axis=1)
    np.testing.assert_allclose(total, reg.predict(X), rtol=1e-9)
