"""MLflow: every estimator is logged in the default format and loaded again; untrusted types are refused."""

import logging
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import hornbeam
from hornbeam.interop import trusted_types

pytest.importorskip("skops.io")
mlflow = pytest.importorskip("mlflow")

SCORER = Path(__file__).parents[2] / "examples" / "serving" / "mlflow_scorer.py"

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow's own, of other libraries


@pytest.fixture(scope="module", autouse=True)
def _tracking(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mlflow")
    logging.getLogger("mlflow").setLevel(logging.ERROR)
    mlflow.set_tracking_uri(f"sqlite:///{folder}/runs.db")
    experiment = mlflow.create_experiment("hornbeam", artifact_location=(folder / "models").as_uri())
    mlflow.set_experiment(experiment_id=experiment)


def trusted(estimator):
    """The types of the guide; skops does not trust the internals of scikit-learn's trees."""
    inside = ["sklearn.tree._tree.Tree"] if isinstance(estimator, hornbeam.SmoothedClassifier) else []
    return trusted_types() + inside


def test_every_estimator_is_loaded_with_the_same_predictions(fitted, rows, predictions, same_predictions):
    with mlflow.start_run():
        info = mlflow.sklearn.log_model(fitted, name="m", skops_trusted_types=trusted(fitted))
    assert info.flavors["sklearn"]["serialization_format"] == "skops"
    same_predictions(mlflow.sklearn.load_model(info.model_uri))
    np.testing.assert_array_equal(
        mlflow.pyfunc.load_model(info.model_uri).predict(rows), predictions["predict"]
    )


@pytest.mark.parametrize("kind", [hornbeam.TreeClassifier, DecisionTreeClassifier])
def test_without_trusted_types_mlflow_refuses_our_trees_and_scikit_learns(kind):
    clf = kind().fit([[0.0], [1.0]], [0, 1])
    with mlflow.start_run(), pytest.raises(mlflow.MlflowException, match="untrusted types"):
        mlflow.sklearn.log_model(clf, name="m")


def test_autolog_logs_a_tree_in_a_pipeline():
    X, y = np.arange(40.0).reshape(-1, 1), (np.arange(40) // 10) % 2
    mlflow.sklearn.autolog()
    try:
        clf = make_pipeline(hornbeam.TreeClassifier(max_depth=3)).fit(X, y)
    finally:
        mlflow.sklearn.autolog(disable=True)
    run = mlflow.last_active_run()
    assert run.data.params["treeclassifier__max_depth"] == "3"
    [model] = mlflow.search_logged_models(
        filter_string=f"source_run_id = '{run.info.run_id}'", output_format="list"
    )
    np.testing.assert_array_equal(mlflow.sklearn.load_model(model.model_uri).predict(X), clf.predict(X))


def test_the_guide_returns_probabilities_decisions_and_reasons(tmp_path):
    ages, city = np.arange(60.0), np.resize(["Bern", "Graz", "Ulm"], 60)
    X = pd.DataFrame({"age": ages, "city": city})
    y = np.where((city == "Bern") | (ages > 40), "buys", "passes")
    clf = hornbeam.TreeClassifier(costs={("buys", "passes"): 10.0}).fit(X, y)
    hornbeam.save(clf, tmp_path / "model.hornbeam")
    with mlflow.start_run():
        info = mlflow.pyfunc.log_model(
            name="scorer",
            python_model=str(SCORER),
            artifacts={"model": str(tmp_path / "model.hornbeam")},
            input_example=X.head(3),
            pip_requirements=["hornbeam"],
        )
    predictions = mlflow.pyfunc.load_model(info.model_uri).predict(X)
    assert predictions.columns.tolist() == ["buys", "passes", "decision", "reasons"]
    np.testing.assert_array_equal(predictions[["buys", "passes"]].to_numpy(), clf.predict_proba(X))
    assert predictions["decision"].tolist() == clf.predict(X).tolist()
    assert predictions["reasons"][0] == "; ".join(map(str, clf.explain(X)[0].reasons())) != ""
