"""The page that sets Hornbeam beside other libraries: its tables, made from the committed results.

    python -m benchmarks.quality.comparison                  print the tables
    python -m benchmarks.quality.comparison --write          put them into docs/comparison.md

A test holds the page to the files, so a new result asks for the second command.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.output import OURS, read_csv
from benchmarks.pages import markdown, read_lines, write_tables
from hornbeam.evaluation import Comparison

RESULTS = Path(__file__).parents[1] / "results"
PAGE = Path(__file__).parents[2] / "docs" / "comparison.md"
DEFAULT = "hornbeam/default"
EVERY_LEAF = "hornbeam/every-leaf"

PROBABILITIES = {  # methods of the study of probabilities, as the page calls them
    "sklearn-forest/rf-100": "scikit-learn, forest of 100 trees",
    DEFAULT: "**Hornbeam, one tree**",
    "sklearn-forest/rf-10": "scikit-learn, forest of 10",
    "c4.4/shrinkage-cv": "hierarchical shrinkage, strength by cross-validation",
    "c4.4/hgs-gradient": "HGS by gradient, with a uniform pseudo-count",
    "sklearn-forest/rf-5": "scikit-learn, forest of 5",
    "cart/cost-complexity-cv": "CART, cost-complexity by cross-validation",
    "cart/cost-complexity-1se": "the same, one standard error",
    "c4.4/hdp": "hierarchical Dirichlet process",
    "sklearn/five-trees-sigmoid": "scikit-learn, five calibrated trees",
    "weka/j48": "Weka, J48",
    "c4.4/laplace": "C4.4: Laplace",
    "sklearn/tree-isotonic": "scikit-learn, one tree, isotonic",
    "ydf/cart": "YDF, CART",
    "c4.4/raw": "C4.4, raw leaves",
    "cart/raw": "CART, raw leaves",
}
SIZES = {  # methods of the study of pruning
    EVERY_LEAF: "`pruning=None`",
    DEFAULT: "**the default**",
    "c4.5/error-based-raised": "J48's pruning, raw leaves",
    "c4.5/error-based-raised+hgs": "J48's pruning, then HGS",
    "cart/cost-complexity-cv": "cost-complexity by cross-validation",
    "cart/cost-complexity-1se": "the same, one standard error",
    "pet/reduced-error": "reduced error, of trees as the former default grew them",
    "pet/unpruned": "none, raw leaves, of the same trees",
}
LIBRARIES = {  # peers of the speed benchmarks
    OURS: "**Hornbeam**",
    "sklearn-entropy": "scikit-learn",
    "sklearn-binned": "scikit-learn on 255 bins",
    "histgb": "HistGradientBoosting, 1 round",
    "lightgbm": "LightGBM, 1 round",
    "xgboost": "XGBoost, 1 round",
    "ydf-exact": "YDF, exact",
    "ydf-histogram": "YDF, histograms",
    "treelite": "treelite",
    "onnxruntime": "ONNX Runtime",
    "m2cgen": "m2cgen, C",
}
DEATHS = {  # kinds of kills
    "once": "a worker is killed",
    "again": "workers are killed, up to five times",
    "driver": "the driver is killed, and goes on from its checkpoint",
    "memory": "a task takes all memory of its worker",
    "lightgbm": "LightGBM's Dask interface: a worker is killed",
    "xgboost": "XGBoost's Dask interface: a worker is killed",
}

type Facts = Mapping[str, Any]


def lines(name: str) -> list[Facts]:
    return read_lines(RESULTS / name)


def summary(folder: str) -> dict[str, Facts]:
    """The first table row of every method in a study's summary, which has the records of the unrounded scores."""
    found: dict[str, Facts] = {}
    head: list[str] = []
    for line in (RESULTS / folder / "summary.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line[1:-1].split("|")] if line.startswith("|") else []
        if cells and cells[0] == "method":
            head = cells
        elif cells and len(cells) == len(head):
            # Two columns are called "log loss": the mean, and then the record.
            found.setdefault(cells[0], dict(reversed([*zip(head, cells, strict=True)])))
    return found


def probabilities() -> str:
    """Means over all sets, and the default's wins, draws and losses against each method."""
    found = summary("smoothing")
    measures = ["RMSE", "log loss", "0-1 loss", "calibration error"]
    rows = [
        [
            name,
            *(found[method][measure] for measure in measures),
            found[method]["RMSE: hornbeam/default against it"],
        ]
        for method, name in PROBABILITIES.items()
    ]
    return markdown(["method", *measures, "RMSE: ours against it"], rows)


def sizes() -> str:
    """Leaves and probabilities of the pruners, on the sets that both studies have.

    The default and the tree with every leaf are those of the study of probabilities, which was run again after
    features came to be compared by S-values. It has nodes and no leaves: half of the nodes, which leaves out half
    a leaf for each split with a third branch.
    """
    now, before = (_scores(folder) for folder in ("smoothing", "pruning"))
    ours = {method: now[method] for method in (DEFAULT, EVERY_LEAF)}
    for line in (line for of in ours.values() for line in of.values()):
        line["leaves"] = str((float(line["nodes"]) + 1) / 2)
    found = before | ours
    sets = tuple(found[DEFAULT])
    losses = np.array([[float(found[method][name]["rmse"]) for method in SIZES] for name in sets])
    compared = Comparison(tuple(SIZES), sets, losses, "RMSE")
    head = ["pruning", "leaves, mean", "median", "share of every leaf, median", "RMSE", "log loss"]
    rows = []
    for method, title in SIZES.items():
        leaves, every = (
            np.array([float(found[of][name]["leaves"]) for name in sets]) for of in (method, EVERY_LEAF)
        )
        rows.append(
            [
                title,
                f"{leaves.mean():.0f}",
                f"{np.median(leaves):.0f}",
                f"{np.median(leaves / every):.2f}",
                f"{compared.of(method).mean():.4f}",
                f"{np.mean([float(found[method][name]['log_loss']) for name in sets]):.3f}",
                "" if method == DEFAULT else str(compared.record(DEFAULT, method)),
            ]
        )
    return markdown([*head, "RMSE: the default against it"], rows)


def _scores(folder: str) -> dict[str, dict[str, dict[str, str]]]:
    """The scores of a study: by method, then by set."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for line in read_csv(RESULTS / folder / "scores.csv"):
        found.setdefault(line["method"], {})[line["set"]] = line
    return found


def distilled() -> str:
    """One tree from many: the first table of the summary, as it is."""
    text = (RESULTS / "distillation" / "summary.md").read_text(encoding="utf-8").splitlines()
    return "\n".join(takewhile(bool, dropwhile(lambda line: not line.startswith("|"), text)))


def ensembles() -> str:
    """Wall and CPU seconds of a hundred trees on two threads."""
    rows = []
    forest = {line["peer"]: line["fit"] for line in lines("forest/speed.jsonl") if "peer" in line}
    rows.append(
        [
            "forest, 100,000 rows",
            *_seconds(forest["hornbeam"]),
            "scikit-learn",
            *_seconds(forest["scikit-learn"]),
        ]
    )
    boosted: dict[int, dict[str, Facts]] = {}
    for line in lines("boosting/speed.jsonl"):
        boosted.setdefault(line["rows"], {})[line["method"].partition(",")[0]] = line
    rows += [
        [f"boosting, {n:,} rows", *_seconds(of["hornbeam"]), "LightGBM", *_seconds(of["lightgbm"])]
        for n, of in boosted.items()
    ]
    return markdown(["20 features", "Hornbeam, wall", "CPU", "beside", "wall", "CPU"], rows)


def _seconds(of: Facts) -> list[str]:
    return [f"{of['wall']:.2f}", f"{of['cpu']:.2f}"]


def speed() -> str:
    """CPU seconds from an array of numbers to a fitted tree, binning included."""
    runs = {
        "100,000 rows, 2 classes": "grow-100k-2-full",
        "100,000 rows, 5 classes": "grow-100k-5-full",
        "1,000,000 rows": "grow-1m-2-full",
        "1,000,000 rows, depth 8": "grow-1m-2-depth8",
    }
    seconds = {head: lines(f"speed/{name}.jsonl")[-1]["seconds"] for head, name in runs.items()}
    return _race(seconds, lambda s: f"{s:.2f}")


def answers() -> str:
    """CPU time of a million rows at once, and of one row."""
    single = lines("speed/predict-single.jsonl")[-1]["seconds"]
    columns = {
        "1,000,000 rows, ms": {
            name: 1e3 * s for name, s in lines("speed/predict-1m.jsonl")[-1]["seconds"].items()
        },
        "one row, the usual way, µs": {name: 1e6 * s for name, s in single["usual"].items()},
        "one row, the leanest way, µs": {name: 1e6 * s for name, s in single["lean"].items()},
    }
    return _race(columns, lambda figure: f"{figure:.0f}" if figure >= 10 else f"{figure:.1f}")


def _race(columns: Mapping[str, Mapping[str, float]], shown: Callable[[float], str]) -> str:
    rows = [
        [name, *(shown(of[peer]) if peer in of else "" for of in columns.values())]
        for peer, name in LIBRARIES.items()
        if any(peer in of for of in columns.values())
    ]
    return markdown(["library", *columns], rows)


def chip() -> str:
    """Bytes of flash on a Cortex-M4 for rows of 16-bit integers, and rows that got another class."""
    found = [
        line
        for line in lines("chip/flash.jsonl")
        if line.get("values", "").startswith("int16")
        and line["probabilities"].startswith("uint8")
        and line["complete"]
    ]
    leaves = sorted({line["leaves"] for line in found})
    kinds = {
        '**Hornbeam, `layout="table"`**': ("hornbeam", "table"),
        '**Hornbeam, `layout="if"`**': ("hornbeam", "if"),
        "emlearn, inline": ("emlearn", "inline"),
        "emlearn, loadable": ("emlearn", "loadable"),
    }
    rows = []
    for name, (maker, layout) in kinds.items():
        mine = [line for line in found if (line["maker"], line["layout"]) == (maker, layout)]
        flash = [f"{one['flash_probabilities']:,}" for n in leaves for one in mine if one["leaves"] == n]
        wrong = [f"{sum(one[which] for one in mine)}" for which in ("wrong", "wrong_at_thresholds")]
        rows.append([name, *flash, *wrong])
    head = ["8-bit probabilities", *(f"{n:,} leaves" for n in leaves)]
    n_rows = 300 * len(leaves)
    return markdown([*head, f"another class, of {n_rows} rows", f"of {n_rows} at thresholds"], rows)


def exports() -> str:
    """What every export was compared on, in families."""
    models = [line for line in lines("exports/parity.jsonl") if line["trial"] == "random models"]
    families: dict[str, list[Facts]] = {}
    for line in models:
        families.setdefault(line["target"].partition(",")[0], []).append(line)
    rows = [
        [
            family,
            f"{len(of)}",
            f"{sum(line['models'] for line in of):,}",
            f"{sum(line['rows'] for line in of):,}",
            f"{sum(line['other_classes'] for line in of)}",
            f"{max(line['largest_difference'] for line in of):.1g}",
        ]
        for family, of in families.items()
    ]
    return markdown(["target", "variants", "models", "rows", "another class", "largest difference"], rows)


def kills() -> str:
    """Fits of which something died: how many ended, and with the undisturbed tree."""
    found = lines("engines/kills.jsonl")
    rows = []
    for kind, name in DEATHS.items():
        mine = [line for line in found if line["kind"] == kind]
        same = sum(line.get("same", False) for line in mine)
        ended = sum(not line.get("outcome", "done").startswith(("error", "no answer")) for line in mine)
        if mine:
            rows.append([name, f"{len(mine)}", f"{ended}", f"{same}" if "same" in mine[0] else ""])
    return markdown(["what dies", "runs", "ended with a model", "the same tree, bit for bit"], rows)


TABLES = (probabilities, sizes, distilled, ensembles, speed, answers, chip, exports, kills)


def tables() -> dict[str, str]:
    return {table.__name__: table() for table in TABLES}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/comparison.md")
    if parser.parse_args().write:
        write_tables(PAGE, **tables())
    else:
        print("\n\n".join(tables().values()))


if __name__ == "__main__":
    main()
