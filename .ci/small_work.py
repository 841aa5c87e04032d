"""Small work beside scikit-learn in the same process: fits of few rows, one row, and the first use.

Each goal is a ratio that was reached when it was written down, with room for noise; a ratio below it means that a
change made small work slower. Every number is the least of several repeats, in processor seconds: run it in a quiet
moment, and more than once if it fails.
"""

import gc
import subprocess
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.tree import DecisionTreeClassifier

FIRST_USE = """
import gc, time
import sklearn.tree
X, y = [[float(i), float(i % 7)] for i in range(150)], [i % 2 for i in range(150)]
gc.freeze(); gc.disable()  # a collection of scikit-learn's many objects takes as long as all of ours
begin = time.process_time()
from hornbeam import TreeClassifier
TreeClassifier().fit(X, y).predict_proba(X[:1])
print(time.process_time() - begin)
"""
IMPORT = "import time; begin = time.process_time(); import sklearn.tree; print(time.process_time() - begin)"


def seconds(call: Callable[[], object], rounds: int, calls: int = 1) -> float:
    """The least processor seconds of a call."""
    best = float("inf")
    for _ in range(rounds):
        begin = time.process_time()
        for _ in range(calls):
            call()
        best = min(best, (time.process_time() - begin) / calls)
    return best


def of_process(code: str, rounds: int = 5) -> float:
    """The least number that new processes print."""
    command = [sys.executable, "-W", "ignore", "-c", code]
    runs = (subprocess.run(command, check=True, capture_output=True, text=True) for _ in range(rounds))  # noqa: S603 (our own text)
    return min(float(run.stdout) for run in runs)


def data(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n) > 0).astype(int)


def main() -> int:
    from hornbeam import TreeClassifier

    warnings.simplefilter("ignore")
    gc.freeze()
    slower = []

    def compare(what: str, theirs: float, ours: float, goal: float) -> None:
        ratio = theirs / ours
        print(
            f"{what}: scikit-learn {1e3 * theirs:.3f} ms, Hornbeam {1e3 * ours:.3f} ms, {ratio:.2f} (goal {goal})"
        )
        if ratio < goal:
            slower.append(what)

    plain = {"criterion": "entropy", "smoothing": None, "pruning": None}
    for n, plain_goal, default_goal in ((150, 1.2, 0.08), (1_000, 3.8, 0.32), (10_000, 6.5, 1.3)):
        X, y = data(n)
        theirs = seconds(lambda X=X, y=y: DecisionTreeClassifier(criterion="entropy").fit(X, y), 12)
        ours = seconds(lambda X=X, y=y: TreeClassifier(**plain).fit(X, y), 12)
        compare(f"fit of {n:,} rows to the end", theirs, ours, plain_goal)
        compare(
            f"default fit of {n:,} rows",
            theirs,
            seconds(lambda X=X, y=y: TreeClassifier().fit(X, y), 6),
            default_goal,
        )

    X, y = data(5_000)
    peer = DecisionTreeClassifier(max_leaf_nodes=500).fit(X, y)
    tree = TreeClassifier(max_leaf_nodes=500).fit(X, y)
    row, named = X[:1].copy(), {f"x{at}": value for at, value in enumerate(X[0].tolist())}
    theirs = seconds(lambda: peer.predict_proba(row), 7, 300)
    compare("one row of NumPy", theirs, seconds(lambda: tree.predict_proba(row), 7, 300), 17)
    compare("one row as a list", theirs, seconds(lambda: tree.predict_proba([X[0].tolist()]), 7, 300), 12)
    compare("one row as a dict", theirs, seconds(lambda: tree.predict_proba(named), 7, 300), 9)
    compare("first use beside the import of scikit-learn", of_process(IMPORT), of_process(FIRST_USE), 6)
    if slower:
        print(f"slower than the goal: {', '.join(slower)}")
    return bool(slower)


if __name__ == "__main__":
    sys.exit(main())
