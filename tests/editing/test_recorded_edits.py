"""Edits by hand where models are compared and reported: reason, author and digest."""

import numpy as np
import pytest

import hornbeam
from hornbeam import TreeClassifier, report
from hornbeam.storage.difference import compare
from hornbeam.storage.file import read_any
from hornbeam.tree.edit import recorded_edits


@pytest.fixture
def edited(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.random((200, 2)).round(2)
    y = np.where(X[:, 0] + rng.normal(size=200) / 4 > 0.5, "yes", "no")
    classifier = TreeClassifier("cart", max_depth=2).fit(X, y)
    hornbeam.save(classifier, tmp_path / "old.hornbeam")
    editor = classifier.edit(X, y, author="A. <Analyst>")
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
    said = "reason: a round & even number; author: A. <Analyst>"
    assert found == (
        f"added edit by hand: {first.what}; {said}; tree before: {first.before.digest[:16]}",
        f"added edit by hand: {second.what}; author: A. <Analyst>; tree before: {second.before.digest[:16]}",
    )


def test_the_report_lists_them_in_a_table(edited):
    classifier, editor, X, y = edited
    page = str(report(classifier, X, y))
    assert "Edits by hand" in page
    assert "a round &amp; even number" in page
    assert "A. &lt;Analyst&gt;" in page
    assert editor.edits[1].before.digest[:16] in page
    assert "Edits by hand" not in str(report(TreeClassifier("cart").fit(X, y), X, y))
