"""Tools that people have: each takes a fitted tree, or is read, by the lines of "With the tools you have".

`nox -s tools` installs all of them and lists each with pass or fail; there a tool that is absent is a failure.
"""

import logging
import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.errors import ExportError
from hornbeam.export import register_skl2onnx, to_matrix, to_shap, to_sql
from hornbeam.interop import to_sklearn

pytestmark = pytest.mark.filterwarnings("ignore")  # those of the tools

RNG = np.random.default_rng(0)
N = 400
NUMBERS = pd.DataFrame(RNG.normal(size=(N, 3)), columns=["income", "debt", "age"])
GRADES = np.digitize(NUMBERS["income"] - NUMBERS["debt"] * NUMBERS["age"], [-0.5, 0.5])
LABELS = np.array(["good", "fair", "bad"])[GRADES]
MIXED = NUMBERS.assign(home=np.where(RNG.random(N) < 0.5, "owns", "rents"), visits=RNG.integers(0, 9, N))
MIXED_LABELS = np.where((MIXED["home"] == "rents") & (MIXED["income"] < 0.5), "defaults", "repays")
GAPS = NUMBERS.mask(RNG.random(NUMBERS.shape) < 0.2)


def tool(name):
    """Import a tool, or skip the test without it; in `nox -s tools` it must be there."""
    return import_module(name) if os.environ.get("HORNBEAM_TOOLS") else pytest.importorskip(name)


@pytest.fixture(scope="module")
def clf():
    return TreeClassifier(max_leaf_nodes=6).fit(NUMBERS, LABELS)


@pytest.fixture(scope="module")
def converted(clf):
    return to_sklearn(clf)


def run_onnx(model, rows):
    session = tool("onnxruntime").InferenceSession(model.SerializeToString())
    return session.run(None, rows)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_skl2onnx_pipeline(dtype):
    skl2onnx = tool("skl2onnx")
    register_skl2onnx()
    X = NUMBERS.to_numpy(dtype)
    pipeline = make_pipeline(StandardScaler(), TreeClassifier()).fit(X, LABELS)
    model = skl2onnx.to_onnx(pipeline, X[:1], options={"zipmap": False})
    label, probabilities = run_onnx(model, {"X": X})
    np.testing.assert_allclose(probabilities, pipeline.predict_proba(X), rtol=0, atol=1e-6)
    assert (label == pipeline.predict(X)).all()


def test_skl2onnx_regressor():
    skl2onnx = tool("skl2onnx")
    register_skl2onnx()
    X, y = NUMBERS.to_numpy(), NUMBERS["income"] * 2
    pipeline = make_pipeline(StandardScaler(), TreeRegressor()).fit(X, y)
    [mean] = run_onnx(skl2onnx.to_onnx(pipeline, X[:1]), {"X": X})
    np.testing.assert_allclose(mean[:, 0], pipeline.predict(X), rtol=0, atol=1e-6)


@pytest.mark.parametrize("labels", [GRADES, GRADES > 0, LABELS], ids=["numbers", "truths", "text"])
def test_skl2onnx_zipmap_and_missing_values(labels):
    skl2onnx = tool("skl2onnx")
    register_skl2onnx()
    clf = TreeClassifier().fit(GAPS.to_numpy(), labels)
    label, mapped = run_onnx(skl2onnx.to_onnx(clf, GAPS.to_numpy()[:1]), {"X": GAPS.to_numpy()})
    found = [[row[one] for one in clf.classes_.tolist()] for row in mapped]
    np.testing.assert_allclose(found, clf.predict_proba(GAPS.to_numpy()), rtol=0, atol=1e-6)
    assert (label == clf.predict(GAPS.to_numpy())).all()


def test_skl2onnx_columns_of_text_and_numbers():
    skl2onnx = tool("skl2onnx")
    register_skl2onnx()
    clf = TreeClassifier("readable").fit(MIXED, MIXED_LABELS)
    rows = {name: MIXED[[name]].to_numpy() for name in MIXED}
    label, probabilities = run_onnx(skl2onnx.to_onnx(clf, MIXED[:1], options={"zipmap": False}), rows)
    np.testing.assert_allclose(probabilities, clf.predict_proba(MIXED), rtol=0, atol=1e-6)
    assert (label == clf.predict(MIXED)).all()
    encoder = make_column_transformer((OneHotEncoder(sparse_output=False), ["home"]), remainder="passthrough")
    pipeline = make_pipeline(encoder, TreeClassifier()).fit(MIXED, MIXED_LABELS)
    model = skl2onnx.to_onnx(pipeline, MIXED[:1], options={"zipmap": False})
    np.testing.assert_allclose(run_onnx(model, rows)[1], pipeline.predict_proba(MIXED), rtol=0, atol=1e-6)


