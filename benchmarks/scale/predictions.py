"""`predict_to` beside bare reading, routing and writing; its memory; and kills of drivers and workers.

    python -m benchmarks.scale.predictions rate --rows 2e6 --scratch DIR     both in turn, in one process
    python -m benchmarks.scale.predictions memory --rows 2e6 --scratch DIR   most memory of a process that predicts
    python -m benchmarks.scale.predictions kills --kills 10 --scratch DIR    SIGKILL of drivers and of Dask workers

The rows have 20 numbers and a column of 2,000 categories. `bare` reads the columns that the tree uses with pyarrow,
looks up the category codes, routes the rows, and writes class and probabilities with the same Parquet settings, one
file per row group; it checks nothing, and its files are neither synced nor renamed. Results are JSON lines.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks import synthetic
from benchmarks.output import machine
from hornbeam import TreeClassifier, load, save
from hornbeam.data.files.parquet_writer import write_parquet
from hornbeam.estimators.methods.column_names import required_columns

RESULTS = Path(__file__).parents[1] / "results" / "scale" / "predictions.jsonl"
FEATURES, CATEGORIES, GROUP_ROWS = 20, 2_000, 1 << 17


def prepare(scratch: Path, n_rows: int, group_rows: int = GROUP_ROWS) -> tuple[Path, Path]:
    """Write rows and a model, unless they exist."""
    rows, model = scratch / f"rows-{n_rows}-{group_rows}", scratch / "model.hornbeam"
    if not rows.exists():
        names = np.array([f"category {at:04d}" for at in range(CATEGORIES)])
        rng = np.random.default_rng(0)
        X, y = synthetic.make(n_rows, classes=2, features=FEATURES)
        codes = rng.integers(0, CATEGORIES, n_rows)
        columns: dict[str, Any] = {f"x{at}": X[:, at].astype(np.float32) for at in range(FEATURES)}
        columns["category"] = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(names))
        columns["number"] = np.arange(n_rows)
        write_parquet(pa.table(columns), rows / "rows.parquet", group_rows=group_rows)
        if not model.exists():
            some = slice(min(n_rows, 200_000))
            frame = pa.table(columns).drop_columns("number")[some].to_pandas()
            label = np.where((y[some] == 1) ^ (codes[some] % 7 == 0), "yes", "no")
            save(TreeClassifier("cart", max_depth=10).fit(frame, label), model)
    return rows, model


def bare(rows: Path, model: Any, target: Path) -> None:
    """Read, route and write, and do nothing else."""
    tree = model.tree_
    used, router = sorted(required_columns(tree)), tree.skeleton.router
    belief, classes = np.ascontiguousarray(tree.belief.T), pa.array(tree.schema.classes)
    decided = tree.decision(tree.belief).astype(np.int32)
    target.mkdir()
    [file] = rows.glob("*.parquet")
    parquet = pq.ParquetFile(file, read_dictionary=["category"])
    for group in range(parquet.metadata.num_row_groups):
        table = parquet.read_row_group(group, columns=used, use_threads=False)
        blank, columns = np.zeros(len(table)), []
        for feature in tree.schema.features:
            if feature.name not in used:
                columns.append(blank.astype(np.int32) if feature.categories else blank)
            elif feature.categories:
                column = table[feature.name].combine_chunks()
                code = pc.index_in(column.dictionary, pa.array(feature.categories)).to_numpy(
                    zero_copy_only=False
                )
                columns.append(code.astype(np.int32).take(column.indices.to_numpy()))
            else:
                columns.append(table[feature.name].to_numpy().astype(np.float64))
        nodes = router.nodes(columns)
        found = {"prediction": pa.DictionaryArray.from_arrays(pa.array(decided.take(nodes)), classes)}
        found |= {
            f"p_{label}": one.take(nodes) for label, one in zip(tree.schema.classes, belief, strict=True)
        }
        pq.write_table(
            pa.table(found),
            target / f"part-{group:08d}.parquet",
            use_dictionary=["prediction"],
            row_group_size=1 << 20,
        )


def rate(n_rows: int, scratch: Path, rounds: int) -> dict[str, Any]:
    """CPU and wall seconds of both in turn; the least of each counts."""
    rows, path = prepare(scratch, n_rows)
    model = load(path)
    least: dict[str, list[float]] = {}
    for at in range(rounds):
        for name in ("bare", "predict_to") if at % 2 else ("predict_to", "bare"):
            target = scratch / name
            rmtree(target, ignore_errors=True)
            cpu, wall = time.process_time(), time.monotonic()
            bare(rows, model, target) if name == "bare" else model.predict_to(rows, target)
            took = [time.process_time() - cpu, time.monotonic() - wall]
            least[name] = [min(pair) for pair in zip(took, least.get(name, took), strict=True)]
    files = [pq.read_table(scratch / name) for name in ("bare", "predict_to")]
    assert files[0].equals(files[1]), "both write the same rows"
    (bare_cpu, bare_wall), (cpu, wall) = least["bare"], least["predict_to"]
    return {
        "what": "rate",
        "rows": n_rows,
        "rounds": rounds,
        "bare_cpu": bare_cpu,
        "predict_to_cpu": cpu,
        "rate_by_cpu": bare_cpu / cpu,
        "bare_wall": bare_wall,
        "predict_to_wall": wall,
        "rate_by_wall": bare_wall / wall,
    }


def memory(n_rows: int, scratch: Path) -> dict[str, Any]:
    """Most memory of a process that predicts, and of one that only imports and loads, in bytes."""
    rows, path = prepare(scratch, n_rows)
    start = f"import hornbeam, pyarrow.parquet; model = hornbeam.load({str(path)!r})"
    target = scratch / "memory"
    rmtree(target, ignore_errors=True)
    whole = f"{start}; model.predict_to({str(rows)!r}, {str(target)!r}, keep=['number'], leaf=True)"
    most = {name: _most_memory(program) for name, program in (("start", start), ("predict_to", whole))}
    group = GROUP_ROWS * 8 * (FEATURES + 2)
    return {"what": "memory", "rows": n_rows, "row_group_of_numbers": group, **most}


def _most_memory(program: str) -> int:
    """Linux alone: the kernel's high-water mark of the process, in which nothing of this one is counted."""
    mark = "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    result = subprocess.run(
        [sys.executable, "-c", f"{program}\n{mark}"], check=True, capture_output=True, text=True
    )
    return int(result.stdout.split()[-2]) * 1024


