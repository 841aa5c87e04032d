"""Fits on rows that do not fit memory: what they cost as rows grow, what a sample saves, what travels.

    scale.py growth --rows 1e6,1e7,1e8   seconds a row by phase, and peak memory
    scale.py sample --rows 1e8           growing on a sample and counting all, against growing on all
    scale.py loss --data DIR             what that costs in accuracy, on real sets
    scale.py bytes --rows 1e6            bytes that travel each level, predicted and measured
    scale.py rates --rows 1e6            what `cost_model.py` computes its table from

Rows are made once, in blocks, and kept as Parquet files under --scratch. Every fit has a process of its own.
Results are JSON lines in results/scale.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import replace
from itertools import batched
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.output import machine
from benchmarks.scale.metered_engine import Metered
from benchmarks.synthetic import BLOCK, blocks, make
from hornbeam.data.binning.bins import Bins
from hornbeam.data.files.cache import EncodedCache
from hornbeam.data.files.parquet import scan_parquet
from hornbeam.data.table import Table
from hornbeam.evaluation import probability_rmse
from hornbeam.out_of_core.fit import fit
from hornbeam.out_of_core.plan import Plan
from hornbeam.out_of_core.sample import draw_sample
from hornbeam.recipe import PRESETS
from hornbeam.tree.evidence.count import count_on_all
from hornbeam.tree.route import predict_rows
from hornbeam.tuning.cross_fitted import CrossFitted

RESULTS = Path(__file__).parents[1] / "results" / "scale"
GROUP_BLOCKS = 16  # blocks of rows in a row group: 262,144 rows
FILE_GROUPS = 32
SETS = ("covtype", "census-income", "kddcup99-10pct")
SHARES = (0.02, 0.05, 0.1, 0.25, 0.5)
TASKS = 8  # among which rows are dealt where bytes are measured


# ---- rows ----------------------------------------------------------------------------------------------


def write(folder: Path, rows: int, features: int, classes: int) -> Path:
    """Write the rows of `data.make` as float32 to Parquet files, unless they are there."""
    place = folder / f"{rows}x{features}x{classes}"
    if (place / "done").exists():
        return place
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    groups = map(_group, batched(blocks(rows, classes, features), GROUP_BLOCKS))
    for number, some in enumerate(batched(groups, FILE_GROUPS)):
        with pq.ParquetWriter(
            place / f"{number:05d}.parquet", some[0].schema, compression="snappy", use_dictionary=False
        ) as file:
            for group in some:
                file.write_table(group, row_group_size=GROUP_BLOCKS * BLOCK)
    (place / "done").touch()
    return place


def _group(some: Iterable[tuple[Any, Any]]) -> pa.Table:
    X, y = (np.concatenate(parts) for parts in zip(*some, strict=True))
    columns = {f"x{j}": column for j, column in enumerate(X.T.astype(np.float32))}
    return pa.table({**columns, "y": y.astype(np.int8)})


# ---- one fit, in a process of its own ------------------------------------------------------------------


def one_fit(folder: str, grow_rows: int, memory: int, depth: int | None, threads: int) -> dict[str, Any]:
    """Fit the default tree to files; CPU seconds by task, peak memory, and the loss on 100,000 other rows."""
    engine, recipe = Metered(threads), PRESETS["default"]
    recipe = replace(recipe, grower=replace(recipe.grower, max_depth=depth))
    _warm_up()
    cpu, wall = time.process_time(), time.perf_counter()
    source = scan_parquet(folder, target="y", engine=engine)
    fitter = CrossFitted(recipe)
    tree = fit(source, fitter, engine, plan=Plan.of(source, fitter, grow_rows, memory), n_jobs=threads)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    peak = _status("VmHWM")
    X, y = make(100_000, source.schema.n_classes, source.schema.n_features, seed=1)
    test = Table.read(X.astype(np.float32), y, feature_names=source.schema.names)
    phases: dict[str, float] = {}
    for each in engine.reductions:
        phases[each.task] = phases.get(each.task, 0.0) + each.cpu
    return {
        "rows": source.n_rows,
        "grow_rows": min(grow_rows, source.n_rows),
        "cpu": cpu,
        "wall": wall,
        "peak_gb": peak,
        "phases": phases | {"at home": cpu - sum(phases.values())},
        "n_passes": len(engine.reductions),
        "n_leaves": tree.n_leaves,
        "depth": tree.depth,
        "rmse": probability_rmse(y, predict_rows(tree, test)),
        "digest": tree.digest,
    }


def _warm_up() -> None:
    """Load every library before the clock starts."""
    with TemporaryDirectory() as folder:
        place = write(Path(folder), 2000, 2, 2)
        source, fitter = scan_parquet(place, target="y"), CrossFitted(PRESETS["default"])
        fit(source, fitter, plan=Plan.of(source, fitter, memory=50_000))


def _status(name: str) -> float:
    """Gigabytes from this process's page of the kernel (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) * 1024 / 1e9


def in_new_process(**job: Any) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.scale.fits", "one-fit", json.dumps(job)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return dict(json.loads(done.stdout.splitlines()[-1]))


