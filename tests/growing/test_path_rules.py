"""Constraints on the features of a path: interaction groups, once per path, forbidden below another feature.

That the kernel agrees with the slow twin is in `test_grower.py`, that threads, partitions and order of rows do not
matter in `laws/`: growers there are drawn with these constraints too.
"""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import HistGradientBoostingRegressor

from hornbeam import TreeClassifier, TreeRegressor, load, save
from hornbeam.data.encoded_rows import EncodedRows
from hornbeam.data.engine import LocalEngine
from hornbeam.errors import ParameterError
from hornbeam.explain.candidates.list_splits import candidate_splits
from hornbeam.growing.grower import Grower
from hornbeam.growing.settings import make_path_rules
from hornbeam.kernels.subtree import Rows
from hornbeam.tree.walk import path
from support.examples import examples
from support.reference_growing import may_follow
from support.strategies_growing import (
    bins_of,
    growers,
    path_constraints,
    random_table,
    regression_tables,
    training_tables,
)

NAMES = ("age", "income", "town", "assets")


def violations(tree, grower):
    """Inner nodes whose feature may not follow those above them."""
    skeleton, n = tree.skeleton, tree.schema.n_features
    found = []
    for node in np.flatnonzero(skeleton.n_children).tolist():
        above = frozenset(skeleton.feature.item(one) for one in path(skeleton, node)[:-1])
        if not may_follow(grower, above, skeleton.feature.item(node), n):
            found.append(node)
    return found


@examples(200)
@given(st.data(), st.sampled_from([training_tables, regression_tables]))
def test_no_path_violates_a_constraint(data, tables):
    table = data.draw(tables(max_rows=120))
    grower = data.draw(growers(table))
    grower = replace(grower, **data.draw(path_constraints(table.schema.n_features)))
    assert violations(grower.grow(table, bins_of(table)), grower) == []


def test_the_check_finds_violations():
    table = random_table(0, n_rows=120)
    tree = Grower().grow(table, bins_of(table))
    assert violations(tree, Grower(once_per_path=True))


@examples(100)
@given(st.data(), st.integers(1, 6))
def test_allowed_features_by_definition(data, n):
    grower = Grower(**data.draw(path_constraints(n)))
    table = random_table(0, n_rows=1, n_numeric=n, n_nominal=0)
    rules = make_path_rules(
        table.schema, grower.interaction_cst, grower.forbidden_below, once_per_path=grower.once_per_path
    )
    above = data.draw(st.lists(st.integers(0, n - 1), max_size=4))
    expected = [may_follow(grower, frozenset(above), f, n) for f in range(n)]
    for one in (rules, pickle.loads(pickle.dumps(rules))):
        assert one.allowed(above).tolist() == expected


@examples(50)
@given(st.data())
def test_a_constraint_that_allows_everything_changes_nothing(data):
    table = data.draw(training_tables(max_rows=80))
    grower, bins = replace(data.draw(growers(table)), once_per_path=False), bins_of(table)
    free = replace(grower, interaction_cst=None, forbidden_below=None)
    everything = tuple(range(table.schema.n_features))
    same = replace(free, interaction_cst=(everything, everything[:1]))
    assert same.grow(table, bins).digest == free.grow(table, bins).digest


@pytest.mark.parametrize("criterion", ["entropy", "gini", "gain_ratio", "hellinger"])
@pytest.mark.parametrize("corrected", [False, True])
def test_without_interactions_a_tree_is_that_of_the_feature_of_its_root(criterion, corrected):
    table = random_table(3, n_rows=300, n_classes=3, n_numeric=3, n_values=40)
    grower = Grower(criterion, corrected=corrected, interaction_cst=((0,), (1,), (2,), (3,)))
    tree = grower.grow(table, bins_of(table))
    f = tree.skeleton.feature.item(0)
    schema = replace(table.schema, features=(table.schema.features[f],))
    column = replace(table, schema=schema, columns=(table.columns[f],))
    alone = replace(grower, interaction_cst=None).grow(column, bins_of(column))
    np.testing.assert_array_equal(tree.skeleton.threshold, alone.skeleton.threshold)
    np.testing.assert_array_equal(tree.evidence, alone.evidence)
    assert tree.n_leaves > 3


@pytest.mark.parametrize(
    "groups", [[{0, 1}], [{0, 1}, {1, 2}], [{0, 1}, {1, 2}, {0, 2}], "pairwise", "no_interactions"]
)
def test_interactions_mean_what_they_mean_in_scikit_learn(groups):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 8, (150, 4)).astype(float)
    y = X[:, 0] * X[:, 1] * X[:, 2] + X[:, 3] * X[:, 0] + rng.normal(size=150)
    theirs = HistGradientBoostingRegressor(
        learning_rate=1.0,
        max_iter=1,
        max_leaf_nodes=None,
        min_samples_leaf=5,
        interaction_cst=groups,
        early_stopping=False,
    ).fit(X, y)
    ours = TreeRegressor("cart", min_samples_leaf=5, interaction_cst=groups).fit(X, y)
    free = TreeRegressor("cart", min_samples_leaf=5).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-4)  # theirs has 32 bits
    assert not np.allclose(ours.predict(X), free.predict(X))