def test_skl2onnx_refuses_what_onnx_cannot_say():
    skl2onnx = tool("skl2onnx")
    register_skl2onnx()
    clf = TreeClassifier("cart").fit(NUMBERS.to_numpy(), GRADES.astype(float))
    with pytest.raises(ExportError, match="neither all text nor all whole numbers"):
        skl2onnx.to_onnx(clf, NUMBERS.to_numpy()[:1])
    types = import_module("skl2onnx.common.data_types")
    clf = TreeClassifier("cart").fit(NUMBERS.to_numpy(), GRADES)
    two = [("a", types.DoubleTensorType([None, 2])), ("b", types.DoubleTensorType([None, 1]))]
    with pytest.raises(ExportError, match="3 features and 2 inputs"):
        skl2onnx.to_onnx(clf, initial_types=two)


def test_scikit_learn_plot_tree_and_export_text(converted):
    pyplot = tool("matplotlib.pyplot")
    from sklearn.tree import export_text, plot_tree

    assert len(plot_tree(converted, ax=pyplot.figure().subplots())) >= converted.tree_.node_count
    assert "income" in export_text(converted, feature_names=list(NUMBERS))
    pyplot.close("all")


def test_dtreeviz():
    dtreeviz = tool("dtreeviz")
    clf = TreeClassifier(max_leaf_nodes=5).fit(NUMBERS, GRADES)  # dtreeviz takes classes that are numbers
    names = {"feature_names": list(NUMBERS), "class_names": ["good", "fair", "bad"], "target_name": "grade"}
    view = dtreeviz.model(to_sklearn(clf), NUMBERS.to_numpy(), GRADES, **names)
    assert "income" in view.explain_prediction_path(NUMBERS.to_numpy()[0])
    if shutil.which("dot"):
        assert view.view().svg().count("<svg") > 5


def test_supertree(converted, tmp_path, monkeypatch):
    supertree = tool("supertree")
    monkeypatch.chdir(tmp_path)
    supertree.SuperTree(converted, NUMBERS, GRADES, list(NUMBERS), converted.classes_.tolist()).save_html(
        "a.html"
    )
    assert "income" in (tmp_path / "a.html").read_text("utf-8")


def test_shap(clf):
    shap = tool("shap")
    explainer = shap.TreeExplainer(to_shap(clf))
    values = explainer.shap_values(to_matrix(clf, NUMBERS))
    np.testing.assert_allclose(
        values.sum(axis=1) + explainer.expected_value, clf.predict_proba(NUMBERS), atol=1e-9
    )


def test_mlflow(clf, tmp_path):
    mlflow = tool("mlflow")
    logging.getLogger("mlflow").setLevel(logging.ERROR)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
    mlflow.set_experiment(experiment_id=mlflow.create_experiment("e", (tmp_path / "models").as_uri()))
    info = mlflow.sklearn.log_model(
        clf, name="model", serialization_format="cloudpickle", pyfunc_predict_fn="predict_proba"
    )
    assert (mlflow.sklearn.load_model(info.model_uri).predict(NUMBERS) == clf.predict(NUMBERS)).all()
    served = mlflow.pyfunc.load_model(info.model_uri).predict(NUMBERS)
    assert (served == clf.predict_proba(NUMBERS)).all()


def test_sklearn2pmml(converted, tmp_path):
    sklearn2pmml = tool("sklearn2pmml")
    pipeline = sklearn2pmml.make_pmml_pipeline(converted, list(NUMBERS), "grade")
    sklearn2pmml.sklearn2pmml(pipeline, str(tmp_path / "tree.pmml"))
    [tree] = ElementTree.parse(tmp_path / "tree.pmml").iter("{http://www.dmg.org/PMML-4_4}TreeModel")
    scores = [node.get("score") for node in tree.iter("{http://www.dmg.org/PMML-4_4}Node")]
    assert {score for score in scores if score} == set(converted.classes_)


def arrow_forms():
    def relation(frame):
        return tool("duckdb").sql("SELECT * FROM frame")

    def ibis_table(frame):
        return tool("ibis").memtable(frame)

    def reader(frame):
        return tool("pyarrow").Table.from_pandas(frame, preserve_index=False).to_reader(50)

    def hugging_face(frame):
        return tool("datasets").Dataset.from_pandas(frame).with_format("arrow")[:]

    return [relation, ibis_table, reader, hugging_face]


