"""A new pruner is one class and one line of the registry; every other part of Hornbeam then works with it."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

import hornbeam
from hornbeam import Tree, TreeClassifier, TreeRegressor
from hornbeam.errors import HornbeamWarning, ParameterError
from hornbeam.pruning import BayesRisk
from hornbeam.pruning.pruner import NamedPruner
from hornbeam.pruning.registry import PRUNERS
from hornbeam.recipe import PRESETS
from hornbeam.smoothing import Laplace, Raw
from hornbeam.tree import Step, Table
from hornbeam.tree.edit import collapse
from hornbeam.tree.walk import depths
from hornbeam.tuning.cross_validated import CrossValidated

X, y = load_breast_cancer(return_X_y=True)


@dataclass(frozen=True, slots=True)
class DepthLimit(NamedPruner):
    """Cut all nodes of a depth."""

    name: ClassVar[str] = "depth-limit"
    for_regression: ClassVar[bool] = True

    depth: int = 2

    def __call__(self, tree: Tree) -> Tree:
        return collapse(tree, depths(tree.skeleton) >= self.depth, Step.of(self.name, depth=self.depth))


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    monkeypatch.setitem(PRUNERS, DepthLimit.name, DepthLimit)


@pytest.mark.parametrize("smoothing", ["auto", "hgs", None])
@pytest.mark.parametrize("pruning", ["depth-limit", DepthLimit()], ids=["name", "object"])
def test_a_tree_classifier_takes_it(pruning, smoothing):
    tree = TreeClassifier(pruning=pruning, smoothing=smoothing).fit(X, y).tree_
    assert tree.n_leaves <= 4
    assert tree.history[1] == Step.of("depth-limit", depth=2)


def test_a_tree_regressor_takes_it_and_not_those_for_classes():
    rows = load_diabetes(return_X_y=True)
    assert TreeRegressor(pruning="depth-limit").fit(*rows).tree_.n_leaves <= 4
    with pytest.raises(ParameterError, match="depth-limit"):
        TreeRegressor(pruning="error-based").fit(*rows)


def test_a_model_with_it_is_saved_and_loaded(tmp_path):
    clf = TreeClassifier(pruning="depth-limit").fit(X, y)
    hornbeam.save(clf, tmp_path / "model.hornbeam")
    loaded = hornbeam.load(tmp_path / "model.hornbeam")
    assert loaded.tree_.digest == clf.tree_.digest
    assert loaded.pruning == "depth-limit"


def test_cross_validation_chooses_among_candidates_of_its_kind():
    candidates = [DepthLimit(depth) for depth in range(4)]
    chosen = CrossValidated(PRESETS["cart"], candidates).choose(Table.read(X, y)).pruner
    assert chosen in candidates[1:]


def test_every_pruner_has_the_name_of_its_step():
    tree = TreeClassifier("cart", smoothing="laplace").fit(X, y).tree_
    for name, pruner in PRUNERS.items():
        pruned = pruner()(tree)
        assert pruned.history[-1].name == name
        assert np.array_equal(pruned.evidence[0], tree.evidence[0])


def test_the_rule_of_the_note_has_a_name():
    noisy, few = y ^ (np.random.default_rng(0).random(len(y)) < 0.45), X[:, :4].round()
    rule = BayesRisk(reading="per-example", strict=True, estimate=Laplace())
    by_name, by_rule, unpruned = (
        TreeClassifier("id3", smoothing="laplace", pruning=pruning).fit(few, noisy).tree_
        for pruning in ("bayes-risk-note", rule, None)
    )
    assert by_name.digest == by_rule.digest
    assert by_name.n_leaves < unpruned.n_leaves
    with pytest.raises(ParameterError, match="pruning='bayes-risk-note': expected one of"):
        TreeRegressor(pruning="bayes-risk-note").fit(*load_diabetes(return_X_y=True))


@pytest.mark.parametrize(
    ("pruning", "smoothing", "removed"),
    [
        ("bayes-risk-note", None, "no split is removed"),
        ("bayes-risk-note", "raw", "no split is removed"),
        ("bayes-risk", None, "only splits that change no prediction are removed"),
        (BayesRisk(reading="per-example", strict=True), "laplace", "no split is removed"),
        (BayesRisk(estimate=Raw(), strict=True), "laplace", "no split is removed"),
        (BayesRisk([[0, 1], [5, 0]]), "laplace", "only splits that change no prediction are removed"),
        ("bayes-risk-note", "laplace", None),
        ("bayes-risk", "auto", None),
        (BayesRisk(reading="rate"), None, None),
        (BayesRisk([[0, 1], [5, 0]], reading="per-example"), None, None),  # the theorem needs equal costs
        (BayesRisk(held_out=(X, y)), None, None),
        (BayesRisk(estimate=Laplace()), None, None),
    ],
)
def test_a_rule_that_cannot_cut_warns(pruning, smoothing, removed):
    clf = TreeClassifier("cart" if smoothing != "auto" else "default", pruning=pruning, smoothing=smoothing)
    if removed is None:
        clf.fit(X, y)  # a warning is an error in tests
        return
    whole = TreeClassifier("cart").fit(X, y).tree_
    with pytest.warns(HornbeamWarning, match=f"never less than .* theorem.*, so {removed}"):
        pruned = clf.fit(X, y).tree_
    if "no split" in removed:
        assert pruned.n_leaves == whole.n_leaves
