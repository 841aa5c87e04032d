"""Calls of the compiled kernels with wrong arguments: each must return, or raise ValueError or TypeError.

    python -m benchmarks.attacks native --n 1000000

A case is the name of a call, the number of its example, and a list of edits that make its arguments wrong. On a
build with the sanitizers, with the environment of `sanitized_tests` in ``.ci/run``, an access out of bounds or
undefined behaviour ends the child process, which is reported as a crash with the sanitizer's message.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.attacks.edits import paths
from hornbeam.kernels import _native

IN_CI = 50_000


@dataclass(frozen=True)
class NativeObject:
    """Description of an object of the module: its type, its arguments, and calls before it is used."""

    kind: str
    arguments: dict[str, Any]
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()


# ---- valid calls


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def longs(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float64)


N, K = 12, 3  # rows and classes of the examples
N_CODES = ints(4, 3)  # a numeric and a nominal feature
RULES = {"total_weight": 100, "total_rows": N, "min_rows_leaf": 1, "max_depth": 4, "max_features": 0}


def columns(
    n_classes: int, *, monotone: bool = False, values: bool = False, order: bool = False
) -> NativeObject:
    return NativeObject(
        "Columns",
        {
            "n_codes": N_CODES,
            "nominal": np.array([0, 1], np.uint8),
            "monotone": np.array([1, 0], np.int8) if monotone else None,
            "value": np.arange(9.0) if values else None,
            "n_classes": n_classes,
            "position": np.array([-1, -1, -1, -1, -1, 2, 0, 1, -1], np.int32) if order else None,
            "reliability": np.array([-1.0, 0.5]) if order else None,
        },
    )


def rules(**changed: Any) -> NativeObject:
    return NativeObject("Rules", RULES | changed)


def rows(code: Any = np.uint8, *, weighted: bool = False, sums: bool = False) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    codes = np.column_stack([rng.integers(0, 5, N), rng.integers(0, 4, N)]).astype(code)
    return {
        "codes": codes,
        "label": np.empty(0, np.uint16) if sums else rng.integers(0, K, N).astype(np.uint16),
        "weight": rng.integers(0, 5, N) if weighted else None,
        "numerator": rng.integers(-9, 9, N) if sums else None,
        "columns": columns(1 if sums else K),
    }


KINDS = (
    {"code": np.uint8},
    {"code": np.uint16},
    {"code": np.uint8, "weighted": True},
    {"code": np.uint16, "sums": True},
    {"code": np.uint8, "weighted": True, "sums": True},
)


def channels(given: dict[str, Any]) -> int:
    if given["numerator"] is not None:
        return 2 if given["weight"] is None else 3
    return 1 if given["weight"] is None else 2


def empty_cells(given: dict[str, Any], n_slots: int) -> np.ndarray:
    size = n_slots * 9 * given["columns"].arguments["n_classes"] * channels(given)
    return np.zeros(size, np.int32 if channels(given) == 1 else np.int64)


def node(kind: dict[str, Any]) -> dict[str, Any]:
    """Arguments of a node of rows of this kind: its cells and their totals."""
    given = rows(**kind)
    cells = empty_cells(given, 1)
    _native.histogram(
        **{name: build(value) for name, value in given.items()}, slots=None, begin=0, end=N, cells=cells
    )
    weight = np.ones(N, np.int64) if given["weight"] is None else given["weight"]
    sums = given["numerator"] is not None
    evidence = (
        longs(weight.sum(), given["numerator"].sum()) if sums else np.bincount(given["label"], weight, K)
    )
    return {
        "cells": cells,
        "cell_kind": 2 * sums + (given["weight"] is not None),
        "columns": given["columns"],
        "criterion": 3 if sums else 0,
        "rules": rules(),
        "evidence": evidence.astype(np.int64),
        "n_rows": N,
    }


CODE_TREE = {  # a root on the numeric feature, its second child on the nominal one
    "feature": ints(0, -1, 1, -1, -1),
    "first_child": ints(1, -1, 3, -1, -1),
    "left": ints(1, -1, -1, -1, -1),
    "missing_slot": ints(1, -1, -1, -1, -1),
    "map_start": longs(-1, -1, 0, -1, -1),
    "map": ints(0, 1, -1),
}
SHAPE = {"first_child": ints(1, -1, 3, -1, -1), "n_children": ints(2, 0, 2, 0, 0)}
COSTS = {"as_leaf": floats(9, 1, 5, 1, 2), "staying": np.zeros(5)}
BELIEF = np.full((5, 2), 0.5)
TREES = {
    "parent": ints(-1, 0, 0),
    "evidence": np.array([[3.0, 2.0], [3.0, 0.0], [0.0, 2.0]]),
    "held": np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
    "impurity": None,
}
CHAIN = {
    "parent": ints(-1, 0, 0),
    "own": np.array([[0, 0], [3, 1], [1, 2]]),
    "group": ints(0, 0, 0),
    "root_concentration": 2.0,
    "concentration": 1.0,
    "sampled": True,
    "shape": 1.0,
    "rate": 1.0,
    "seed": 1,
}
NUMBERS = (floats(0.5, 2.0, np.nan, 2.0), floats(1.0, -1.0, 0.0, 3.0))
CENSUS = NativeObject("Census", {"n_features": 2, "limit": 2})
FOUND = ("missing", "zeros", "ones", "some", "full", "starts", "keys", "counts")


def sweep_arguments(costs: dict[str, Any]) -> dict[str, Any]:
    out = {"slack": 0.0, "relative": 0.0, "value": np.zeros(5), "cut": np.zeros(5, np.bool_)}
    return SHAPE | costs | out


EXPECTED = {
    "evidence": np.full((5, 2), 3),
    "unit": 1.0,
    "belief": BELIEF,
    "costs": np.array([[0.0, 1.0], [5.0, 0.0]]),
}
SWEEPS = (
    NativeObject("PruneSweep", sweep_arguments(COSTS)),
    NativeObject("PruneSweep", sweep_arguments(EXPECTED)),
)
SKELETON = {
    "first_child": ints(1, -1, 3, -1, -1),
    "n_children": ints(2, 0, 2, 0, 0),
    "feature": ints(0, -1, 1, -1, -1),
    "threshold": floats(0.5, np.nan, np.nan, np.nan, np.nan),
    "slot_start": ints(0, 0, 0, 3, 3, 3),
    "slot_of": ints(0, 1, -1),
    "missing_slot": ints(-2, -1, 1, -1, -1),
    "n_roots": 1,
}
NUMERIC = SKELETON | {
    "threshold": floats(0.5, np.nan, 1.5, np.nan, np.nan),
    "slot_start": np.zeros(6, np.int32),
    "slot_of": np.empty(0, np.int32),
    "missing_slot": ints(-1, -1, 1, -1, -1),
}
TWO_ROOTS = {  # trees side by side: a leaf, and a split on the nominal feature
    "first_child": ints(-1, 2, -1, -1),
    "n_children": ints(0, 2, 0, 0),
    "feature": ints(-1, 1, -1, -1),
    "threshold": np.full(4, np.nan),
    "slot_start": ints(0, 0, 3, 3, 3),
    "slot_of": ints(0, 1, -1),
    "missing_slot": ints(-1, 1, -1, -1),
    "n_roots": 2,
}
ROUTERS = (NativeObject("Router", SKELETON), NativeObject("Router", NUMERIC))
MIXED, MATRIX = [floats(0.2, 0.7, np.nan), ints(0, 2, -1)], np.array([[0.2, 1.0], [0.7, 2.0], [np.nan, 0.0]])
TERMS = {
    "router": NativeObject("Router", SKELETON | {"missing_slot": ints(1, -1, 1, -1, -1)}),
    "parent": ints(-1, 0, 0, 2, 2),
    "belief": np.full((5, 2), 0.5),
    "node": ints(2, 4, 4),
    "feature": ints(0, 0, 1),
    "category": ints(-1, -1, 1),
    "low": floats(0.0, 0.1, 0.0),
    "high": floats(1.0, 0.9, 1.0),
    "centre": floats(0.5, 0.5, 0.25),
    "slope": np.array([[0.0, 1.0], [2.0, -1.0], [0.5, 0.0]]),
    "regression": False,
}
NUMERIC_TERMS = TERMS | {
    "router": NativeObject("Router", NUMERIC),
    "category": ints(-1, -1, -1),
    "regression": True,
}
TAUGHT: dict[str, object] = {
    "label": np.array([[0.8, 0.2], [0.5, 0.5], [0.1, 0.9]]),
    "weight": floats(0.25, 0.25, 0.5),
    "parent": ints(-1, 0, 0),
    "node_of_end": ints(1, 2),
    "start": longs(0, 2, 3),
}
SOFT_ROWS = {
    "codes": np.array([[0, 0], [1, 1], [2, 0], [3, 2], [1, 2], [0, 1]], np.uint8),
    "weight": np.arange(1, 7, dtype=np.int32),
    "counted": np.array([1, 2, 0, 4, 0, 6], np.int32),
    "share": np.array([[1, 0], [1, 1], [0, 3], [4, 0], [2, 3], [3, 3]], np.int32),
    "n_codes": np.array([3, 2], np.int32),
    "nominal": np.array([False, True]),
    "value": np.array([-200, 0, 256, 0, 0, 0, 0], np.int16),
    "most_terms": 2,
    "least_share": 0.01,
    "ridge": 0.01,
    "cut_off": 0.05,
}
SLOPED = (NativeObject("SlopedTree", TERMS), NativeObject("SlopedTree", NUMERIC_TERMS))
BOOSTING_ROWS = {"codes": rows()["codes"], "columns": columns(1, monotone=True)}
WIDE_BOOSTING_ROWS = BOOSTING_ROWS | {"codes": rows(np.uint16)["codes"]}
LEAFWISE = {
    "self": NativeObject("BoostingRows", BOOSTING_ROWS),
    "numerator": np.linspace(-1, 1, N),
    "denominator": None,
    "times": None,
    "order": np.arange(N, dtype=np.int32),
    "n_train": N - 2,
    "rules": rules(missing=_native.Missing.learned, rounding=0.5),
    "numerator_scale": 2.0**20,
    "denominator_scale": 1.0,
    "shift": 5,
    "least_denominator": 1.0,
    "dispersion": 1.0,
    "max_leaves": 4,
    "key": 1,
    "n_threads": 2,
}
ENCODE = {
    "columns": (NUMBERS[0], ints(1, -1, 0, 1)),
    "edges": floats(1.0, 1.5),
    "starts": longs(0, 2, 2),
    "n_codes": ints(3, 2),
    "nominal": np.array([False, True]),
    "begin": 0,
    "end": 4,
}
COUNT_PARTS = {
    "columns": NUMBERS,
    "starts": longs(0, 1, 2),
    "low": np.array([0xC000000000000000, 0xBFF0000000000000], np.uint64),
    "high": np.array([0xC00003FFFFFFFFFF, 0xBFF003FFFFFFFFFF], np.uint64),
    "digit_shift": longs(40, 38),
    "digits": longs(2, 3),
    "counts": np.zeros(12, np.int64),
    "ones": np.full(12, 2**64 - 1, np.uint64),
    "some": np.zeros(12, np.uint64),
}
GROW = {
    "criterion": 0,
    "rules": rules(),
    "begin": 0,
    "end": N,
    "depth": 0,
    "lower": 0.0,
    "upper": 1.0,
    "key": 1,
    "path": [0],
    "paths": None,
    "progress": longs(0, 0),
}
ONE_TREE = {"columns", "rules", "begin", "end", "depth", "key", "path"}  # of `grow`, and not of `grow_each`
PATHS = NativeObject(
    "PathRules", {"n_features": 2, "groups": [[0, 1], [1]], "below": [[0], []], "items": [(2.0, [1])]}
)
PREDICTIONS = {"belief": BELIEF, "weight": np.ones(5)}
ONE = {"values": floats(0.5, -1.0, 3.0)}
BETA = {"a": floats(0.5, 3.0, 2000.0), "b": floats(9.0, 0.1, 3000.0)}


def _examples() -> dict[str, list[dict[str, Any]]]:
    """Arguments of valid calls of every function and method; ``self`` is the object of a method."""
    of_sums = {"criterion": 3, "lower": -np.inf, "upper": np.inf}
    grown = [rows(**kind) | GROW | (of_sums if "sums" in kind else {}) for kind in KINDS]
    grown[0] |= {"criterion": 1, "rules": rules(corrected=True, rows_per_step=0.5)}
    grown[1] |= {
        "paths": PATHS,
        "criterion": 2,
        "rules": rules(nominal=_native.Nominal.multiway, max_features=1),
    }
    grown[2] |= {
        "rules": rules(missing=_native.Missing.fractional, gain_ratio=True),
        "columns": columns(K, values=True),
    }
    grown[3] |= {
        "rules": rules(missing=_native.Missing.learned, corrected=True),
        "columns": columns(1, monotone=True),
    }
    grown[4] |= {"criterion": 4, "rules": rules(corrected=True)}
    counted = [rows(**kind) for kind in KINDS]
    nodes = [node(kind) for kind in KINDS]
    limits = {"lower": 0.0, "upper": 1.0}
    unlimited = {"lower": -np.inf, "upper": np.inf}
    census = NativeObject("Census", CENSUS.arguments, (("add", {"columns": NUMBERS}),))
    found = dict(zip(FOUND, build(census).entries(), strict=True))
    trees, chain = NativeObject("StackedTrees", TREES), NativeObject("HdpChain", CHAIN)
    ran = NativeObject("HdpChain", CHAIN, (("run", {"sweeps": 2, "record": True}),))
    mixed, numeric = ROUTERS
    return {
        "Census.__init__": [CENSUS.arguments],
        "Census.merge": [{"self": CENSUS, "other": census}],
        "Census.add": [{"self": CENSUS, "columns": NUMBERS}],
        "Census.entries": [{"self": census}],
        "Census.restore": [{"self": CENSUS} | found],
        "Columns.__init__": [columns(2, monotone=True, values=True, order=True).arguments],
        "StackedTrees.__init__": [TREES, TREES | {"held": None, "impurity": floats(0.5, 0.0, 1.0)}],
        "StackedTrees.probabilities": [{"self": trees, "strengths": np.zeros(6)}],
        "StackedTrees.loss": [{"self": trees, "strengths": np.zeros(6)}],
        "HdpChain.__init__": [CHAIN],
        "HdpChain.means": [{"self": ran}],
        "HdpChain.run": [{"self": chain, "sweeps": 3, "record": True}],
        "Router.__init__": [SKELETON, NUMERIC, TWO_ROOTS],
        "Router.fill_predictions": [
            {"self": mixed, "X": MIXED, **PREDICTIONS, "out": np.zeros((3, 2))},
            {"self": numeric, "X": MATRIX, **PREDICTIONS, "out": np.zeros((3, 2))},
        ],
        "Router.fill_nodes": [
            {"self": mixed, "X": MIXED, "out": np.zeros(3, np.int32)},
            {"self": numeric, "X": MATRIX, "out": np.zeros(3, np.int32)},
        ],
        "Router.fill_ends": [
            {"self": router, "X": X, "n_rows": 3, "rows": longs(2, 0, 1, 2), "start": start}
            | {"out": np.zeros(4, np.int32)}
            for router, X, start in (
                (mixed, MIXED, ints(0, 2, 0, 1)),
                (numeric, MATRIX, ints(0, 2, 0, 1)),
                (NativeObject("Router", TWO_ROOTS), MIXED, ints(0, 1, 1, 0)),
            )
        ],
        "Router.node_of_row": [{"self": mixed, "row": (np.nan, 1.0)}, {"self": numeric, "row": MATRIX[0]}],
        "Router.predict_row": [{"self": mixed, "row": [np.nan, 1.0], **PREDICTIONS}],
        "PathRules.__getstate__": [{"self": PATHS}],
        "PathRules.__init__": [PATHS.arguments],
        "PathRules.__setstate__": [{"arg": build(PATHS).__getstate__()}],
        "PathRules.allowed": [{"self": PATHS, "path": [0, 1]}],
        "PathRules.prices": [{"self": PATHS, "path": [0, 1]}],
        "Rules.__getstate__": [{"self": rules()}],
        "Rules.__init__": [{}],
        "Rules.__setstate__": [{"arg": build(rules()).__getstate__()}],
        "SlopedTree.__init__": [TERMS, NUMERIC_TERMS],
        "SlopedTree.fill_classes": [
            {"self": SLOPED[0], "X": MIXED, "out": np.zeros(3, np.int32)},
            {"self": SLOPED[1], "X": MATRIX, "out": np.zeros(3, np.int32)},
        ],
        "SlopedTree.fill_predictions": [
            {"self": SLOPED[0], "X": MIXED, "out": np.zeros((3, 2))},
            {"self": SLOPED[1], "X": MATRIX, "out": np.zeros((3, 2))},
        ],
        "SlopedTree.fill_terms": [
            {"self": SLOPED[0], "X": MIXED, "out": np.zeros((3, 2))},
            {"self": SLOPED[1], "X": MATRIX, "out": np.zeros((3, 2))},
        ],
        "SlopedTree.predict_row": [
            {"self": SLOPED[0], "row": [np.nan, 1.0]},
            {"self": SLOPED[1], "row": MATRIX[0]},
        ],
        "PruneSweep.__init__": [sweep.arguments for sweep in SWEEPS],
        "PruneSweep.decide": [{"self": sweep, "begin": 0, "end": 5} for sweep in SWEEPS],
        "best_split": [
            at
            | (unlimited if at["cell_kind"] > 1 else limits)
            | {"key": 1, "variance": 0.5, "allowed": np.array([1, 0], np.uint8), "price": floats(0.1, 0.0)}
            for at in nodes
        ],
        "beta_cdf": [BETA | {"x": floats(0.0, 0.3, 1.0)}],
        "beta_quantile": [BETA | {"p": 0.05}],
        "check_codes": counted,
        "child_key": [{"key": 1, "slot": 1}],
        "choose_split": [
            {"numbers": floats(0.1, 0.1, 1, 0, 0.2, np.nan, 0, 1)}
            | {name: value for name, value in at.items() if name != "cells"}
            | {"rules": rules(corrected=True), "variance": 0.5, "allowed": np.array([1, 1], np.uint8)}
            for at in nodes
        ],
        "count_open": [
            at
            | CODE_TREE
            | {"node": np.zeros(N, np.int32), "seen": 1, "slot_of_node": ints(-1, 0, -1, 1, 1)}
            | {"cells": empty_cells(at, 2)}
            | {"squares": None if at["numerator"] is None else np.zeros(8, np.int64)}
            for at in counted
        ],
        "descend": [
            {"codes": at["codes"], "columns": at["columns"]}
            | CODE_TREE
            | {"node": np.zeros(N, np.int32), "seen": 1}
            for at in counted[:2]
        ],
        "encode_uint16": [ENCODE | {"out": np.zeros((4, 2), np.uint16)}],
        "encode_uint8": [ENCODE | {"out": np.zeros((4, 2), np.uint8)}],
        "exp": [ONE],
        "exp2": [ONE],
        "fit_base": [
            {
                "score": np.array([[0.5, -0.5], [1.0, 0.0], [0.0, 2.0]]),
                "label": TAUGHT["label"],
                "weight": TAUGHT["weight"],
                "steps": 5,
                "tolerance": 1e-8,
            }
        ],
        "fit_node_terms": [
            TAUGHT
            | {
                "values": np.array([[-1.0], [0.5], [1.0]]),
                "node_of_term": ints(0),
                "sign": np.array([1], np.int8),
                "offset": np.array([[0.5, -0.5], [1.0, 0.0], [0.0, 2.0]]),
                "fixed_bases": fixed,
                "ridge": 0.01,
                "steps": 5,
                "tolerance": 1e-8,
            }
            for fixed in (False, True)
        ],
        "frontiers": [SHAPE],
        "grow": grown,
        "grow_each": [
            {name: value for name, value in one.items() if name not in ONE_TREE}
            | {"columns": [one["columns"]] * 2, "rules": [one["rules"], rules()], "begin": longs(0, 5, N)}
            for one in grown
            if one["columns"].arguments["value"] is None
        ],
        "BoostingRows.__init__": [BOOSTING_ROWS, WIDE_BOOSTING_ROWS],
        "BoostingRows.grow": [
            LEAFWISE,
            LEAFWISE
            | {"self": NativeObject("BoostingRows", WIDE_BOOSTING_ROWS), "order": None, "n_train": N}
            | {"denominator": np.ones(N), "times": np.ones(N, np.int32)},
        ],
        "gradients_of_log_loss": [
            {
                "score": floats(-800.0, 0.0, 2.0),
                "target": ints(0, 1, 1),
                "gradient": np.zeros(3),
                "hessian": np.zeros(3),
            }
        ],
        "gradients_of_softmax": [
            {
                "scores": np.linspace(-1, 1, 6).reshape(2, 3),
                "target": ints(0, 1, 1),
                "factor": 2.0,
                "gradient": np.zeros((2, 3)),
                "hessian": np.zeros((2, 3)),
            }
        ],
        "add_values": [{"scores": floats(1.0, 2.0, 3.0), "values": floats(0.5, -0.5), "node": ints(0, 1, 1)}],
        "histogram": [
            at
            | {
                "slots": np.arange(N, dtype=np.int32) % 3 - 1,
                "begin": 1,
                "end": N,
                "cells": empty_cells(at, 2),
            }
            for at in counted
        ],
        "search_tree": [
            SOFT_ROWS
            | {
                "min_weight": 1,
                "min_counted": 1,
                "max_leaves": 4,
                "max_depth": 3,
                "n_candidates": 2,
                "per_feature": 1,
                "apart": 0.1,
                "overgrowth": 2,
                "paths": None,
                "n_threads": 2,
            }
        ],
        "select_node_terms": [
            TAUGHT
            | {
                "codes": np.array([[0, 1], [1, 2], [2, 0]], np.uint8),
                "n_codes": ints(2, 2),
                "nominal": np.array([False, True]),
                "value": floats(0.5, 3.0, 1.0, 1.0),
                "sign": np.array([-1, 0], np.int8),
                "allowed": np.ones((len(TAUGHT["parent"]), 2), np.uint8),
                "most_terms": 2,
                "rounds": 2,
                "least_share": 0.0,
                "least_gain": 0.0,
                "ridge": 0.01,
                "steps": 5,
            }
        ],
        "rank_columns": [{"columns": NUMBERS, "at": ints(2, 0), "out": np.zeros((4, 3), np.uint16)}],
        "dot": [{"one": floats(0.5, -1.0), "other": floats(3.0, 0.1)}],
        "compare_rows": [{"columns": NUMBERS, "inside": longs(0, 2), "outside": longs(3, 1)}],
        "count_distinct": [{"columns": NUMBERS}],
        "midpoint": [{"left": floats(0.5, -np.inf), "right": floats(3.0, 0.1)}],
        "minimise": [
            {
                "function": lambda at: (float(np.abs(at).clip(0, 9).sum()), np.sign(at)),
                "start": floats(0.5, -1.0),
                "low": -2.0,
                "high": 2.0,
                "tolerance": 1e-9,
                "gradient_tolerance": 1e-9,
                "max_steps": 9,
            }
        ],
        "shortest_between": [{"left": floats(0.5, -np.inf), "right": floats(3.0, 0.1)}],
        "level_order": [{"parent": ints(-1, -1, 0, 0, 2, 2), "rank": ints(0, 0, 1, 0, 0, 1)}],
        "pull_up": [SHAPE | {"values": np.ones((5, 2))}, SHAPE | {"values": np.ones((5, 3), np.int64)}],
        "lambdas": [
            {
                "score": floats(0.1, 0.3, 0.2, 0.0),
                "gain": floats(0, 1, 3, 1),
                "rows": longs(0, 1, 2, 3),
                "starts": longs(0, 3, 4),
                "sigma": 1.0,
                "truncation": 2,
                "normalize": True,
            }
        ],
        "least_costs": [
            {
                "belief": BELIEF,
                "costs": EXPECTED["costs"],
                "least": np.zeros(5),
                "action": np.zeros(5, np.int32),
            }
        ],
        "log": [ONE],
        "log2": [ONE],
        "best_per_feature": [
            at
            | (unlimited if at["cell_kind"] > 1 else limits)
            | {"variance": 0.5, "allowed": None if at["cell_kind"] else np.array([0, 1], np.uint8)}
            | {"price": floats(0.1, 0.0) if at["cell_kind"] else None}
            for at in nodes
        ],
        "partition": [
            at | {"begin": 1, "end": N, "feature": f, "slot_of": ints(*range(codes)) % n, "n_slots": n}
            for at in counted
            for f, codes, n in ((0, 5, 2), (1, 4, 3))
        ],
        "prune_shape": [
            SHAPE
            | {"cut": np.array([False, False, True, False, False]), "node": np.zeros(5, np.int64)}
            | {name: np.zeros(5, np.int32) for name in ("new_parent", "new_first_child", "new_n_children")}
        ],
        "equal_bins": [{"counts": longs(1, 1, 1, 9, 1, 1), "max_bins": 3}],
        "add_squares": [
            {"numerator": longs(1, -2, 3), "weight": weight, "node": ints(0, 2, 1)}
            | {"slot_of_node": ints(1, -1, 0), "parts": np.zeros(8, np.int64)}
            for weight in (None, longs(1, 0, 2))
        ],
        "variance_of_squares": [
            {"parts": longs(14, -1, 1, 0), "evidence": longs(3, 2), "rules": rules()},
        ],
        "target_variance": [
            {"numerator": longs(1, -2, 3), "weight": None, "begin": 0, "end": 3, "rules": rules()},
            {"numerator": longs(1, -2, 3), "weight": longs(1, 0, 2), "begin": 0, "end": 3, "rules": rules()},
        ],
        "count_parts": [COUNT_PARTS],
        "weakest_links": [SHAPE | COSTS],
    }


# ---- a call, from its description


def build(value: Any) -> Any:
    """Build the arguments of an example anew, because kernels write to their arrays."""
    if isinstance(value, np.ndarray):
        return value.copy() if value.flags.owndata and value.flags.writeable else value
    if isinstance(value, NativeObject):
        if value.kind == "Rules":
            one = _native.Rules()
            for name, setting in value.arguments.items():
                setattr(one, name, setting)
            return one
        one = getattr(_native, value.kind)(**{name: build(item) for name, item in value.arguments.items()})
        for method, arguments in value.calls:
            getattr(one, method)(**{name: build(item) for name, item in arguments.items()})
        return one
    if isinstance(value, list | tuple):
        return type(value)(build(item) for item in value)
    return value


def run(name: str, arguments: dict[str, Any]) -> Any:
    """Make a call with the arguments of an example, or with wrong ones."""
    given = {key: build(value) for key, value in arguments.items() if key != "self"}
    kind, _, method = name.partition(".")
    if method == "__init__":
        return getattr(_native, kind)(**given)
    if method == "__setstate__":
        fresh = getattr(_native, kind)
        return fresh.__new__(fresh).__setstate__(*given.values())
    if method:
        return getattr(build(arguments["self"]), method)(**given)
    return getattr(_native, name)(**given)


# ---- edits

SCALARS: tuple[Any, ...] = (
    *(
        0,
        1,
        -1,
        2,
        3,
        7,
        255,
        256,
        65535,
        65536,
        2**31 - 1,
        2**31,
        -(2**31),
        2**32,
        2**61,
        2**62,
        2**63 - 1,
        2**63,
    ),
    *(-(2**63), 2**64 - 1, 2**64, 0.0, 0.5, -1.0, 1e-320, 1e-300, 1e300, 1e308, -1e308, "nan", "inf", "-inf"),
    *(True, None, "text", []),
)
DTYPES = (
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float32",
    "float64",
    "object",
)


def number(value: Any) -> Any:
    return float(value) if value in ("nan", "inf", "-inf") else value


def filled(array: np.ndarray, at: slice | int, value: Any) -> np.ndarray:
    """The array with a value at some indices, clipped to the range of its dtype."""
    array, value = array.copy(), number(value)
    if not isinstance(value, int | float) or not array.size:
        return array
    if array.dtype.kind in "iu":
        limits = np.iinfo(array.dtype)
        value = 0 if value != value else int(min(max(value, limits.min), limits.max))
    array.reshape(-1)[at] = value
    return array


def drawn(array: np.ndarray, seed: int) -> np.ndarray:
    """Random small integers with the shape and dtype of an array."""
    low = -2 if array.dtype.kind in "if" else 0
    return np.random.default_rng(seed).integers(low, 6, array.shape).astype(array.dtype)


def unaligned(array: np.ndarray) -> np.ndarray:
    raw = np.zeros(array.nbytes + 1, np.uint8)[1:]
    moved = raw.view(array.dtype).reshape(array.shape) if array.size else array
    moved[...] = array
    return moved


def readonly(array: np.ndarray) -> np.ndarray:
    array = array.copy()
    array.flags.writeable = False
    return array


ARRAYS: dict[str, Callable[[np.ndarray, Any], Any]] = {
    "dtype": lambda a, v: a.astype(DTYPES[int(v) % len(DTYPES)]),
    "bigendian": lambda a, _: a.astype(a.dtype.newbyteorder(">")),
    "order": lambda a, _: np.asfortranarray(a) if a.ndim > 1 else np.repeat(a, 2)[::2],
    "readonly": lambda a, _: readonly(a),
    "unaligned": lambda a, _: unaligned(a),
    "length": lambda a, v: np.resize(a, (abs(int(v)) % 20, *a.shape[1:])),
    "width": lambda a, v: np.resize(a, (*a.shape[:-1], abs(int(v)) % 9)),
    "deeper": lambda a, _: a[None],
    "flat": lambda a, _: a.reshape(-1),
    "bytes": lambda a, v: np.random.default_rng(abs(int(v))).bytes(a.nbytes),
    "random bytes": lambda a, v: np.frombuffer(
        bytearray(np.random.default_rng(abs(int(v))).bytes(a.nbytes)), a.dtype
    ).reshape(a.shape),
    "drawn": lambda a, v: drawn(a, abs(int(v))),
    "shuffled": lambda a, v: np.random.default_rng(abs(int(v))).permuted(a),
}


def edited(value: Any, edit: dict[str, Any]) -> Any:
    """A value after one edit; an edit that does not apply changes nothing."""
    how, what = edit["how"], edit.get("value")
    if how == "set":
        return number(what)
    if isinstance(value, np.ndarray):
        if how == "put":
            return filled(value, int(edit.get("index", 0)) % max(value.size, 1), what)
        if how == "fill":
            return filled(value, slice(None), what)
        if how in ARRAYS:
            return ARRAYS[how](value.copy(), what)
    if isinstance(value, list | tuple) and how == "length":
        return value[: abs(int(what)) % 3] if int(what) % 2 else value + value
    return value


def changed(value: Any, path: list[Any], edit: dict[str, Any]) -> Any:
    """Arguments with an edit at a path."""
    if not path:
        return edited(value, edit)
    key, rest = path[0], path[1:]
    if isinstance(value, NativeObject) and key in value.arguments:
        arguments = value.arguments | {key: changed(value.arguments[key], rest, edit)}
        return NativeObject(value.kind, arguments, value.calls)
    if isinstance(value, dict) and key in value:
        return value | {key: changed(value[key], rest, edit)}
    if isinstance(value, list | tuple) and isinstance(key, int) and 0 <= key < len(value):
        items = list(value)
        items[key] = changed(items[key], rest, edit)
        return type(value)(items)
    return value


def places(example: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Paths into the arguments of a call that can be edited."""
    found = paths(example, lambda value: value.arguments if isinstance(value, NativeObject) else value)
    return [path for path in found if path not in ((), ("self",))]


