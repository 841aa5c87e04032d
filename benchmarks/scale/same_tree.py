"""One digest: the same rows through every engine, grouping and order, at home and level by level.

    python -m benchmarks.scale.same_tree --data DIR                  ten real sets, with weights for some
    python -m benchmarks.scale.same_tree --rows 2e7 --scratch DIR    the benchmarks' synthetic rows, depth 8

Each way goes from Parquet files to the grown tree: survey, cuts, dictionaries, codes, sums. What it must come to is
the tree that the local kernel grows from all rows in memory. Engines that are not installed are left out, and the
record says so. Results are JSON lines under ``--out``. Exit status 1 if any digest differs.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.output import machine
from hornbeam.data import Bins, LocalEngine
from hornbeam.data.engine import Engine
from hornbeam.data.files.cache import EncodedCache
from hornbeam.data.files.parquet import ParquetSource
from hornbeam.engines import DaskEngine, SparkEngine
from hornbeam.growing import Grower
from hornbeam.out_of_core import draw_sample
from hornbeam.recipe import PRESETS

RESULTS = Path(__file__).parents[1] / "results" / "engines"
WHOLE, REAL = "whole weights", "real weights"
SETS = {  # nominal, missing, many classes; weights drawn for some
    "soybean": None,
    "credit-a": REAL,
    "splice": None,
    "hypothyroid": WHOLE,
    "mushroom": REAL,
    "nursery": WHOLE,
    "letter": None,
    "adult": None,
    "shuttle": REAL,
    "connect-4": None,
}
CUT = (
    "local",
    "dask, 2 processes",
    "spark, 2 executors",
)  # where cells are cut into blocks too: it takes a pass a node
UNITS = 23  # row groups of a set, so that no grouping comes out even


@dataclass(slots=True)
class Counted:
    """An engine that remembers into how many blocks its passes were cut."""

    engine: Engine
    most_blocks: int = 1
    passes: int = field(default=0)

    @property
    def parallelism(self) -> int:
        return self.engine.parallelism

    def reduce(self, task: Any, partitions: Any, shared: Any, **options: Any) -> list[Any]:
        self.passes += 1
        self.most_blocks = max(self.most_blocks, options.get("blocks", 1))
        return self.engine.reduce(task, partitions, shared, **options)

    def close(self) -> None:
        self.engine.close()


@dataclass(frozen=True, slots=True)
class Rows:
    """Files of rows, and how their tree is grown."""

    place: Path
    weight: str | None
    grower: Grower
    cache: Path

    def at_home(self) -> str:
        """The tree of all rows in memory."""
        source = ParquetSource.open(self.place, target="y", weight=self.weight)
        table = draw_sample(source, LocalEngine(2), source.n_rows)
        return self.grower.grow(table, self._bins(source, LocalEngine(2)), n_jobs=2).digest

    def by_level(self, engine: Engine, *, blocks: int = 1, gather_rows: int | None = None) -> str:
        """The tree from sums, their cells cut into so many blocks of features."""
        source = ParquetSource.open(self.place, target="y", weight=self.weight, engine=engine)
        bins = self._bins(source, engine)
        coded = EncodedCache.write(source, bins, self.cache, engine)
        wide = 16 if self.weight else 4
        node = int(bins.n_codes.astype(int).sum() + len(bins.n_codes)) * source.schema.n_classes * wide
        # What travels as one is a quarter of the budget, and nodes come in pairs at least.
        means = {} if blocks == 1 else {"budget": max(1, 8 * node // blocks)}
        tree = self.grower.grow_by_level(
            coded, bins, source.schema, engine, unit=source.unit, gather_rows=gather_rows, **means
        )
        return tree.digest

    def _bins(self, source: ParquetSource, engine: Engine) -> Bins:
        return Bins.fit(source, engine, max_bins=PRESETS["default"].bins_for(source.n_rows))


type Way = tuple[str, Callable[[Rows], tuple[str, Counted]]]


def ways(
    open_engine: Callable[..., Engine], name: str, groups: list[int], blocks: list[int]
) -> Iterator[Way]:
    """Growing level by level through an engine, in every grouping that is asked for."""

    def way(title: str, settings: dict[str, Any], **options: Any) -> Way:
        def go(rows: Rows) -> tuple[str, Counted]:
            engine = Counted(open_engine(**settings))
            return rows.by_level(engine, **options), engine

        return f"{name}, {title}", go

    for n in groups:
        yield way(f"{n} groups", {"groups": n}, gather_rows=0)
    for n in blocks:
        yield way(f"about {n} blocks", {}, blocks=n, gather_rows=0)
    yield way("handed over", {})
    if name == "local":
        yield way("reversed", {"groups": 7, "reverse": True}, gather_rows=0)


@contextmanager
def engines(names: list[str]) -> Iterator[Iterator[tuple[str, Callable[..., Engine]]]]:
    """The engines that are here, each by a function from its settings; their processes end with us."""

    def all_of(stack: ExitStack) -> Iterator[tuple[str, Callable[..., Engine]]]:
        if "local" in names:
            yield "local", lambda **settings: LocalEngine(**{"n_jobs": 2} | settings)
        if "dask" in names and find_spec("distributed"):
            from benchmarks.faults.disturbed_fit import cluster

            for n in (1, 2, 4):
                with cluster(n) as client:
                    yield (
                        f"dask, {n} processes",
                        lambda client=client, **settings: DaskEngine(client, **settings),
                    )
        if "spark" in names and find_spec("pyspark"):
            session = stack.enter_context(spark())
            yield "spark, 2 executors", lambda **settings: SparkEngine(session, **settings)

    with ExitStack() as stack:
        yield all_of(stack)


@contextmanager
def spark() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    paths = os.pathsep.join(filter(None, sys.path))
    session = (
        SparkSession.builder.master("local-cluster[2,1,2048]")
        .config("spark.ui.enabled", "false")
        .config("spark.executorEnv.PYTHONPATH", paths)
        .getOrCreate()
    )
    yield session
    session.stop()


# ---- rows ----------------------------------------------------------------------------------------------


def real_sets(data: Path, folder: Path) -> Iterator[tuple[str, Rows]]:
    """Ten sets as files of many row groups, with a column of weights for some."""
    from benchmarks.quality.studies.sets import index

    entries = {entry.name: entry for entry in index(data, list(SETS))}
    for name, weights in SETS.items():
        table = pq.read_table(entries[name].file)
        table = table.rename_columns([*table.column_names[:-1], "y"])
        rng, n = np.random.default_rng(len(name)), len(table)
        if weights is not None:
            drawn = rng.integers(1, 5, n) if weights == WHOLE else rng.gamma(2.0, size=n)
            table = table.append_column("weight", pa.array(drawn))
        (folder / name).mkdir()
        pq.write_table(table, folder / name / "rows.parquet", row_group_size=-(-n // UNITS))
        title = name if weights is None else f"{name}, {weights}"
        column = None if weights is None else "weight"
        yield title, Rows(folder / name, column, Grower(max_depth=8), folder / "codes" / name)


def synthetic(rows: int, scratch: Path) -> Iterator[tuple[str, Rows]]:
    from benchmarks.scale.fits import write

    place = write(scratch, rows, features=20, classes=2)
    grower = replace(PRESETS["default"].grower, max_depth=8)
    yield f"synthetic, {rows:,} x 20", Rows(place, None, grower, scratch / "codes")


# ---- the command line ----------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of real sets, with index.csv")
    parser.add_argument("--rows", type=float, help="synthetic rows, in place of real sets")
    parser.add_argument("--scratch", type=Path, default=Path(".scale"), help="where synthetic rows are kept")
    parser.add_argument("--engines", type=lambda text: text.split(","), default=["local", "dask", "spark"])
    parser.add_argument("--numbers", type=lambda text: [int(n) for n in text.split(",")], default=[1, 3, 16])
    parser.add_argument("--out", type=Path, default=RESULTS / "same_tree.jsonl")
    options = parser.parse_args()
    if options.data is None and options.rows is None:
        parser.error("give --data DIR or --rows N")
    records: list[dict[str, Any]] = []
    with TemporaryDirectory() as folder, engines(options.engines) as found:
        if options.rows is None:
            sets = dict(real_sets(options.data, Path(folder)))
        else:
            sets = dict(synthetic(int(options.rows), options.scratch))
        homes = {name: rows.at_home() for name, rows in sets.items()}
        for engine, open_engine in found:
            blocks = options.numbers[1:] if engine in CUT else []
            for title, go in ways(open_engine, engine, options.numbers, blocks):
                for name, rows in sets.items():
                    begin = time.perf_counter()
                    digest, counted = go(rows)
                    records.append(
                        {"set": name, "way": title, "same": digest == homes[name], "digest": digest}
                        | {"passes": counted.passes, "blocks": counted.most_blocks}
                        | {"seconds": round(time.perf_counter() - begin, 2)}
                    )
                    print(json.dumps(records[-1]), flush=True)
    differ = sum(not record["same"] for record in records)
    summary = {"sets": len(sets), "ways": len(records) // len(sets), "trees": len(records), "differ": differ}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    lines = [*records, {**summary, "machine": machine(), "command": " ".join(sys.argv[1:])}]
    options.out.write_text("".join(json.dumps(line) + "\n" for line in lines))
    print(json.dumps(summary))
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main())
