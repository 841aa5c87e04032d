"""A session of the workbench: what it shows, what it does, and how it continues after a crash."""

import json
import os
import stat
import sys
from pathlib import Path

import numpy as np
import pytest
from loan_rows import loans

import hornbeam
from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.errors import ParameterError, StorageError
from hornbeam.explain.candidates.node_rows import NodeRows
from hornbeam.tree import Slopes, with_slopes
from hornbeam.web_editor.session import Session
from hornbeam.web_editor.views import round_numbers, value_histogram

X, y = loans()
X_new, y_new = X[400:], y[400:]
X, y = X[:400], y[:400]


def new_session(folder, **parameters):
    clf = TreeClassifier(max_depth=3, smoothing="hgs", **parameters).fit(X, y)
    editor = clf.edit(X, y, held_out=(X_new, y_new), author="A. Analyst")
    return Session(clf, editor, folder / "tree.hornbeam", (X_new, y_new))


@pytest.fixture
def session(tmp_path):
    found = new_session(tmp_path)
    yield found
    found.close()


def column(name):
    return list(X.columns).index(name)


def edits():
    return [
        {"do": "threshold", "node": 0, "value": 40_000, "reason": "round"},
        {"do": "split", "node": 1, "feature": column("late")},
        {"do": "split", "node": 2, "feature": column("home"), "groups": [[0, 2], [1]], "missing": "left"},
        {"do": "groups", "node": 2, "groups": [[0], [1, 2]]},
        {"do": "prune", "node": 1},
        {"do": "grow", "node": 1, "levels": 2},
        {"do": "size", "leaves": 2},
    ]


def test_every_edit_is_that_of_the_editor(session, tmp_path):
    clf = TreeClassifier(max_depth=3, smoothing="hgs").fit(X, y)
    editor = clf.edit(X, y, author="A. Analyst")
    for edit in edits():
        session.apply(edit)
    editor.set_threshold(0, 40_000, reason="round")
    editor.split(1, next(split for split in editor.candidates(1) if split.feature == "late"))
    categories = editor.tree.schema.features[column("home")].categories
    editor.split(2, "home", categories=[[categories[0], categories[2]], [categories[1]]], missing="left")
    editor.set_categories(2, [[categories[0]], [categories[1], categories[2]]])
    editor.prune(1)
    editor.grow(1, 2)
    editor.shrink(2)
    assert session.editor.tree.digest == editor.tree.digest
    assert [edit.what for edit in session.editor.edits] == [edit.what for edit in editor.edits]


@pytest.fixture
def readable(tmp_path):
    """A session with a readable tree that has a number and a category as terms of its root."""
    clf = TreeClassifier("readable", max_leaf_nodes=3).fit(X, y)
    late, home = column("late"), column("home")
    terms = sorted([(late, -1, 0, 4, 1), (home, 1, 0, 1, 0.3)])
    feature, category, low, high, centre = zip(*terms, strict=True)
    clf.tree_ = with_slopes(
        clf.tree_, Slopes.of([0, 0], feature, low, high, centre, [[0, 0.4321]] * 2, category)
    )
    found = Session(clf, clf.edit(X, y, author="A. Analyst"), tmp_path / "tree.hornbeam", None)
    yield found
    found.close()


def test_edits_of_terms_are_those_of_the_editor(readable):
    late, home = column("late"), column("home")
    tree = readable.editor.tree
    editor = TreeClassifier.from_tree(tree).edit(X, y, author="A. Analyst")
    shown = {term["feature"]: term for term in readable.node(0)["terms"]}
    assert shown[late]["effects"] == [pytest.approx(np.exp(0.4321))]
    assert (shown[late]["codes"], shown[home]["codes"], shown[late]["per"]) == (None, [1], 1.0)
    operations = [
        {"do": "set_term", "node": 0, "feature": late, "value": 2, "per": 2.0},
        {"do": "set_term", "node": 0, "feature": home, "value": 3, "category": 1},
        {"do": "refit_terms", "node": 0, "feature": late},
        {"do": "round_terms", "node": 0, "feature": late},
        {"do": "drop_term", "node": 0, "feature": late, "reason": "not ours"},
    ]
    for operation in operations:
        readable.apply(operation)
    editor.set_term(0, "late", 2, per=2)
    editor.set_term(0, "home", 3, category=tree.schema.features[home].categories[1])
    editor.refit_terms(0, "late")
    editor.round_terms(0, "late")
    editor.drop_term(0, "late", reason="not ours")
    assert [edit.what for edit in readable.editor.edits] == [edit.what for edit in editor.edits]
    np.testing.assert_array_equal(readable.editor.tree.belief, editor.tree.belief)
    json.dumps(readable.node(0), allow_nan=False)


