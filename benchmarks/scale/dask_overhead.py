"""What growing on Dask costs beside the bare histogram kernel on the same workers, and beside peers.

    python -m benchmarks.scale.dask_overhead ratio --rows 2e7 --scratch DIR    `grow_by_level` over bare sums
    python -m benchmarks.scale.dask_overhead regression --rows 2e7 --scratch DIR    the same for a numeric target
    python -m benchmarks.scale.dask_overhead peers --rows 2e7 --scratch DIR    files to one tree: LightGBM, XGBoost, us

`bare` folds the same partitions of the same cache on the same workers, level by level, into the same sums, and does
nothing else: the slot of every row lies ready in a file. For a numeric target, here the class read as a number, it adds
up no squares, which our fit needs for corrected splits and for the evidence of the leaves. `peers` train one round of
the same depth from the same Parquet files, each with its own way of reading and binning. All take turns, round after
round; the least of each counts, wall and CPU of the whole tree of processes. Results are JSON lines under ``--out``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from operator import iadd
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np
import psutil
from distributed import Client

from benchmarks.faults.disturbed_fit import cluster, warm
from benchmarks.output import machine
from benchmarks.scale.fits import rounded, write
from benchmarks.scale.levels import orders_of
from hornbeam.data.binning.bins import Bins
from hornbeam.data.engine import group_partitions
from hornbeam.data.files.cache import EncodedCache
from hornbeam.data.files.parquet import scan_parquet
from hornbeam.data.schema import Kind
from hornbeam.data.sources import Partition
from hornbeam.engines import DaskEngine
from hornbeam.kernels import levelwise, subtree
from hornbeam.out_of_core.fit import fit
from hornbeam.out_of_core.plan import Plan
from hornbeam.recipe import PRESETS, REGRESSION_PRESETS
from hornbeam.tree.evidence.count import evidence_units

RESULTS = Path(__file__).parents[1] / "results" / "engines"
FEATURES, DEPTH = 20, 8
RECIPE = replace(PRESETS["default"], grower=replace(PRESETS["default"].grower, max_depth=DEPTH))
NUMERIC = replace(
    REGRESSION_PRESETS["default"], grower=replace(REGRESSION_PRESETS["default"].grower, max_depth=DEPTH)
)


# ---- the bare kernel -----------------------------------------------------------------------------------


def _slots_file(folder: Path, number: int, partition: Partition) -> Path:
    return folder / f"{number}-{partition.begin}.npy"


def _lay_slots(partitions: Sequence[Partition], shared: Any) -> list[int]:
    """Write down where each row is counted in each pass: a task."""
    cache, folder, orders = shared
    for number, (terms, guide, slot_of_node) in enumerate(orders):
        for partition in partitions:
            node = levelwise.descend(cache.read(partition).codes, terms, guide)
            np.save(_slots_file(folder, number, partition), slot_of_node[node])
    return [0]


def _bare(
    partitions: Sequence[Partition], cache: EncodedCache, folder: Path, number: int, terms: Any, n_slots: int
) -> Any:
    """Add up the cells of one pass: a task."""
    cells = subtree.zero_cells(terms, n_slots, weighted=False)
    for partition in partitions:
        rows, slots = cache.read(partition), np.load(_slots_file(folder, number, partition), mmap_mode="c")
        subtree.histogram(rows, terms, 0, rows.n_rows, cells, slots)
    return cells


def _sum(parts: list[Any]) -> Any:
    total = parts[0].copy()
    for part in parts[1:]:
        iadd(total, part)
    return total


def ratio(client: Client, options: argparse.Namespace, *, numeric: bool = False) -> list[dict[str, Any]]:
    """Our growing over the same sums without us."""
    place = write(options.scratch, options.rows, FEATURES, 2)
    engine, recipe = DaskEngine(client), NUMERIC if numeric else RECIPE
    kind = Kind.NUMERIC if numeric else Kind.NOMINAL
    source = scan_parquet(place, target="y", target_kind=kind, engine=engine)
    bins = Bins.fit(source, engine, max_bins=recipe.bins_for(source.n_rows))
    cache = EncodedCache.write(source, bins, options.scratch / "codes", engine)
    target = {"unit": evidence_units(source), "target": source} if numeric else {}
    orders = orders_of(recipe.grower, cache, bins, source.schema, target)
    folder = options.scratch / "slots"
    rmtree(folder, ignore_errors=True)
    folder.mkdir()
    known = [(order.context.spec, order.context.code_tree, order.slot_of_node) for order in orders]
    engine.reduce(_lay_slots, cache.partitions(), (cache, folder, known))
    groups = group_partitions(cache.partitions(), 3 * engine.parallelism)

    def bare() -> None:
        for number, order in enumerate(orders):
            task = partial(
                _bare,
                cache=cache,
                folder=folder,
                number=number,
                terms=order.context.spec,
                n_slots=order.n_slots,
            )
            client.submit(_sum, client.map(task, groups, pure=False), pure=False).result()

    def grow() -> str:
        return recipe.grower.grow_by_level(cache, bins, source.schema, engine, gather_rows=0, **target).digest

    try:
        records = turns(client, options.rounds, {"bare": bare, "grow": grow})
    finally:
        rmtree(folder)
    for record in records[1:]:
        record["cpu_ratio"] = record["cpu"] / records[0]["cpu"]
        record["wall_ratio"] = record["wall"] / records[0]["wall"]
    local = orders[0].context.spec
    return [
        *records,
        {"passes": len(orders), "cells": int(local.n_cells), "partitions": len(cache.partitions())},
    ]


# ---- peers ---------------------------------------------------------------------------------------------


def _frame(place: Path) -> tuple[Any, Any]:
    import dask.dataframe

    frame = dask.dataframe.read_parquet(place, split_row_groups=4).persist()
    return frame[[f"x{f}" for f in range(FEATURES)]], frame["y"]


def lightgbm(client: Client, place: Path) -> None:
    from lightgbm.dask import DaskLGBMClassifier

    model = DaskLGBMClassifier(
        client=client, n_estimators=1, max_depth=DEPTH, num_leaves=2**DEPTH, n_jobs=1, verbose=-1, max_bin=255
    )
    model.fit(*_frame(place))


def xgboost(client: Client, place: Path) -> None:
    from xgboost import dask as xgboost

    settings = {"tree_method": "hist", "max_depth": DEPTH, "objective": "binary:logistic", "nthread": 1}
    rows = xgboost.DaskQuantileDMatrix(client, *_frame(place), max_bin=256)
    xgboost.train(client, {**settings, "max_bin": 256}, rows, num_boost_round=1)


def ours(client: Client, place: Path, scratch: Path) -> str:
    engine, codes = DaskEngine(client), scratch / "fresh-codes"
    source = scan_parquet(place, target="y", engine=engine)
    tree = fit(source, RECIPE, engine, plan=Plan.of(source, RECIPE, source.n_rows, 2**28), cache=codes)
    rmtree(codes, ignore_errors=True)  # so that each turn makes its own
    return tree.digest


def peers(client: Client, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Files to one tree of the same depth, whatever each library does on the way."""
    place = write(options.scratch, options.rows, FEATURES, 2)
    named: dict[str, Callable[[], Any]] = {
        "hornbeam": partial(ours, client, place, options.scratch),
        "xgboost": partial(xgboost, client, place),
        "lightgbm": partial(lightgbm, client, place),
    }
    records = turns(client, options.rounds, named)
    for record in records:
        record["cpu_ratio"] = record["cpu"] / records[0]["cpu"]
        record["wall_ratio"] = record["wall"] / records[0]["wall"]
    return records


