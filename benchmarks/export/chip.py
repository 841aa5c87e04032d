"""The size of a tree on a chip, its predictions there, and how fast every export is on this machine.

    python -m benchmarks.export.chip --json benchmarks/results/chip/chip.jsonl
    python -m benchmarks.export.chip flash --leaves 100
    python -m benchmarks.export.chip desk --rows 20000 --repeats 20

`flash` cross-compiles C by Hornbeam and emlearn for a Cortex-M4, and runs it in an emulator on the same rows; it needs
`gcc-arm-none-eabi` and `qemu-system-arm`. `desk` times every predictor on the same tree and rows, in turns. Exit status
1 if an export of ours predicted otherwise than the tree.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.export.chips import predictors, sources
from benchmarks.export.chips.board import Board, versions
from benchmarks.export.chips.trees import Model, at_thresholds, readings, with_holes
from benchmarks.output import machine
from benchmarks.timing import describe, race

type Record = dict[str, Any]

VECTORS = 300  # rows asked on the board, and as many at thresholds
HIDDEN = ("bench", "rows", "sound")  # from people
PATIENCE = 0.5  # seconds: a predictor that took more for its rows is not asked again


def flash(leaves: int) -> Iterator[Record]:
    """Bytes of flash and RAM of every source, and how often it predicts otherwise than the tree."""
    model = Model.grow(leaves)
    drawn, _ = readings(VECTORS, seed=1)
    for source in sources.all_sources(model):
        with tempfile.TemporaryDirectory() as folder:
            board = Board(source, Path(folder))
            weight = {name: board.weigh(f"chip_{name}") for name in ("class", "probabilities")}
            X = np.vstack([drawn, at_thresholds(model, drawn)])
            run = board.run(X if source.complete else with_holes(X))
        truth = model.estimator.predict_proba(X if source.complete else with_holes(X))
        wrong = run.classes != truth.argmax(axis=1)
        error = np.abs(run.probabilities - truth).max(axis=1)
        yield {
            "bench": "flash",
            "leaves": leaves,
            **source.facts,
            **{f"flash_{name}": flash for name, (flash, _) in weight.items()},
            "ram": weight["probabilities"][1],
            "stack": run.stack,
            "rows": len(drawn),
            "wrong": int(wrong[: len(drawn)].sum()),
            "wrong_at_thresholds": int(wrong[len(drawn) :].sum()),
            "error": float(error[: len(drawn)].max()),
            "sound": None if source.bound is None else bool(not wrong.any() and error.max() <= source.bound),
        }


def desk(leaves: int, rows: int, repeats: int) -> Iterator[Record]:
    """Nanoseconds a row of every predictor, the best of some rounds in which all take turns."""
    model = Model.grow(leaves)
    X, _ = readings(rows, seed=1)
    truth = model.estimator.predict_proba(X)
    ready: dict[str, tuple[predictors.Predictor, float]] = {}
    for group in (predictors.programs, predictors.libraries):
        for name, make in group(model, X).items():
            try:
                predictor = make()
                ready[name] = predictor, predictor.error(truth)
            except Exception as error:
                yield {"bench": "desk", "leaves": leaves, "predictor": name, "reason": describe(error)}
    results = race(
        {name: predictor.run for name, (predictor, _) in ready.items()}, repeats=repeats, patience=PATIENCE
    )
    for name, result in results.items():
        predictor, error = ready[name]
        nanoseconds = 1e9 * result.best().cpu / predictor.rows
        yield {"bench": "desk", "leaves": leaves, "predictor": name, "ns": nanoseconds, "error": error}


def tables(records: list[Record]) -> Iterator[str]:
    """The records for people, as Markdown."""
    flashed = [record for record in records if record["bench"] == "flash"]
    yield from _table([{name: record[name] for name in record if name not in HIDDEN} for record in flashed])
    timed: dict[str, Record] = {}
    for record in records:
        if record["bench"] == "desk":
            line = timed.setdefault(record["predictor"], {"ns a row": record["predictor"]})
            line[f"{record['leaves']:,} leaves"] = record.get("ns", record.get("reason"))
    yield from _table(list(timed.values()))


def _table(lines: list[Record]) -> Iterator[str]:
    for head in lines[:1]:
        yield f"\n| {' | '.join(head)} |\n|{'---|' * len(head)}"
    for line in lines:
        cells = (f"{x:.3g}" if isinstance(x, float) else str(x) for x in line.values())
        yield f"| {' | '.join(cells)} |"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="*", choices=[[], "flash", "desk"], help="both, unless told")
    parser.add_argument("--leaves", type=int, nargs="+", default=[10, 100, 1000], metavar="N")
    parser.add_argument("--rows", type=int, default=20_000, metavar="N", help="that predictors are timed on")
    parser.add_argument("--repeats", type=int, default=20, metavar="N")
    parser.add_argument("--json", type=Path, help="also write the records to this file")
    options = parser.parse_args()
    records: list[Record] = []
    for leaves in options.leaves:
        if "flash" in options.what or not options.what:
            records += flash(leaves)
        if "desk" in options.what or not options.what:
            records += desk(leaves, options.rows, options.repeats)
    print(*tables(records), sep="\n")
    if options.json:
        about = {
            "bench": "about",
            "rows": options.rows,
            "repeats": options.repeats,
            **versions(),
            **machine(),
        }
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text("".join(json.dumps(record) + "\n" for record in [*records, about]))
    return any(record.get("sound") is False for record in records)


if __name__ == "__main__":
    sys.exit(main())