@pytest.mark.parametrize(
    "operation",
    [
        {"do": "drop_term", "node": 0, "feature": 99},
        {"do": "drop_term", "node": 1, "feature": column("late")},
        {"do": "set_term", "node": 0, "feature": column("late")},
        {"do": "set_term", "node": 0, "feature": column("late"), "value": "2"},
        {"do": "set_term", "node": 0, "feature": column("late"), "value": 2, "per": -1},
        {"do": "set_term", "node": 0, "feature": column("home"), "value": 2, "category": 99},
        {"do": "refit_terms", "node": "0", "feature": column("late")},
        {"do": "round_terms", "node": 0, "feature": column("late"), "digits": 3},
    ],
)
def test_impossible_edits_of_terms_change_nothing(operation, readable):
    before = readable.state()
    with pytest.raises(ParameterError):
        readable.apply(operation)
    assert readable.state() == before


def test_a_state_is_plain_json(session):
    for edit in edits():
        state = session.apply(edit)
        assert json.loads(json.dumps(state, allow_nan=False)) == json.loads(json.dumps(session.state()))
    for node in range(session.editor.tree.n_nodes):
        json.dumps(session.node(node), allow_nan=False)
    assert len(state["edits"]) == len(edits())
    assert state["scores"][0]["texts"] == session.editor.score_changes()[0].texts


def test_a_session_continues_after_a_crash_with_its_undone_edits(session, tmp_path):
    for edit in edits():
        session.apply(edit)
    session.apply({"do": "undo"})
    session.apply({"do": "undo"})
    state = session.apply({"do": "note", "text": "ask the risk team"})
    session.close()
    again = new_session(tmp_path)
    assert again.restored == len(edits()) - 2
    assert again.state() | {"restored": 0} == state
    again.apply({"do": "redo"})
    session.editor.redo()
    assert again.editor.tree.digest == session.editor.tree.digest


def test_a_moved_size_dial_is_one_edit(session):
    full = session.editor.tree.n_leaves
    for leaves in (4, 2, 5):
        state = session.apply({"do": "size", "leaves": leaves})
    assert (len(state["edits"]), state["now"]["leaves"]) == (1, 5)
    with pytest.raises(ParameterError):
        session.apply({"do": "size", "leaves": full})
    assert session.state()["now"]["leaves"] == 5
    assert session.apply({"do": "undo"})["now"]["leaves"] == full


def test_a_saved_session_has_a_model_a_report_and_a_log(session, tmp_path):
    session.apply(edits()[0])
    session.apply({"do": "note", "text": "ask the risk team"})
    assert session.save() == ["tree.hornbeam", "tree.html", "tree.md"]
    assert hornbeam.load(tmp_path / "tree.hornbeam").tree_.digest == session.editor.tree.digest
    log = (tmp_path / "tree.md").read_text(encoding="utf-8")
    assert "| moved the threshold of income at the root from " in log
    assert "## Notes\n\nask the risk team\n\n## Approval\n\n" in log
    assert (tmp_path / "tree.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert session.state()["saved"]
    assert not session.apply({"do": "undo"})["saved"]


def test_unsaved_edits_of_another_tree_are_not_overwritten(session, tmp_path):
    session.apply(edits()[0])
    session.close()
    with pytest.raises(StorageError, match="unsaved edits of another tree"):
        new_session(tmp_path, min_samples_leaf=30)
    again = new_session(tmp_path)
    again.save()
    again.close()
    assert new_session(tmp_path, min_samples_leaf=30).restored == 0


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{}",
        b"[" * 100_000,
        b'{"format": "hornbeam workbench journal", "first": 1, "digest": ""}',
        b'{"format": "hornbeam workbench journal", "first": "", "digest": "", "done": [1]}',
        b'{"format": "hornbeam workbench journal", "first": "", "digest": "", "more": 1}',
        b'{"format": "hornbeam workbench journal", "first": "", "digest": "", "saved_edits": "1"}',
    ],
)
def test_a_damaged_journal_is_refused(damage, tmp_path):
    (tmp_path / "tree.journal").write_bytes(damage)
    with pytest.raises(StorageError, match="is not a journal"):
        new_session(tmp_path)


