"""Edits of a tree: the rows are counted from scratch, an undo restores the digest, impossible edits are refused."""

import copy
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

import hornbeam
from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.editing.editor import TreeEditor
from hornbeam.editing.new_branches import grown_branch, one_split
from hornbeam.editing.replace_branch import replace_branch
from hornbeam.errors import DataError, ParameterError
from hornbeam.explain.candidates.training_rows import TrainingRows
from hornbeam.export import to_text
from hornbeam.growing.criterion import Criterion, Missing, Nominal
from hornbeam.growing.grower import Grower
from hornbeam.smoothing import Laplace
from hornbeam.tree import Slopes, with_slopes
from hornbeam.tree.evidence.count import count_rows
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.walk import descendants, replace_subtree, subtree
from support.examples import examples
from support.strategies_growing import bins_of, growers, regression_tables, training_tables


def table_of_edits(editor: TreeEditor) -> list[str]:
    """The lines of the table of edits: names, rule, tree before, and one for each edit."""
    lines = editor.log().split("tree before the edit.\n\n")[1].splitlines()
    return lines[: lines.index("")]


# ---- subtrees


@given(st.data(), training_tables(max_rows=30))
@examples(40)
def test_a_subtree_put_back_is_the_same_skeleton(data, table):
    skeleton = data.draw(growers(table)).grow(table, bins_of(table)).skeleton
    node = data.draw(st.integers(0, skeleton.n_nodes - 1))
    branch = subtree(skeleton, node)
    same, source = replace_subtree(skeleton, node, branch)
    inside = descendants(skeleton, node)
    for name in ("parent", "n_children", "feature", "threshold", "missing_slot", "slot_start", "slot_of"):
        np.testing.assert_array_equal(getattr(same, name), getattr(skeleton, name))
    assert (np.flatnonzero(source >= skeleton.n_nodes) == inside).all()
    assert (source[inside] - skeleton.n_nodes == np.arange(len(inside))).all()


# ---- laws of edits


def draw_edit(data, editor: TreeEditor) -> None:
    """Make one edit of any kind; some are refused."""
    tree = editor.tree
    node = data.draw(st.integers(0, tree.n_nodes - 1))
    kind = data.draw(st.sampled_from(["prune", "threshold", "groups", "candidate", "named", "grow"]))
    feature = data.draw(st.integers(0, tree.schema.n_features - 1))
    categories = list(tree.schema.features[feature].categories)
    threshold = data.draw(st.sampled_from([-1.0, 0.25, 1.25, 2.0, 400.0]))
    if kind == "prune":
        editor.prune(node, reason="too detailed")
    elif kind == "threshold":
        editor.set_threshold(node, threshold, author="A")
    elif kind == "groups":
        at = data.draw(st.integers(1, 6))
        column = tree.skeleton.feature.item(node)
        names = list(tree.schema.features[column].categories)
        editor.set_categories(node, [names[:at], names[at:]])
    elif kind == "candidate":
        splits = editor.candidates(node, feature=feature)
        if len(splits):
            editor.split(node, splits[data.draw(st.integers(0, len(splits) - 1))])
    elif kind == "named" and categories:
        at = data.draw(st.integers(1, len(categories)))
        missing = data.draw(st.sampled_from(["left", "own", None]))
        editor.split(node, feature, categories=[categories[:at], categories[at:]], missing=missing)
    elif kind == "named":
        editor.split(node, feature, threshold=threshold, missing=data.draw(st.sampled_from(["right", None])))
    else:
        editor.grow(node, data.draw(st.sampled_from([1, 2, None])))


def check_edits(data, table: Table, grower: Grower) -> None:
    tree = grower.grow(table, bins_of(table))
    if table.numeric_target is None:
        tree = Laplace()(tree)
    editor = TreeEditor._of(tree, table, None)
    made = [tree.digest]
    for _ in range(data.draw(st.integers(1, 5))):
        before = editor.tree.digest
        try:
            draw_edit(data, editor)
        except (ParameterError, DataError):
            assert editor.tree.digest == before, "a refused edit changes nothing"
            continue
        if len(editor.edits) == len(made):
            made.append(editor.tree.digest)
        now = editor.tree
        assert (now.rows > 0).all() or not (tree.rows > 0).all()
        scratch = count_rows(now.skeleton, table, unit=now.unit.item(0))
        np.testing.assert_array_equal(now.evidence, scratch.evidence)
        if table.numeric_target is None:
            np.testing.assert_array_equal(now.belief, Laplace()(scratch).belief)
    for digest in reversed(made[:-1]):
        editor.undo()
        assert editor.tree.digest == digest
    for digest in made[1:]:
        editor.redo()
        assert editor.tree.digest == digest


