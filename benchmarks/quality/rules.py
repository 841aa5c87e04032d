"""Lists of rules against the trees they are made from, and against Weka's PART.

python -m benchmarks.quality.rules --data DIR --out benchmarks/results/rules     # resumes
python -m benchmarks.quality.rules --report --out benchmarks/results/rules       # tables

DIR is a folder of sets as of `study.py`. Of each set of up to `--max-rows` rows, `--folds` of its ten folds are
run. `tree` is C4.5's tree before pruning, of which `rules` are made; `pruned` is the same tree under error-based
pruning with raising, J48's default; both predict raw frequencies where errors are counted, and smoothed by HGS
where probabilities are. `part` is Weka's other list of rules (`WEKA_JAR` names the archive; left out where there
is none), on sets of up to 200,000 cells.

How rules borrow was chosen by a look at the first two folds of the sets of up to 1,500 rows, so the tables count
the folds behind them (`--from-fold 2`).
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.pages import read_lines
from benchmarks.quality.studies import j48
from benchmarks.quality.studies.sets import Entry, Fold, index, load
from hornbeam.evaluation import Comparison
from hornbeam.pruning import Collapse, ErrorBased
from hornbeam.recipe import PRESETS
from hornbeam.rules.extract import extract
from hornbeam.rules.rule_set import RuleSet
from hornbeam.smoothing import HGS
from hornbeam.tree.route import predict_rows

GROWING = replace(PRESETS["c4.5"], pruner=Collapse())  # C4.5's tree before pruning
METHODS = ("rules", "tree", "pruned", "part")
MOST_CELLS = 200_000  # rows times columns that PART is asked about
LEAST = 1e-6  # a probability of 0 would be infinitely wrong


def run(fold: Fold) -> Iterator[dict[str, Any]]:
    """Every method on one fold: errors, probabilities, size, processor seconds."""
    train, test = fold.table(fold.train), fold.table(fold.test)
    begin = time.process_time()
    tree = GROWING.fit(train)
    grown = time.process_time() - begin
    yield facts(
        "tree", fold, predict_rows(HGS()(tree), test), extract(tree), grown, raw=predict_rows(tree, test)
    )
    begin = time.process_time()
    pruned = ErrorBased(rows=train)(tree)
    seconds = grown + time.process_time() - begin
    yield facts(
        "pruned",
        fold,
        predict_rows(HGS()(pruned), test),
        extract(pruned),
        seconds,
        raw=predict_rows(pruned, test),
    )
    begin = time.process_time()
    rules = extract(tree, merge=False).simplify(train, None).choose(train, None)
    yield facts("rules", fold, rules.predict_proba(test), rules, grown + time.process_time() - begin)
    if j48.ARCHIVE.exists() and len(fold.data.y) * fold.data.X.shape[1] <= MOST_CELLS:
        yield part(fold)


def facts(
    method: str, fold: Fold, said: Any, rules: RuleSet, seconds: float, raw: Any = None
) -> dict[str, Any]:
    """Classes are those of raw frequencies, if given; probabilities are smoothed."""
    size = {"rules": len(rules), "conditions": rules.n_conditions}
    return losses(method, fold, fold.spread(said), fold.spread(said if raw is None else raw), seconds) | size


def losses(method: str, fold: Fold, said: Any, named: Any, seconds: float) -> dict[str, Any]:
    y = fold.y_test
    p = said[np.arange(len(y)), y]
    return {
        "method": method,
        "set": fold.data.name,
        "fold": fold.number,
        "rows": len(fold.data.y),
        "tested": len(y),
        "errors": int((named.argmax(axis=1) != y).sum()),
        "brier": round(float(((said - np.eye(fold.n_classes)[y]) ** 2).sum()), 6),
        "bits": round(float(-np.log2(np.maximum(p, LEAST)).sum()), 6),
        "seconds": round(seconds, 3),
    }


def part(fold: Fold) -> dict[str, Any]:
    """Weka's PART with its defaults; its text says how many conditions there are."""
    jpype = j48.java()
    rows = j48.instances(fold.data)
    train = jpype.JClass("weka.core.Instances")(rows, len(fold.train))
    for row in fold.train.tolist():
        train.add(rows.instance(row))
    begin = time.process_time()
    model = jpype.JClass("weka.classifiers.rules.PART")()
    model.buildClassifier(train)
    seconds = time.process_time() - begin
    said = np.array([model.distributionForInstance(rows.instance(row)) for row in fold.test.tolist()])
    told = str(model.toString()).split("------------------", 1)[1].split("Number of Rules", 1)[0].splitlines()
    conditions = [line for line in told if line.strip() and not line.startswith(":")]
    size = {
        "rules": int(model.measureNumRules()) - 1,
        "conditions": len(conditions),
    }  # the last one is the default
    return losses("part", fold, said, said, seconds) | size


