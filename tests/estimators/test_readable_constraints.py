"""Constraints of readable trees: monotone features by sweeps, features that may interact, edits and updates."""

import numpy as np
import pandas as pd
import pytest

import hornbeam
from hornbeam import ForestClassifier, ForestRegressor, TreeClassifier, TreeRegressor
from hornbeam.ensembles.distillation.distillation import Distillation
from hornbeam.errors import ParameterError
from hornbeam.explain.candidates.training_rows import grower_of
from hornbeam.growing.grower import Grower
from hornbeam.tree.walk import features_above

GROUPS = [["a", "b"], ["c", "town"]]


def random_rows(seed, n=150):
    """Rows with numbers, ties, holes and categories, with effects of both directions and interactions."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": rng.integers(0, 5, n).astype(float),
            "c": rng.lognormal(size=n),
            "town": pd.Categorical(rng.choice(["north", "south", "west"], n)),
        }
    )
    effect = rng.normal(size=4)
    score = (
        effect[0] * X.a
        + effect[1] * (X.b - 2) * np.where(X.town == "west", -1, 1)
        + effect[2] * np.sin(3 * X.c)
    )
    score += effect[3] * X.a * (X.b > 2)
    for name in ("a", "b"):
        X.loc[rng.random(n) < 0.1, name] = np.nan
    return rng, X, score.to_numpy() + rng.normal(size=n)


def random_model(seed, *, regression):
    """Fit a model with random constraints, sizes, weights, costs and a small teacher."""
    rng, X, y = random_rows(seed)
    signs = {name: int(rng.choice([-1, 0, 1], p=[0.4, 0.2, 0.4])) for name in ("a", "b", "c")}
    parameters = {
        "max_leaf_nodes": int(rng.integers(2, 9)),
        "slopes": int(rng.integers(1, 4)),
        "monotonic_cst": signs,
        "interaction_cst": [None, "pairwise", "no_interactions", GROUPS][rng.integers(4)],
    }
    weight = rng.choice([None, "weights"])
    weight = None if weight is None else rng.integers(1, 4, len(X)) * 0.5
    if regression:
        scale = 10.0 ** rng.integers(-3, 4)
        teacher = ForestRegressor(n_estimators=10)
        return TreeRegressor("readable", teacher=teacher, **parameters).fit(X, y * scale, weight), X, signs
    parameters["class_weight"] = [None, "balanced"][rng.integers(2)]
    parameters["costs"] = [None, [[0, 3], [1, 0]]][rng.integers(2)]
    teacher = ForestClassifier(n_estimators=10)
    return TreeClassifier("readable", teacher=teacher, **parameters).fit(X, y > 0, weight), X, signs


def most_against(model, X, signs, seed=0):
    """Sweep each constrained feature of some rows; return the largest step against its sign, relative."""
    rng, worst = np.random.default_rng(seed), 0.0
    for name, sign in signs.items():
        if sign == 0:
            continue
        known = np.unique(X[name].dropna())
        grid = np.concatenate([known, (known[1:] + known[:-1]) / 2, [known[0] - 1, known[-1] + 1, -1e9, 1e9]])
        grid = np.unique(grid)
        for row in rng.integers(0, len(X), 12):
            line = X.iloc[np.full(len(grid), row)].reset_index(drop=True)
            line[name] = grid
            found = model.predict_proba(line)[:, 1] if hasattr(model, "classes_") else model.predict(line)
            worst = max(worst, (-np.diff(found) * sign).max() / max(1e-12, np.abs(found).max()))
    return worst


@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_no_prediction_moves_against_a_constraint(seed, regression):
    model, X, signs = random_model(seed, regression=regression)
    assert most_against(model, X, signs) <= 1e-14


def test_a_feature_against_its_constraint_has_no_effect():
    rng = np.random.default_rng(0)
    X = rng.random((400, 2))
    y = rng.random(400) < 1 / (1 + np.exp(4 * X[:, 0] - 6 * X[:, 1] + 1))
    free, rising = (
        TreeClassifier("readable", max_leaf_nodes=4, monotonic_cst=signs).fit(X, y).tree_
        for signs in (None, [1, 1])
    )
    assert 0 in set(free.slopes.feature) | set(free.skeleton.feature)
    assert set(rising.slopes.feature.tolist()) == {1}
    assert rising.n_leaves == 1  # a feature with a constraint has terms and no splits
    falling = TreeClassifier("readable", max_leaf_nodes=4, monotonic_cst=[-1, 1]).fit(X, y).tree_
    sloped = falling.slopes
    rise = sloped.slope[:, 1] - sloped.slope[:, 0]
    assert set(sloped.feature.tolist()) == {0, 1}
    assert (rise * np.where(sloped.feature == 0, -1, 1) > 0).all()


def test_a_file_keeps_the_constraints_for_edits(tmp_path):
    _, X, y = random_rows(3, n=200)
    parameters = {"monotonic_cst": {"a": 1, "b": -1}, "interaction_cst": GROUPS}
    model = TreeClassifier("readable", max_leaf_nodes=4, **parameters).fit(X, y > 0)
    hornbeam.save(model, tmp_path / "m.hornbeam")
    loaded = hornbeam.load(tmp_path / "m.hornbeam")
    assert loaded.tree_.digest == model.tree_.digest
    grower = grower_of(loaded.tree_)
    assert (grower.monotonic_cst, grower.interaction_cst) == ((1, -1, 0, 0), ((0, 1), (2, 3)))
    with pytest.raises(ParameterError, match="monotone constraint"):
        loaded.edit(X, y > 0).split(0, "a", threshold=0.0)


def test_the_constraint_holds_after_updates_and_edits():
    rng, X, y = random_rows(3, n=300)
    signs, y = {"a": 1, "b": -1}, y > 0
    first, second = X.iloc[:200], X.iloc[200:]
    model = TreeClassifier("readable", max_leaf_nodes=5, monotonic_cst=signs).fit(first, y[:200])
    assert len(model.tree_.slopes)
    model.update(second, rng.random(100) < 0.5)
    assert most_against(model, X, signs) <= 1e-14
    model = TreeClassifier("readable", max_leaf_nodes=5, monotonic_cst=signs).fit(X, y)
    editor = model.edit(X, y)
    with pytest.raises(ParameterError, match="a split of 'a', which has a monotone constraint"):
        editor.split(0, "a", threshold=0.0)
    constrained = [at for at, feature in enumerate(model.tree_.slopes.feature) if feature < 2]
    node, feature = (
        int(array[constrained[0]]) for array in (model.tree_.slopes.node, model.tree_.slopes.feature)
    )
    against = 0.5 if feature == 0 else 2.0
    with pytest.raises(ParameterError, match="would be against its monotone constraint"):
        editor.set_term(node, feature, against)
    editor.set_term(node, feature, 1 / against)
    editor.finish()
    assert most_against(model, X, signs) <= 1e-14


def test_probabilities_of_a_rising_truth_hardly_change():
    """Where the truth obeys the constraint, it costs next to nothing: here it must not cost 2 % of the log loss."""
    rng = np.random.default_rng(1)
    X = rng.random((1000, 3))
    odds = np.exp(3 * X[:, 0] + 2 * X[:, 1] * (X[:, 2] > 0.5) - 2)
    y = rng.random(1000) < odds / (1 + odds)
    test = rng.random((2000, 3))
    truth = np.exp(3 * test[:, 0] + 2 * test[:, 1] * (test[:, 2] > 0.5) - 2)
    truth = truth / (1 + truth)
    losses = []
    for signs in (None, [1, 1, 0]):
        p = (
            TreeClassifier("readable", max_leaf_nodes=6, monotonic_cst=signs)
            .fit(X, y)
            .predict_proba(test)[:, 1]
        )
        losses.append(-(truth * np.log(p) + (1 - truth) * np.log(1 - p)).mean())
    assert losses[1] < 1.02 * losses[0]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("groups", ["no_interactions", "pairwise", GROUPS])
def test_features_of_two_groups_do_not_interact(seed, groups):
    _, X, y = random_rows(seed, n=250)
    tree = (
        TreeClassifier("readable", interaction_cst=groups, teacher=ForestClassifier(20)).fit(X, y > 0).tree_
    )
    may = {"no_interactions": 1, "pairwise": 2}.get(groups if isinstance(groups, str) else "", 4)
    known = [{0, 1}, {2, 3}] if isinstance(groups, list) else [set(range(4))]
    paths = [set(features_above(tree.skeleton, node)) for node in range(tree.n_nodes)]
    used = paths + [
        paths[node] | {feature} for node, feature in zip(tree.slopes.node, tree.slopes.feature, strict=True)
    ]
    assert tree.n_leaves > 1
    assert all(len(one) <= may and any(one <= group for group in known) for one in used)


def test_without_interactions_the_log_odds_are_a_sum_of_functions_of_one_feature():
    rng, X, y = random_rows(2, n=250)
    model = TreeClassifier("readable", interaction_cst="no_interactions").fit(X, y > 0)
    assert model.tree_.n_leaves > 1

    def log_odds(rows):
        p = model.predict_proba(rows)
        return np.log(p[:, 1] / p[:, 0])

    one, other = (X.iloc[rng.permutation(len(X))].reset_index(drop=True) for _ in range(2))
    for name in X:  # a change of one feature has the same effect, whatever the others are
        effect = log_odds(one) - log_odds(one.assign(**{name: other[name]}))
        elsewhere = log_odds(other.assign(**{name: one[name]})) - log_odds(other)
        np.testing.assert_allclose(effect, elsewhere, atol=1e-9)


def test_other_rules_of_paths_are_kept():
    _, X, y = random_rows(0, n=250)
    tree = TreeClassifier("readable", once_per_path=True, forbidden_below={"a": ["b"]}).fit(X, y > 0).tree_
    nodes = [*np.flatnonzero(~tree.skeleton.is_leaf), *tree.slopes.node]
    features = [*tree.skeleton.feature[~tree.skeleton.is_leaf], *tree.slopes.feature]
    for node, feature in zip(nodes, features, strict=True):
        above = features_above(tree.skeleton, int(node))
        assert feature not in above
        assert not (feature == 1 and 0 in above)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"monotonic_cst": {"a": 1}, "slopes": 0}, "expected slopes from 1 to 3"),
        (
            {"monotonic_cst": {"a": 1}, "max_leaf_nodes": 65},
            "keeps constraints up to max_leaf_nodes=64, found 65",
        ),
        (
            {"interaction_cst": "pairwise", "max_leaf_nodes": 100},
            "interaction_cst: a tree with a teacher keeps",
        ),
        ({"monotonic_cst": {"town": 1}}, "'town', which is nominal"),
        ({"monotonic_cst": {"d": 1}}, "'d' is not one"),
        ({"interaction_cst": [["a", "d"]]}, "interaction_cst"),
    ],
)
def test_wrong_constraints_are_explained(parameters, message):
    _, X, y = random_rows(0, n=60)
    with pytest.raises(ParameterError, match=message):
        TreeClassifier("readable", **parameters).fit(X, y > 0)


def test_constraints_are_about_two_classes():
    _, X, y = random_rows(0, n=60)
    with pytest.raises(ParameterError, match="the second of two classes"):
        TreeClassifier("readable", monotonic_cst={"a": 1}).fit(X, np.digitize(y, [-1, 1]))


def test_a_distillation_has_a_limit_of_leaves_for_its_constraints():
    with pytest.raises(ParameterError, match="found None"):
        Distillation(slopes=2, grower=Grower(monotonic_cst=(1, 0)))
    assert Distillation(grower=Grower(monotonic_cst=(0, 0))).max_leaf_nodes is None


def test_costs_and_class_weights_change_decisions_and_no_base_rate():
    _, X, y = random_rows(1, n=400)
    base_rate = (y > 0).mean()
    for parameters, threshold in (
        ({"costs": [[0, 3], [1, 0]]}, 0.75),
        ({"class_weight": {False: 1, True: 4}}, 0.2),
    ):
        model = TreeClassifier("readable", max_leaf_nodes=4, **parameters).fit(X, y > 0)
        p = model.predict_proba(X)
        assert p[:, 1].mean() == pytest.approx(base_rate, abs=0.02)
        clear = np.abs(p[:, 1] - threshold) > 1e-9
        np.testing.assert_array_equal(model.predict(X)[clear], p[clear, 1] > threshold)