@given(st.data(), training_tables(max_rows=30))
@examples(80)
def test_edited_trees_of_classes_are_counted_from_scratch_and_undone(data, table):
    check_edits(data, table, data.draw(growers(table)))


@given(st.data(), regression_tables(max_rows=30))
@examples(40)
def test_edited_trees_of_numbers_are_counted_from_scratch_and_undone(data, table):
    check_edits(data, table, data.draw(growers(table)))


@given(st.data(), training_tables(max_rows=40))
@examples(60)
def test_a_pruned_node_grows_again_as_it_was(data, table):
    grower = replace(data.draw(growers(table)), min_impurity_decrease=0.0)
    tree = grower.grow(table, bins_of(table))
    node = data.draw(st.integers(0, tree.n_nodes - 1))
    if tree.skeleton.n_children[node] == 0 or tree.skeleton.is_fractional:
        return
    _, rows = TrainingRows.of(tree, table, None)
    pruned = replace_branch(tree, rows, node, Skeleton.leaf())
    branch, gain = grown_branch(pruned, rows, node, None)
    again = replace_branch(pruned, rows, node, branch, gain=gain)
    for name in ("n_children", "feature", "threshold", "missing_slot", "slot_of"):
        np.testing.assert_array_equal(getattr(again.skeleton, name), getattr(tree.skeleton, name))
    np.testing.assert_array_equal(again.evidence * again.unit, tree.evidence * tree.unit)
    np.testing.assert_array_equal(again.gain, tree.gain)


@given(st.data(), training_tables(max_rows=30))
@examples(40)
def test_a_candidate_that_is_taken_has_its_children_and_its_gain(data, table):
    tree = data.draw(growers(table, missing=[Missing.OWN, Missing.LEARNED])).grow(table, bins_of(table))
    editor = TreeEditor._of(tree, table, None)
    node = data.draw(st.integers(0, tree.n_nodes - 1))
    splits = editor.candidates(node)
    for split in splits:
        try:
            editor.split(node, split)
        except ParameterError as error:
            assert "constraint" in str(error)  # noqa: PT017
            continue
        skeleton, first = editor.tree.skeleton, editor.tree.skeleton.first_child.item(node)
        children = slice(first, first + skeleton.n_children.item(node))
        assert editor.tree.rows[children].tolist() == [child.rows for child in split.children]
        assert editor.tree.gain[node] == split.penalised_gain
        assert editor.candidates(node, feature=split.column).chosen is not None
        editor.undo()


# ---- what is refused

AGE, TOWN = Feature("age"), Feature("town", Kind.NOMINAL, ("A", "B", "C"))
SIZE = Feature("size", Kind.ORDINAL, ("small", "middle", "large"))
CLASSES = Schema((AGE, TOWN, SIZE), ("no", "yes"))


