"""From rows to probabilities."""

from typing import ClassVar

from benchmarks.synthetic import make
from hornbeam import TreeClassifier


class Predict:
    """A tree grown on 20,000 rows predicts one row, a thousand, a hundred thousand."""

    param_names = ("rows", "classes")
    params: ClassVar = ([1, 1000, 100_000], [2, 5])

    def setup(self, rows: int, classes: int) -> None:
        self.tree = TreeClassifier(criterion="entropy", smoothing=None, pruning=None).fit(
            *make(20_000, classes)
        )
        self.X, _ = make(rows, classes, seed=1)

    def time_predict_proba(self, *_: object) -> None:
        self.tree.predict_proba(self.X)


class OneRow:
    """One row through `row_predictor`: of a tree of 16 leaves, with and without slopes."""

    param_names = ("slopes",)
    params: ClassVar = ([0, 2],)

    def setup(self, slopes: int) -> None:
        X, y = make(2_000, 2)
        self.predict = TreeClassifier("readable", slopes=slopes).fit(X, y).row_predictor()
        self.row = tuple(X[0].tolist())

    def time_row(self, _: int) -> None:
        self.predict(self.row)
