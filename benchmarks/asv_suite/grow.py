"""From the raw array to the fitted tree."""

from typing import ClassVar

from benchmarks.synthetic import make
from hornbeam import TreeClassifier


class Fit:
    """The estimator, without pruning and smoothing: what `speed.py grow` compares with other libraries."""

    param_names = ("rows", "classes", "depth")
    params: ClassVar = ([150, 10_000, 100_000], [2, 5], [8, None])

    def setup(self, rows: int, classes: int, depth: int | None) -> None:
        self.X, self.y = make(rows, classes)
        self.tree = TreeClassifier(
            criterion="entropy", smoothing=None, pruning=None, max_bins=255, max_depth=depth
        )

    def time_fit(self, *_: object) -> None:
        self.tree.fit(self.X, self.y)

    def peakmem_fit(self, *_: object) -> None:
        self.tree.fit(self.X, self.y)

    def track_leaves(self, *_: object) -> int:
        return int(self.tree.fit(self.X, self.y).tree_.n_leaves)


class DefaultFit:
    """The estimator as a newcomer calls it, smoothing and all."""

    param_names = ("rows",)
    params: ClassVar = ([150, 10_000],)

    def setup(self, rows: int) -> None:
        self.X, self.y = make(rows)

    def time_fit(self, *_: object) -> None:
        TreeClassifier().fit(self.X, self.y)