@pytest.mark.parametrize(
    ("column", "arguments", "message"),
    [
        (0, {}, "'age' is numeric; expected a threshold"),
        (0, {"categories": [["A"], ["B"]]}, "expected a threshold, and nothing else"),
        (0, {"threshold": "old"}, "threshold='old' for 'age': expected a number"),
        (0, {"threshold": math.inf}, "expected missing='own'"),
        (0, {"threshold": 3, "missing": "up"}, "expected 'left', 'right', 'own', 'every' or None"),
        (1, {"threshold": 3}, "'town' is nominal; expected categories for each child"),
        (1, {"categories": [["A", "B", "C"]]}, "expected at least two children, found 1"),
        (1, {"categories": [["A"], ["D"]]}, "'D' is not a category of 'town'"),
        (1, {"categories": [["A"], ["B", "A"]]}, "'A' is given twice"),
        (1, {"categories": 5}, "expected a list of categories for each child"),
        (1, {"categories": ["A", "B"]}, "expected a list of categories for each child"),
        (1, {"categories": [[pd.NA], ["B"]]}, "is not a category of 'town'"),
        (1, {"categories": [[np.array(["A", "B"])], ["B"]]}, "is not a category of 'town'"),
        (0, {"threshold": 10**400}, "expected a number"),
        (0, {"threshold": 3, "missing": np.array(["left", "x"])}, "expected 'left', 'right'"),
        (2, {"threshold": 1}, "expected one of its categories"),
        (2, {"threshold": pd.NA}, "expected one of its categories"),
        (
            1,
            {"categories": [["A"], ["B"], ["C"]], "missing": "left"},
            "needs categories of two children; found 3",
        ),
        (2, {"threshold": "huge"}, "expected one of its categories"),
    ],
)
def test_splits_that_make_no_sense_are_refused(column, arguments, message):
    with pytest.raises(ParameterError, match=message):
        one_split(CLASSES, column, **arguments)


def test_an_ordinal_feature_is_split_after_a_category():
    assert one_split(CLASSES, 2, threshold="middle").threshold[0] == 1.5


def test_a_regression_tree_has_no_rows_in_parts():
    schema = replace(CLASSES, classes=(), target_kind=Kind.NUMERIC)
    with pytest.raises(ParameterError, match="sends each row to one child"):
        one_split(schema, 0, threshold=3, missing="every")


X = [[21, 1], [34, 0], [52, 1], [70, 1]]
Y = ["no", "no", "yes", "yes"]


@pytest.fixture
def editor():
    return TreeClassifier("cart").fit(X, Y).edit(X, Y, author="A. Analyst")


def test_edits_that_are_impossible_are_refused(editor):
    for action, message in [
        (lambda: editor.set_threshold(0, 1000), "would be empty"),
        (lambda: editor.set_categories(0, [["A"], ["B"]]), "'x0' is numeric"),
        (lambda: editor.prune(10**5000), "expected a node of the tree"),
        (lambda: editor.prune(0, reason=None), "reason=None: expected a text"),
        (lambda: editor.prune(0, author=5), "author=5: expected a text"),
        (lambda: editor.prune(0, reason="\ud800"), "expected valid Unicode"),
        (lambda: editor.prune(0, reason="a" * 20_000), "reason has 20,000 letters"),
        (
            lambda: editor.split(0, editor.candidates(0)[0], threshold=3),
            "expected none of them with a candidate",
        ),
        (lambda: editor.split(0, replace(editor.candidates(0)[0], column=7)), "splits column 7, 'x0'"),
        (lambda: editor.grow(1), "does not split node 1: all rows have the same class"),
        (lambda: editor.prune(1), "node 1 is a leaf"),
        (lambda: editor.prune(9), "expected a node of the tree, from 0 to 2"),
        (lambda: editor.split(0, "income", threshold=3), "feature='income'"),
        (lambda: editor.grow(0, 0), "levels=0: expected a whole number from 1"),
        (editor.undo, "nothing to undo"),
        (editor.redo, "nothing to redo"),
    ]:
        with pytest.raises(ParameterError, match=message):
            action()
    assert editor.edits == ()


def test_an_ordinal_feature_with_numbers_is_split_where_its_candidate_says():
    rng = np.random.default_rng(0)
    grades = pd.Categorical(rng.choice([0.0, 0.5, 1.0, 1.5], 200), [0.0, 0.5, 1.0, 1.5], ordered=True)
    frame, y = pd.DataFrame({"r": grades}), (grades.codes >= 2) ^ (rng.random(200) < 0.1)
    editor = TreeClassifier("cart", max_depth=1).fit(frame, y).edit(frame, y)
    for split in editor.candidates(0, feature="r"):
        editor.split(0, split)
        assert editor.tree.rows[1:].tolist() == [child.rows for child in split.children]
    editor.set_threshold(0, 0.5)
    assert editor.tree.skeleton.threshold[0] == 1.5
    with pytest.raises(ParameterError, match="expected one of its categories"):
        editor.set_threshold(0, 0.7)


