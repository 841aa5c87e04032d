"""Calls to be disturbed: fits, predictions, updates and saves, each with the state that it changes."""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import hornbeam
from hornbeam.data.files.parquet import scan_parquet
from hornbeam.estimators.persistence.files import pack
from hornbeam.storage.file import encode


@dataclass(slots=True)
class Subject:
    """A call, and the state that it changes as text."""

    act: Callable[[], Any]
    state: Callable[[], str]


@cache
def rows(n: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 8)).round(2)
    X[rng.random(X.shape) < 0.02] = np.nan
    return X, (np.nan_to_num(X[:, 0] * X[:, 1] + X[:, 2]) > rng.random(n)).astype(int)


FITS: dict[str, tuple[int, Callable[[int], Any]]] = {
    "tree": (2500, lambda jobs: hornbeam.TreeClassifier(n_jobs=jobs)),
    "cart": (10000, lambda jobs: hornbeam.TreeClassifier("cart", n_jobs=jobs)),
    "c4.5": (6000, lambda jobs: hornbeam.TreeClassifier("c4.5", n_jobs=jobs)),
    "simple tree": (1200, lambda jobs: hornbeam.TreeClassifier(tolerance=0.05, n_jobs=jobs)),
    "hdp": (1000, lambda jobs: hornbeam.TreeClassifier(smoothing="hdp", n_jobs=jobs)),
    "regressor": (6000, lambda jobs: hornbeam.TreeRegressor(n_jobs=jobs)),
    "rules": (1500, lambda jobs: hornbeam.RuleClassifier(hornbeam.TreeClassifier("cart", max_depth=5))),
    "forest": (3000, lambda jobs: hornbeam.ForestClassifier(12, n_jobs=jobs)),
    "forest of means": (3000, lambda jobs: hornbeam.ForestRegressor(12, n_jobs=jobs)),
    "adaboost": (3000, lambda jobs: hornbeam.AdaBoostClassifier(20, n_jobs=jobs)),
    "boosting": (3000, lambda jobs: hornbeam.BoostedTreesClassifier(n_estimators=20, n_jobs=jobs)),
    "boosting of means": (2000, lambda jobs: hornbeam.BoostedTreesRegressor(n_estimators=20, n_jobs=jobs)),
}
OTHERS = (
    "ranker",
    "files",
    "predict",
    "forest predicts",
    "update",
    "forget",
    "save",
    "save tensors",
    "command",
)


def model_state(estimator: Any) -> str:
    """A fingerprint of a fitted estimator with the names of all that it has learnt, or that it is not fitted."""
    learnt = sorted(name for name in vars(estimator) if name.endswith("_") and not name.startswith("_"))
    if not learnt:
        return "unfitted"
    try:
        data = encode(pack(estimator))
    except Exception as error:
        return f"half fitted, {', '.join(learnt)}: {type(error).__name__}: {error}"
    return f"{hashlib.sha256(data).hexdigest()[:12]} {','.join(learnt)}"


def subject(kind: str, fitted: bool, jobs: int) -> Subject:
    """A new subject; `fitted`: the estimator has been fitted to other rows before."""
    if kind in FITS:
        n, make = FITS[kind]
        return _fit(make(jobs), rows(n), rows(300, 1) if fitted else None)
    if kind == "ranker":
        X, y = rows(3000)
        ranker = hornbeam.BoostedTreesRanker(n_estimators=15, n_jobs=jobs)
        group = {"query": np.repeat(np.arange(300), 10)}
        return Subject(lambda: ranker.fit(X, y, **group), lambda: model_state(ranker))
    return OTHER[kind](fitted, jobs)


def _fit(estimator: Any, new: tuple[Any, Any], old: tuple[Any, Any] | None) -> Subject:
    if old is not None:
        estimator.fit(*old)
    return Subject(lambda: estimator.fit(*new), lambda: model_state(estimator))


@cache
def parquet() -> str:
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, y = rows(6000)
    file = Path(tempfile.mkdtemp(prefix="rows-")) / "rows.parquet"
    table = pa.table({f"x{f}": X[:, f] for f in range(X.shape[1])} | {"y": y})
    pq.write_table(table, file, row_group_size=750)
    return str(file)


def _files(fitted: bool, jobs: int) -> Subject:
    """Level by level from a file, with a temporary cache of codes."""
    tree, file = hornbeam.TreeClassifier("cart", max_depth=5, n_jobs=jobs), parquet()
    if fitted:
        tree.fit(*rows(300, 1))
    source = scan_parquet(file, target="y")
    return Subject(lambda: tree.fit(source, memory=50_000), lambda: model_state(tree))


@cache
def _model(forest: bool) -> Any:
    X, y = rows(3000)
    made = hornbeam.ForestClassifier(10) if forest else hornbeam.TreeClassifier()
    return made.fit(X, y)


def _predict(forest: bool, jobs: int) -> Subject:
    model, X = deepcopy(_model(forest)).set_params(n_jobs=jobs), rows(30_000, 2)[0]
    return Subject(lambda: model.predict_proba(X), lambda: model_state(model))


def _update(forget: bool) -> Subject:
    model, (X, y) = deepcopy(_model(False)), rows(3000) if forget else rows(20_000, 3)
    act = model.forget if forget else model.update
    return Subject(lambda: act(X[:1500], y[:1500]) if forget else act(X, y), lambda: model_state(model))


def _save(suffix: str, fitted: bool) -> Subject:
    """Saves a model over another. The draft of a save that was interrupted may stay until the next one, no longer."""
    path = Path(tempfile.mkdtemp(prefix="saved-")) / f"model.{suffix}"
    forest, tree = _model(True), _model(False)
    if fitted:
        hornbeam.save(tree, path)

    def act() -> None:
        hornbeam.save(forest, path)
        assert list(path.parent.iterdir()) == [path], "a save that succeeds leaves its file alone"

    def state() -> str:
        found = sorted(file.name for file in path.parent.iterdir() if not file.name.endswith(".saving"))
        return f"{found} {model_state(hornbeam.load(path)) if path.exists() else ''}"

    return Subject(act, state)


OTHER: dict[str, Callable[[bool, int], Subject]] = {
    "files": _files,
    "predict": lambda fitted, jobs: _predict(False, jobs),
    "forest predicts": lambda fitted, jobs: _predict(True, jobs),
    "update": lambda fitted, jobs: _update(False),
    "forget": lambda fitted, jobs: _update(True),
    "save": lambda fitted, jobs: _save("hornbeam", fitted),
    "save tensors": lambda fitted, jobs: _save("safetensors", fitted),
}


KINDS = (*FITS, "ranker", *OTHER)


def n_threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


def scratch() -> set[str]:
    """The temporary files that are Hornbeam's."""
    return {file.name for file in Path(tempfile.gettempdir()).iterdir() if file.name.startswith("hornbeam")}


@cache
def undisturbed(kind: str, fitted: bool, jobs: int) -> tuple[float, str, str, int]:
    """How long the call takes, the states before and after it, and how many threads are left."""
    one = subject(kind, fitted, jobs)
    one.act()  # whatever is imported or built once
    one = subject(kind, fitted, jobs)
    before, begin = one.state(), time.perf_counter()
    one.act()
    return time.perf_counter() - begin, before, one.state(), n_threads()
