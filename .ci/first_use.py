"""What a new user does first, with the wheel alone: import, fit, predict, and how long that takes beside scikit-learn.

Each limit is a multiple of what scikit-learn needs for the like in the same process, so it holds on slow machines too.
"""

import gc
import sys
import time
from importlib.metadata import version


class Lap:
    """CPU seconds of a block, compared with those of an earlier block."""

    def __init__(self, what: str, limit: float = 0.0, beside: "Lap | None" = None) -> None:
        self.what, self.limit, self.beside = what, limit, beside

    def __enter__(self) -> "Lap":
        self.begin = time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.process_time() - self.begin
        print(f"{self.what}: {1000 * self.seconds:.1f} ms")
        if self.beside is not None:
            ratio = self.seconds / self.beside.seconds
            print(f"  {ratio:.2f} of {self.beside.what} (limit {self.limit})")
            if ratio > self.limit:
                sys.exit(f"{self.what} is too slow")


with Lap("import hornbeam") as importing:
    import hornbeam

assert hornbeam.__version__ == version("hornbeam")
assert "numpy" not in sys.modules

with Lap("import of scikit-learn's forest") as peer:
    from sklearn.datasets import load_iris
    from sklearn.ensemble import RandomForestClassifier
assert importing.seconds < 0.01 * peer.seconds

X, y = load_iris(return_X_y=True)
gc.freeze()  # a collection of scikit-learn's many objects may fall into our lap, and takes as long as all of ours
with Lap("import of TreeClassifier", 0.08, peer):
    from hornbeam import TreeClassifier
# Fifty fold trees are grown for the smoothing and eight simulated for the intervals of so few rows.
with Lap("first fit of scikit-learn's forest of 50 trees") as peer:
    forest = RandomForestClassifier(50).fit(X, y)
with Lap("first fit, 150 rows", 1.4, peer):
    classifier = TreeClassifier().fit(X, y)
with Lap("first prediction of scikit-learn's forest") as peer:
    forest.predict_proba(X)
with Lap("first prediction", 1.0, peer):
    probabilities = classifier.predict_proba(X)

assert probabilities.shape == (150, 3)
assert abs(probabilities.sum(axis=1) - 1).max() < 1e-12
assert classifier.score(X, y) > 0.9
print(f"hornbeam {hornbeam.__version__} works from {hornbeam.__file__}")
