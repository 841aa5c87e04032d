"""Trees from up to a billion rows that exist only inside tasks: time, processor time and memory per row.

    python -m benchmarks.scale.billion_rows                            # 10^7, 10^8 and 10^9 rows, classes and numbers
    python -m benchmarks.scale.billion_rows --rows 1e7 --grow all      # grow on all rows instead of a sample
    python -m benchmarks.scale.billion_rows --write                    # the table of docs/scale.md, from the results

Two worker processes of Dask with one thread each make the rows, 20 features, from the number of their block, route and
count them. Growing is as by default for this many rows: on a sample of 3 million, depth 8; then every row is counted.
The tree of 10^8 rows is fitted on one worker too: its digest must be the same. Processor seconds and peak memory are
those of the two workers and of this process. Results are JSON lines in results/scale/billion_rows.jsonl.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.pages import markdown, page, read_lines
from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.sources import Partition, row_blocks
from hornbeam.data.table import Table
from hornbeam.growing.criterion import Criterion
from hornbeam.growing.grower import Grower
from hornbeam.out_of_core.fit import fit
from hornbeam.out_of_core.plan import Plan
from hornbeam.recipe import Recipe
from hornbeam.smoothing import Borrowing

OUT = Path(__file__).parents[1] / "results" / "scale" / "billion_rows.jsonl"
PAGE = Path(__file__).parents[2] / "docs" / "scale.md"
N_FEATURES, DEPTH, BLOCK = 20, 8, 1 << 18
SAMPLE = 3_000_000  # as many as fit the default memory, 512 MB


@dataclass(frozen=True)
class MadeRows:
    """A source whose rows are drawn from the number of their block: features of 256 values, the target leans on ten."""

    n_rows: int
    numeric: bool
    unit: float = 1.0
    class_weight: None = None

    @property
    def schema(self) -> Schema:
        features = tuple(Feature(f"x{f}") for f in range(N_FEATURES))
        return Schema(features, (), Kind.NUMERIC) if self.numeric else Schema(features, ("no", "yes"))

    @property
    def fingerprint(self) -> str:
        return f"made rows {self.n_rows} {self.numeric}"

    def partitions(self) -> Sequence[Partition]:
        return row_blocks(self.n_rows, BLOCK)

    def read(self, partition: Partition, features: Any = None, rows: Any = None) -> Table:
        rng = np.random.Generator(np.random.SFC64([0, partition.begin]))
        values = np.frombuffer(rng.bytes(N_FEATURES * BLOCK), np.uint8).reshape(N_FEATURES, BLOCK)
        score = rng.standard_normal(BLOCK, np.float32) * np.float32(60)
        for f in range(10):
            score += values[f] * np.float32(1 / (f + 1))
        chosen = slice(partition.n_rows) if rows is None else rows
        names = range(N_FEATURES) if features is None else features
        columns = tuple(values[f][chosen].astype(np.float64) for f in names)
        schema = replace(self.schema, features=tuple(self.schema.features[f] for f in names))
        score = score[chosen]
        if not self.numeric:
            return Table(schema, columns, (score > 373).astype(np.int32))
        units = NumericTarget.units(1024.0, self.n_rows, self.n_rows)
        return Table(
            schema,
            columns,
            numeric_target=NumericTarget(np.clip(score, -1024, 1024).astype(np.float64), *units),
        )


def measure(n_rows: int, *, numeric: bool, workers: int, grow_all: bool) -> dict[str, Any]:
    """Fit a tree on a cluster of its own."""
    from distributed import Client, LocalCluster

    from hornbeam.engines.dask import DaskEngine

    criterion = Criterion.SQUARED_ERROR if numeric else Criterion.ENTROPY
    recipe = Recipe(grower=Grower(criterion, max_depth=DEPTH, corrected=True), smoother=Borrowing())
    source = MadeRows(n_rows, numeric)
    plan = Plan.of(source, recipe, grow_rows=n_rows if grow_all else min(SAMPLE, n_rows - 1))
    cluster = LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0
    )
    with cluster, Client(cluster) as client:
        before, begin = _used(client), time.monotonic()
        tree = fit(source, recipe, DaskEngine(client), plan=plan, cache=False)
        seconds, after = time.monotonic() - begin, _used(client)
    processor = sum(cpu for cpu, _ in after) - sum(cpu for cpu, _ in before)
    return {
        "rows": n_rows,
        "target": "numbers" if numeric else "classes",
        "mode": plan.mode,
        "workers": workers,
        "seconds": round(seconds, 1),
        "processor_seconds": round(processor, 1),
        "processor_ns_per_row": round(1e9 * processor / n_rows, 1),
        "peak_gb": [round(peak, 2) for _, peak in after],
        "leaves": tree.n_leaves,
        "counted": int(tree.rows[0]),
        "digest": tree.digest,
    }


def _used(client: Any) -> list[tuple[float, float]]:
    """Processor seconds and peak memory in GB: of this process, then of each worker."""
    return [_own(), *client.run(_own).values()]


def _own() -> tuple[float, float]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e9


def table(records: list[dict[str, Any]]) -> str:
    """One row per fit."""
    head = [
        "rows",
        "target",
        "workers",
        "seconds",
        "processor ns per row",
        "most memory of a process",
        "digest",
    ]
    rows = [
        [
            f"10^{len(str(one['rows'])) - 1}",
            one["target"],
            f"{one['workers']}",
            f"{one['seconds']:.0f}",
            f"{one['processor_ns_per_row']:.0f}",
            f"{max(one['peak_gb']):.2f} GB",
            f"`{one['digest'][:8]}`",
        ]
        for one in records
    ]
    return markdown(head, rows, 2)


def read() -> list[dict[str, Any]]:
    """The committed results."""
    return read_lines(OUT)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", default="1e7,1e8,1e9", help="numbers of rows")
    parser.add_argument("--grow", choices=["sample", "all"], default="sample")
    parser.add_argument(
        "--write", action="store_true", help="write the table into docs/scale.md, and fit nothing"
    )
    options = parser.parse_args()
    if options.write:
        text = page(PAGE.read_text(encoding="utf-8"), billion=table(read()))
        PAGE.write_text(text, encoding="utf-8")
        return
    with OUT.open("a", encoding="utf-8") as file:
        for n_rows in (int(float(text)) for text in options.rows.split(",")):
            for numeric in (False, True):
                for workers in (2, 1) if n_rows == 10**8 else (2,):
                    record = measure(n_rows, numeric=numeric, workers=workers, grow_all=options.grow == "all")
                    line = json.dumps(record)
                    print(line, flush=True)
                    file.write(line + "\n")
                    file.flush()


if __name__ == "__main__":
    main()
