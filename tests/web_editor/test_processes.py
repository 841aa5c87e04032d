"""Sessions in processes of their own: killed, two at once, and on a full disk."""

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from loan_rows import loans

from hornbeam import TreeClassifier
from hornbeam.errors import StorageError
from hornbeam.web_editor.session import Session

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX")

BEGIN = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from pathlib import Path
from hornbeam import TreeClassifier, workbench
from hornbeam.errors import HornbeamError
from hornbeam.web_editor.session import Session
from loan_rows import loans
X, y = loans(300)
model = TreeClassifier("cart", max_depth=4).fit(X, y)
output = Path(sys.argv[1], "tree.hornbeam")
"""
HOLDER = """
session = Session(model, model.edit(X, y), output)
print("ready", flush=True)
sys.stdin.read()
"""
EDITS_WITHOUT_END = """
import random
draw = random.Random(int(sys.argv[2]))
session = Session(model, model.edit(X, y), output)
print(len(session.state()["edits"]), session.state()["notes"][:20], flush=True)
n = 0
while True:
    n += 1
    node = draw.randrange(12)
    operation = draw.choice([
        {"do": "prune", "node": node}, {"do": "grow", "node": node}, {"do": "undo"}, {"do": "redo"},
        {"do": "note", "text": f"{n:020} " + "x" * draw.randrange(50_000)},
    ])
    try:
        state = session.apply(operation)
    except HornbeamError:
        continue
    print(len(state["edits"]), state["notes"][:20], flush=True)
    if draw.random() < 0.05:
        session.save()
"""
FULL_DISK = """
import json, resource, sys
from tab import Tab
sys.dont_write_bytecode = True  # Python keeps the cut bytecode of a module that is imported below the limit
def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
with workbench(model, X, y, path=output, show=False) as running:
    tab = Tab(running)
    tab.load()
    assert tab.do("prune", node=1, reason="kept")[0] == 200
    before, content = running.session.state(), output.with_suffix(".journal").read_bytes()
    limit(1000)
    for what, fields in (("note", {"text": "x" * 5000}), ("prune", {"node": 0, "reason": "x" * 5000})):
        status, answer = tab.do(what, **fields)
        assert status == 500, answer
        expected = f"{str(output.with_suffix('.journal'))!r} cannot be written: File too large"
        assert answer["error"] == expected, answer
        assert running.session.state() == before
    status, answer = tab.save()
    assert status == 500 and str(output.parent) in answer["error"], answer
    assert output.with_suffix(".journal").read_bytes() == content
    assert not output.exists()
    assert tab.load() == json.loads(json.dumps(before))
    limit(resource.RLIM_INFINITY)
    assert tab.do("note", text="x" * 5000)[0] == 200
    assert tab.save()[0] == 200
names = sorted(path.name for path in output.parent.iterdir())
assert names == ["tree.hornbeam", "tree.html", "tree.journal", "tree.md"], names
print("done")
"""


def python(code, folder, *more):
    return subprocess.Popen(
        [sys.executable, "-c", BEGIN + code, str(folder), *more],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def session_here(folder):
    X, y = loans(300)
    model = TreeClassifier("cart", max_depth=4).fit(X, y)
    return Session(model, model.edit(X, y), folder / "tree.hornbeam")


def test_the_refusal_names_the_process_that_has_the_output_and_a_kill_frees_it(tmp_path):
    holder = python(HOLDER, tmp_path)
    try:
        assert holder.stdout.readline() == "ready\n"
        message = f"in use by another workbench, process {holder.pid}; expected one workbench for each output"
        with pytest.raises(StorageError, match=message):
            session_here(tmp_path)
    finally:
        holder.kill()
        holder.communicate()
    session_here(tmp_path).close()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("rounds", [3, pytest.param(9, marks=pytest.mark.long)])
def test_a_kill_loses_no_edit_that_was_answered(rounds, tmp_path):
    """The session goes on with the last response, or with the edit after it, whose response was not sent."""
    draw = random.Random(rounds)
    answers = ["0 "]
    for n in range(rounds):
        process = python(EDITS_WITHOUT_END, tmp_path, str(n))
        try:
            first = process.stdout.readline()
            assert first, process.stderr.read()
            time.sleep(draw.random() * 0.8)
        finally:
            process.kill()
            rest = process.stdout.read()  # communicate() would miss lines that readline() has read ahead
            process.communicate()
        n_before, notes = answers[-1].rstrip("\n").split(" ", 1)
        n_found, found = first.rstrip("\n").split(" ", 1)
        assert abs(int(n_found) - int(n_before)) <= 1
        assert found == notes or n_found == n_before
        answers = [first, *(line for line in rest.splitlines(keepends=True) if line.endswith("\n"))]
    session = session_here(tmp_path)
    assert json.loads((tmp_path / "tree.journal").read_text(encoding="utf-8"))["done"] is not None
    assert session.restored == len(session.editor.edits)
    session.close()


def test_a_process_that_ends_with_an_open_session_is_quiet_and_leaves_no_lock(tmp_path):
    process = python(HOLDER.replace("sys.stdin.read()", ""), tmp_path)
    assert process.communicate() == ("ready\n", "")
    assert not list(tmp_path.iterdir())


@posix
def test_a_full_disk_costs_no_edit(tmp_path):
    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    process = python(FULL_DISK, tmp_path)
    out, error = process.communicate()
    assert out == "done\n", error
