"""Edits by hand where models are compared and reported: reason, author and digest."""

import re
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest

import hornbeam
from hornbeam import TreeClassifier, model_card, report
from hornbeam.errors import ParameterError
from hornbeam.storage.difference import compare
from hornbeam.storage.file import read_any
from hornbeam.tree import Slopes, with_slopes
from hornbeam.tree.edit import recorded_edits
from hornbeam.tree.walk import descendants


@pytest.fixture
def edited(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.random((200, 2)).round(2)
    y = np.where(X[:, 0] + rng.normal(size=200) / 4 > 0.5, "yes", "no")
    classifier = TreeClassifier("cart", max_depth=2).fit(X, y)
    hornbeam.save(classifier, tmp_path / "old.hornbeam")
    editor = classifier.edit(X, y, author="A. <Analyst>", date="2026-01-31 08:00 UTC")
    editor.set_threshold(0, 0.5, reason="a round & even number")
    editor.prune(1)
    editor.finish()
    hornbeam.save(classifier, tmp_path / "new.hornbeam")
    return classifier, editor, X, y


def test_the_history_has_the_digest_before_each_edit(edited):
    classifier, editor, _, _ = edited
    recorded = recorded_edits(classifier.tree_.history)
    assert [one.before for one in recorded] == [edit.before.digest[:16] for edit in editor.edits]
    assert [(one.what, one.reason, one.author) for one in recorded] == [
        (edit.what, edit.reason, edit.author) for edit in editor.edits
    ]


def test_a_comparison_lists_them(edited, tmp_path):
    _, editor, _, _ = edited
    first, second = editor.edits
    found = compare(read_any(tmp_path / "old.hornbeam"), read_any(tmp_path / "new.hornbeam")).history
    said = "reason: a round & even number; author: A. <Analyst>; date: 2026-01-31 08:00 UTC"
    assert found == (
        f"added edit by hand: {first.what}; {said}; tree before: {first.before.digest[:16]}",
        (
            f"added edit by hand: {second.what}; author: A. <Analyst>; date: {second.date}; "
            f"tree before: {second.before.digest[:16]}"
        ),
    )


def test_the_report_lists_them_in_a_table(edited):
    classifier, editor, X, y = edited
    page = report(classifier, X, y).text
    assert "Edits by hand" in page
    assert "a round &amp; even number" in page
    assert "A. &lt;Analyst&gt;" in page
    assert editor.edits[1].before.digest[:16] in page
    assert "changed by hand after the fit: 2 edits." in page
    assert "by hand" not in report(TreeClassifier("cart").fit(X, y), X, y).text


def test_the_model_card_lists_them(edited):
    classifier, editor, X, y = edited
    card = model_card(classifier, X, y).text
    first, second = editor.edits
    table = card.split("### Edits by hand\n\n")[1].splitlines()
    assert table[0] == "| Edit | Date | Author | What | Reason | Tree before |"
    assert table[2:] == [
        (
            f"| 1 | 2026-01-31 08:00 UTC | A. &lt;Analyst> | {first.what} | a round &amp; even number | "
            f"{first.before.digest[:16]} |"
        ),
        f"| 2 | 2026-01-31 08:00 UTC | A. &lt;Analyst> | {second.what} |  | {second.before.digest[:16]} |",
    ]
    assert "changed by hand after the fit: 2 edits." in card
    assert model_card(TreeClassifier("cart").fit(X, y)).text.endswith("### Edits by hand\n\nNone.\n")


def test_the_effect_of_each_edit_is_recorded():
    """It is the change that `score_changes` gives for this edit alone; with costs their change comes first."""
    rng = np.random.default_rng(1)
    X = rng.random((400, 2)).round(2)
    y = np.where(X[:, 0] + rng.normal(size=400) / 3 > 0.5, "yes", "no")
    for costs in (None, {("yes", "no"): 4}):
        clf = TreeClassifier(max_leaf_nodes=4, costs=costs).fit(X[:200], y[:200])
        editor = clf.edit(X[:200], y[:200], held_out=(X[200:], y[200:]), date="2026-01-31")
        effects, change = [], None
        for edit in (lambda e: e.set_threshold(0, 0.4), lambda e: e.shrink(2), lambda e: e.shrink(1)):
            edit(editor)
            change = {one.name: one for one in editor.score_changes(last=True)}
            names = ["log loss"] if costs is None else ["cost per row", "log loss"]
            effects.append("; ".join(f"{name} {change[name].texts[2]}" for name in names))
        editor.undo()
        editor.redo()
        editor.finish()
        assert [one.effect for one in recorded_edits(clf.tree_.history)] == effects
        card, page = model_card(clf).text, report(clf).text
        assert "| Effect on held-out rows |" in card
        log = editor.log().split("the tree before the edit.\n\n")[1].splitlines()
        for effect, line in zip(effects, log[3:], strict=False):
            assert effect in card
            assert effect in page
            assert all(
                part.rpartition("row ")[2].removeprefix("log loss ") in line for part in effect.split("; ")
            )


# ---- an edit in words


def words_of(what):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.random((300, 2)).round(2), rng.integers(0, 4, 300)])
    y = (rng.random(300) < 0.1 + 0.3 * X[:, 0] + 0.5 * (X[:, 2] == 2)).astype(int)
    frame = pd.DataFrame(X[:, :2], columns=["income", "age"])
    frame["home"] = np.array(["owns", "rents", "family", "other"])[X[:, 2].astype(int)]
    editor = TreeClassifier("cart", max_depth=3).fit(frame, y).edit(frame, y)
    what(editor)
    return editor