# ---- the benchmarks ------------------------------------------------------------------------------------


def growth(options: argparse.Namespace) -> list[dict[str, Any]]:
    """What a fit costs as rows grow, all of them grown on or a sample."""
    records = []
    for rows in options.rows:
        place = write(options.scratch, rows, options.features, options.classes)
        for way in options.ways:
            found = in_new_process(
                folder=str(place),
                grow_rows=rows if way == "all" else max(1, min(options.sample, rows // 2)),
                memory=_memory(options, rows),
                depth=options.depth,
                threads=options.threads,
            )
            per_row = {task: 1e9 * cpu / rows for task, cpu in found["phases"].items()}
            records.append(
                {"way": way, **found, "ns_per_row": per_row, "within_1.5_gb": found["peak_gb"] < 1.5}
            )
            print(json.dumps(rounded(records[-1])), flush=True)
    return records


def sample(options: argparse.Namespace) -> list[dict[str, Any]]:
    """How much less CPU a sample takes, and how much worse its tree is."""
    options.ways = ("sample", "all")
    records = growth(options)
    for one, other in batched(list(records), 2):
        ratio, apart = other["cpu"] / one["cpu"], one["rmse"] - other["rmse"]
        records.append({"rows": one["rows"], "cpu_ratio": ratio, "rmse_difference": apart})
    return records


def _memory(options: argparse.Namespace, rows: int) -> int:
    """Small enough that rows stay where they are, also where there are few."""
    return int(min(options.memory, rows * (8 * options.features + 12) // 2))


def loss(options: argparse.Namespace) -> list[dict[str, Any]]:
    """What growing on a share of the rows and counting all costs on real sets: one fold in ten is asked."""
    from benchmarks.quality.studies.sets import Fold, index, load
    from hornbeam.data.sources import MemorySource

    if options.data is None:
        raise SystemExit("loss needs --data DIR, a folder with index.csv as of study.py")
    known = {entry.name for entry in index(options.data)}
    records = []
    for entry in index(options.data, [name for name in SETS if name in known]):
        fold = Fold(load(entry), 0)
        train, test = fold.table(fold.train), fold.table(fold.test)
        source, fitter = MemorySource(train), CrossFitted(PRESETS["default"])
        base = None
        for share in (1.0, *SHARES[::-1]):
            n = round(share * train.n_rows)
            begin = time.process_time()
            tree = fit(source, fitter, plan=Plan.of(source, fitter, n, 2**40))
            cpu = time.process_time() - begin
            lost = probability_rmse(test.target, predict_rows(tree, test), labels=range(tree.n_classes))
            only = lost if share == 1 else _sample_alone(source, fitter, n, test)
            base = lost if base is None else base
            records.append(
                {
                    "set": entry.name,
                    "rows": train.n_rows,
                    "share": share,
                    "rmse": lost,
                    "difference": lost - base,
                }
                | {"rmse_uncounted": only, "n_leaves": tree.n_leaves, "cpu": cpu}
            )
            print(json.dumps(rounded(records[-1])), flush=True)
    return records


def _sample_alone(source: Any, fitter: CrossFitted, n: int, test: Table) -> float:
    """The loss without counting the other rows."""
    tree = fitter.fit(draw_sample(source, Metered(), n))
    return probability_rmse(test.target, predict_rows(tree, test), labels=range(tree.n_classes))


def travelling(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Bytes that tasks hand on in every pass of the level phase, as predicted and as pickled."""
    records = []
    for rows in options.rows:
        place = write(options.scratch, rows, options.features, options.classes)
        engine = Metered(1, n_tasks=TASKS, weigh=True)
        source = scan_parquet(place, target="y")
        bins = Bins.fit(source, Metered())
        cache = EncodedCache.write(source, bins, options.scratch / "codes", Metered())
        grower = replace(PRESETS["default"].grower, max_depth=options.depth or 8)
        told: list[Any] = []
        grower.grow_by_level(
            cache, bins, source.schema, engine, gather_rows=options.home, on_progress=told.append
        )
        cache.remove()
        # The survey tells before a pass is counted; after it every pass is one reduction.
        for one, note in zip(told[1:], engine.reductions[-len(told) + 1 :], strict=True):
            # Beside each row that is brought home its node travels, in 4 bytes.
            predicted = one.predicted_bytes(note.n_tasks) + 4 * one.n_rows * (one.phase == "gather")
            shape = {"rows": rows, "phase": one.phase, "level": one.level, "n_nodes": one.n_nodes}
            error = note.moved / predicted - 1
            records.append(
                {
                    **shape,
                    "tasks": note.n_tasks,
                    "predicted": predicted,
                    "measured": note.moved,
                    "error": error,
                }
            )
            print(json.dumps(rounded(records[-1])), flush=True)
    return records


def rates(options: argparse.Namespace) -> list[dict[str, Any]]:
    """CPU seconds of each kind of work, for the cost model: values or rows a second and core."""
    [rows] = options.rows
    values = rows * options.features
    place, folder = write(options.scratch, rows, options.features, options.classes), options.scratch / "codes"
    source, engine = scan_parquet(place, target="y"), Metered()
    bins = Bins.fit(source, engine)
    some = draw_sample(source, engine, rows // 5)
    tree = PRESETS["default"].fit(some)
    seconds = {
        "survey": _least(lambda: scan_parquet(place, target="y")),
        "cuts": _least(lambda: Bins.fit(source, engine)),
        "cache": _least(lambda: EncodedCache.write(source, bins, folder, engine).remove()),
        "sample": _least(lambda: draw_sample(source, engine, rows // 30)),
        "count": _least(lambda: count_on_all(tree, source, engine)),
        "grow": 5 * _least(lambda: PRESETS["default"].fit(some)),
    }
    work = {"survey": rows, "count": rows}
    found: list[dict[str, Any]] = [
        {"work": name, "per_second": work.get(name, values) / cpu} for name, cpu in seconds.items()
    ]
    cache = EncodedCache.write(source, bins, folder, engine)
    found += _level_rates([_one_growth(source, cache, bins) for _ in range(3)], values)
    cache.remove()
    for each in found:
        print(json.dumps(rounded(each)), flush=True)
    return found


def _one_growth(source: Any, cache: EncodedCache, bins: Bins) -> tuple[list[tuple[Any, Any]], float]:
    """Every pass of growing level by level to depth 13, with its reduction; CPU seconds of the driver."""
    grower, told, metered = replace(PRESETS["default"].grower, max_depth=13), [], Metered()
    begin = time.process_time()
    grower.grow_by_level(cache, bins, source.schema, metered, gather_rows=0, on_progress=told.append)
    driver = time.process_time() - begin - sum(note.cpu for note in metered.reductions)
    return list(zip(told[1:], metered.reductions[-len(told) + 1 :], strict=True)), driver


def _level_rates(growths: list[tuple[list[tuple[Any, Any]], float]], values: int) -> list[dict[str, Any]]:
    """Values a second at each level, in the best of some growths, and seconds of the driver for each node."""
    found = []
    for level in sorted({one.level for one, _ in growths[0][0]}):
        passes = [[(one, note) for one, note in levels if one.level == level] for levels, _ in growths]
        cpu = min(sum(note.cpu for _, note in here) for here in passes)
        n_nodes = sum(one.n_nodes for one, _ in passes[0])
        found.append({"work": "level", "level": level, "n_nodes": n_nodes, "per_second": values / cpu})
    driver, n_nodes = min(driver for _, driver in growths), sum(each["n_nodes"] for each in found)
    return [*found, {"work": "driver", "per_second": n_nodes / driver}]


def _least(work: Any, times: int = 3) -> float:
    laps = []
    for _ in range(times):
        begin = time.process_time()
        work()
        laps.append(time.process_time() - begin)
    return min(laps)


# ---- the command line ----------------------------------------------------------------------------------

BENCHMARKS = {"growth": growth, "sample": sample, "loss": loss, "bytes": travelling, "rates": rates}


def main(arguments: list[str] | None = None) -> None:
    if (arguments or sys.argv[1:])[:1] == ["one-fit"]:
        print(json.dumps(one_fit(**json.loads((arguments or sys.argv[1:])[1]))))
        return
    top = argparse.ArgumentParser(prog="scale.py", description=__doc__.splitlines()[0] if __doc__ else None)
    commands = top.add_subparsers(dest="benchmark", required=True)
    for name, benchmark in BENCHMARKS.items():
        command = commands.add_parser(name, help=benchmark.__doc__)
        add = command.add_argument
        add("--rows", type=_sizes, default=[1_000_000], metavar="N,N")
        add("--features", type=int, default=20)
        add("--classes", type=int, default=2)
        add("--depth", type=int, default=None, help="depth limit")
        add("--threads", type=int, default=1)
        add("--memory", type=int, default=2**29, help="bytes rows may take in the process")
        add("--sample", type=int, default=3_000_000, help="rows grown on, at most half of all")
        add("--ways", type=lambda text: text.split(","), default=["sample", "all"])
        add("--home", type=int, default=20_000, help="rows of nodes that are brought together")
        add("--scratch", type=Path, default=Path(".scale"), help="where rows are kept")
        add("--data", type=Path, default=None, help="folder of real sets")
        add("--out", type=Path, default=None, help="where results go, if not results/scale")
    options = top.parse_args(arguments)
    records = BENCHMARKS[options.benchmark](options)
    out = options.out or RESULTS / f"{options.benchmark}.jsonl"
    out.parent.mkdir(parents=True, exist_ok=True)
    lines = [*records, {"machine": machine(), "command": " ".join(sys.argv[1:])}]
    out.write_text("".join(json.dumps(rounded(line)) + "\n" for line in lines))


def _sizes(text: str) -> list[int]:
    return [int(float(each)) for each in text.split(",")]


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    return float(f"{value:.4g}") if isinstance(value, float) else value


if __name__ == "__main__":
    main()