def test_edits_after_a_save_continue_with_the_saved_tree(session, tmp_path):
    first, second, third = edits()[:3]
    session.apply(first)
    session.save()
    session.apply(second)
    session.apply(third)
    expected = session.apply({"do": "undo"})
    session.close()
    saved = hornbeam.load(tmp_path / "tree.hornbeam")
    again = Session(saved, saved.edit(X, y, held_out=(X_new, y_new)), tmp_path / "tree.hornbeam")
    assert again.restored == 1
    assert again.editor.tree.digest == session.editor.tree.digest
    assert again.state()["undone"] == expected["undone"] == 1
    log = again.editor.log()
    assert "round" in log.split("## Earlier edits")[1].split("## Edits")[0]
    again.apply({"do": "undo"})
    assert again.editor.tree.digest == saved.tree_.digest


def test_restored_edits_have_the_dates_of_the_first_time(session, tmp_path, monkeypatch):
    first, second = edits()[:2]
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    session.apply(first)
    session.close()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767312000")
    again = new_session(tmp_path)
    again.apply(second | {"date": "of the page"})
    assert [edit.date for edit in again.editor.edits] == ["2026-01-01 00:00 UTC", "2026-01-02 00:00 UTC"]


def test_an_edit_before_the_save_that_was_replaced_is_not_restored(session, tmp_path):
    first, second = edits()[:2]
    session.apply(first)
    session.save()
    session.apply({"do": "undo"})
    session.apply(second)
    session.close()
    saved = hornbeam.load(tmp_path / "tree.hornbeam")
    with pytest.raises(StorageError, match="unsaved edits of another tree"):
        Session(saved, saved.edit(X, y), tmp_path / "tree.hornbeam")


@pytest.mark.parametrize("ending", [".html", ".md", ".journal"])
def test_the_model_has_another_ending_than_the_other_files(ending, tmp_path):
    clf = TreeClassifier(max_depth=1).fit(X, y)
    with pytest.raises(ParameterError, match=r"expected another one, such as \.hornbeam"):
        Session(clf, clf.edit(X, y), tmp_path / f"tree{ending}")


def test_the_size_dial_of_a_tree_with_a_teacher_is_off(tmp_path):
    clf = TreeClassifier("readable", max_leaf_nodes=3).fit(X, y)
    session = Session(clf, clf.edit(X, y), tmp_path / "tree.hornbeam")
    assert session.state()["most"] == 1
    with pytest.raises(ParameterError, match="have no gains to choose by"):
        session.apply({"do": "size", "leaves": 2})


def test_a_journal_that_gives_another_tree_is_refused(session, tmp_path):
    session.apply(edits()[0])
    session.close()
    path = tmp_path / "tree.journal"
    path.write_text(path.read_text().replace("40000", "41000"))
    with pytest.raises(StorageError, match="the edits give another tree"):
        new_session(tmp_path)
    path.write_text(path.read_text().replace("41000", "1"))
    with pytest.raises(StorageError, match="an edit is refused"):
        new_session(tmp_path)