@pytest.mark.parametrize("form", arrow_forms(), ids=["DuckDB", "ibis", "RecordBatchReader", "Hugging Face"])
def test_arrow_stream(form):
    clf = TreeClassifier(max_leaf_nodes=6).fit(MIXED, MIXED_LABELS)
    assert TreeClassifier(max_leaf_nodes=6).fit(form(MIXED), MIXED_LABELS).tree_.digest == clf.tree_.digest
    assert (clf.predict_proba(form(MIXED)) == clf.predict_proba(MIXED)).all()
    assert str(clf.explain(form(MIXED))[0]) == str(clf.explain(MIXED)[0])
    assert clf.score(form(MIXED), MIXED_LABELS) == clf.score(MIXED, MIXED_LABELS)


def test_fsspec():
    tool("pyarrow")
    store = tool("fsspec").filesystem("memory")
    with store.open("/loans/part.parquet", "wb") as file:
        MIXED.assign(y=MIXED_LABELS).to_parquet(file)
    clf = TreeClassifier("cart").fit("fsspec+memory://loans", "y")
    assert clf.tree_.digest == TreeClassifier("cart").fit(MIXED, MIXED_LABELS).tree_.digest
    assert (clf.predict("fsspec+memory://loans") == clf.predict(MIXED)).all()
    assert clf.predict_to("fsspec+memory://loans", "fsspec+memory://scored").n_written == N
    assert store.exists("/scored/part-00000000.parquet")
    for folder in ("/loans", "/scored"):
        store.rm(folder, recursive=True)


def same_rows(found, clf):
    """Rows of a query with the key, leaf, label and probabilities are those of the tree."""
    found = sorted(found)
    assert [row[0] for row in found] == list(range(N))
    assert [row[2] for row in found] == clf.predict(MIXED).tolist()
    np.testing.assert_allclose([row[3:] for row in found], clf.predict_proba(MIXED), rtol=0, atol=1e-12)


def test_dbt_in_duckdb(tmp_path):
    tool("dbt.adapters.duckdb")
    duckdb = tool("duckdb")
    clf = TreeClassifier("readable").fit(MIXED, MIXED_LABELS)
    (tmp_path / "models").mkdir()
    (tmp_path / "dbt_project.yml").write_text(
        "name: loans\nversion: '1.0'\nprofile: loans\nmodels: {loans: {}}\n"
    )
    place = tmp_path / "loans.duckdb"
    (tmp_path / "profiles.yml").write_text(
        f"loans: {{target: dev, outputs: {{dev: {{type: duckdb, path: {str(place)!r}}}}}}}\n"
    )
    with duckdb.connect(place) as database:
        database.register("frame", MIXED.reset_index(names="id"))
        database.execute("CREATE TABLE raw_loans AS SELECT * FROM frame")
    (tmp_path / "models" / "loans.sql").write_text("SELECT * FROM raw_loans")
    (tmp_path / "models" / "scored.sql").write_text(to_sql(clf, table="{{ ref('loans') }}", keep=["id"]))
    command = [sys.executable, "-m", "dbt.cli.main", "run", "--project-dir", ".", "--profiles-dir", "."]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
    with duckdb.connect(place) as database:
        same_rows(database.execute("SELECT * FROM scored").fetchall(), clf)


@pytest.mark.parametrize("dialect", ["postgres", "redshift", "mysql"])
def test_database_server(dialect):
    """Redshift has the syntax of PostgreSQL, where its queries run too."""
    database, library = ("mysql", "pymysql") if dialect == "mysql" else ("postgres", "psycopg")
    address = os.environ.get(f"HORNBEAM_{database.upper()}")
    if address is None and not os.environ.get("HORNBEAM_TOOLS"):
        pytest.skip("tests/support/servers.py starts the servers")
    tool(library)
    sys.path.insert(0, str(Path(__file__).parents[1] / "export"))
    from databases import run_query

    clf = TreeClassifier("readable").fit(MIXED, MIXED_LABELS)
    query = to_sql(clf, table="rows", dialect=dialect, keep=["row id"])
    cells = [tuple(row) for row in MIXED.astype(object).itertuples(index=False)]
    same_rows(run_query(database, query, list(MIXED), clf.tree_.schema.features, cells), clf)