def study(options: argparse.Namespace) -> None:
    """Run what is not in the file yet, smallest sets first."""
    out = options.out / "rules.jsonl"
    options.out.mkdir(parents=True, exist_ok=True)
    done = {(record["set"], record["fold"]) for record in read(out)}
    sets = [entry for entry in index(options.data, options.sets) if entry.n_rows <= options.max_rows]
    for entry in sets:
        for number in range(options.folds):
            if (entry.name, number) not in done:
                keep(out, entry, number)


def keep(out: Path, entry: Entry, number: int) -> None:
    """Add the lines of one fold, all of them or none."""
    lines = [json.dumps(record) + "\n" for record in run(Fold(load(entry), number))]
    with out.open("a", encoding="utf-8") as file:
        file.write("".join(lines))
    print(entry.name, number, flush=True)


def read(path: Path) -> list[dict[str, Any]]:
    return read_lines(path) if path.exists() else []


def report(records: list[dict[str, Any]]) -> str:
    """Losses pooled over the folds of a set, and sizes beside each other."""
    sets = sorted({record["set"] for record in records})
    sums: dict[tuple[str, str], dict[str, float]] = {}
    for record in records:
        total = sums.setdefault((record["set"], record["method"]), {})
        for name in ("tested", "errors", "brier", "bits", "rules", "conditions", "seconds"):
            total[name] = total.get(name, 0.0) + record[name]
        total["folds"] = total.get("folds", 0.0) + 1
    lines = [f"{len(sets)} sets"]
    for measure in ("errors", "brier", "bits"):
        found = [[_per(sums.get((name, m)), measure, "tested") for m in METHODS] for name in sets]
        lines += ["", f"{measure} a row", "", str(Comparison(METHODS, sets, np.array(found), measure))]
    lines += ["", "| method | sets | rules, mean | median | conditions, mean | median | seconds |"]
    lines.append("|---|--:|--:|--:|--:|--:|--:|")
    for method in METHODS:
        here = [sums[name, method] for name in sets if (name, method) in sums]
        if here:
            sizes = [np.array([_per(one, what, "folds") for one in here]) for what in ("rules", "conditions")]
            shown = " | ".join(f"{size.mean():.1f} | {np.median(size):.1f}" for size in sizes)
            seconds = sum(one["seconds"] for one in here)
            lines.append(f"| {method} | {len(here)} | {shown} | {seconds:.0f} |")
    return "\n".join(lines)


def _per(total: dict[str, float] | None, what: str, unit: str) -> float:
    return np.nan if total is None else total[what] / total[unit]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="a folder of sets; without it, the report alone")
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "results" / "rules")
    parser.add_argument("--sets", type=lambda names: names.split(","), help="only these")
    parser.add_argument("--max-rows", type=int, default=3000)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--report", action="store_true", help="run nothing")
    parser.add_argument("--from-fold", type=int, default=2, help="the first fold the tables count")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.data is not None and not options.report:
        study(options)
    records = read(options.out / "rules.jsonl")
    print(report([record for record in records if record["fold"] >= options.from_fold]))


if __name__ == "__main__":
    main()
