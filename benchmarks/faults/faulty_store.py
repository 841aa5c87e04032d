"""Fit and predict through a store that loses responses, and see whether tree and predictions are the same.

    python -m benchmarks.faults.faulty_store --out benchmarks/results/engines

Rows and predictions are in an S3 server of this machine, behind a proxy: 5 % of the requests get 503, or
their connection is reset, or the response stops in the middle; 1 % hang for 10 seconds. Each run has another seed.
The digest must be that of the rows on disk, and every row must be predicted once. Every run is a line of JSON in
``faulty_store.jsonl``; the last line sums up. Exit status 1 if anything differed. Needs moto, flask and flask-cors.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.fs import FileSelector, FileSystem

from benchmarks.faults.disturbed_fit import Watched, grow, write_rows
from benchmarks.faults.object_store import CREDENTIALS, Proxy, address, random_faults, s3_server
from benchmarks.output import machine
from hornbeam import TreeClassifier
from hornbeam.data.engine import LocalEngine

SHARE, HANGING, SECONDS = 0.05, 0.01, 10.0


def copy_rows(folder: Path, port: int) -> None:
    """Copy the files of a folder to the store."""
    store, bucket = FileSystem.from_uri(address("rows", port))
    for file in folder.glob("*.parquet"):
        with store.open_output_stream(f"{bucket}/{file.name}") as sink:
            sink.write(file.read_bytes())


def predictions(folder: str) -> Any:
    """The probabilities in a folder of the store, in the order of the files."""
    store, path = FileSystem.from_uri(folder)
    names = sorted(
        info.path for info in store.get_file_info(FileSelector(path)) if info.extension == "parquet"
    )
    tables = [pq.read_table(store.open_input_file(name)) for name in names]
    return pa.concat_tables(tables).to_pandas().filter(like="p_").to_numpy()


def run(
    seed: int, rows: Path, port: int, model: TreeClassifier, digest: str, expected: Any
) -> dict[str, Any]:
    """One fit and one call of `predict_to`."""
    begin, name = time.perf_counter(), f"predictions-{seed}"
    with (
        Proxy(port, random_faults(seed, SHARE, HANGING), SECONDS) as proxy,
        tempfile.TemporaryDirectory() as cache,
    ):
        found = grow(address("rows", proxy.port), Watched(LocalEngine(2)), Path(cache))
        written = model.predict_to(address("rows", proxy.port), address(name, proxy.port))
    return {
        "seed": seed,
        "same_digest": found == digest,
        "same_predictions": written.n_rows == len(expected)
        and bool(np.array_equal(predictions(address(name, port)), expected)),
        "requests": len(proxy.requests),
        "faults": dict(sorted(proxy.faults.items())),
        "seconds": round(time.perf_counter() - begin, 1),
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    os.environ |= CREDENTIALS
    runs = []
    with tempfile.TemporaryDirectory() as folder, s3_server() as port:
        rows = Path(folder)
        write_rows(rows, options.rows)
        copy_rows(rows, port)
        digest = grow(rows, Watched(LocalEngine(2)), rows / "cache")
        model = TreeClassifier("cart", max_depth=6).fit(rows, "y")
        expected = model.predict_proba(rows)
        for seed in range(options.runs):
            runs.append(run(seed, rows, port, model, digest, expected))
            print(json.dumps(runs[-1]), flush=True)
            same = all(one["same_digest"] and one["same_predictions"] for one in runs)
            command = " ".join(["python -m benchmarks.faults.faulty_store", *sys.argv[1:]])
            about = {
                "command": command,
                "rows": options.rows,
                "digest": digest,
                "all_same": same,
                **machine(),
            }
            if options.out:
                lines = [json.dumps(line) + "\n" for line in [*runs, about]]
                (options.out / "faulty_store.jsonl").write_text("".join(lines))
    return not same


if __name__ == "__main__":
    sys.exit(main())