@pytest.mark.parametrize(
    "operation",
    [
        None,
        [],
        {},
        {"do": "delete"},
        {"do": ["prune"]},
        {"do": "undo"},
        {"do": "redo"},
        {"do": "prune"},
        {"do": "prune", "node": "0"},
        {"do": "prune", "node": 1.5},
        {"do": "prune", "node": 10**30},
        {"do": "prune", "node": True},
        {"do": "prune", "node": 0, "more": 1},
        {"do": "prune", "node": 0, "reason": 7},
        {"do": "prune", "node": 0, "reason": "\ud800"},
        {"do": "threshold", "node": 0, "value": "x"},
        {"do": "threshold", "node": 0, "value": True},
        {"do": "threshold", "node": 0, "value": float("nan")},
        {"do": "threshold", "node": 0, "value": 10**400},
        {"do": "threshold", "node": 99, "value": 1},
        {"do": "groups", "node": 0, "groups": [[0], [1]]},
        {"do": "groups", "node": 0, "groups": 3},
        {"do": "split", "node": 0},
        {"do": "split", "node": 0, "feature": "nothing"},
        {"do": "split", "node": 0, "feature": 2, "groups": [[0], [7]]},
        {"do": "split", "node": 0, "feature": 2, "groups": [[0], [[1]]]},
        {"do": "split", "node": 0, "feature": 0, "value": 40_000, "missing": "up"},
        {"do": "split", "node": 0, "feature": 0, "value": 40_000, "missing": []},
        {"do": "grow", "node": 0, "levels": -1},
        {"do": "size", "leaves": 0},
        {"do": "size"},
        {"do": "note"},
        {"do": "note", "text": "x" * 100_001},
        {"do": "note", "text": "\ud800"},
    ],
)
def test_impossible_operations_change_nothing(operation, session):
    before = session.state()
    with pytest.raises(ParameterError):
        session.apply(operation)
    assert session.state() == before


def test_a_histogram_has_every_row_once(session):
    rows = session.editor.rows
    here = NodeRows.of(session.editor.tree, rows.encoded, rows.grower, 1)
    table = X.iloc[here.at]
    late = value_histogram(here, column("late"))
    assert np.sum(late["counts"]) == len(table)
    # One bar for each number; the last has all beyond it.
    for value, counts in zip(range(3), late["counts"][:3], strict=True):
        there = y[here.at][table["late"] == value]
        assert counts[0] == (there == "bad").sum()
    home = value_histogram(here, column("home"))
    assert np.sum(home["counts"], axis=1).tolist() == [
        int((table["home"] == word).sum()) for word in ("family", "owns", "rents")
    ]
    income = value_histogram(here, column("income"))
    assert np.sum(income["counts"], axis=0).tolist() == [
        (y[here.at] == word).sum() for word in ("bad", "good")
    ]


def test_a_regression_tree_is_edited(tmp_path):
    target = X["income"].to_numpy() / 1000 + 5.0 * X["late"].to_numpy()
    model = TreeRegressor(max_depth=2).fit(X[["income", "late"]], target)
    session = Session(model, model.edit(X[["income", "late"]], target), tmp_path / "tree.hornbeam")
    state = session.apply({"do": "threshold", "node": 0, "value": 50_000})
    assert state["scores"] is None
    json.dumps([state, session.node(0)], allow_nan=False)
    assert session.save()


def test_held_out_rows_may_have_weights(tmp_path):
    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    weight = 1 + np.arange(len(y_new)) % 3
    at = np.repeat(np.arange(len(y_new)), weight)
    clf = TreeClassifier(max_depth=3, smoothing="hgs").fit(X, y)
    repeated = clf.edit(X, y, held_out=(X_new.iloc[at], y_new[at]))
    repeated.prune(1)
    output = tmp_path / "tree.hornbeam"
    with hornbeam.workbench(clf, X, y, held_out=(X_new, y_new, weight), path=output, show=False) as running:
        running.session.apply({"do": "prune", "node": 1})
        for one, other in zip(running.session.editor.score_changes(), repeated.score_changes(), strict=True):
            assert one.texts[:2] == other.texts[:2]
        running.session.save()
    assert output.exists()


def small_session(folder, name="tree.hornbeam"):
    few = [[21], [34], [52], [70]], ["no", "no", "yes", "yes"]
    classifier = TreeClassifier("cart").fit(*few)
    return Session(classifier, classifier.edit(*few), folder / name)


def test_a_second_session_of_one_output_is_refused(tmp_path):
    first = small_session(tmp_path)
    for name in ("tree.hornbeam", "tree.safetensors"):  # both have the journal tree.journal
        with pytest.raises(StorageError, match="in use by another workbench, in this process; expected one"):
            small_session(tmp_path, name)
    first.apply({"do": "prune", "node": 0, "reason": "mine"})
    other = small_session(tmp_path, "other.hornbeam")
    first.close()
    second = small_session(tmp_path)
    assert second.state()["edits"][0]["reason"] == "mine"
    for one in (second, other):
        one.close()
    assert [path.name for path in tmp_path.iterdir()] == ["tree.journal"]


