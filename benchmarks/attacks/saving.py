"""Processes killed while they save: the old file or the new one is there, whole, and the next save leaves no other.

A file that was private stays so, and what is written in its place is private from its first byte.
"""

from __future__ import annotations

import os
import signal
import stat
import tempfile
import time
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import hornbeam
from hornbeam.errors import StorageError

HEAVY, IN_CI = True, 20
LIMIT, PATIENCE, WARM_UP = 20.0, 60.0, 60.0
FORMS = ("text", "tensors")


@cache
def _fits() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X, y = rng.random((1500, 5)), rng.integers(0, 3, 1500)
    one, other = (hornbeam.TreeClassifier(smoothing=None).fit(X[begin:], y[begin:]) for begin in (0, 700))
    return one, other


def prepare() -> None:
    """Fit the models once, before processes are forked."""
    warnings.simplefilter("ignore")
    _fits()


def draw(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "form": str(rng.choice(FORMS)),
        "private": bool(rng.random() < 0.5),
        "savers": int(rng.choice([1, 1, 2, 3])),
        "delay": float(rng.random() * 0.15),
    }


def judge(case: dict[str, Any]) -> str | None:
    delay, savers = case.get("delay"), case.get("savers")
    if not isinstance(delay, int | float) or not 0 <= delay < 2 or savers not in (1, 2, 3):
        return None
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / ("model.safetensors" if case.get("form") == "tensors" else "model.hornbeam")
        hornbeam.save(_fits()[0], path)
        if case.get("private"):
            path.chmod(0o600)
        children = [_saver(path) for _ in range(savers)]
        wrong = _watch(path, delay, private=bool(case.get("private")))
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        return wrong or _look(path, private=bool(case.get("private")))


def _saver(path: Path) -> int:
    """A process that saves two models in turn until it is killed."""
    child = os.fork()
    if child == 0:
        try:
            while True:
                for fit in _fits():
                    hornbeam.save(fit, path)
        finally:
            os._exit(1)
    return child


def _watch(path: Path, seconds: float, *, private: bool) -> str | None:
    """Look at every file of the folder for some time: of a private one, none can be read by others."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for file in path.parent.iterdir() if private else ():
            try:
                mode = file.stat().st_mode
            except FileNotFoundError:
                continue
            if stat.S_IMODE(mode) & 0o077:
                return f"{file.name} had the mode {stat.S_IMODE(mode):o} while it was written"
        time.sleep(0.001)
    return None


def _look(path: Path, *, private: bool) -> str | None:
    digests = [fit.tree_.digest for fit in _fits()]
    try:
        if hornbeam.load(path).tree_.digest not in digests:
            return "another model than was saved"
        if private and stat.S_IMODE(path.stat().st_mode) != 0o600:
            return "the file is no longer private"
        hornbeam.save(_fits()[1], path)
        if hornbeam.load(path).tree_.digest != digests[1]:
            return "another model than was saved last"
    except (StorageError, OSError) as error:
        return f"{type(error).__name__}: {error}"
    left = [file.name for file in path.parent.iterdir() if file != path]
    return f"left behind: {left}" if left else None
