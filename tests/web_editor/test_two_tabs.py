"""Two tabs of one workbench: an operation made for another tree is refused, and nothing is lost."""

import json

import pytest
from loan_rows import loans
from tab import Tab

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from hornbeam import TreeClassifier, workbench

X, y = loans(400)


@pytest.fixture
def running(tmp_path):
    classifier = TreeClassifier("cart", max_depth=3).fit(X, y)
    with workbench(classifier, X, y, path=tmp_path / "tree.hornbeam", show=False) as found:
        yield found


@pytest.fixture
def tabs(running):
    """Two tabs that show the same tree."""
    found = Tab(running), Tab(running)
    for tab in found:
        tab.load()
    return found


def test_an_edit_of_an_old_tree_is_refused_with_409(running, tabs):
    first, second = tabs
    assert first.do("prune", node=1)[0] == 200
    edited = running.session.editor.tree.digest
    status, answer = second.do("prune", node=2)
    assert status == 409
    assert "Nothing was done" in answer["error"]
    assert running.session.editor.tree.digest == edited
    second.load()
    status, answer = second.do("prune", node=2)
    assert status == 200
    assert len(answer["edits"]) == 2


@pytest.mark.parametrize("what", ["undo", "redo", "size", "note", "save"])
def test_no_operation_of_an_old_state_is_done(what, running, tabs):
    first, second = tabs
    first.do("prune", node=1)
    first.do("prune", node=0)
    first.do("undo")
    second.load()
    first.do("prune", node=2)
    before = running.session.state()
    fields = {"size": {"leaves": 2}, "note": {"text": "x"}}.get(what, {})
    assert (second.save() if what == "save" else second.do(what, **fields))[0] == 409
    assert running.session.state() == before
    assert not running.session.output.exists()


def test_another_edit_to_redo_is_another_state(running, tabs):
    first, second = tabs
    first.do("prune", node=1)
    first.do("undo")
    second.load()
    first.do("prune", node=2)
    first.do("undo")
    assert first.state["now"] == second.state["now"]
    assert second.do("redo")[0] == 409
    assert first.do("redo")[1]["edits"][0]["what"].startswith(
        "pruned to 5 leaves, from 8: removed 3 splits at and below node 2"
    )


def test_notes_of_another_tab_are_not_overwritten(running, tabs):
    first, second = tabs
    assert first.do("note", text="ask the risk team")[0] == 200
    assert second.do("note", text="x")[0] == 409
    assert second.load()["notes"] == "ask the risk team"


@pytest.mark.parametrize("digest", [None, 7, [], {}])
@pytest.mark.parametrize("path", ["apply", "save"])
def test_an_operation_without_a_digest_is_refused(digest, path, running, tabs):
    before = running.session.state()
    for value in ({"do": "prune", "node": 0}, {"do": "prune", "node": 0, "digest": digest}, None):
        status, answer = tabs[0].post(path, value)
        assert status == 422
        assert "expected that of the state" in answer["error"]
    assert running.session.state() == before


def test_operations_of_two_tabs_in_turn_are_those_of_one(running, tabs, tmp_path):
    """Whatever the order: each edit whose response was 200 is in the journal, and no other."""
    answered = []
    for n in range(12):
        tab = tabs[n % 3 == 0]
        node = n % tab.state["now"]["leaves"]
        status, _ = tab.do(*[("prune", "grow")[n % 2]], node=node, reason=str(n))
        if status == 200:
            answered.append(str(n))
        elif status == 409:
            tab.load()
    journal = json.loads((tmp_path / "tree.journal").read_text(encoding="utf-8"))
    assert [edit["reason"] for edit in journal["done"]] == answered
    assert len(answered) >= 4