def test_a_split_of_known_and_missing_values_has_no_threshold_to_move():
    x, y = np.array([[1.0], [2.0], [np.nan], [np.nan]]), [0, 1, 1, 1]
    editor = TreeClassifier("cart").fit(x, y).edit(x, y)
    editor.split(0, 0, threshold=math.inf, missing="own")
    assert editor.tree.rows.tolist() == [4, 2, 2]
    with pytest.raises(ParameterError, match="into known and missing values"):
        editor.set_threshold(0, 1.5)


def test_other_rows_than_those_of_the_tree_are_refused():
    clf = TreeClassifier("cart").fit(X, Y)
    for rows, labels, weight in [(X[:3], Y[:3], None), (X, Y[::-1][:1] + Y[1:], None), (X, Y, [1, 1, 1, 2])]:
        with pytest.raises(DataError, match="not those that the tree counts, 4 at its root"):
            clf.edit(rows, labels, sample_weight=weight)
    clf.update(X, Y)
    with pytest.raises(DataError, match="8 at its root"):
        clf.edit(X, Y)
    clf.edit(X + X, Y + Y)


def test_finish_does_not_overwrite_a_newer_tree():
    clf = TreeClassifier("cart").fit(X, Y)
    editor = clf.edit(X, Y)
    editor.prune(0)
    editor.finish()
    editor.undo()
    editor.finish()
    assert clf.tree_.n_leaves == 2
    clf.fit(X, Y)
    with pytest.raises(ParameterError, match="fitted or updated after the editor was made"):
        editor.finish()


@pytest.mark.parametrize("smoothing", ["leave-one-out-hgs", "hdp", "cross-fitted"])
def test_a_pruned_tree_is_smoothed_as_before_and_can_be_edited_on(smoothing):
    rng = np.random.default_rng(3)
    x = rng.random((200, 2)).round(2)
    y = (rng.random(200) < x[:, 0]).astype(int)
    clf = TreeClassifier(max_depth=3, smoothing=smoothing).fit(x, y)
    last = clf.tree_.history[-1].name
    editor = clf.edit(x, y)
    editor.prune(int(np.flatnonzero(~editor.tree.skeleton.is_leaf)[-1]))
    assert editor.tree.history[-1].name == last
    editor.set_threshold(0, editor.tree.skeleton.threshold[0] + 0.01)
    editor.finish().update(x[:5], y[:5])


def test_the_log_says_what_was_done():
    rows = [["A", 1.0], ["B", 2.0], ["C", np.nan], ["C", 4.0], ["A", 5.0]]
    labels = [0, 1, 1, 0, 1]
    editor = TreeClassifier("cart", max_depth=1).fit(rows, labels).edit(rows, labels)
    editor.split(0, "x0", categories=[["A"], ["B", "C"]])
    editor.set_categories(0, [["B", "A"], ["C"]], reason="see [x](javascript:alert(1)) \u202e`*_!")
    editor.split(0, "x1", threshold=2.5, missing="left")
    editor.prune(0)
    lines = table_of_edits(editor)[3:]
    assert "split the root on x0 = A \\| in {B, C}, instead of x1 ≤ " in lines[0]
    assert "moved categories of x0 at the root, from x0 = A \\| in {B, C} to x0 in {A, B} \\| = C" in lines[1]
    assert r"see \[x\](javascript:alert(1)) \`\*\_\!" in lines[1]
    assert "split the root on x1 ≤ 2.5 or missing \\| > 2.5, instead of x0 in {A, B} \\| = C" in lines[2]
    assert "pruned to 1 leaf, from 2: removed the split on x1 at the root" in lines[3]


def test_copies_of_an_editor_have_their_own_edits(editor):
    other = copy.copy(editor)
    other.prune(0)
    assert editor.edits == ()
    assert repr(other) == "TreeEditor(Tree(1 node, 1 leaf, depth 0, 2 classes), 1 edits)"