def test_a_session_that_cannot_start_has_no_lock(tmp_path):
    (tmp_path / "tree.journal").write_text("x")
    with pytest.raises(StorageError, match="is not a journal"):
        small_session(tmp_path)
    (tmp_path / "tree.journal").unlink()
    small_session(tmp_path).close()


def test_a_session_that_nobody_has_frees_its_output(tmp_path):
    session = small_session(tmp_path)
    del session
    small_session(tmp_path).close()


def test_a_closed_session_changes_nothing(tmp_path):
    session = small_session(tmp_path)
    session.close()
    session.close()
    with pytest.raises(ParameterError, match="the session is closed"):
        session.apply({"do": "prune", "node": 0})
    with pytest.raises(ParameterError, match="the session is closed"):
        session.save()
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_only_its_user_can_read_a_journal(tmp_path):
    path = tmp_path / "tree.journal"
    before = os.umask(0)
    try:
        session = small_session(tmp_path)
        session.apply({"do": "note", "text": "ask the risk team"})
        modes = [stat.S_IMODE(one.stat().st_mode) for one in tmp_path.iterdir()]
        assert modes == [0o600, 0o600]  # the journal and the lock
        path.chmod(0o644)  # one of an earlier version
        session.apply({"do": "note", "text": "ask the lawyers"})
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    finally:
        os.umask(before)
    session.close()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (os.mkfifo, "this is a pipe; expected a regular file"),
        (Path.mkdir, "this is a folder; expected a regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "this is a device; expected a regular file"),
        (lambda path: path.symlink_to(path), "cannot be read"),
        (lambda path: path.symlink_to(path.parent / "none" / "x"), "cannot be created: No such file"),
    ],
)
def test_a_journal_that_is_no_regular_file_is_refused(make, message, tmp_path):
    make(tmp_path / "tree.journal")
    with pytest.raises(StorageError, match=message):
        small_session(tmp_path)


def test_a_journal_that_is_too_large_is_refused(tmp_path):
    with (tmp_path / "tree.journal").open("wb") as file:
        file.truncate(60_000_000)
    with pytest.raises(StorageError, match="is not a journal"):
        small_session(tmp_path)


@pytest.mark.parametrize("name", ["tree.md", "tree.html"])
@pytest.mark.parametrize("content", ["precious", "", "<title>Report</title>"])
def test_a_foreign_file_is_not_overwritten(name, content, tmp_path):
    (tmp_path / name).write_text(content)
    with pytest.raises(StorageError, match="is not a file of the workbench, and saving would overwrite it"):
        small_session(tmp_path)
    assert (tmp_path / name).read_text() == content


@pytest.mark.parametrize("name", ["tree.md", "tree.html"])
def test_a_foreign_file_that_appears_during_the_session_is_not_overwritten(name, tmp_path):
    session = small_session(tmp_path)
    (tmp_path / name).write_text("precious")
    with pytest.raises(StorageError, match="is not a file of the workbench, and saving would overwrite it"):
        session.save()
    assert (tmp_path / name).read_text() == "precious"
    assert not (tmp_path / "tree.hornbeam").exists()
    (tmp_path / name).unlink()
    session.save()
    session.close()


def test_files_of_the_workbench_are_overwritten(tmp_path):
    for n in range(3):
        session = small_session(tmp_path)
        session.apply({"do": "note", "text": f"note {n}"})
        session.save()
        session.close()
        (tmp_path / "tree.journal").unlink()
        assert f"note {n}" in (tmp_path / "tree.md").read_text(encoding="utf-8")


def test_an_output_that_cannot_be_written_is_refused_at_the_start(tmp_path):
    with pytest.raises(StorageError, match="cannot be written"):
        small_session(tmp_path / "missing")
    clf = TreeClassifier(max_depth=1).fit(X, y)
    with pytest.raises(ParameterError, match=r"'s3://bucket/tree\.hornbeam', an address of a store"):
        Session(clf, clf.edit(X, y), "s3://key:secret@bucket/tree.hornbeam")


def test_round_numbers_near_a_threshold():
    assert round_numbers(39940.0, 12_000, 90_000) == [40000.0, 39900.0]
    assert round_numbers(0.5, 0, 3) == []
