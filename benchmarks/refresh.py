"""Results that are older than the code they measure.

    python -m benchmarks.refresh          # `nox -s refresh`

`results/index.toml` has a row for each results file. A file was measured on the day of the commit that last changed it;
of several files in a row the oldest counts. A row that names recorded models is old only if their digests in
`tests/golden` have changed since. Without history, as in a shallow clone, there is nothing to compare.
"""

from __future__ import annotations

import json
import subprocess
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
RESULTS = "benchmarks/results"
GOLDEN = ("tests/golden/digests.json", "tests/golden/models.json")


class Commit(NamedTuple):
    """A commit and the files it changed."""

    hash: str
    seconds: int
    files: tuple[str, ...]

    def __str__(self) -> str:
        return datetime.fromtimestamp(self.seconds, UTC).strftime("%Y-%m-%d %H:%M")

    def changed(self, places: Iterable[str]) -> bool:
        """Whether it changed one of some files, or a file in one of some folders."""
        return any(file == place or file.startswith(f"{place}/") for file in self.files for place in places)


class Old(NamedTuple):
    """A row of the index that is older than its code."""

    files: str
    measured: Commit
    changed: Commit
    commits: int
    digests: str
    command: str


def index() -> dict[str, Any]:
    """`results/index.toml`."""
    return tomllib.loads((ROOT / RESULTS / "index.toml").read_text(encoding="utf-8"))


def old(found: dict[str, Any], commits: Sequence[Commit]) -> Iterator[Old]:
    """Yield the rows of an index whose results are older than the code they measure; `commits` has the newest first."""
    commits = [commit for commit in commits if commit.hash not in found["renames"]]
    for row in found["results"]:
        at = measured(row["files"], commits)
        places = [place for name in row["measures"] for place in found["sources"][name]]
        later = [commit for commit in commits[:at] if commit.changed(places)]
        if at == len(commits) or not later:
            continue
        digests = ""
        if "models" in row:
            now, then = (digests_of(row["models"], commit) for commit in ("HEAD", commits[at].hash))
            differ = sum(then.get(key) != digest for key, digest in now.items())
            if not differ:
                continue
            digests = f"{differ} of {len(now)}"
        yield Old(", ".join(row["files"]), commits[at], later[0], len(later), digests, row["command"])


def measured(patterns: Sequence[str], commits: Sequence[Commit]) -> int:
    """The place of the commit that last changed the oldest file of a row; the number of commits if it is in none."""
    latest: dict[str, int] = {}
    for at, commit in enumerate(commits):
        for file in commit.files:
            if any(fnmatch(file, f"{RESULTS}/{pattern}") for pattern in patterns):
                latest.setdefault(file, at)
    return max((at for file, at in latest.items() if (ROOT / file).exists()), default=len(commits))


def digests_of(kinds: Sequence[str], commit: str) -> dict[tuple[str, str], str]:
    """Digests of `tests/golden` at a commit, of the kinds of models that match a pattern."""
    files = [json.loads(git("show", f"{commit}:{path}") or "{}") for path in GOLDEN]
    return {
        (name, kind): digest
        for file in files
        for name, of in file.items()
        for kind, digest in of.items()
        if any(fnmatch(kind, pattern) for pattern in kinds)
    }


def history() -> list[Commit]:
    """Commits that changed results or code, from new to old; none if the history is not there."""
    if git("rev-parse", "--is-shallow-repository").strip() != "false":
        return []
    text = git("log", "--no-renames", "--name-only", "--format=%x00%H %ct", "--", RESULTS, "src", "native")
    commits = []
    for entry in text.split("\0")[1:]:
        head, *files = entry.split("\n")
        name, seconds = head.split()
        commits.append(Commit(name, int(seconds), tuple(filter(None, files))))
    return commits


@cache  # rows of the index need the same digests
def git(*arguments: str) -> str:
    """What git prints; nothing where it fails or is not installed."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return done.stdout if done.returncode == 0 else ""


def main() -> None:
    found, commits = index(), history()
    if not commits:
        print("No history of git here, so the age of results is unknown.")
        return
    rows = sorted(old(found, commits), key=lambda row: -row.commits)
    head = ("results", "measured", "code changed", "commits since", "digests changed", "command")
    cells = [head, *([*map(str, row)] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head) - 1)]
    for *begin, command in cells:
        print(*(cell.ljust(width) for cell, width in zip(begin, widths, strict=True)), command, sep="  ")
    print(f"{len(rows)} of {len(found['results'])} rows of {RESULTS}/index.toml are older than their code.")


if __name__ == "__main__":
    main()