def test_a_monotone_constraint_is_kept():
    rng = np.random.default_rng(0)
    x = rng.random((200, 2))
    y = (rng.random(200) < 0.2 + 0.6 * x[:, 0]).astype(int)
    falling = rng.random(200) < x[:, 1]
    x[falling & (y == 1), 1] /= 2
    editor = TreeClassifier("cart", monotonic_cst=[1, 1], max_depth=2).fit(x, y).edit(x, y)
    with pytest.raises(ParameterError, match="breaks the monotone constraint \\+1 of 'x1'"):
        editor.split(0, "x1", threshold=0.5)
    editor.split(0, "x0", threshold=0.5)
    editor.grow(1)
    editor.grow(2)
    slope = np.diff(
        editor.finish().predict_proba(np.column_stack((np.linspace(0, 1, 50), np.full(50, 0.5))))[:, 1]
    )
    assert (slope >= 0).all()


# ---- a session from the estimator to the file


def test_an_edited_node_keeps_its_terms_and_those_above_and_beside():
    """Terms of the root, of both its children, and of a leaf below the one that is pruned or moved."""
    rng = np.random.default_rng(2)
    x = rng.random((300, 3))
    y = np.where(rng.random(300) < 0.2 + 0.6 * (x[:, 0] > 0.5) * (x[:, 1] > 0.3), "paid", "late")
    clf = TreeClassifier("cart", max_depth=2, smoothing="laplace").fit(x, y)
    assert clf.tree_.skeleton.n_children.tolist() == [2, 2, 2, 0, 0, 0, 0]
    at = np.array([0, 1, 2, 3], np.int32)
    ones = np.ones(4)
    terms = Slopes.of(
        at, [2] * 4, low=0 * ones, high=ones, centre=0.5 * ones, slope=np.stack([ones, at], axis=1)
    )
    clf.tree_ = with_slopes(clf.tree_, terms)
    editor = clf.edit(x, y)
    editor.prune(1)
    assert editor.tree.slopes.node.tolist() == [0, 1, 2]
    assert editor.tree.slopes.slope[:, 1].tolist() == [0, 1, 2]
    editor.undo()
    editor.split(3, "x2", threshold=0.5)
    assert editor.tree.slopes.slope[:, 1].tolist() == [0, 1, 2, 3]
    assert editor.tree.path_slopes.of_node(7) == range(14, 17)  # of the root, node 1 and node 3
    editor.undo()
    assert editor.tree.slopes is clf.tree_.slopes


def test_an_edited_classifier_predicts_saves_and_loads(tmp_path):
    rng = np.random.default_rng(1)
    x = np.column_stack((rng.integers(0, 90_000, 300), rng.random(300), rng.random(300)))
    y = np.where(rng.random(300) < 0.2 + 0.6 * (x[:, 0] > 48_213), "paid", "late")
    clf = TreeClassifier(max_depth=3, class_weight={"paid": 1, "late": 3}).fit(x, y)
    before = clf.tree_
    editor = clf.edit(x, y, author="A. Analyst")
    editor.set_threshold(0, 50_000, reason="a round | number")
    editor.split(1, editor.candidates(1)[1], reason="x0 < 1 & so on")
    assert clf.tree_ is before
    assert editor.finish() is clf
    assert clf.tree_.skeleton.threshold[0] == 50_000
    said = [dict(step.parameters) for step in clf.tree_.history if step.name == "edit"]
    assert [one["author"] for one in said] == ["A. Analyst"] * 2
    assert said[0]["reason"] == "a round | number"
    hornbeam.save(clf, tmp_path / "m.hornbeam")
    loaded = hornbeam.load(tmp_path / "m.hornbeam")
    assert loaded.tree_.digest == clf.tree_.digest
    np.testing.assert_array_equal(loaded.predict_proba(x), clf.predict_proba(x))
    log = table_of_edits(editor)
    assert len(log) == 5
    assert "a round \\| number" in log[3]
    assert "x0 &lt; 1 &amp; so on" in log[4]
    assert all(line.replace("\\|", "").count("|") == 8 for line in log)
    clf.update(x[:5], y[:5])


def test_rows_with_missing_values_in_parts_are_counted_in_an_edited_tree():
    rng = np.random.default_rng(2)
    x = rng.random((80, 2)).round(2)
    x[::7, 0] = np.nan
    y = (np.nan_to_num(x[:, 0]) + x[:, 1] > 0.8).astype(int)
    clf = TreeClassifier("c4.5").fit(x, y)
    editor = clf.edit(x, y)
    editor.split(0, "x0", threshold=0.4, missing="every")
    editor.grow(1)
    editor.finish()
    assert editor.tree.skeleton.is_fractional
    assert editor.tree.weight[0] * editor.tree.unit[0] == pytest.approx(80)
    clf.update(x[:3], y[:3])


