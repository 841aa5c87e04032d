"""Repeat the experiments of the HGS paper: Zhang, Petitjean and Buntine, PAKDD 2020.

    python -m benchmarks.quality.paper_hgs --data DIR            144 sets, under half an hour of CPU
    python -m benchmarks.quality.paper_hgs --data DIR --large    the six methods on the 13 larger sets too
    python -m benchmarks.quality.paper_hgs --report              tables and figures from the committed scores

Six methods on one C4.4 tree a fold, a missing value as a value of its own, ten folds pooled; Section 4.2 and squared
loss on the sets of up to 2,000 rows, tying and the diversity of forests on those of up to 1,000. Without --data the
sets are fetched (`benchmarks.data.fetch`). It can be stopped at any moment; the same command goes on. Results are in
results/paper_hgs; --write puts the tables into docs/papers/hgs.md. Figure 4 has the forests of the study of
probabilities.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.data.fetch import INDEX, NoNetworkError, fetch
from benchmarks.output import read_csv
from benchmarks.pages import write_tables
from benchmarks.quality.studies import paper_claims, paper_figures, paper_tables, runner
from benchmarks.quality.studies.cache import Cache
from benchmarks.quality.studies.methods import Group
from benchmarks.quality.studies.paper_methods import (
    DIVERSITY,
    SIX,
    TUNING,
    TUNING_ROWS,
    TYING,
    TYING_ROWS,
)
from benchmarks.quality.studies.paper_tables import OUT, Paper
from benchmarks.quality.studies.report import Scores, provenance
from benchmarks.quality.studies.sets import Entry, index

HERE = Path(__file__).parents[1]
PAGE = HERE.parent / "docs" / "papers" / "hgs.md"
USUAL_ROWS = 28_056  # the largest of the 144 sets
PARTS = {  # the methods of each table, and the rows of its sets: more than, up to
    "scores": (SIX, 0, USUAL_ROWS),
    "tuning": (TUNING, 0, TUNING_ROWS),
    "tying": (TYING, 0, TYING_ROWS),
    "diversity": (DIVERSITY, 0, TYING_ROWS),
    "large": (SIX, USUAL_ROWS, sys.maxsize),
}
MORE = {
    "scores": {"steps": lambda line: line.steps},
    "tuning": {"steps": lambda line: line.steps},
    "tying": {},
    "large": {"steps": lambda line: line.steps},
    "diversity": {
        name: lambda line, name=name: line.costs.get(name, np.nan) for name in ("variance", "tree_brier")
    },
}
TITLES = {
    "claims": "Claims",
    "table1": "Table 1: wins, draws and losses of HGS",
    "table2": "Table 2: means",
    "best": "Best of six",
    "by_size": "By size of the set, and with a rare class: RMSE of HGS against the others",
    "tuning": "Section 4.2: learning rate and precision",
    "descents": "Sets where the descent takes more than one step",
    "settings": "Loss, tying and sweeps",
    "forest_sizes": "Figure 4 in numbers",
    "variance": "Diversity",
    "pruned": "Pruning and smoothing",
}


def parts(entries: Sequence[Entry]) -> dict[str, tuple[Group, list[Entry]]]:
    """Which methods run on which sets, by the name of their table."""
    return {
        name: (group, [entry for entry in entries if least < entry.n_rows <= most])
        for name, (group, least, most) in PARTS.items()
    }


def run(entries: Sequence[Entry], cache: Cache, n_jobs: int, seconds: float) -> None:
    """Run what is not in the cache."""
    runner.register((SIX, TUNING, TYING, DIVERSITY))
    for group, sets in parts(entries).values():
        work = runner.Runner(cache, [group], frozenset(group.names), n_jobs, seconds)
        work.run(sets)
        print(f"{group.name:16} {work.cpu.get(group.name, 0.0):9.1f} CPU s", flush=True)


def fetched(names: Sequence[str] | None, most_rows: int) -> Path:
    """A folder with the sets that the archive has, for a command without --data."""
    folder = HERE / ".data"
    try:
        refused = fetch(
            folder,
            names or [row["name"] for row in read_csv(INDEX) if int(row["n_instances"]) <= most_rows],
        )
    except NoNetworkError as error:
        raise SystemExit(f"{error}. Give a folder with the data sets: --data DIR") from error
    if not (folder / "index.csv").exists():
        raise SystemExit("no data set could be taken. Give a folder with the data sets: --data DIR")
    if refused:
        print(f"{len(refused)} sets are left out", flush=True)
    return folder


def write_scores(entries: Sequence[Entry], cache: Cache, out: Path) -> None:
    """The tables of scores, from the cache."""
    out.mkdir(parents=True, exist_ok=True)
    for name, (group, sets) in parts(entries).items():
        if name == "large" and not sets:
            (out / "large.csv").unlink(missing_ok=True)
            continue
        scores = Scores.gather(cache, sets, [group])
        if not scores.entries:
            raise SystemExit(f"no set for {name}.csv, expected one of at most {PARTS[name][2]:,} rows")
        scores.write_csv(out / f"{name}.csv", MORE[name])


def tables(paper: Paper) -> dict[str, str]:
    """Every table of the page, by its mark."""
    made = {table.__name__: table(paper) for table in paper_tables.TABLES}
    return {"sets": paper_tables.sets_sentence(paper), "claims": paper_claims.claims(paper), **made}


def write_summary(made: Mapping[str, str], about: str, out: Path) -> None:
    sections = [f"## {title}\n\n{made[name]}" for name, title in TITLES.items()]
    text = ["# The HGS paper", about, made["sets"], *sections]
    (out / "summary.md").write_text("\n\n".join(text) + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, and write tables and figures."""
    options = parser().parse_args(arguments)
    out = options.out
    summary = out / "summary.md"
    if options.report:
        about = summary.read_text(encoding="utf-8").split("\n\n")[1] if summary.exists() else ""
    else:
        data = options.data or fetched(options.sets, options.large)
        entries = [entry for entry in index(data, options.sets) if entry.n_rows <= options.large]
        cache = Cache(options.cache)
        run(entries, cache, options.jobs, options.seconds_per_fold)
        write_scores(entries, cache, out)
        command = "python -m benchmarks.quality.paper_hgs --data DIR"
        if options.large > USUAL_ROWS:
            command += f" --large {options.large}"
        about = provenance(Scores.read_csv(out / "scores.csv"), [command])
    paper = Paper.read(out)
    made = tables(paper)
    write_summary(made, about, out)
    paper_figures.draw(paper, out)
    if options.write:
        write_tables(PAGE, **made)
    print(f"{len(paper.scores.entries)} sets in {out}")
    return 0


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(
        prog="paper_hgs.py", description=__doc__.splitlines()[0] if __doc__ else None
    )
    top.add_argument("--data", type=Path, default=None, help="folder with index.csv and its Parquet files")
    top.add_argument(
        "--large",
        type=int,
        nargs="?",
        default=USUAL_ROWS,
        const=10**9,
        metavar="ROWS",
        help="sets of more than 28,056 rows too, up to ROWS if given",
    )
    top.add_argument("--sets", type=_list, default=None, metavar="A,B", help="only these sets")
    top.add_argument("--jobs", type=int, default=1, metavar="J", help="processes")
    top.add_argument(
        "--seconds-per-fold", type=float, default=600.0, metavar="S", help="CPU seconds a fold may take"
    )
    top.add_argument(
        "--cache", type=Path, default=HERE / ".study" / "paper_hgs", help="folder of what has been run"
    )
    top.add_argument("--out", type=Path, default=OUT, help="folder of the results")
    top.add_argument("--report", action="store_true", help="run nothing: tables and figures from the scores")
    top.add_argument("--write", action="store_true", help="put the tables into docs/papers/hgs.md")
    return top


def _list(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


if __name__ == "__main__":
    sys.exit(main())
