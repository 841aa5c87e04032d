"""Edits of trees with terms: fitted bases, terms that stay or go, and edits of terms, against slow references."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

import hornbeam
from hornbeam import Tree, TreeClassifier, TreeRegressor
from hornbeam.data.schema import Feature, Schema
from hornbeam.errors import ParameterError
from hornbeam.tree import Skeleton, Slopes, with_slopes
from hornbeam.tree.edit import RecordedEdit
from hornbeam.tree.route import predict_rows, route
from hornbeam.tree.walk import descendants

RIDGE = 0.002


def rows(seed=0, n=400, classes=2):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 70, n).astype(float),
            "late": rng.poisson(1.0, n).astype(float),
            "income": rng.normal(30, 10, n).round(1),
            "home": rng.choice(["owns", "rents", "other"], n),
        }
    ).mask(rng.random((n, 4)) < 0.02, None)
    score = 0.7 * X.late.fillna(1) - 0.03 * X.income.fillna(30) + (X.age < 35) + 0.5 * (X.home == "rents")
    noisy = score.to_numpy() + rng.logistic(size=n)
    return X, noisy, np.array(["a", "b", "c"])[np.digitize(noisy, [0.6, 2.0][: classes - 1])]


def everywhere(tree, seed=0):
    """Add terms to the root, to an inner node and to leaves of a tree."""
    rng = np.random.default_rng(seed)
    inner = np.flatnonzero(~tree.skeleton.is_leaf)
    nodes = sorted({0, int(inner[-1]), *np.flatnonzero(tree.skeleton.is_leaf).tolist()})
    node = [at for at in nodes for _ in range(3)]
    m = len(nodes)
    return with_slopes(
        tree,
        Slopes.of(
            node,
            [1, 2, 3] * m,
            low=[0, 15, 0] * m,
            high=[3, 45, 1] * m,
            centre=[1, 30, 0.3] * m,
            slope=rng.normal(0, 1, (3 * m, tree.schema.n_outputs)) / np.tile([3, 30, 1], m)[:, None],
            category=[-1, -1, 1] * m,
        ),
    )


@cache
def fitted(classes=2):
    """Return a readable tree with terms at nodes of all kinds, and its rows."""
    X, number, y = rows(classes=classes)
    kind, target = (TreeRegressor, number) if classes == 0 else (TreeClassifier, y)
    model = kind("readable", max_leaf_nodes=5).fit(X, target)
    model.tree_ = everywhere(model.tree_)
    return model, X, target


def taught(classes=2):
    """Return an editor of this tree."""
    model, X, target = fitted(classes)
    return model.edit(X, target)


def stops(editor):
    tree = editor.tree
    return route(tree.skeleton, editor.rows.table)


def expected_means(editor, node):
    """Return the mean of the target of the rows of a leaf and of the predictions before the last edit, as 30 rows."""
    edit, table = editor.edits[-1], editor.rows.table
    inside = stops(editor) == node
    before = predict_rows(edit.before, table)[inside]
    target = (
        table.numeric_target.values[:, None]
        if table.target is None
        else np.eye(before.shape[1])[table.target]
    )
    n = inside.sum()
    return (target[inside].sum(axis=0) + 30 * before.mean(axis=0)) / (n + 30)


def check_bases(editor, fresh):
    """The mean prediction of each new leaf is that of its rows and of the tree before; other nodes are as they were."""
    found = predict_rows(editor.tree, editor.rows.table)
    leaves = [node for node in fresh if editor.tree.skeleton.is_leaf[node]]
    assert leaves
    for node in leaves:
        inside = stops(editor) == node
        assert_allclose(found[inside].mean(axis=0), expected_means(editor, node), rtol=1e-6, atol=1e-7)


def move(editor):
    """Move the first threshold by a little."""
    skeleton = editor.tree.skeleton
    at = int(np.flatnonzero(np.isfinite(skeleton.threshold))[0])
    editor.set_threshold(at, skeleton.threshold.item(at) + 0.3)


EDITS = {
    "threshold": (move, None),
    "prune": (lambda editor: editor.prune(inner(editor)), None),
    "split": (lambda editor: editor.split(leaf(editor), "income", threshold=30, missing="left"), None),
    "grow": (lambda editor: editor.grow(leaf(editor)), None),
    "drop": (lambda editor: editor.drop_term(0, "late"), range(100)),
    "round": (lambda editor: editor.round_terms(0), range(100)),
    "set": (lambda editor: editor.set_term(0, "income", 1.25), range(100)),
    "refit": (lambda editor: editor.refit_terms(0), range(100)),
}


def inner(editor):
    return int(np.flatnonzero(~editor.tree.skeleton.is_leaf)[-1])


def leaf(editor):
    tree = editor.tree
    return int(np.where(tree.skeleton.is_leaf, tree.rows, 0).argmax())


@pytest.mark.parametrize("name", EDITS)
@pytest.mark.parametrize("classes", [2, 3, 0])
def test_the_bases_of_new_nodes_fit_their_rows_and_the_tree_before(name, classes):
    if name == "set" and classes == 3:
        pytest.skip("has a test of its own")
    editor = taught(classes)
    before, edit = editor.tree, EDITS[name][0]
    at = inner(editor) if name == "prune" else leaf(editor)
    if name == "threshold":
        at = int(np.flatnonzero(np.isfinite(before.skeleton.threshold))[0])
    edit(editor)
    after = editor.tree
    if EDITS[name][1] is None:
        number = {tuple(path): node for node, path in paths(after)}
        outside = set(range(before.n_nodes)) - set(descendants(before.skeleton, at).tolist())
        same = [(old, number[tuple(path)]) for old, path in paths(before) if old in outside]
        below = {node for old, node in same}
        fresh = set(range(after.n_nodes)) - below
        for old, new in same:
            assert_array_equal(before.belief[old], after.belief[new])
    else:
        fresh = set(range(after.n_nodes))
    check_bases(editor, fresh)
    assert_array_equal(after.evidence[0], before.evidence[0])
    assert after.history[-1].name == "interval-calibration"
    editor.undo()
    assert editor.tree.digest == before.digest
    editor.redo()
    assert editor.tree.digest == after.digest


def paths(tree):
    """Yield each node with its path, as the slots from the root."""
    skeleton = tree.skeleton
    found = {0: []}
    for node in range(tree.n_nodes):
        first = int(skeleton.first_child[node])
        for slot in range(int(skeleton.n_children[node])):
            found[first + slot] = [*found[node], slot]
    return found.items()


def test_a_pruned_node_without_terms_keeps_its_prediction():
    X, _, y = rows()
    clf = TreeClassifier("readable", max_leaf_nodes=4, slopes=0).fit(X, y)
    editor = clf.edit(X, y)
    at = inner(editor)
    before = editor.tree.belief[at].copy()
    editor.prune(at)
    assert_array_equal(editor.tree.belief[at], before)


def test_edits_do_not_depend_on_the_order_of_rows():
    clf, X, y = fitted()
    order = np.random.default_rng(1).permutation(len(X))
    digests = []
    for at in (np.arange(len(X)), order):
        editor = clf.edit(X.iloc[at], y[at], date="")
        for edit, _ in EDITS.values():
            edit(editor)
        digests.append(editor.tree.digest)
    assert digests[0] == digests[1]


def test_a_row_of_weight_two_is_two_rows():
    X, _, y = rows(n=200)
    clf = TreeClassifier("readable", max_leaf_nodes=3).fit(X, y)
    weight = np.where(np.arange(200) % 3 == 0, 2, 1)
    twice = np.repeat(np.arange(200), weight)
    trees = []
    for data in ((X, y, weight), (X.iloc[twice], y[twice], None)):
        counted = TreeClassifier.from_tree(clf.tree_).recount(*data[:2], sample_weight=data[2])
        tree = everywhere(clf.tree_)._edited(evidence=counted.tree_.evidence, rows=counted.tree_.rows)
        editor = TreeClassifier.from_tree(tree).edit(*data[:2], sample_weight=data[2])
        editor.refit_terms(0)
        trees.append(editor.tree)
    assert_allclose(trees[0].belief, trees[1].belief, atol=1e-6)
    assert_allclose(trees[0].slopes.slope, trees[1].slopes.slope, atol=1e-5)


# ---- terms that stay, and terms that go


def editor_of(tree, X, y, **options):
    return TreeClassifier.from_tree(tree).edit(X, y, **options)


def test_another_threshold_keeps_the_terms_below():
    editor = taught()
    before = editor.tree.slopes
    move(editor)
    for name in ("node", "feature", "category", "low", "high", "centre", "slope"):
        assert_array_equal(getattr(editor.tree.slopes, name), getattr(before, name))
    assert editor.edits[0].what.startswith("moved the threshold of ")


def test_pruning_says_how_many_terms_go():
    editor = taught()
    at = inner(editor)
    own = len(editor.tree.slopes.of_node(at))
    editor.prune(at)
    assert len(editor.tree.slopes.of_node(at)) == own
    assert editor.edits[0].what.endswith("; removed 6 terms of nodes below")


def test_a_smaller_tree_keeps_the_terms_of_its_nodes():
    X, _, y = rows()
    clf = TreeClassifier("cart", max_depth=3, smoothing="laplace", min_samples_leaf=10).fit(X, y)
    clf.tree_ = everywhere(clf.tree_)
    editor = clf.edit(X, y)
    editor.shrink(3)
    now = editor.tree
    assert now.slopes.node[0] == 0
    old = {tuple(path): node for node, path in paths(clf.tree_)}
    for node, path in paths(now):
        assert now.slopes.terms(node) == clf.tree_.slopes.terms(old[tuple(path)])


def test_a_split_leaf_keeps_its_terms_for_both_children():
    editor = taught()
    at, before = leaf(editor), len(editor.tree.slopes)
    editor.split(at, "income", threshold=30, missing="left")
    assert len(editor.tree.slopes) == before
    first = editor.tree.skeleton.first_child.item(at)
    assert first > 0
    for child in (first, first + 1):
        assert len(editor.tree.path_slopes.of_node(child)) == len(editor.tree.path_slopes.of_node(at))


# ---- edits of terms


def one_leaf(slope=(0.0, 0.5878), feature="late", **term):
    schema = Schema((Feature("late"), Feature("home", "nominal", ("owns", "rents"))), ("no", "yes"))
    tree = Tree.raw(schema, Skeleton.leaf(), np.array([[60, 40]]))
    kind = {"low": 0.123456, "high": 5.0004, "centre": 0.61234, "category": -1} | term
    terms = Slopes.of(
        [0], [schema.names.index(feature)], slope=[list(slope)], **{k: [v] for k, v in kind.items()}
    )
    X = pd.DataFrame({"late": np.arange(100) % 6.0, "home": ["owns", "rents"] * 50})
    return editor_of(with_slopes(tree, terms), X, ["no"] * 60 + ["yes"] * 40)


def test_rounded_terms_are_as_printed():
    """1.8000... from 1.80002: the factor; limits and the centre to a hundredth of the step of 1."""
    editor = one_leaf()
    editor.round_terms(0, digits=2)
    term = editor.tree.slopes.terms(0)[0]
    assert (term.low, term.high, term.centre) == (0.12, 5.0, 0.61)
    assert term.slope[1] - term.slope[0] == pytest.approx(np.log(1.8))
    assert editor.edits[0].what == (
        "changed the term of late at the root from odds of yes × 1.8 per +1 (0.1235 to 5.0004; × 1 at 0.61) to odds of "
        "yes × 1.8 per +1 (0.12 to 5; × 1 at 0.61)"
    )
    assert_array_equal(editor.tree.belief, editor.first.belief)


def test_a_term_is_set_per_step():
    editor = one_leaf()
    editor.set_term(0, "late", 4, per=2)
    slope = editor.tree.slopes.slope[0]
    assert slope[1] - slope[0] == pytest.approx(np.log(2))
    editor.set_term(0, "late", 1)
    assert_array_equal(editor.tree.slopes.slope[0], [0, 0])
    assert editor.edits[-1].what.endswith(" to odds of yes × 1 if known")


def test_a_category_is_set_against_the_others():
    editor = one_leaf(feature="home", low=0, high=1, centre=0.5, category=1)
    editor.set_term(0, "home", 3, category="rents")
    slope = editor.tree.slopes.slope[0]
    assert slope[1] - slope[0] == pytest.approx(np.log(3))
    with pytest.raises(ParameterError, match="expected one with a term of its own at this node: 'rents'"):
        editor.set_term(0, "home", 3, category="owns")


def test_each_class_has_a_factor_against_all():
    editor = taught(3)
    editor.set_term(0, "late", [2, 1, 0.5], per=1)
    assert_allclose(editor.tree.slopes.slope[0], np.log([2, 1, 0.5]), atol=1e-12)


def test_a_mean_changes_by_the_effect():
    editor = taught(0)
    editor.set_term(0, "late", -12.5, per=5)
    assert editor.tree.slopes.slope[0].tolist() == [-2.5]
    editor.round_terms(0, "income")
    assert "changed the term of income at the root" in editor.edits[-1].what


def test_a_dropped_term_goes_with_all_its_categories():
    editor = taught()
    before = len(editor.tree.slopes)
    editor.drop_term(0, "home")
    assert len(editor.tree.slopes) == before - 1
    assert editor.edits[0].what.startswith("removed the term of home at the root: odds of b × ")
    assert RecordedEdit.of(editor.tree.history[-2]).what == editor.edits[0].what


def test_refitted_slopes_are_those_of_logistic_regression():
    """One leaf: each row counts for its own class and, as part of 30 rows, for the classes it was predicted."""
    X, _, y = rows()
    X = X.fillna({"age": 40, "late": 1, "income": 30, "home": "owns"})
    clf = TreeClassifier("readable", max_leaf_nodes=2).fit(X, y)
    editor = clf.edit(X, y)
    editor.prune(0)
    leaf_tree = with_slopes(
        editor.tree,
        Slopes.of(
            [0, 0, 0],
            [1, 2, 3],
            [0, 15, 0],
            [3, 45, 1],
            [1, 30, 0.3],
            np.ones((3, 2)) * [0, 0.01],
            [-1, -1, 2],
        ),
    )
    codes = X.home.map({name: at for at, name in enumerate(leaf_tree.schema.features[3].categories)})
    editor = editor_of(leaf_tree, X, y)
    before = TreeClassifier.from_tree(leaf_tree).predict_proba(X)
    editor.refit_terms(0)
    values = np.column_stack(
        [(X.late.clip(0, 3) - 1) / 3, (X.income.clip(15, 45) - 30) / 30, (codes == 2) - 0.3]
    ).astype(float)
    n = len(X)
    labels = (np.eye(2)[(y == "b").astype(int)] + 30 / n * before) / (1 + 30 / n)
    reference = LogisticRegression(C=2 / RIDGE, tol=1e-10, max_iter=1_000).fit(
        np.tile(values, (2, 1)), np.repeat([0, 1], n), sample_weight=labels.T.ravel() / n
    )
    slope = editor.tree.slopes.slope
    assert_allclose((slope[:, 1] - slope[:, 0]) * [3, 30, 1], reference.coef_[0], atol=2e-4)
    base = editor.tree.belief[0]
    assert np.log(base[1] / base[0]) == pytest.approx(reference.intercept_[0], abs=2e-4)


def test_refitted_slopes_of_a_mean_are_those_of_least_squares():
    X, number, _ = rows()
    X = X.fillna({"age": 40, "late": 1, "income": 30, "home": "owns"})
    editor = TreeRegressor("readable", max_leaf_nodes=2).fit(X, number).edit(X, number)
    editor.prune(0)
    terms = Slopes.of([0, 0], [1, 2], [0, 15], [3, 45], [1, 30], [[0.1], [0.2]])
    tree = with_slopes(editor.tree, terms)
    editor = TreeRegressor.from_tree(tree).edit(X, number)
    before = TreeRegressor.from_tree(tree).predict(X)
    editor.refit_terms(0)
    n = len(X)
    label = (number + 30 / n * before) / (1 + 30 / n)
    values = np.column_stack(
        [np.ones(n), (X.late.clip(0, 3) - 1) / 3, (X.income.clip(15, 45) - 30) / 30]
    ).astype(float)
    ridge = np.diag([0, RIDGE, RIDGE]) * n
    expected = np.linalg.solve(values.T @ values + ridge, values.T @ label)
    assert_allclose(editor.tree.slopes.slope[:, 0] * [3, 30], expected[1:], atol=1e-5)
    assert editor.tree.belief[0, 0] == pytest.approx(expected[0], abs=1e-5)


def test_terms_of_a_smoothed_tree_are_fitted_beside_its_bases():
    """Laplace gives the base of 61 to 41; the slope is that of a logistic regression with this intercept alone."""
    X = pd.DataFrame({"late": np.repeat([0.0, 1.0, 2.0, 3.0], 25)})
    y = np.array((["no"] * 20 + ["yes"] * 5) + (["no"] * 18 + ["yes"] * 7) + (["no"] * 12 + ["yes"] * 13) * 2)
    clf = TreeClassifier("cart", smoothing="laplace", min_impurity_decrease=0.9).fit(X, y)
    assert clf.tree_.n_nodes == 1
    clf.tree_ = with_slopes(clf.tree_, Slopes.of([0], [0], [0], [3], [1.5], [[0, 0.01]]))
    editor = clf.edit(X, y)
    editor.refit_terms(0)
    assert_array_equal(editor.tree.belief, clf.tree_.belief)
    slope = np.diff(editor.tree.slopes.slope[0]).item() * 3
    z = (X.late.to_numpy() - 1.5) / 3
    offset = np.log(clf.tree_.belief[0, 1] / clf.tree_.belief[0, 0])

    def loss(c):
        score = offset + c * z
        return np.mean(np.logaddexp(0, score) - (y == "yes") * score) + RIDGE * c * c / 4

    around = [loss(slope + step) for step in (-1e-3, 0, 1e-3)]
    assert around[1] < min(around[0], around[2])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda editor: editor.drop_term(0, "home"),
            "node 0 has no term of 'home', its terms are those of: late",
        ),
        (lambda editor: editor.drop_term(5, "late"), "5"),
        (lambda editor: editor.drop_term(0, "city"), "city"),
        (lambda editor: editor.round_terms(0, digits=0), "digits=0"),
        (lambda editor: editor.set_term(0, "late", 0), "effect=0: expected a number above 0"),
        (lambda editor: editor.set_term(0, "late", [1, 2]), "expected a number above 0"),
        (lambda editor: editor.set_term(0, "late", "twice"), "expected a number above 0"),
        (lambda editor: editor.set_term(0, "late", 2, per=0), "per=0: expected a number above 0"),
        (lambda editor: editor.set_term(0, "late", 2, category="x"), "has one term for all values"),
        (lambda editor: editor.refit_terms(0, reason=3), "reason=3: expected a text"),
    ],
)
def test_edits_of_terms_that_are_refused_change_nothing(call, message):
    editor = one_leaf()
    before = editor.tree.digest
    with pytest.raises(ParameterError, match=message):
        call(editor)
    assert editor.tree.digest == before
    assert editor.edits == ()


@pytest.mark.parametrize("classes", [2, 3, 0])
def test_rows_that_are_added_and_removed_leave_the_edited_tree_as_it_was(classes):
    editor = taught(classes)
    for name in ("threshold", "refit", "prune"):
        EDITS[name][0](editor)
    kind = TreeClassifier if classes else TreeRegressor
    model = kind.from_tree(editor.tree)
    X, number, y = rows(seed=5, n=60, classes=classes)
    target = y if classes else number
    model.update(X, target)
    assert model.tree_.digest != editor.tree.digest
    model.forget(X, target)
    assert_array_equal(model.tree_.belief, editor.tree.belief)


def test_an_edited_readable_tree_is_saved_and_its_cost_is_shown(tmp_path):
    X, _, y = rows()
    X_new, _, y_new = rows(seed=1, n=200)
    clf = TreeClassifier("readable", max_leaf_nodes=4).fit(X, y)
    clf.tree_ = everywhere(clf.tree_)
    editor = clf.edit(X, y, held_out=(X_new, y_new))
    for name in ("threshold", "grow", "drop", "round", "refit"):
        EDITS[name][0](editor)
    both = [editor.score_changes(last=last) for last in (False, True)]
    assert both[0][0].after == both[1][0].after
    assert both[0][0].before != both[1][0].before
    assert "removed the term of late at the root" in editor.log()
    edited = editor.finish()
    hornbeam.save(edited, tmp_path / "edited")
    again = hornbeam.load(tmp_path / "edited")
    assert again.tree_.digest == edited.tree_.digest
    assert_array_equal(again.predict_proba(X_new), edited.predict_proba(X_new))
