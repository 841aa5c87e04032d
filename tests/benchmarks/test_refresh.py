"""The index of results has a row for each file, and old results are found by the commits after theirs."""

import re
import subprocess
import sys
from fnmatch import fnmatch

import pytest
from benchmarks.refresh import GOLDEN, RESULTS, ROOT, Commit, digests_of, history, index, measured, old

FOUND = index()
FILES = sorted(
    path.relative_to(ROOT / RESULTS).as_posix() for path in (ROOT / RESULTS).rglob("*") if path.is_file()
)
KINDS = {kind for _, kind in digests_of(["*"], "HEAD")}


def commit(name: str, *files: str) -> Commit:
    return Commit(name, 0, files)


def row(**changes: object) -> dict[str, object]:
    return {"files": ["speed/small.jsonl"], "command": "make it", "measures": ["growing"], **changes}


def rows(commits: list[Commit], *rows: dict[str, object]) -> list[object]:
    found = {"renames": ["renamed"], "sources": {"growing": ["src/growing", "src/one.py"]}, "results": rows}
    return [*old(found, commits)]


SMALL, TREES = f"{RESULTS}/speed/small.jsonl", f"{RESULTS}/speed/threads.jsonl"


def test_each_file_has_one_row():
    for file in FILES:
        if file not in ("README.md", "index.toml"):
            names = [row["files"] for row in FOUND["results"] for p in row["files"] if fnmatch(file, p)]
            assert len(names) == 1, (file, names)


@pytest.mark.parametrize("row", FOUND["results"], ids=lambda row: row["files"][0])
def test_what_a_row_names_exists(row):
    assert row.keys() - {"models"} == {"files", "command", "measures", "pages", "note"}
    for pattern in row["files"]:
        assert any(fnmatch(file, pattern) for file in FILES), pattern
    for place in (*row["pages"], *(place for name in row["measures"] for place in FOUND["sources"][name])):
        assert (ROOT / place).exists(), place
    for pattern in row.get("models", ["*"]):
        assert not KINDS or any(fnmatch(kind, pattern) for kind in KINDS), pattern
    if module := re.search(r"python -m ([\w.]+)", row["command"]):
        path = ROOT / module[1].replace(".", "/")
        assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file()
    elif session := re.match(r"nox -s (\w+)", row["command"]):
        assert f"def {session[1]}(session" in (ROOT / "noxfile.py").read_text(encoding="utf-8")
    else:
        assert (ROOT / row["command"].split()[0]).is_file()


def test_every_source_is_measured():
    assert set(FOUND["sources"]) == {name for row in FOUND["results"] for name in row["measures"]}


def test_a_row_is_old_if_its_code_changed_later():
    commits = [commit("c", "src/growing/a.py"), commit("b", "src/other.py"), commit("a", SMALL)]
    [found] = rows(commits, row())
    assert (found.measured.hash, found.changed.hash, found.commits) == ("a", "c", 1)
    assert not rows(commits[1:], row())
    assert not rows([commit("d", SMALL), *commits], row())
    assert not rows([commit("c", "src/growing_more/a.py"), commit("a", SMALL)], row())
    assert not rows([commit("c", SMALL, "src/one.py")], row())


def test_a_new_file_is_not_old():
    assert not rows([commit("c", "src/one.py")], row())


def test_the_oldest_file_of_a_row_counts_and_renaming_does_not():
    both = row(files=["speed/small.jsonl", "speed/thr*.jsonl"])
    commits = [commit("renamed", SMALL), commit("c", TREES), commit("b", "src/one.py"), commit("a", SMALL)]
    assert measured(both["files"], commits[1:]) == 2
    [found] = rows(commits, both)
    assert found.measured.hash == "a"
    [found] = rows(commits, row())
    assert found.measured.hash == "a"


def test_a_row_with_models_is_old_only_if_their_digests_changed():
    if not digests_of(["tree"], "HEAD"):
        pytest.skip("needs a checkout with git")
    commits = [commit("c", "src/one.py"), commit("HEAD", SMALL)]
    assert not rows(commits, row(models=["tree"]))
    first = history()[-1:]
    if first and not digests_of(["tree"], first[0].hash):
        [found] = rows([commits[0], commit(first[0].hash, SMALL)], row(models=["tree"]))
        n = len(digests_of(["tree"], "HEAD"))
        assert found.digests == f"{n} of {n}"


def test_recorded_digests_are_where_they_are_looked_for():
    assert all((ROOT / path).is_file() for path in GOLDEN)


def test_without_history_it_says_so(tmp_path):
    for name in ("benchmarks/refresh.py", f"{RESULTS}/index.toml"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((ROOT / name).read_bytes())
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    command = [sys.executable, "-m", "benchmarks.refresh"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "No history of git here, so the age of results is unknown.\n"


def test_in_this_checkout_it_lists_rows_or_says_why_not():
    command = [sys.executable, "-m", "benchmarks.refresh"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert (f"rows of {RESULTS}/index.toml" if history() else "No history of git") in done.stdout