def test_level_by_level_from_a_checkpoint(tmp_path):
    table = random_table(5, n_rows=200, n_numeric=4, noise=0.4)
    grower, bins = Grower(interaction_cst=((0, 1), (1, 2, 4)), once_per_path=True), bins_of(table)
    source = EncodedRows(Rows(bins.encode(table), table.target.astype(np.uint16), None), 50)
    file = tmp_path / "checkpoint"

    def stop(report):
        if report.phase == "count" and report.level == 1:
            raise KeyboardInterrupt

    common = (source, bins, table.schema, LocalEngine())
    with pytest.raises(KeyboardInterrupt):
        grower.grow_by_level(*common, gather_rows=0, checkpoint=file, on_progress=stop)
    with pytest.raises(ParameterError, match="once_per_path"):
        replace(grower, once_per_path=False).grow_by_level(*common, checkpoint=file)
    resumed = grower.grow_by_level(*common, gather_rows=0, checkpoint=file)
    assert resumed.digest == grower.grow(table, bins).digest


# ---- in the words of a user


@pytest.fixture
def rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 4)).round(1)
    y = np.where(X[:, 0] * X[:, 1] + X[:, 2] > rng.normal(size=400) / 2, "yes", "no")
    return X, y


@pytest.mark.parametrize(
    "constraint",
    [
        {"interaction_cst": [["x0", "x1"], (2, "x3")]},
        {"interaction_cst": ({"x0", "x1"}, (2, "x3"))},
        {"once_per_path": True},
        {"forbidden_below": {"x0": ["x1", 2]}},
        {"interaction_cst": "pairwise", "once_per_path": True, "forbidden_below": {2: {3}}},
    ],
)
def test_a_model_keeps_its_constraints_in_a_file_and_shows_them_at_a_node(constraint, rows, tmp_path):
    X, y = rows
    classifier = TreeClassifier(**constraint).fit(X, y)
    [step] = [step for step in classifier.tree_.history if step.name == "grow"]
    grower = Grower(**dict(step.parameters))
    assert violations(classifier.tree_, grower) == []
    assert classifier.tree_.digest != TreeClassifier().fit(X, y).tree_.digest
    save(classifier, tmp_path / "model.hornbeam")
    loaded = load(tmp_path / "model.hornbeam")
    assert loaded.tree_.digest == classifier.tree_.digest
    assert loaded.fit(X, y).tree_.digest == classifier.tree_.digest
    first = classifier.tree_.skeleton.feature.item(0)
    rejected = {
        split.column
        for split in candidate_splits(loaded, X, y, node=1)
        if "constraint" in (split.rejected or "")
    }
    assert rejected == {f for f in range(4) if not may_follow(grower, frozenset({first}), f, 4)}


def test_an_edit_that_breaks_a_constraint_is_refused(rows):
    X, y = rows
    editor = TreeClassifier("cart", max_depth=2, interaction_cst=[[0, 1]]).fit(X, y).edit(X, y)
    editor.split(0, "x0", threshold=0.05)
    with pytest.raises(ParameterError, match=r"'x2' .* a constraint does not allow"):
        editor.split(1, "x2", threshold=0.05)
    editor.split(1, "x1", threshold=0.05)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"interaction_cst": "none"}, "interaction_cst='none': expected 'pairwise'"),
        ({"interaction_cst": [["x9"]]}, "The first features are 'x0'"),
        ({"interaction_cst": ["x0"]}, "expected 'pairwise'"),
        ({"interaction_cst": [[4]]}, "expected 'pairwise'"),
        ({"interaction_cst": []}, "Pass None for no constraints"),
        ({"interaction_cst": [[]]}, "Leave out groups without features"),
        ({"once_per_path": 1}, "once_per_path=1: expected True or False"),
        ({"forbidden_below": ["x0"]}, "expected a dict from a feature"),
        ({"forbidden_below": {"x0": "x1"}}, "expected a dict from a feature"),
        ({"slopes": 1, "interaction_cst": [[0]]}, "keeps constraints up to max_leaf_nodes=64, found None"),
    ],
)
@pytest.mark.parametrize("kind", [TreeClassifier, TreeRegressor])
def test_what_is_no_constraint_is_refused(kind, parameters, message, rows):
    X, y = rows
    with pytest.raises(ParameterError, match=message):
        kind(**parameters).fit(X, y == "yes")


def test_a_grower_refuses_features_that_do_not_exist():
    table = random_table(0)
    for parameters in ({"interaction_cst": ((0, 7),)}, {"forbidden_below": ((7, 0),)}):
        with pytest.raises(ParameterError, match="names feature 7; expected 0 to 2"):
            Grower(**parameters).grow(table, bins_of(table))
    with pytest.raises(ParameterError, match="expected indices of features"):
        Grower(interaction_cst=((-1,),))


@pytest.mark.parametrize("word", ["pairwise", "no_interactions"])
def test_the_history_has_the_word_and_not_all_pairs(word):
    X = np.random.default_rng(0).normal(size=(200, 6))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    clf = TreeClassifier("cart", interaction_cst=word, max_depth=3).fit(X, y)
    [step] = [step for step in clf.tree_.history if step.name == "grow"]
    assert dict(step.parameters)["interaction_cst"] == word
    assert all(
        candidate_splits(clf.tree_, X, y, node).chosen
        for node in np.flatnonzero(clf.tree_.skeleton.feature >= 0)
    )
