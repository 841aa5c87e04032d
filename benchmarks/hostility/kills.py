"""Processes killed while they save: the old file or the new one must be there, never a broken one."""

from __future__ import annotations

import os
import random
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import hornbeam
from hornbeam.errors import StorageError


def kills(n: int, seed: int = 0) -> dict[str, Any]:
    """Kill processes that save to one path, one after the other; what is there must always load."""
    rng = random.Random(seed)
    numbers = np.random.default_rng(seed)
    X, y = numbers.random((1500, 5)), numbers.integers(0, 3, 1500)
    fits = [hornbeam.TreeClassifier(smoothing=None).fit(X[begin:], y[begin:]) for begin in (0, 700)]
    digests = [fit.tree_.digest for fit in fits]
    seen: dict[str, int] = {}
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        for round_ in range(n):
            path = Path(folder) / ("model.safetensors" if round_ % 3 == 0 else "model.hornbeam")
            if not path.exists():
                hornbeam.save(fits[0], path)
            child = os.fork()
            if child == 0:
                try:
                    turn = 0
                    while True:
                        turn += 1
                        hornbeam.save(fits[turn % 2], path)
                finally:
                    os._exit(1)
            time.sleep(rng.random() * 0.1)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            try:
                found = "sound" if hornbeam.load(path).tree_.digest in digests else "other"
            except (StorageError, OSError) as error:
                found = f"broken: {error}"
            seen[found] = seen.get(found, 0) + 1
        stray = len(list(Path(folder).iterdir())) - len(list(Path(folder).glob("model.*")))
    return {
        "bench": "kills",
        "n": n,
        "found": seen,
        "stray_files": stray,
        "seconds": time.perf_counter() - begin,
        "passed": set(seen) == {"sound"} and stray <= 2,
    }
