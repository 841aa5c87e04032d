"""Files with the names of earlier versions are read with the present names."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import hornbeam
from hornbeam.pruning import LeafBudget
from hornbeam.smoothing import HDP, GradientHGS
from hornbeam.storage import earlier
from hornbeam.storage.assembly import decode_decision
from hornbeam.tree import Costs, DecisionRule
from hornbeam.tree.tree import Step

pytestmark = [
    pytest.mark.filterwarnings("ignore:the file has no sha256"),
    pytest.mark.filterwarnings("ignore:Bayes-risk pruning compares"),
]

HERE = Path(__file__).parent


@pytest.mark.parametrize("name", sorted(path.name for path in (HERE / "earlier_names").iterdir()))
def test_a_file_with_earlier_names_is_the_present_model(name):
    before, now = (hornbeam.load(HERE / folder / name) for folder in ("earlier_names", "golden"))
    assert before.get_params() == now.get_params()
    assert before.preset == "default"
    assert before.tree_.digest == now.tree_.digest
    assert before.tree_.history == now.tree_.history


ROWS = pd.DataFrame(
    {
        "age": [37.0, 27.0, 40.0],
        "income": [65.0, 28.0, 53.0],
        "town": pd.Categorical(["A", "B", "A"], categories=["A", "B", "C"]),
    }
)
RC1 = {  # files of 0.1.0rc1: the first probability, or prediction, of each of these rows; present parameters
    "tree": ([0.080393, 0.860009, 0.860009], {"nominal_split": "multiway"}),
    "hdp": ([0.163984, 0.912062, 0.163984], {"smoothing": HDP(sweeps=60, burn_in=10, random_state=3)}),
    "gradient": (
        [0.178358, 0.899681, 0.178358],
        {"smoothing": GradientHGS(tol=1e-6), "pruning": LeafBudget(n_leaves=4)},
    ),
    "gradient-name": ([0.165959, 0.837879, 0.165959], {"smoothing": "gradient-hgs"}),
    "regression-tree": (
        [162.146409, 74.202836, 162.146409],
        {"nominal_split": "multiway", "smoothing": "hierarchical-shrinkage"},
    ),
    "rules": (
        [0.178224, 0.900244, 0.178224],
        {"estimator__nominal_split": "subset", "estimator__smoothing": "leave-one-out-hgs"},
    ),
    "forest": ([0.341611, 0.843386, 0.341611], {"nominal_split": "multiway"}),
    "forest-defaults": ([0.279876, 0.677917, 0.279876], {"nominal_split": "subset"}),
    "regression-forest": ([166.759518, 78.936567, 166.759518], {}),
    "boosted-classifier": ([0.383911, 0.516681, 0.383911], {}),
    "boosted-regressor": ([200.98456, 200.98456, 200.98456], {"loss": "quantile", "quantile": 0.9}),
    "ranker": ([0.394217, -0.391591, -0.0236], {}),
}


@pytest.mark.parametrize("name", sorted(RC1))
def test_a_file_of_the_release_candidate_is_the_present_model(name, tmp_path):
    expected, parameters = RC1[name]
    model = hornbeam.load(HERE / "rc1" / f"{name}.hornbeam")
    hornbeam.save(model, tmp_path / "again.hornbeam")
    again = hornbeam.load(tmp_path / "again.hornbeam")
    assert not hornbeam.diff(model, again)
    for one in (model, again):
        found = one.predict_proba(ROWS)[:, 0] if hasattr(one, "predict_proba") else one.predict(ROWS)
        np.testing.assert_allclose(found, expected, atol=1e-6)
        assert one.get_params().items() >= parameters.items()
        assert clone(one).get_params().keys() == one.get_params().keys()


@pytest.mark.parametrize("name", ["tree", "gradient-name", "regression-tree", "hdp", "gradient"])
def test_a_tree_of_the_release_candidate_is_the_tree_of_a_present_fit(name):
    """Its history has the present words: growing and smoothing can be repeated."""
    model = hornbeam.load(HERE / "rc1" / f"{name}.hornbeam")
    rng = np.random.default_rng(36)
    n = 120
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 70, n).astype(float),
            "income": rng.integers(10, 90, n).astype(float),
            "town": pd.Categorical(rng.choice(["A", "B", "C"], n)),
        }
    )
    p = 1 / (1 + np.exp(-(X.income - 50) / 15 - (X.town == "A")))
    y = np.where(rng.random(n) < p, "yes", "no")
    if name == "regression-tree":
        y = np.round(X.income * 2 + X.age + rng.normal(size=n), 3).to_numpy()
    again = clone(model).fit(X, y)
    assert again.tree_.digest == model.tree_.digest
    assert again.tree_.history == model.tree_.history


def test_the_step_of_calibrated_intervals_keeps_its_effect(tmp_path):
    """An unknown step would be ignored, and intervals would be those of the rows alone."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    clf = hornbeam.TreeClassifier().fit(X, X[:, 0] + rng.normal(size=300) > 0)
    path = tmp_path / "model.hornbeam"
    hornbeam.save(clf, path)
    text = path.read_text(encoding="utf-8")
    assert '"step": "interval-calibration"' in text
    lines = [line for line in text.splitlines() if '"sha256"' not in line]  # the text is edited on purpose
    path.write_text("\n".join(lines).replace('"step": "interval-calibration"', '"step": "appraisal"'))
    np.testing.assert_array_equal(hornbeam.load(path).predict_interval(X), clf.predict_interval(X))


def test_simplicity_is_a_tolerance():
    assert earlier.present_parameters({"preset": "cart", "simplicity": 2}) == {
        "preset": "cart",
        "tolerance": 0.02,
    }
    assert earlier.present_parameters({"simplicity": "2"}) == {"simplicity": "2"}


def test_costs_of_an_estimator_were_its_decision_rule():
    rule = decode_decision(None, ("no", "yes"), "TreeClassifier", {"costs": {("no", "yes"): 5}}, {})
    assert rule == DecisionRule(Costs([[0.0, 5.0], [1.0, 0.0]]))


def test_other_names_stay():
    assert earlier.present_parameters({"preset": "cart", "smoothing": "hgs", "max_depth": 3}) == {
        "preset": "cart",
        "smoothing": "hgs",
        "max_depth": 3,
    }
    assert earlier.present_estimator("LambdaMARTRanker") == "BoostedTreesRanker"
    assert earlier.present_estimator("TreeClassifier") == "TreeClassifier"
    assert earlier.present_step(Step.of("hgs", alpha=1.0)) == Step.of("hgs", alpha=1.0)
