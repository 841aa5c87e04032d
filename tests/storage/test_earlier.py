"""Files with the names of earlier versions are read with the present names."""

from pathlib import Path

import numpy as np
import pytest

import hornbeam
from hornbeam.storage import earlier
from hornbeam.storage.assembly import decode_decision
from hornbeam.tree import Costs, DecisionRule
from hornbeam.tree.tree import Step

pytestmark = pytest.mark.filterwarnings("ignore:the file has no sha256")

HERE = Path(__file__).parent


@pytest.mark.parametrize("name", sorted(path.name for path in (HERE / "earlier_names").iterdir()))
def test_a_file_with_earlier_names_is_the_present_model(name):
    before, now = (hornbeam.load(HERE / folder / name) for folder in ("earlier_names", "golden"))
    assert before.get_params() == now.get_params()
    assert before.preset == "default"
    assert before.tree_.digest == now.tree_.digest
    assert before.tree_.history == now.tree_.history


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
    assert earlier.present_settings({"preset": "cart", "smoothing": "hgs", "max_depth": 3}) == {
        "preset": "cart",
        "smoothing": "hgs",
        "max_depth": 3,
    }
    assert earlier.present_estimator("LambdaMARTRanker") == "BoostedTreesRanker"
    assert earlier.present_estimator("TreeClassifier") == "TreeClassifier"
    assert earlier.present_step(Step.of("hgs", alpha=1.0)) == Step.of("hgs", alpha=1.0)
