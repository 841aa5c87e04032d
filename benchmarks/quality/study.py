"""Set Hornbeam's probabilities beside those of other methods, on every set of a folder, by tenfold cross-validation.

    python -m benchmarks.quality.study smoothing --data DIR --jobs 2
    python -m benchmarks.quality.study report smoothing --data DIR

A study can be stopped at any moment; the same command goes on where it was. README.md beside this file has more.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

from benchmarks.quality.studies import pruning, runner, sizes, smoothing
from benchmarks.quality.studies.cache import Cache
from benchmarks.quality.studies.sets import N_FOLDS, index

HERE = Path(__file__).parents[1]
COMMANDS = "commands.txt"
STUDIES = {"smoothing": smoothing, "pruning": pruning, "sizes": sizes}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run or report a study."""
    options = parser().parse_args(arguments)
    study = STUDIES[options.study]
    entries = index(options.data, options.sets, options.max_rows)
    cache = Cache(options.cache or HERE / ".study" / options.study)
    if options.command == "report":
        out = options.out or HERE / "results" / options.study
        if options.keep and study is pruning:
            raise SystemExit("--keep: the pruning study cannot take scores from its last report")
        kept = {"keep": True} if options.keep else {}
        study.report(cache, entries, out, _commands(cache, options.study), **kept)
        return 0
    names = [name for group in study.GROUPS for name in group.names]
    wanted = frozenset(name for name in names if _matches(name, options.methods or ["*"]))
    groups = [group for group in study.GROUPS if not wanted.isdisjoint(group.names)]
    for group in groups:
        again = {name.partition("/")[2] for name in group.names if _matches(name, options.again)}
        if again:
            cache.forget(group.name, frozenset(again))
    _note(cache, arguments or sys.argv[1:])
    runner.register(study.GROUPS)
    work = runner.Runner(cache, groups, wanted, options.jobs, options.seconds_per_fold, options.folds)
    work.run(entries)
    for name, cpu in work.cpu.items():
        print(f"{name:16} {cpu:9.1f} CPU s")
    return 0


def _note(cache: Cache, arguments: Sequence[str]) -> None:
    """Remember with which command the study was run; without the places of its folders."""
    private = {"--data", "--cache"}
    shown = [
        "DIR" if before in private else text
        for before, text in zip(["", *arguments], arguments, strict=False)
    ]
    line = " ".join(["python -m benchmarks.quality.study", *shown])
    cache.folder.mkdir(parents=True, exist_ok=True)
    with (cache.folder / COMMANDS).open("a+", encoding="utf-8") as file:
        file.seek(0)
        if line not in file.read().splitlines():
            file.write(line + "\n")


def _commands(cache: Cache, study: str) -> list[str]:
    noted = cache.folder / COMMANDS
    lines = noted.read_text(encoding="utf-8").splitlines() if noted.exists() else []
    return [*lines, f"python -m benchmarks.quality.study report {study} --data DIR"]


def _matches(name: str, patterns: Sequence[str]) -> bool:
    """Whether a group/method is meant by one of the patterns; a group's name means all of it."""
    return any(fnmatch(name, pattern) or name.startswith(f"{pattern}/") for pattern in patterns)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="study.py", description=__doc__.splitlines()[0] if __doc__ else None)
    commands = top.add_subparsers(dest="command", required=True)
    report = commands.add_parser("report", help="write tables and figures from what has been run")
    report.add_argument("study", choices=STUDIES)
    report.add_argument(
        "--keep", action="store_true", help="take what is not in the cache from the last report"
    )
    report.add_argument("--out", type=Path, default=None, help="folder of the results")
    _add_common(report)
    for name, study in STUDIES.items():
        run = commands.add_parser(name, help=(study.__doc__ or "").splitlines()[0])
        run.set_defaults(study=name)
        run.add_argument("--jobs", type=int, default=2, metavar="J", help="processes")
        run.add_argument(
            "--methods", type=_list, default=None, metavar="A,B", help="groups, or group/method; * allowed"
        )
        run.add_argument(
            "--again", type=_list, default=[], metavar="A,B", help="forget what these gave, and run them"
        )
        run.add_argument(
            "--resume", action="store_true", help="go on where the last run was (it always does)"
        )
        run.add_argument(
            "--seconds-per-fold", type=float, default=120.0, metavar="S", help="CPU seconds a group may take"
        )
        run.add_argument(
            "--folds",
            type=int,
            default=N_FOLDS,
            metavar="N",
            help="the first N of the ten folds, for a trial",
        )
        _add_common(run)
    return top


def _add_common(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--data", type=Path, required=True, help="folder with index.csv and its Parquet files"
    )
    command.add_argument("--sets", type=_list, default=None, metavar="A,B", help="only these sets")
    command.add_argument(
        "--max-rows", type=int, default=None, metavar="N", help="a stratified part of larger sets"
    )
    command.add_argument("--cache", type=Path, default=None, help="folder of what has been run")


def _list(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


if __name__ == "__main__":
    sys.exit(main())
