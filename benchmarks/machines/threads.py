"""Many threads at once, on shared tables and shared models: every result must be that of one thread.

    python -m benchmarks.machines.threads --threads 8 --seconds 600 --out threads.json

The threads run in rounds. At the start of a round all of them use the same new copies of fitted models, so that what
a model computes on first use is computed by several threads at the same moment. Then each fits models of every kind,
some of them on threads of their own. Ends with an error if a result differs or if the GIL was switched on.
On kernels that were built with ThreadSanitizer (`nox -s threads`) a data race is reported and ends the run.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pickle
import sys
import sysconfig
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import numpy as np

import hornbeam
from benchmarks.machines.check import about
from benchmarks.machines.same_bits import digest, fits, make_set

N_SETS = 2
LARGE = {"n_rows": 60_000, "n_features": 17}  # enough for every fit to use its threads
# What is computed on first use comes first.
USES: dict[str, Callable[[Any, np.ndarray], Any]] = {
    "digest": lambda model, X: model.tree_.digest.encode(),
    "decided": lambda model, X: model.tree_.decided,
    "predict": lambda model, X: model.predict(X),
    "predict_proba": lambda model, X: model.predict_proba(X),
    "predict_interval": lambda model, X: model.predict_interval(X),
    "apply": lambda model, X: model.apply(X),
    "decision_path": lambda model, X: model.decision_path(X).indices,
    "unseen": lambda model, X: model.unseen(X).to_dict()["missing"],
    "explain": lambda model, X: str(model.explain(X[:3])).encode(),
}


def large_fits() -> dict[str, Callable[[], tuple[Any, np.ndarray]]]:
    """Fits that have threads of their own, on one shared table."""
    rng = np.random.default_rng(19)
    X = rng.integers(0, 300, (LARGE["n_rows"], LARGE["n_features"])).astype(float)
    z = X[:, 0] + X[:, 1] * (X[:, 2] > 150) + rng.integers(0, 200, len(X))
    y, some = (z > np.median(z)).astype(int), X[:1000]
    few = {"random_state": 0, "n_jobs": 4, "n_estimators": 4}
    models = {
        "tree": lambda: hornbeam.TreeClassifier(n_jobs=4, max_depth=8).fit(X, y),
        "regressor": lambda: hornbeam.TreeRegressor(n_jobs=4, max_depth=8).fit(X, z),
        "forest": lambda: hornbeam.ForestClassifier(max_depth=6, **few).fit(X, y),
        "boosting": lambda: hornbeam.BoostedTreesClassifier(n_jobs=4, n_estimators=4).fit(X, y),
        "boosting of numbers": lambda: hornbeam.BoostedTreesRegressor(n_jobs=4, n_estimators=4).fit(X, z),
    }
    return {f"4 threads: {name}": lambda fit=fit: (fit(), some) for name, fit in models.items()}


def uses(model: Any, X: np.ndarray) -> dict[str, Callable[[Any], str]]:
    """What this kind of model can be used for, as functions of a copy that return a hash of the result."""

    def hashed(use: Callable[[Any, np.ndarray], Any]) -> Callable[[Any], str]:
        def answer(copy: Any) -> str:
            found = use(copy, X)
            found = found if isinstance(found, bytes) else np.ascontiguousarray(found).tobytes()
            return hashlib.sha256(found).hexdigest()[:16]

        return answer

    tree = ("digest", "decided")
    able = {name for name in USES if hasattr(model, "tree_" if name in tree else name)}
    return {name: hashed(use) for name, use in USES.items() if name in able}


class Stress:
    """Threads that use and fit models in rounds, and compare every result with the expected one."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self.end = 0.0
        self.fits = {
            f"set {number}: {kind}": fit
            for number in range(N_SETS)
            for kind, fit in fits(make_set(number), number).items()
        } | large_fits()
        fitted = {name: fit() for name, fit in self.fits.items()}
        self.fitted = {name: digest(*model) for name, model in fitted.items()}
        self.pickled = {name: pickle.dumps(model) for name, (model, _) in fitted.items()}
        self.uses = {name: uses(*model) for name, model in fitted.items()}
        self.used = {
            name: {use: answer(pickle.loads(self.pickled[name])) for use, answer in able.items()}
            for name, able in self.uses.items()
        }
        self.copies: dict[str, Any] = {}
        self.barrier = Barrier(n_threads, action=self.next_round)
        self.counts: list[Counter[str]] = [Counter() for _ in range(n_threads)]
        self.failures: list[str] = []
        self.over = False

    def next_round(self) -> None:
        """Make new copies of every model; one thread calls it while all others wait."""
        self.over = time.monotonic() > self.end or bool(self.failures)
        self.copies = {name: pickle.loads(pickled) for name, pickled in self.pickled.items()}

    def run(self, seconds: float) -> Counter[str]:
        """Start the threads and wait for them; return how many results were compared."""
        self.end = time.monotonic() + seconds
        threads = [Thread(target=self.work, args=(number,)) for number in range(self.n_threads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sum(self.counts, Counter())

    def work(self, number: int) -> None:
        """Take part in every round; each thread begins its fits at another place."""
        names = list(self.fits)
        start = number * len(names) // self.n_threads
        try:
            while self.barrier.wait() >= 0 and not self.over:
                for name, able in self.uses.items():
                    for use, answer in able.items():
                        self.compare(
                            number, f"{name}, {use}", answer(self.copies[name]), self.used[name][use]
                        )
                for name in names[start:] + names[:start]:
                    if time.monotonic() < self.end:
                        self.compare(number, name, digest(*self.fits[name]()), self.fitted[name])
        except BaseException as error:
            self.failures.append(f"{type(error).__name__}: {error}")
            self.barrier.abort()
            raise

    def compare(self, number: int, name: str, found: str, expected: str) -> None:
        """Count a result, and note one that differs."""
        self.counts[number]["fits" if name in self.fits else "uses"] += 1
        if found != expected:
            self.failures.append(f"{name}: {found}, expected {expected}")


def gil() -> bool:
    """Whether Python runs one thread at a time."""
    return sys._is_gil_enabled() if sys.version_info >= (3, 13) else True


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--out", type=Path, help="where the result is written as JSON")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # small sets
    sys.setswitchinterval(1e-4)  # with a GIL: more changes of thread
    begin = time.process_time()
    stress = Stress(options.threads)
    counts = stress.run(options.seconds)
    if sysconfig.get_config_var("Py_GIL_DISABLED") and gil():
        stress.failures.append("the GIL was switched on by an import")
    line = {
        **about(),
        "gil": gil(),
        "threads": options.threads,
        "seconds": options.seconds,
        **counts,
        "failures": stress.failures,
        "processor_seconds": round(time.process_time() - begin),
    }
    text = json.dumps(line)
    print(text)
    if options.out:
        options.out.write_text(text + "\n", encoding="utf-8")
    return int(bool(stress.failures))


if __name__ == "__main__":
    sys.exit(main())