def test_a_moved_threshold():
    def move(editor):
        editor.split(0, "income", threshold=0.25)
        editor.grow(0, 1)
        editor.split(0, "income", threshold=0.25)
        editor.set_threshold(0, 0.5)

    assert words_of(move).edits[-1].what == "moved the threshold of income at the root from 0.25 to 0.5"


def test_a_first_split_and_another_one():
    def split(editor):
        editor.prune(0)
        editor.split(0, "age", threshold=0.5)
        editor.split(1, "home", categories=[["owns", "other"], ["rents", "family"]])
        editor.set_categories(1, [["owns"], ["rents", "family", "other"]])
        editor.split(0, "income", threshold=0.5)

    assert [edit.what for edit in words_of(split).edits[1:]] == [
        "split the root on age ≤ 0.5 | > 0.5",
        "split node 1 on home in {other, owns} | in {family, rents}",
        (
            "moved categories of home at node 1, from home in {other, owns} | in {family, rents} to home = owns | "
            "in {family, other, rents}"
        ),
        "split the root on income ≤ 0.5 | > 0.5, instead of age ≤ 0.5 | > 0.5 and 1 split below",
    ]


def test_a_branch_that_grows_back_the_same():
    def grow(editor):
        editor.prune(1)
        editor.grow(1, 1)
        editor.grow(1, 1)

    assert words_of(grow).edits[-1].what == "kept the splits at and below node 1, counted the rows again"


@pytest.mark.parametrize("n_leaves", [1, 2, 3, 4, 5, 6])
def test_a_smaller_tree_names_what_was_removed(n_leaves):
    """The removed splits that the text counts are those by which the trees differ, and each place is a leaf now."""
    editor = words_of(lambda editor: editor.shrink(n_leaves))
    edit, before, after = editor.edits[0], editor.first.skeleton, editor.tree.skeleton
    head, places = edit.what.split(": removed ")
    leaves = "leaf" if n_leaves == 1 else "leaves"
    assert head == f"pruned to {editor.tree.n_leaves} {leaves}, from {editor.first.n_leaves}"
    n_removed = [int(place.split()[0].replace("the", "1")) for place in places.split("; ")]
    assert sum(n_removed) == (before.n_children > 0).sum() - (after.n_children > 0).sum()
    for place, n in zip(places.split("; "), n_removed, strict=True):
        node = 0 if "the root" in place else int(re.search(r"node (\d+)", place)[1])
        below = descendants(before, node)
        columns = before.feature[below][before.feature[below] >= 0]
        assert len(columns) == n
        for column in columns:
            assert editor.tree.schema.names[column] in place


def test_many_changes_are_counted():
    rng = np.random.default_rng(0)
    X = rng.random((2_000, 6))
    y = (rng.random(2_000) < X[:, 0]).astype(int)
    editor = TreeClassifier("cart").fit(X, y).edit(X, y)
    editor.shrink(40)
    assert re.search(r"; and \d+ more$", editor.edits[0].what)
    assert len(editor.edits[0].what) < 1_000


def test_terms_that_go_are_counted():
    X = [[20 + n // 2, n % 2] for n in range(60)]
    y = [int(age > 35) for age, _ in X]
    clf = TreeClassifier("cart", max_depth=1).fit(X, y)
    terms = Slopes.of([1, 2], [1, 1], low=[0, 0], high=[1, 1], centre=[0, 0], slope=[[0.0, 0.1], [0.0, 0.2]])
    clf.tree_ = with_slopes(clf.tree_, terms)
    editor = clf.edit(X, y)
    editor.prune(0)
    assert editor.edits[0].what == (
        "pruned to 1 leaf, from 2: removed the split on x0 at the root; removed 2 terms of nodes below"
    )


# ---- dates


def test_the_date_of_an_edit_is_that_of_the_clock(monkeypatch):
    editor = words_of(lambda editor: editor.prune(1))
    asked = datetime.strptime(editor.edits[0].date, "%Y-%m-%d %H:%M UTC").replace(tzinfo=UTC)
    assert abs(asked - datetime.now(UTC)) < timedelta(minutes=5)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    editor.prune(0)
    assert editor.edits[1].date == "2026-01-01 00:00 UTC"
    assert "SOURCE" not in editor.log()
    for wrong in ("soon", "1e400", "9" * 30):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", wrong)
        editor.undo()
        with pytest.raises(ParameterError, match="expected seconds since 1970"):
            editor.prune(0)
        editor.redo()


def test_a_date_that_is_no_text_is_refused(edited):
    classifier, _, X, y = edited
    for name in ("date", "data", "author"):
        with pytest.raises(ParameterError, match=f"{name}=5: expected a text"):
            classifier.edit(X, y, **{name: 5})