def test_an_edited_regressor():
    x, z = [[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 7.0, 9.0]
    reg = TreeRegressor("cart", max_depth=1).fit(x, z)
    editor = reg.edit(x, z)
    editor.set_threshold(0, 0.5)
    assert editor.finish().predict([[0.0], [3.0]]).tolist() == [1.0, 6.0]


def test_weights_and_a_smoother_of_the_user():
    def flat(tree):
        return Laplace()(tree)

    weight = [1, 2, 3, 4]
    clf = TreeClassifier("cart", smoothing=flat).fit(X, Y, sample_weight=weight)
    editor = clf.edit(X, Y, sample_weight=weight)
    editor.set_threshold(0, 60)
    np.testing.assert_allclose(editor.tree.belief[2], [1 / 6, 5 / 6])


def test_nominal_groups_are_moved_and_categories_without_a_group_stop():
    rows, labels = [["A"], ["B"], ["C"], ["C"]], ["no", "yes", "yes", "yes"]
    editor = TreeClassifier("cart").fit(rows, labels).edit(rows, labels)
    editor.set_categories(0, [["A", "B"], ["C"]])
    assert editor.tree.evidence.tolist() == [[1, 3], [1, 1], [0, 2]]
    editor.split(0, "x0", categories=[["A"], ["B"]])
    assert editor.tree.evidence.tolist() == [[1, 3], [1, 0], [0, 1]]
    assert editor.finish().predict_proba([["C"]]).tolist() == [[0.25, 0.75]]


def test_multiway_trees_are_edited():
    table = Table.read([["A"], ["B"], ["C"], ["C"]], [0, 1, 1, 0])
    tree = Grower(Criterion.ENTROPY, Nominal.MULTIWAY, Missing.OWN).grow(table, bins_of(table))
    editor = TreeEditor._of(tree, table, None)
    editor.set_categories(0, [["C"], ["A"], ["B"]])
    assert editor.tree.rows.tolist() == [4, 2, 1, 1]


def test_a_tree_is_shrunk_as_if_it_was_grown_with_a_budget():
    X, y = load_iris(return_X_y=True)
    editor = TreeClassifier("cart").fit(X, y).edit(X, y)
    editor.shrink(3)
    small = TreeClassifier("cart", max_leaf_nodes=3).fit(X, y).tree_
    assert to_text(editor.tree) == to_text(small)
    assert np.array_equal(editor.tree.gain, small.gain, equal_nan=True)
    with pytest.raises(ParameterError, match="n_leaves=3: expected a whole number from 1 to 2"):
        editor.shrink(3)


@pytest.mark.parametrize("maker", [TreeClassifier, TreeRegressor])
def test_growing_to_the_limits_of_the_fit_keeps_its_number_of_leaves(maker):
    X, y = load_iris(return_X_y=True)
    model = maker("cart", max_leaf_nodes=4).fit(X, y)
    editor = model.edit(X, y)
    editor.prune(0)
    editor.grow(0, None)
    assert to_text(editor.tree) == to_text(model.tree_)
    editor.grow(1 if model.tree_.skeleton.is_leaf[2] else 2, 2)  # levels that were asked for
    assert editor.tree.n_leaves >= 4


def test_a_tree_of_one_leaf_cannot_shrink():
    X, y = [[1], [2]], ["no", "yes"]
    editor = TreeClassifier("cart").fit(X, y).edit(X, y)
    editor.prune(0)
    with pytest.raises(ParameterError, match="the tree is one leaf; expected a tree with a split to prune"):
        editor.shrink(1)


def test_held_out_rows_may_be_files(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    X, y = pandas.DataFrame({"age": [21.0, 34, 52, 70]}), ["no", "no", "yes", "yes"]
    X.assign(y=y).to_parquet(tmp_path / "rows.parquet")
    model = TreeClassifier("cart").fit(X, y)
    in_memory, in_files = (
        model.edit(X, y, held_out=rows, date="today") for rows in ((X, y), (tmp_path / "rows.parquet", "y"))
    )
    for editor in (in_memory, in_files):
        editor.prune(0, reason="a test")
    assert in_files.log() == in_memory.log()


def test_the_log_with_held_out_rows():
    X, y = [[21], [34], [52], [70]], ["no", "no", "yes", "yes"]
    editor = (
        TreeClassifier("cart")
        .fit(X, y)
        .edit(
            X, y, held_out=([[30], [60]], ["no", "yes"]), author="A. B", date="2026-01-31", data="loans.csv"
        )
    )
    first = editor.tree.digest
    editor.prune(0, reason="short")
    last = editor.tree.digest
    trained, held = (
        MemorySource(table).fingerprint
        for table in (editor.rows.table, Table.read([[30.0], [60.0]], ["no", "yes"]))
    )
    what = "pruned to 1 leaf, from 2: removed the split on x0 at the root"
    assert editor.log().splitlines() == [
        "# Approval log",
        "",
        "| fact | value |",
        "|---|---|",
        "| target | classes no, yes |",
        "| data | loans.csv |",
        f"| training rows | 4, hash {trained} |",
        f"| held-out rows | 2, hash {held} |",
        f"| digest of the tree before | {first} |",
        f"| digest of the tree after | {last} |",
        f"| Hornbeam | {hornbeam.__version__} |",
        "",
        "## Edits",
        "",
        "Nodes have the numbers of the tree before the edit.",
        "",
        "| edit | date | author | what | reason | leaves | digest | log loss | change |",
        "|---:|---|---|---|---|---:|---|---:|---:|",
        f"|  |  |  | tree before the edits |  | 2 | {first[:16]} | 0.0000 |  |",
        f"| 1 | 2026-01-31 | A. B | {what} | short | 1 | {last[:16]} | 0.6931 | +0.6931 ± 0.0000 |",
        "",
        "## Effect of all edits",
        "",
        "On 2 held-out rows; ± is the standard error of the change.",
        "",
        "| score | before | after | change |",
        "|---|---:|---:|---:|",
        "| log loss | 0.0000 | 0.6931 | +0.6931 ± 0.0000 |",
        "| Brier score | 0.0000 | 0.5000 | +0.5000 ± 0.0000 |",
        "| accuracy | 1.0000 | 0.5000 | -0.5000 ± 0.5000 |",
        "| area under the curve | 1.0000 | 0.5000 | -0.5000 |",
        "",
        "## Approval",
        "",
        "Approved by (name, date, signature): " + 20 * r"\_",
    ]


def test_a_tree_without_edits_can_be_approved(monkeypatch):
    X, y = [[21], [34], [52], [70]], ["no", "no", "yes", "yes"]
    clf = TreeClassifier("cart").fit(X, y)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    editor = clf.edit(X, y, held_out=([[30], [60]], ["no", "yes"]), data="loans.csv")
    trained, held = (
        MemorySource(table).fingerprint
        for table in (editor.rows.table, Table.read([[30.0], [60.0]], ["no", "yes"]))
    )
    assert editor.log("Read by two people.").splitlines() == [
        "# Approval log",
        "",
        "| fact | value |",
        "|---|---|",
        "| target | classes no, yes |",
        "| data | loans.csv |",
        f"| training rows | 4, hash {trained} |",
        f"| held-out rows | 2, hash {held} |",
        f"| digest of the tree | {clf.tree_.digest} |",
        "| date | 2026-01-01 00:00 UTC |",
        f"| Hornbeam | {hornbeam.__version__} |",
        "",
        "## Edits",
        "",
        "None.",
        "",
        "## Scores",
        "",
        "On 2 held-out rows.",
        "",
        "| score | value |",
        "|---|---:|",
        "| log loss | 0.0000 |",
        "| Brier score | 0.0000 |",
        "| accuracy | 1.0000 |",
        "| area under the curve | 1.0000 |",
        "",
        "## Notes",
        "",
        "Read by two people.",
        "",
        "## Approval",
        "",
        "Approved by (name, date, signature): " + 20 * r"\_",
    ]
    assert "## Scores" not in clf.edit(X, y).log()
