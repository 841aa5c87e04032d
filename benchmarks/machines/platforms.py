"""Platforms on which recorded digests are equal and tests pass: all runs, and one table of them.

    python -m benchmarks.machines.platforms WORK                      # every platform; takes hours where it is emulated
    python -m benchmarks.machines.platforms WORK windows python-3.15  # some of them
    python -m benchmarks.machines.platforms WORK --tests tests/golden # recorded digests alone: half an hour
    python -m benchmarks.machines.platforms WORK --results            # collect what is in WORK, write the table

Each platform is a script of this folder, which makes what it needs in a folder of WORK and ends with `check.py`. The
lines go to `benchmarks/results/platforms.jsonl`, the table to docs/design/0021-same-bits.md. What the
scripts need is in their first lines; `nox -s platforms -- WORK` runs them all.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.pages import markdown, read_lines, write_tables

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "platforms.jsonl"
PAGE = ROOT / "docs" / "design" / "0021-same-bits.md"

HERE = "benchmarks/machines"
_WHEEL = "rm -rf $work/wheels; python -m benchmarks.machines.wheels $work/wheels manylinux-{}"
PLATFORMS = {  # the folder in WORK, and a command that writes its line there; $tests: some tests in place of its own
    "python-3.12": ".ci/run oldest $work $tests",
    "python-3.13": ".ci/run newest $work $tests",
    "python-3.14": f"{HERE}/versions.sh $work 3.14 $tests",
    "python-3.15": f"{HERE}/versions.sh $work 3.15 $tests",
    "free-threaded": f"{HERE}/free_threaded.sh $work",
    "manylinux": f"{_WHEEL.format('x86_64')}; {HERE}/minimal_root.sh $work amd64 $work/wheels/*.whl tests/golden",
    "aarch64": f"{_WHEEL.format('aarch64')}; {HERE}/run.sh $work tests arm64 $work/wheels/*.whl",
    "s390x": f"{HERE}/run.sh $work tests s390x",
    "windows": f"{HERE}/windows.sh $work $tests",
}


def collect(work: Path) -> list[dict[str, Any]]:
    """The lines of all platforms that were run in a folder, by name."""
    found = {}
    for path in sorted(work.glob("*/*.json")):
        line = json.loads(path.read_text(encoding="utf-8"))
        if "platform" in line:
            found[path.parent.name] = line
    return [found[name] for name in PLATFORMS if name in found]


def read() -> list[dict[str, Any]]:
    """The committed lines."""
    return read_lines(RESULTS)


def table(lines: list[dict[str, Any]]) -> str:
    """The table with libraries and compilers."""
    head = ["platform", "how", "Python", "NumPy", "scikit-learn", "digests equal", "tests passed", "skipped"]
    return markdown(head, [_row(line) for line in lines], 2)


def _row(line: dict[str, Any]) -> list[str]:
    libraries = [line.get(name, "") for name in ("numpy", "scikit-learn")]
    counts = [_share(line["digests"]), _share(line["tests"]), f"{line['tests'].get('skipped', 0):,}"]
    return [line["platform"], line["how"], line["python"], *libraries, *counts]


def _share(counts: dict[str, int]) -> str:
    """The number that passed, of those that ran."""
    passed, failed = counts.get("passed", 0), counts.get("failed", 0)
    return f"{passed:,} of {passed + failed:,}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("work", type=Path, help="folder for everything that platforms need; kept")
    parser.add_argument("names", nargs="*", help=f"some of {', '.join(PLATFORMS)}")
    parser.add_argument("--tests", default="", help="these tests, where a platform would run more of them")
    parser.add_argument("--results", action="store_true", help="run nothing, collect results")
    options = parser.parse_intermixed_args()
    if unknown := sorted(set(options.names) - PLATFORMS.keys()):
        parser.error(f"unknown platforms {', '.join(unknown)}; expected some of {', '.join(PLATFORMS)}")
    failed = []
    for name in () if options.results else options.names or PLATFORMS:
        folder = (options.work / name).resolve()
        print(f"==> {name}", flush=True)
        for earlier in folder.glob("*.json"):  # a run that fails has no line, not that of an earlier run
            earlier.unlink()
        env = {**os.environ, "work": str(folder), "tests": options.tests}
        if subprocess.run(["bash", "-euc", PLATFORMS[name]], cwd=ROOT, env=env, check=False).returncode:
            failed.append(name)
    lines = collect(options.work)
    RESULTS.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    runs = table(lines)
    write_tables(PAGE, runs=runs)
    print(runs)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