# ---- measuring -----------------------------------------------------------------------------------------


def turns(client: Client, rounds: int, named: dict[str, Callable[[], Any]]) -> list[dict[str, Any]]:
    """Let all take turns; the least wall and CPU seconds of each."""
    laps: dict[str, list[tuple[float, float]]] = {name: [] for name in named}
    said: dict[str, Any] = {}
    for _ in range(rounds):
        for name, run in named.items():
            cpu, wall = _cpu(), time.perf_counter()
            said[name] = run()
            laps[name].append((_cpu() - cpu, time.perf_counter() - wall))
            print(name, *(round(figure, 2) for figure in laps[name][-1]), file=sys.stderr, flush=True)
            client.run(_forget)
    return [
        {
            "name": name,
            "cpu": min(cpu for cpu, _ in each),
            "wall": min(wall for _, wall in each),
            "rounds": rounds,
        }
        | ({} if said[name] is None else {"digest": said[name]})
        for name, each in laps.items()
    ]


def _forget() -> None:
    import gc

    gc.collect()


def _cpu() -> float:
    """CPU seconds of this process and all below it."""
    me = psutil.Process()
    times = [process.cpu_times() for process in (me, *me.children(recursive=True))]
    return sum(each.user + each.system for each in times)


BENCHMARKS = {"ratio": ratio, "regression": partial(ratio, numeric=True), "peers": peers}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("benchmark", choices=list(BENCHMARKS))
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=20_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--scratch", type=Path, default=Path(".scale"), help="where rows and codes are kept")
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    options.scratch = options.scratch.absolute()
    with cluster(options.workers, memory="8GiB") as client:
        warm(client)
        records = BENCHMARKS[options.benchmark](client, options)
    out = options.out or RESULTS / f"{options.benchmark.replace('regression', 'ratio-regression')}.jsonl"
    lines = [*records, {"machine": machine(), "command": " ".join(sys.argv[1:])}]
    out.write_text("".join(json.dumps(rounded(line)) + "\n" for line in lines))
    print(*map(json.dumps, map(rounded, records)), sep="\n")


if __name__ == "__main__":
    main()
