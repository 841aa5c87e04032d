"""What a new user does first, with the wheel alone: import, fit, predict, and how long that takes."""

import gc
import sys
import time
from importlib.metadata import version


class Lap:
    """CPU seconds of a block, held against a limit."""

    def __init__(self, what: str, limit: float) -> None:
        self.what, self.limit = what, limit

    def __enter__(self) -> None:
        self.begin = time.process_time()

    def __exit__(self, *_: object) -> None:
        seconds = time.process_time() - self.begin
        print(f"{self.what}: {1000 * seconds:.1f} ms (limit {1000 * self.limit:.0f} ms)")
        if seconds > self.limit:
            sys.exit(f"{self.what} is too slow")


with Lap("import hornbeam", 0.01):
    import hornbeam

assert hornbeam.__version__ == version("hornbeam")
assert "numpy" not in sys.modules

from sklearn.datasets import load_iris  # noqa: E402

X, y = load_iris(return_X_y=True)
gc.freeze()  # a collection of scikit-learn's many objects may fall into our lap, and takes as long as all of ours
with Lap("TreeClassifier, over scikit-learn", 0.1):
    from hornbeam import TreeClassifier
# Fifty trees are regrown for the smoothing and eight simulated for the intervals of so few rows.
with Lap("first fit, 150 rows", 0.08):
    classifier = TreeClassifier().fit(X, y)
with Lap("first prediction", 0.05):
    probabilities = classifier.predict_proba(X)

assert probabilities.shape == (150, 3)
assert abs(probabilities.sum(axis=1) - 1).max() < 1e-12
assert classifier.score(X, y) > 0.9
print(f"hornbeam {hornbeam.__version__} works from {hornbeam.__file__}")
