"""A forest on Dask beside local forests of as many trees on the same workers.

    python -m benchmarks.scale.dask_forest --rows 2e5 --scratch DIR

`local`: each worker reads all files and fits its share of the trees alone, without a word to the others. `dask`: one
`ForestClassifier` with a `DaskEngine` fits all trees, from the same files. Both take turns; the least of each counts,
wall and CPU of the whole tree of processes. The digest of the forest must be that of rows in memory. Results are JSON
lines.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from distributed import Client

from benchmarks.faults.disturbed_fit import cluster, warm
from benchmarks.output import machine
from benchmarks.scale.dask_overhead import turns
from benchmarks.scale.fits import rounded, write
from hornbeam import ForestClassifier
from hornbeam.engines import DaskEngine

RESULTS = Path(__file__).parents[1] / "results" / "engines" / "forest.jsonl"
FEATURES = 20


def _local(place: str, n_trees: int) -> None:
    """Fit a forest in a worker."""
    ForestClassifier(n_trees).fit(place, "y")


def measure(client: Client, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Both in turn."""
    place, n_trees = str(write(options.scratch, options.rows, FEATURES, 2)), options.trees

    def local() -> None:
        share = n_trees // options.workers
        client.gather(
            [
                client.submit(_local, place, share, workers=[worker], pure=False)
                for worker in client.scheduler_info()["workers"]
            ]
        )

    def dask() -> str:
        return ForestClassifier(n_trees).fit(place, "y", engine=DaskEngine(client)).forest_.digest

    records = turns(client, options.rounds, {"local": local, "dask": dask})
    if records[1]["digest"] != ForestClassifier(n_trees, n_jobs=-1).fit(place, "y").forest_.digest:
        raise SystemExit("the forest of Dask is not that of rows in memory")
    records[1]["cpu_ratio"] = records[1]["cpu"] / records[0]["cpu"]
    records[1]["wall_ratio"] = records[1]["wall"] / records[0]["wall"]
    return records


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=200_000)
    parser.add_argument("--trees", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--scratch", type=Path, default=Path(".scale"), help="where rows are kept")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    options.scratch = options.scratch.absolute()
    with cluster(options.workers, memory="8GiB") as client:
        warm(client)
        records = measure(client, options)
    lines = [*records, {"machine": machine(), "command": " ".join(sys.argv[1:])}]
    options.out.write_text("".join(json.dumps(rounded(line)) + "\n" for line in lines))
    print(*map(json.dumps, map(rounded, records)), sep="\n")


if __name__ == "__main__":
    main()
