"""Run exported source code with real compilers and interpreters."""

import ctypes
import json
import math
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from differences import Predictions
from random_models import values

from hornbeam.data.table import Table
from hornbeam.export import to_c, to_javascript, to_json, to_python
from hornbeam.export.source.vectors import TestVectors
from hornbeam.tree.tree import Tree

__all__ = [
    "GCC",
    "LAYOUTS",
    "compile_c",
    "needs_node",
    "run_c",
    "run_javascript",
    "run_python",
    "run_rules",
]  # fmt: skip

GCC = ("gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic")
LAYOUTS = {"if": "nested ifs", "table": "tables", "bins": "bins"}
TYPES = {"double": np.float64, "float": np.float32, "int32": np.int32, "int16": np.int16}
PROBABILITIES = {"double": np.float64, "float": np.float32, "uint16": np.uint16, "uint8": np.uint8}

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")

_DRIVER = """
void NAME_many(const INPUT *x, int32_t n, int32_t *node, int32_t *best, NAME_probability *p);
void NAME_many(const INPUT *x, int32_t n, int32_t *node, int32_t *best, NAME_probability *p)
{
    for (int32_t i = 0; i < n; ++i) {
        const INPUT *values = x + (int64_t)i * FEATURES;
        ROW
        node[i] = NAME_node(row);
        best[i] = NAME_class(row);
        NAME_probabilities(row, p + (int64_t)i * CLASSES);
    }
}
"""
_BINNED_ROW = "NAME_value row[FEATURES]; NAME_bin(values, row);"
_PLAIN_ROW = "const INPUT *row = values;"


def compile_c(source: str, folder: Path, *flags: str) -> Path:
    """Compile a library; a warning is an error."""
    path = folder / "models.c"
    path.write_text(source, encoding="ascii")
    library = folder / "models.so"
    command = [*GCC, "-O1", *flags, "-shared", "-fPIC", "-o", str(library), str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[:4000]
    return library


def run_c(models: list[tuple[Tree, Table]], folder: Path, **options: Any) -> Predictions:
    """Compile all models as one unit, and predict the rows of each."""
    kind, bins = options.get("input", "double"), options.get("layout") == "bins"
    sources = []
    for i, (tree, _) in enumerate(models):
        driver = _DRIVER.replace("ROW", _BINNED_ROW if bins else _PLAIN_ROW)
        for placeholder, text in {
            "NAME": f"m{i}",
            "INPUT": kind if kind in ("double", "float") else f"{kind}_t",
            "FEATURES": str(tree.schema.n_features),
            "CLASSES": str(tree.n_classes),
        }.items():
            driver = driver.replace(placeholder, text)
        sources += [to_c(tree, name=f"m{i}", **options), driver]
    library = ctypes.CDLL(str(compile_c("\n".join(sources), folder)))
    return [_run_model(getattr(library, f"m{i}_many"), *models[i], options) for i in range(len(models))]


def _run_model(
    many: Any, tree: Tree, table: Table, options: dict[str, Any]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    numbers = TestVectors.of(tree, table).numbers()
    dtype = TYPES[options.get("input", "double")]
    missing = np.iinfo(dtype).min if np.issubdtype(dtype, np.integer) else np.nan
    x = np.ascontiguousarray(np.where(np.isnan(numbers), missing, numbers).astype(dtype))
    node, best = np.empty((2, len(x)), np.int32)
    p = np.empty((len(x), tree.n_classes), PROBABILITIES[options.get("probability", "double")])
    many(
        *(
            ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else a
            for a in (x, len(x), node, best, p)
        )
    )
    return node, best, p


def run_python(models: list[tuple[Tree, Table]]) -> Predictions:
    """Run each model's module on its rows."""
    found = []
    for tree, table in models:
        module: dict[str, Any] = {}
        exec(to_python(tree), module)
        rows = values(table)
        p = [module["probabilities"](row) for row in rows]
        classes = list(module["CLASSES"])
        best = [classes.index(module["predict"](row)) for row in rows]
        found.append((np.array([module["node"](row) for row in rows]), np.array(best), np.array(p)))
    return found


def run_javascript(models: list[tuple[Tree, Table]], folder: Path) -> Predictions:
    """Run all models in one Node process."""
    script = ["const predictions = [];"]
    for i, (tree, table) in enumerate(models):
        script += [to_javascript(tree, name=f"m{i}"), f"const rows{i} = {json.dumps(values(table))};"]
        best = f"rows{i}.map((row) => m{i}.CLASSES.indexOf(m{i}.predict(row)))"
        script.append(f"predictions.push([rows{i}.map(m{i}.node), {best}, rows{i}.map(m{i}.probabilities)]);")
    path = folder / "models.js"
    path.write_text(
        "\n".join([*script, "process.stdout.write(JSON.stringify(predictions));"]), encoding="ascii"
    )
    run = subprocess.run(["node", str(path)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[:4000]
    return [(np.array(node), np.array(best), np.array(p)) for node, best, p in json.loads(run.stdout)]


def run_rules(tree, table):
    """Predict with the JSON rules, which have no nodes, as their field `reading` explains."""
    document = json.loads(to_json(tree))
    rules, rows = document["rules"], [dict(zip(tree.schema.names, row, strict=True)) for row in values(table)]
    order = {f["name"]: f["categories"] for f in document["features"] if f["kind"] == "ordinal"}
    if len(tree.slopes):
        found = [_apply_slopes(rules, row, order) for row in rows]
        p = np.array([probabilities for _, probabilities in found])
        first = np.array([scores.index(max(scores)) for scores, _ in found])
        return None, first if tree.decision.is_default else tree.decision(p), p
    p = np.array([_apply(rules, row) for row in rows])
    return None, tree.decision(p), p


def _apply_slopes(rules, row, order):
    """Scores and probabilities of the one rule that holds."""
    [rule] = [r for r in rules if all(_holds(c, row[c["feature"]]) for c in r["if"])]
    if "slopes" not in rule:
        return rule["probabilities"], rule["probabilities"]
    scores = [-math.inf if score is None else score for score in rule["scores"]]
    for term in rule["slopes"]:
        value = row[term["feature"]]
        if value is None:
            continue
        if "category" in term:
            value = float(value == term["category"])
        elif term["feature"] in order:
            value = float(order[term["feature"]].index(value))
        change = min(max(value, term["low"]), term["high"]) - term["centre"]
        scores = [score + slope * change for score, slope in zip(scores, term["slope"], strict=True)]
    powers = [math.exp(score - max(scores)) for score in scores]
    return scores, [power / sum(powers) for power in powers]


def _apply(rules, row):
    """Predict a row with the JSON rules, as their field `reading` explains."""
    total = np.zeros(len(rules[0]["probabilities"]))
    for rule in rules:
        weight = 1.0
        for condition in rule["if"]:
            weight *= _holds(condition, row[condition["feature"]])
        if weight:
            total += weight * np.array(rule["probabilities"])
    return total


def _holds(condition, value):
    if value is None:
        return condition.get("missing", 0)
    if "at_most" in condition:
        return value <= condition["at_most"]
    if "above" in condition:
        return value > condition["above"]
    if "in" in condition:
        return value in condition["in"]
    return value not in condition["not_in"] if "not_in" in condition else condition.get("known", False)
