"""How the time of a call grows with the size of what it is given.

    python -m benchmarks.scale.growth                       # every case
    python -m benchmarks.scale.growth --cases chain- --json # those whose name begins so, as JSON lines

Each case is measured at three sizes, each twice as large as the one before. The exponent is that of the last doubling:
1 is linear, 2 quadratic. Seconds are those of the processor, the least of some rounds.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import io
import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib.util import find_spec
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

import hornbeam
from hornbeam import RuleClassifier, TreeClassifier
from hornbeam import export as exports
from hornbeam.cli.group import hornbeam as command
from hornbeam.data.schema import Feature, Schema
from hornbeam.rules.extract import extract
from hornbeam.smoothing import HGS
from hornbeam.tree import Skeleton
from hornbeam.tree.tree import Tree

Work = Callable[[], object]
Case = tuple[tuple[int, int, int], Callable[[int], Work]]
_BRIEF = 2.0  # seconds; work that takes longer is not repeated


@cache
def chain(depth: int) -> Tree:
    """A smoothed tree of two classes, one leaf at every depth: alternating labels of a sorted column."""
    n = 2 * depth + 1
    place = np.arange(n)
    inner = (place % 2 == 0) & (place < n - 1)
    rest = depth - place // 2  # leaves that the node and those behind it hold, less one
    evidence = np.zeros((n, 2), np.int64)
    evidence[:, 0], evidence[:, 1] = (rest + 2) // 2, (rest + 1) // 2
    leaf = ~inner
    label = np.where(place == n - 1, 0, (depth - (place - 1) // 2) % 2)
    evidence[leaf] = 0
    evidence[leaf, label[leaf]] = 1
    skeleton = Skeleton.of(
        np.where(inner, 2, 0), np.where(inner, 0, -1), np.where(inner, place // 2 + 0.5, np.nan)
    )
    return HGS()(Tree.raw(Schema((Feature("x"),), ("no", "yes")), skeleton, evidence))


def model(depth: int) -> TreeClassifier:
    """A classifier whose tree is a chain."""
    made = TreeClassifier("cart").fit([[0.0], [1.0]], ["no", "yes"])
    made.tree_ = chain(depth)
    return made


def many_classes(n: int, **settings: Any) -> Work:
    X = np.arange(n, dtype=float)[:, None]
    return lambda: TreeClassifier(**settings).fit(X, np.arange(n))


def alternating(n: int, **settings: Any) -> Work:
    X = np.arange(n, dtype=float)[:, None]
    return lambda: TreeClassifier(**settings).fit(X, np.arange(n) % 2)


def noise_rules(n: int) -> Work:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 4)), rng.integers(0, 2, n)
    return lambda: RuleClassifier(TreeClassifier("cart")).fit(X, y)


def chain_rules(n: int) -> Work:
    X = np.arange(n, dtype=float)[:, None]
    return lambda: RuleClassifier(TreeClassifier("cart")).fit(X, np.arange(n) % 2)


def wide_array(n: int) -> Work:
    X = np.random.default_rng(0).normal(size=(50, n))
    return lambda: TreeClassifier().fit(X, np.arange(50) % 2)


def wide_frame(n: int, library: Any) -> Work:
    values = np.random.default_rng(0).normal(size=(50, n))
    frame = library.DataFrame({f"c{i}": values[:, i] for i in range(n)})
    return lambda: TreeClassifier().fit(frame, np.arange(50) % 2)


def wide_words(n: int) -> Work:
    words = np.random.default_rng(0).choice(["a", "b", "c"], size=(50, n))
    frame = pl.DataFrame({f"c{i}": words[:, i] for i in range(n)})
    return lambda: TreeClassifier().fit(frame, np.arange(50) % 2)


def wide_csv(n: int) -> Work:
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name) / "wide.csv"
    header = ",".join([*(f"c{i}" for i in range(n)), "y"])
    rows = [",".join([*(str((i * 7 + r) % 5) for i in range(n)), "ab"[r % 2]]) for r in range(3)]
    path.write_text("\n".join([header, *rows]) + "\n")

    def fit() -> object:
        with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
            command.main(["fit", str(path), "--target", "y", "-o", f"{folder.name}/wide.hornbeam"])
        return folder

    return fit


def of_chain(call: Callable[[Any], object], depth: int, made: Callable[[int], Any] = chain) -> Work:
    made(depth)
    return lambda: call(made(depth))


def rows_of(depth: int, n: int = 20) -> np.ndarray:
    return np.linspace(0, depth, n)[:, None]


def stored(tree: Tree) -> object:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chain.hornbeam"
        hornbeam.save(tree, path)
        return hornbeam.load(path)


def _views() -> Iterator[tuple[str, Callable[[Any], object], Callable[[int], Any]]]:
    """Everything that describes a tree or writes it in another form: name, call, what it is called with."""
    for name in ("text", "to_c", "to_dot", "to_html", "to_javascript", "to_json", "to_markdown", "to_pmml"):
        yield name, getattr(exports, name), chain
    for name in ("to_python", "to_shap", "to_sql", "to_svg"):
        yield name, getattr(exports, name), chain
    yield "to_onnx", exports.to_onnx, chain
    yield "to_treelite", exports.to_treelite, chain
    yield "store", stored, chain
    yield "extract", extract, chain
    yield "rules_text", lambda tree: extract(tree).to_text(), chain
    yield "leaves", lambda made: made.leaves().to_dict(), model
    yield "leaves_words", lambda made: str(made.leaves()), model
    yield "leaves_as_rules", lambda made: made.leaves().as_rules(), model
    yield "predict", lambda made: made.predict_proba(rows_of(made.tree_.depth)), model
    yield "explain", lambda made: str(made.explain(rows_of(made.tree_.depth))), model
    yield "explain_dict", lambda made: made.explain(rows_of(made.tree_.depth)).to_dict(), model
    yield "counterfactuals", lambda made: made.counterfactuals(rows_of(made.tree_.depth, 2)), model
    yield "shap_values", lambda made: made.shap_values(rows_of(made.tree_.depth, 2)), model
    yield "importances", lambda made: made.feature_importances_, model
    yield "intervals", lambda made: made.predict_interval(rows_of(made.tree_.depth)), model
    yield "drift", lambda made: made.drift(rows_of(made.tree_.depth)), model
    yield "digest", hornbeam.tree.digest.digest, chain


_NEEDS = {"to_onnx": "onnx", "to_treelite": "treelite", "to_shap": "shap"}

CASES: dict[str, Case] = {
    "classes-default": ((250, 500, 1000), many_classes),
    "classes-many": ((750, 1500, 3000), many_classes),
    "classes-cart": ((500, 1000, 2000), partial(many_classes, preset="cart")),
    "alternating-default": ((5_000, 10_000, 20_000), alternating),
    "alternating-cart": ((5_000, 10_000, 20_000), partial(alternating, preset="cart")),
    "rules-noise": ((500, 1000, 2000), noise_rules),
    "rules-alternating": ((100, 200, 400), chain_rules),
    "wide-numpy": ((10_000, 20_000, 40_000), wide_array),
    "wide-polars": ((4_000, 8_000, 16_000), partial(wide_frame, library=pl)),
    "wide-pandas": ((4_000, 8_000, 16_000), partial(wide_frame, library=pd)),
    "wide-words": ((4_000, 8_000, 16_000), wide_words),
    "wide-csv": ((10_000, 20_000, 40_000), wide_csv),
    **{
        f"chain-{name}": ((2000, 4000, 8000), partial(of_chain, call, made=made))
        for name, call, made in _views()
        if name not in _NEEDS or find_spec(_NEEDS[name])
    },
}


def seconds(work: Work, rounds: int) -> tuple[float, str | None]:
    """The least processor seconds of some rounds, and the message if it refuses."""
    least, said = float("inf"), None
    for _ in range(rounds):
        gc.collect()
        begin = time.process_time()
        try:
            work()
        except hornbeam.errors.HornbeamError as error:
            said = str(error)
        took = time.process_time() - begin
        least = min(least, took)
        if took > _BRIEF:
            break
    return least, said


def measure(name: str, patience: float, rounds: int, shrink: int) -> dict[str, Any]:
    """The seconds of a case at its sizes, and the exponent of the last doubling."""
    sizes, make = CASES[name]
    sizes = tuple(size // shrink for size in sizes)
    record: dict[str, Any] = {"case": name, "sizes": list(sizes), "seconds": []}
    make(10)()  # loads and warms what it needs
    for size in sizes:
        took, said = seconds(make(size), rounds)
        record["seconds"].append(round(took, 4))
        if said is not None:
            record["refused"] = {"size": size, "message": said}
        if took > patience:
            record["stopped"] = f"a size took more than {patience:g} seconds"
            break
    if len(record["seconds"]) > 1 and "refused" not in record:
        last, before = record["seconds"][-1], record["seconds"][-2]
        record["exponent"] = round(log2(max(last, 1e-4) / max(before, 1e-4)), 2)
    return record


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", default="", help="the beginning of the names of the cases, with commas")
    parser.add_argument(
        "--patience", type=float, default=60.0, help="a larger size is not tried after so long"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--shrink", type=int, default=1, help="divide all sizes by this")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    wanted = tuple(options.cases.split(","))
    for name in CASES:
        if name.startswith(wanted):
            record = measure(name, options.patience, options.rounds, options.shrink)
            print(json.dumps(record) if options.json else _line(record), flush=True)
    if options.json:
        print(json.dumps({"command": " ".join(["python -m benchmarks.scale.growth", *sys.argv[1:]])}))


def _line(record: dict[str, Any]) -> str:
    out = io.StringIO()
    pairs = zip(record["sizes"], record["seconds"], strict=False)
    out.write(f"{record['case']:24}" + "  ".join(f"{size:>7,}: {took:8.3f} s" for size, took in pairs))
    out.write(f"   exponent {record['exponent']}" if "exponent" in record else "")
    for key in ("refused", "stopped"):
        out.write(f"   {key}: {record[key]}" if key in record else "")
    return out.getvalue()


if __name__ == "__main__":
    main()