def kills(n_kills: int, scratch: Path, seed: int) -> dict[str, Any]:
    """Kill drivers (even kills) and Dask workers (odd ones) while they write; compare with the rows in memory."""
    rng, n_rows = random.Random(seed), 200_000
    rows, path = prepare(scratch, n_rows, 500)
    target = scratch / "killed"
    rmtree(target, ignore_errors=True)
    done = {"driver": 0, "worker": 0}
    while sum(done.values()) < n_kills:
        victim = "driver" if sum(done.values()) % 2 == 0 else "worker"
        program = [sys.executable, "-m", "benchmarks.scale.predictions", "driver", "--scratch", str(scratch)]
        driver = subprocess.Popen([*program, "--rows", str(n_rows)], stdout=subprocess.PIPE, text=True)
        assert driver.stdout is not None
        workers = json.loads(driver.stdout.readline())
        wanted = len(list(target.glob("part-*"))) + rng.randrange(1, 20)
        while driver.poll() is None and len(list(target.glob("part-*"))) < wanted:
            time.sleep(0.002)
        time.sleep(rng.random() * 0.02)
        if driver.poll() is None and not (target / "_manifest.json").exists():
            os.kill(driver.pid if victim == "driver" else rng.choice(workers), signal.SIGKILL)
            done[victim] += 1
            print(f"killed a {victim} after {len(list(target.glob('part-*')))} files", flush=True)
            if victim == "worker":
                time.sleep(rng.random())
                driver.kill()
        driver.wait()
        if (target / "_manifest.json").exists():
            print("complete before it could be killed: begins again", flush=True)
            rmtree(target)
    load(path).predict_to(rows, target, keep=["number"])
    found = pq.read_table(target)
    expected = load(path).predict_proba(str(rows))
    assert found["number"].to_numpy().tolist() == list(range(n_rows)), "no row is lost or repeated"
    assert (found["p_yes"].to_numpy() == expected[:, 1]).all(), "and each has its probability"
    return {"what": "kills", "rows": n_rows, "files": len(list(target.glob("part-*"))), **done}


def drive(n_rows: int, scratch: Path) -> None:
    """A driver with two Dask workers, whose numbers of processes it prints."""
    from benchmarks.faults.disturbed_fit import cluster
    from hornbeam.engines import DaskEngine

    rows, path = prepare(scratch, n_rows, 500)
    with cluster() as client:
        print(json.dumps(list(client.run(os.getpid).values())), flush=True)
        load(path).predict_to(rows, scratch / "killed", keep=["number"], engine=DaskEngine(client))


def main() -> None:
    """Run one of the parts, and write its result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["rate", "memory", "kills", "driver"])
    parser.add_argument("--rows", type=float, default=2e6)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    given.scratch.mkdir(parents=True, exist_ok=True)
    n_rows = int(given.rows)
    if given.part == "driver":
        drive(n_rows, given.scratch)
        return
    if given.part == "rate":
        result = rate(n_rows, given.scratch, given.rounds)
    elif given.part == "memory":
        result = memory(n_rows, given.scratch)
    else:
        result = kills(given.kills, given.scratch, given.seed)
    print(json.dumps(result, indent=1))
    with given.out.open("a") as file:
        file.write(json.dumps({**result, "machine": machine()}) + "\n")


if __name__ == "__main__":
    main()
