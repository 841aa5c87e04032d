"""One digest: the same rows through every engine, grouping and order, in memory and level by level.

    python -m benchmarks.scale.same_tree --data DIR                  ten real sets, with weights for some
    python -m benchmarks.scale.same_tree --data DIR --models MODELS  numeric targets and forests, see `MODELS`
    python -m benchmarks.scale.same_tree --rows 2e7 --scratch DIR    the benchmarks' synthetic rows, depth 8

Each way goes from Parquet files to the model: survey, cuts, dictionaries, codes, sums. The digest must be that of the
model of all rows in memory. Engines that are not installed are left out: a record has the name of its engine. Results
are JSON lines under ``--out``. Exit status 1 if any digest differs.
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
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.output import machine
from hornbeam.data.binning.bins import Bins
from hornbeam.data.engine import Engine, LocalEngine
from hornbeam.data.files.cache import EncodedCache
from hornbeam.data.files.parquet import ParquetSource, scan_parquet
from hornbeam.data.schema import Kind
from hornbeam.data.sources import MemorySource, Source
from hornbeam.data.table import Table
from hornbeam.engines import DaskEngine, RayEngine, SparkEngine
from hornbeam.ensembles.forest.from_source import fit_forest
from hornbeam.ensembles.forest.trainer import BINS, SMOOTHING_CANDIDATES, ForestTrainer, default_grower
from hornbeam.growing.criterion import Criterion
from hornbeam.growing.grower import Grower
from hornbeam.out_of_core.plan import Plan
from hornbeam.recipe import PRESETS, Recipe
from hornbeam.tree.evidence.count import evidence_units

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
MIXED_SETS = {  # each with nominal columns, missing values and drawn weights; 539 to 9,172 rows
    "cylinder-bands": WHOLE,
    "ilpd": REAL,
    "hcv": WHOLE,
    "credit-a": REAL,
    "cervical-cancer": WHOLE,
    "mammographic": REAL,
    "sick-euthyroid": WHOLE,
    "hypothyroid": REAL,
    "sick": WHOLE,
    "thyroid0387": REAL,
}
MODELS = {  # name: whether the target is numeric
    "tree": False,
    "regression tree": True,
    "forest": False,
    "regression forest": True,
}
TREES = 8  # of a forest
CUT = (
    "local",
    "dask, 2 processes",
    "ray, 2 processes",
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
    """Files of rows, with the kind of their target."""

    place: Path
    weight: str | None
    numeric: bool = False

    def open(self, engine: Engine) -> ParquetSource:
        kind = Kind.NUMERIC if self.numeric else Kind.NOMINAL
        return scan_parquet(
            self.place, target="y", sample_weight=self.weight, target_kind=kind, engine=engine
        )

    def in_memory(self) -> Table:
        """All rows, without a source in between."""
        frame = pq.read_table(self.place).to_pandas()
        weight = None if self.weight is None else frame.pop(self.weight)
        target, kind = frame.pop("y"), Kind.NUMERIC if self.numeric else Kind.NOMINAL
        return Table.read(frame, target, sample_weight=weight, target_kind=kind)


@dataclass(frozen=True, slots=True)
class TreeFit:
    """A tree of some rows."""

    rows: Rows
    grower: Grower
    cache: Path

    def at_home(self) -> str:
        """The tree of all rows in memory."""
        table = self.rows.in_memory()
        return self.grower.grow(table, self._bins(MemorySource(table), LocalEngine(2)), n_jobs=2).digest

    def by_level(self, engine: Engine, *, blocks: int = 1, gather_rows: int | None = None) -> str:
        """The tree from sums, their cells cut into this many blocks of features."""
        source = self.rows.open(engine)
        bins = self._bins(source, engine)
        coded = EncodedCache.write(source, bins, self.cache, engine)
        n_cells = int(bins.n_codes.astype(int).sum() + len(bins.n_codes))
        if self.rows.numeric:
            node = n_cells * (24 if self.rows.weight else 16)
        else:
            node = n_cells * source.schema.n_classes * (16 if self.rows.weight else 4)
        # What travels as one is a quarter of the budget, and nodes come in pairs at least.
        means = {} if blocks == 1 else {"budget": max(1, 8 * node // blocks)}
        tree = self.grower.grow_by_level(
            coded,
            bins,
            source.schema,
            engine,
            unit=evidence_units(source),
            target=source if self.rows.numeric else None,
            gather_rows=gather_rows,
            **means,
        )
        return tree.digest

    def ways(self, name: str, numbers: list[int], blocks: list[int]) -> Iterator[Way]:
        """Level by level, in every grouping that is asked for."""
        for n in numbers:
            yield f"{n} groups", {"n_tasks": n}, partial(self.by_level, gather_rows=0)
        for n in blocks if name in CUT else ():
            yield f"about {n} blocks", {}, partial(self.by_level, blocks=n, gather_rows=0)
        yield "handed over", {}, self.by_level
        if name == "local":
            yield "reversed", {"n_tasks": 7, "reverse": True}, partial(self.by_level, gather_rows=0)

    def _bins(self, source: Source, engine: Engine) -> Bins:
        return Bins.fit(source, engine, max_bins=PRESETS["default"].bins_for(source.n_rows))


@dataclass(frozen=True, slots=True)
class ForestFit:
    """A forest of some rows; its passes are never cut into blocks."""

    rows: Rows
    n_features: int

    def at_home(self) -> str:
        """The forest of all rows in memory."""
        return self._trainer.fit(self.rows.in_memory(), n_jobs=2).forest.digest

    def sampled_at_home(self) -> str:
        """The forest of a sample of rows in memory, with all of them counted."""
        return self._fit(MemorySource(self.rows.in_memory()), None, sampled=True)

    def on_engine(self, engine: Engine, *, sampled: bool = False) -> str:
        return self._fit(self.rows.open(engine), engine, sampled=sampled)

    def ways(self, name: str, numbers: list[int], blocks: list[int]) -> Iterator[Way]:
        """All rows or a sample of them, in every grouping that is asked for."""
        for n in numbers:
            yield f"{n} groups", {"n_tasks": n}, self.on_engine
        yield "sample, 3 groups", {"n_tasks": 3}, partial(self.on_engine, sampled=True)

    def _fit(self, source: Source, engine: Engine | None, *, sampled: bool) -> str:
        plan = Plan.of(source, None, source.n_rows // 3) if sampled else None
        return fit_forest(source, self._trainer, engine, plan=plan).result.forest.digest

    @property
    def _trainer(self) -> ForestTrainer:
        grower = replace(default_grower(regression=self.rows.numeric), max_features=self.n_features // 2)
        return ForestTrainer(Recipe(BINS, grower), TREES, smoothers=SMOOTHING_CANDIDATES)


type Fit = TreeFit | ForestFit
type Way = tuple[str, dict[str, Any], Callable[[Engine], str]]  # name, settings of the engine, the fit


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
        if "ray" in names and find_spec("ray"):
            with ray_processes():
                yield "ray, 2 processes", RayEngine
        if "spark" in names and find_spec("pyspark"):
            session = stack.enter_context(spark())
            yield "spark, 2 executors", lambda **settings: SparkEngine(session, **settings)

    with ExitStack() as stack:
        yield all_of(stack)


@contextmanager
def ray_processes() -> Iterator[None]:
    import ray

    path = os.pathsep.join(filter(None, [str(Path.cwd()), *sys.path]))
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": path}},
    )
    yield
    ray.shutdown()


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


def real_sets(data: Path, folder: Path, model: str) -> Iterator[tuple[str, Fit]]:
    """Ten sets as files of many row groups, with a column of weights."""
    from benchmarks.quality.studies.sets import index

    numeric, sets = MODELS[model], SETS if model == "tree" else MIXED_SETS
    entries = {entry.name: entry for entry in index(data, list(sets))}
    for name, weights in sets.items():
        table = pq.read_table(entries[name].file)
        table = _with_numeric_target(table) if numeric else table
        table = table.rename_columns([*table.column_names[:-1], "y"])
        rng, n = np.random.default_rng(len(name)), len(table)
        if weights is not None:
            drawn = rng.integers(1, 5, n) if weights == WHOLE else rng.gamma(2.0, size=n)
            table = table.append_column("weight", pa.array(drawn))
        place = folder / f"{name}, {model}"
        place.mkdir()
        pq.write_table(table, place / "rows.parquet", row_group_size=-(-n // UNITS))
        title = name if weights is None else f"{name}, {weights}"
        rows = Rows(place, None if weights is None else "weight", numeric)
        if "forest" in model:
            yield title, ForestFit(rows, len(table.column_names) - 2)
        else:
            criterion = Criterion.SQUARED_ERROR if numeric else Criterion.ENTROPY
            grower = Grower(criterion, max_depth=8, corrected=numeric)
            yield title, TreeFit(rows, grower, folder / "codes" / place.name)


def _with_numeric_target(table: pa.Table) -> pa.Table:
    """Put the numeric column with the fewest missing values last, of these the one with the most values."""
    kinds = {field.name: field.type for field in table.schema}
    numeric = [n for n, kind in kinds.items() if pa.types.is_floating(kind) or pa.types.is_integer(kind)]
    chosen = max(numeric, key=lambda n: (-table[n].null_count, len(table[n].unique())))
    table = table.filter(pc.is_valid(table[chosen]))
    return table.select([*(name for name in kinds if name != chosen), chosen])


def synthetic(rows: int, scratch: Path) -> Iterator[tuple[str, Fit]]:
    from benchmarks.scale.fits import write

    place = write(scratch, rows, features=20, classes=2)
    grower = replace(PRESETS["default"].grower, max_depth=8)
    yield f"synthetic, {rows:,} x 20", TreeFit(Rows(place, None), grower, scratch / "codes")


# ---- the command line ----------------------------------------------------------------------------------


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",") if number]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of real sets, with index.csv")
    parser.add_argument("--rows", type=float, help="synthetic rows, in place of real sets")
    parser.add_argument("--scratch", type=Path, default=Path(".scale"), help="where synthetic rows are kept")
    parser.add_argument("--models", type=lambda text: text.split(","), default=["tree"])
    parser.add_argument(
        "--engines", type=lambda text: text.split(","), default=["local", "dask", "ray", "spark"]
    )
    parser.add_argument("--numbers", type=_numbers, default=[1, 3, 16], help="numbers of tasks")
    parser.add_argument("--blocks", type=_numbers, default=[3, 16], help="blocks of features, in `CUT`")
    parser.add_argument("--out", type=Path, default=RESULTS / "same_tree.jsonl")
    options = parser.parse_args()
    if options.data is None and options.rows is None:
        parser.error("give --data DIR or --rows N")
    records: list[dict[str, Any]] = []
    with TemporaryDirectory() as folder, engines(options.engines) as found:
        fits: dict[tuple[str, str], Fit] = {}
        for model in options.models:
            if options.rows is None:
                sets = real_sets(options.data, Path(folder), model)
            else:
                sets = synthetic(int(options.rows), options.scratch)
            fits |= {(model, name): fit for name, fit in sets}
        homes = {key: fit.at_home() for key, fit in fits.items()}
        sampled = {key: fit.sampled_at_home() for key, fit in fits.items() if isinstance(fit, ForestFit)}
        for engine, open_engine in found:
            for key, fit in fits.items():
                for title, settings, run in fit.ways(engine, options.numbers, options.blocks):
                    counted, begin = Counted(open_engine(**settings)), time.perf_counter()
                    digest, expected = run(counted), sampled if "sample" in title else homes
                    records.append(
                        {"model": key[0], "set": key[1], "way": f"{engine}, {title}"}
                        | {"same": digest == expected[key], "digest": digest}
                        | {"passes": counted.passes, "blocks": counted.most_blocks}
                        | {"seconds": round(time.perf_counter() - begin, 2)}
                    )
                    print(json.dumps(records[-1]), flush=True)
    differ = sum(not record["same"] for record in records)
    ways = {(record["model"], record["way"]) for record in records}
    summary = {"sets": len(fits), "ways": len(ways), "fits": len(records), "differ": differ}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    lines = [*records, {**summary, "machine": machine(), "command": " ".join(sys.argv[1:])}]
    options.out.write_text("".join(json.dumps(line) + "\n" for line in lines))
    print(json.dumps(summary))
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main())