EXAMPLES = _examples()
PLACES = {name: [places(example) for example in examples] for name, examples in EXAMPLES.items()}
_EDITABLE = [name for name in EXAMPLES if any(PLACES[name])]
_HOW = ("set", "put", "put", "fill", "drawn", *ARRAYS)


# ---- the area


def draw(rng: np.random.Generator) -> dict[str, Any]:
    """A valid call, and from one to three edits of its arguments."""
    name = _EDITABLE[rng.integers(len(_EDITABLE))]
    which = int(rng.integers(len(EXAMPLES[name])))
    there = PLACES[name][which]
    edits = []
    for _ in range(1 + int(rng.integers(4) == 0) + int(rng.integers(8) == 0) if there else 0):
        how = _HOW[rng.integers(len(_HOW))]
        value = (
            SCALARS[rng.integers(len(SCALARS))] if how in ("set", "put", "fill") else int(rng.integers(100))
        )
        at = list(there[rng.integers(len(there))])
        edits.append({"at": at, "how": how, "value": value, "index": int(rng.integers(64))})
    return {"call": name, "example": which, "edits": edits}


def outcome(case: dict[str, Any]) -> str:
    """Outcome of a case: ``returned``, ``refused``, ``senseless`` if no call was possible, or another exception."""
    try:
        arguments = EXAMPLES[case["call"]][case["example"]]
        for edit in case["edits"]:
            arguments = changed(arguments, list(edit["at"]), edit)
    except Exception:  # no such example, or an edit that NumPy cannot make
        return "senseless"
    try:
        run(case["call"], arguments)
    except (ValueError, TypeError):
        return "refused"
    except Exception as error:
        return f"{case['call']}: {type(error).__name__}: {error}"
    return "returned"


def judge(case: dict[str, Any]) -> str | None:
    """Run a case; None if the call returned or raised ValueError or TypeError."""
    found = outcome(case)
    return None if found in ("returned", "refused", "senseless") else found
