"""How large a model is on the disk, and how long it takes to keep it and to bring it back.

    python -m benchmarks.export.storage --json benchmarks/results/storage/storage.jsonl

One tree of two classes, grown to a number of nodes; scikit-learn gets the same tree, LightGBM and XGBoost grow one of
as many leaves on the same rows. What comes back is checked by its probabilities; Hornbeam also checks every invariant
of the tree and the fingerprint of the file. Exit status 1 if Hornbeam took more than a second to load one.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np

import hornbeam
from benchmarks.output import machine
from benchmarks.synthetic import Floats, Labels, make
from benchmarks.timing import Stopwatch, describe, race
from hornbeam.interop import to_sklearn

type Record = dict[str, Any]

PATIENCE = 1.0  # seconds to load and check the largest model


@dataclass(frozen=True, slots=True)
class Shelf:
    """A way to keep a model: the file, how to write and how to read it, and how the model predicts."""

    name: str
    model: Any
    save: Callable[[Any, Path], object]
    load: Callable[[Path], Any]
    answer: Callable[[Any, Floats], Any]
    n_nodes: int

    def turn(self, path: Path, X: Floats, watch: Stopwatch) -> Record:
        """Save and load once."""
        with watch("save"):
            self.save(self.model, path)
        with watch("load"):
            again = self.load(path)
        same = np.array_equal(self.answer(self.model, X), self.answer(again, X))
        data = path.read_bytes()
        # A few repeats of the same bytes tell nothing new: the packing is not timed.
        return {"bytes": len(data), "gzip": len(gzip.compress(data, 6)), "same": same, "nodes": self.n_nodes}


def shelves(nodes: int) -> Iterator[Shelf | tuple[str, str]]:
    """Every way to keep a tree of this many nodes, or its name and why it is missing."""
    leaves = (nodes + 1) // 2
    X, _ = make(2000 + 3 * nodes, 2, 10)
    y = np.random.default_rng(0).integers(0, 2, len(X))  # tossed: no tree is done before it is large enough
    tree = hornbeam.TreeClassifier(smoothing="hgs", pruning=None, max_leaf_nodes=leaves).fit(X, y)
    twin = to_sklearn(tree.tree_, on_missing="majority")
    ask = type(tree).predict_proba, type(twin).predict_proba
    n = tree.tree_.n_nodes
    for name in ("model.hornbeam", "model.safetensors"):
        yield Shelf(name, tree, hornbeam.save, hornbeam.load, ask[0], n)
    yield Shelf("scikit-learn.joblib", twin, joblib.dump, joblib.load, ask[1], n)
    yield Shelf("scikit-learn.joblib.gz", twin, partial(joblib.dump, compress=3), joblib.load, ask[1], n)
    for name, grown in (("lightgbm.txt", _lightgbm), ("xgboost.ubj", _xgboost)):
        try:
            yield grown(X, y, leaves)
        except ImportError as error:
            yield name, describe(error)


def _lightgbm(X: Floats, y: Labels, leaves: int) -> Shelf:
    import lightgbm

    settings = {
        "objective": "binary", "num_leaves": leaves, "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 0.0,
        "num_threads": 1, "verbose": -1,
    }  # fmt: skip
    model = lightgbm.train(settings, lightgbm.Dataset(X, y), 1)
    return Shelf(
        "lightgbm.txt",
        model,
        lambda booster, path: booster.save_model(path),
        lambda path: lightgbm.Booster(model_file=path),
        lambda booster, X: booster.predict(X),
        2 * model.dump_model()["tree_info"][0]["num_leaves"] - 1,
    )


def _xgboost(X: Floats, y: Labels, leaves: int) -> Shelf:
    import xgboost

    settings = {
        "objective": "binary:logistic", "grow_policy": "lossguide", "max_leaves": leaves, "max_depth": 0,
        "min_child_weight": 0, "lambda": 0, "nthread": 1,
    }  # fmt: skip
    model = xgboost.train(settings, xgboost.DMatrix(X, y), 1)
    return Shelf(
        "xgboost.ubj",
        model,
        lambda booster, path: booster.save_model(path),
        lambda path: xgboost.Booster(model_file=path),
        lambda booster, X: booster.predict(xgboost.DMatrix(X)),
        len(model.get_dump()[0].splitlines()),
    )


def measure(nodes: int, repeats: int) -> Iterator[Record]:
    """Bytes and seconds of every way to keep a tree."""
    X, _ = make(200, 2, 10, seed=1)
    with tempfile.TemporaryDirectory() as folder:
        runners = {}
        for shelf in shelves(nodes):
            if isinstance(shelf, tuple):
                yield {"bench": "storage", "asked_nodes": nodes, "file": shelf[0], "reason": shelf[1]}
            else:
                runners[shelf.name] = partial(shelf.turn, Path(folder, shelf.name), X)
        for name, result in race(runners, repeats=repeats).items():
            found = {"reason": result.error} if result.error else dict(result.facts)
            seconds = (
                {f"{part}_seconds": lap.cpu for part, lap in result.parts.items()} if result.rounds else {}
            )
            yield {"bench": "storage", "asked_nodes": nodes, "file": name, **found, **seconds}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, nargs="+", default=[100, 10_000, 100_000], metavar="N")
    parser.add_argument("--repeats", type=int, default=5, metavar="N")
    parser.add_argument("--json", type=Path, help="also write the records to this file")
    options = parser.parse_args()
    records = [record for nodes in options.nodes for record in measure(nodes, options.repeats)]
    print(
        "| file | nodes | bytes | bytes a node | gzip | save, ms | load, ms |\n|---|--:|--:|--:|--:|--:|--:|"
    )
    for r in records:
        if "reason" in r:
            print(f"| {r['file']} | {r['asked_nodes']:,} | {r['reason']} | | | | |")
        else:
            sizes = f"{r['nodes']:,} | {r['bytes']:,} | {r['bytes'] / r['nodes']:.0f} | {r['gzip']:,}"
            print(
                f"| {r['file']} | {sizes} | {1e3 * r['save_seconds']:.1f} | {1e3 * r['load_seconds']:.1f} |"
            )
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        lines = [*records, {"bench": "about", "repeats": options.repeats, **machine()}]
        options.json.write_text("".join(json.dumps(line) + "\n" for line in lines))
    ours = [r for r in records if r["file"].startswith("model.")]
    return not all(r.get("same") and r["load_seconds"] <= PATIENCE for r in ours)


if __name__ == "__main__":
    sys.exit(main())
