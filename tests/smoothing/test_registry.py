"""A new smoother is one class and one line of the registry; every other part of Hornbeam then works with it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

import hornbeam
from hornbeam import ForestClassifier, Tree, TreeClassifier, TreeRegressor
from hornbeam.errors import ParameterError, TreeError
from hornbeam.explain.borrowed_rows import borrowed_rows
from hornbeam.recipe import PRESETS, Recipe
from hornbeam.smoothing import Borrowing, GradientHGS
from hornbeam.smoothing.registry import PUBLISHED, SMOOTHERS
from hornbeam.smoothing.replay import check_history, known_part, replay, smoothers_of
from hornbeam.smoothing.smoother import NamedSmoother
from hornbeam.tree import Schema, Step, Table, with_belief
from hornbeam.tree.tree import unsmoothed
from hornbeam.tuning.cross_validated import CrossValidated

X, y = load_breast_cancer(return_X_y=True)


@dataclass(frozen=True, slots=True)
class TowardsRoot(NamedSmoother):
    """Add `m` rows with the frequencies, or the mean, of the root to every node."""

    name: ClassVar[str] = "towards-root"
    for_regression: ClassVar[bool] = True
    needs_only_ancestors: ClassVar[bool] = True

    m: float = 2.0

    def __call__(self, tree: Tree) -> Tree:
        raw, rows = unsmoothed(tree), (tree.weight * tree.unit[0])[:, None]
        belief = (rows * raw + self.m * raw[:1]) / (rows + self.m)
        return with_belief(tree, belief, np.full(tree.n_nodes, self.m), Step.of(self.name, m=self.m))

    def pseudo_counts(self, tree: Tree, path: Sequence[int]) -> np.ndarray:
        counts = np.zeros(len(path))
        counts[min(1, len(path) - 1)] = tree.borrowed[path[-1]]
        return counts


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    monkeypatch.setitem(SMOOTHERS, TowardsRoot.name, TowardsRoot)


@pytest.mark.parametrize("smoothing", ["towards-root", TowardsRoot()], ids=["name", "object"])
def test_a_tree_classifier_takes_it(smoothing):
    tree = TreeClassifier(smoothing=smoothing).fit(X, y).tree_
    assert str(tree.history[-1]) == "towards-root(m=2.0)"
    assert smoothers_of(tree.history) == (TowardsRoot(),)


def test_other_estimators_take_it():
    assert TreeRegressor(smoothing="towards-root").fit(*load_diabetes(return_X_y=True)).tree_.borrowed[1] == 2
    forest = ForestClassifier(3, smoothing="towards-root", random_state=0).fit(X, y)
    assert all(tree.history[-1].name == "towards-root" for tree in forest.forest_.trees)
    with pytest.raises(ParameterError, match="towards-root"):
        TreeClassifier(smoothing="unknown").fit(X, y)


def test_explanations_split_its_pseudo_counts():
    tree = TreeClassifier(smoothing="towards-root").fit(X, y).tree_
    assert [str(each) for each in borrowed_rows(tree, tree.n_nodes - 1)] == ["2.0 from node 0"]


def test_an_update_smooths_with_it_again():
    clf = TreeClassifier(smoothing=TowardsRoot(5.0)).fit(X[::2], y[::2])
    before = clf.tree_
    clf.update(X[1::2], y[1::2])
    assert [step.name for step in clf.tree_.history[-2:]] == ["add-rows", "towards-root"]
    assert smoothers_of(clf.tree_.history) == (TowardsRoot(5.0),)
    clf.forget(X[1::2], y[1::2])
    np.testing.assert_allclose(clf.tree_.belief, before.belief)
    assert replay(smoothers_of(before.history), before).digest == before.digest


def test_a_model_with_it_is_saved_and_loaded(tmp_path):
    clf = TreeClassifier(smoothing="towards-root").fit(X, y)
    hornbeam.save(clf, tmp_path / "model.hornbeam")
    loaded = hornbeam.load(tmp_path / "model.hornbeam")
    assert loaded.tree_.digest == clf.tree_.digest
    loaded.update(X[:5], y[:5])
    assert loaded.tree_.history[-1].name == "towards-root"


def test_a_loaded_history_is_checked():
    schema = Schema((), ("no", "yes"))
    check_history([Step.of("towards-root", m=1.0)], schema)
    with pytest.raises(TreeError, match="'towards-root' with 'k', a parameter that this step does not have"):
        check_history([Step.of("towards-root", k=1.0)], schema)
    assert known_part(Step.of("towards-root", m=1.0, k=1.0)) == Step.of("towards-root", m=1.0)


def test_cross_validation_smooths_a_tree_once_for_all_candidates():
    table, calls = Table.read(X, y), []

    class Counted(TowardsRoot):
        def __call__(self, tree: Tree) -> Tree:
            calls.append(tree)
            return TowardsRoot.__call__(self, tree)

    recipe = Recipe(grower=PRESETS["cart"].grower, smoother=Counted())
    candidates, losses = CrossValidated(recipe, folds=3).evaluate(table)
    assert len(candidates) > 5
    assert len(calls) == 3
    Counted.needs_only_ancestors = False
    _, slow = CrossValidated(recipe, folds=3).evaluate(table)
    assert len(calls) == 3 + 3 * len(candidates)
    np.testing.assert_allclose(losses.loss, slow.loss)


def test_every_smoother_has_the_name_of_its_step():
    tree = TreeClassifier("cart", max_depth=2).fit(X, y).tree_
    for name, smoother in SMOOTHERS.items():
        assert smoother()(tree).history[-1].name == name


@pytest.mark.parametrize("name", [name for name in SMOOTHERS if name != "borrowing"])
def test_the_classifier_takes_every_smoother_by_name(name):
    clf = TreeClassifier(smoothing=name).fit(X, y)
    assert clf.tree_.history[-1].name == name
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1)
    assert clf.score(X, y) > 0.9


def test_borrowing_by_name_has_its_default_strengths():
    named, passed = (TreeClassifier(smoothing=one).fit(X, y).tree_ for one in ("borrowing", Borrowing()))
    assert named.digest == passed.digest
    assert named.history[-1].name == "borrowing"


def test_the_names_are_those_of_the_classes():
    for name, kind in SMOOTHERS.items():
        words = re.findall("HGS|HDP|M(?=[A-Z])|[A-Z][a-z]+", kind.__name__)
        assert "-".join(words).lower() == name


def test_published_forms_have_names_of_their_own(tmp_path):
    assert {name: make() for name, make in PUBLISHED.items()} == {"hgs-published": GradientHGS(prior=0.0)}
    clf = TreeClassifier("c4.4", smoothing="hgs-published").fit(X, y)
    assert clf.tree_.digest == TreeClassifier("c4.4", smoothing=GradientHGS(prior=0.0)).fit(X, y).tree_.digest
    hornbeam.save(clf, tmp_path / "model.hornbeam")
    loaded = hornbeam.load(tmp_path / "model.hornbeam")
    assert loaded.smoothing == "hgs-published"
    assert loaded.update(X[:5], y[:5]).tree_.history[-1].name == "gradient-hgs"
    with pytest.raises(ParameterError, match="smoothing='hgs-published': expected one of"):
        TreeRegressor(smoothing="hgs-published").fit(*load_diabetes(return_X_y=True))
