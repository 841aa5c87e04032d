"""The data of a study: sets of an index, each with its ten folds.

Nominal values reach libraries that know numbers only as integer codes in the dictionary's order; a missing nominal
value is a code of its own, a missing number stays NaN.
"""

from __future__ import annotations

import csv
import warnings
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, train_test_split

from hornbeam.data.table import Table

N_FOLDS = 10
SEED = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the index, and how many of its rows the study takes."""

    name: str
    file: Path
    n_instances: int
    n_classes: int
    max_rows: int | None = None

    @property
    def key(self) -> str:
        """Its name in the cache: a part of a set is another set."""
        return f"{self.name}@{self.max_rows}" if self.is_part else self.name

    @property
    def is_part(self) -> bool:
        return self.max_rows is not None and self.n_instances > self.max_rows

    @property
    def n_rows(self) -> int:
        return min(self.n_instances, self.max_rows or self.n_instances)


def index(folder: Path, names: list[str] | None = None, max_rows: int | None = None) -> list[Entry]:
    """The sets of a folder, smallest first."""
    path = folder / "index.csv"
    if not path.exists():
        raise SystemExit(f"{path} does not exist: give the folder with the data sets (benchmarks/README.md)")
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    unknown = set(names or ()) - {row["name"] for row in rows}
    if unknown:
        raise SystemExit(f"no set is called {', '.join(sorted(unknown))} in {folder / 'index.csv'}")
    entries = [
        Entry(row["name"], folder / row["file"], int(row["n_instances"]), int(row["n_classes"]), max_rows)
        for row in rows
        if names is None or row["name"] in names
    ]
    return sorted(entries, key=lambda entry: (entry.n_rows, entry.name))


@dataclass(frozen=True, eq=False)
class StudySet:
    """All rows of a set: the frame, the class codes and the folds."""

    name: str
    X: pd.DataFrame
    y: NDArray[np.intp]
    classes: tuple[str, ...]
    n_folds: int = N_FOLDS

    @cached_property
    def folds(self) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        splitter = StratifiedKFold(self.n_folds, shuffle=True, random_state=SEED)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a class may have fewer rows than there are folds
            return list(splitter.split(self.y, self.y))

    @cached_property
    def table(self) -> Table:
        """For Hornbeam's own steps: read once, folds are picked from it."""
        return Table.read(self.X, self.y)

    @cached_property
    def matrix(self) -> NDArray[np.float32]:
        """For libraries that take numbers only."""
        columns = [
            np.where((codes := column.cat.codes.to_numpy()) < 0, len(column.cat.categories), codes)
            if isinstance(column.dtype, pd.CategoricalDtype)
            else column.to_numpy(float)
            for _, column in self.X.items()
        ]
        return np.column_stack(columns).astype(np.float32)


@lru_cache(maxsize=1)
def load(entry: Entry) -> StudySet:
    """Read a set; a part of its rows keeps the shares of the classes."""
    frame = pd.read_parquet(entry.file)
    target = frame.pop("target").astype("category")
    y = target.cat.codes.to_numpy().astype(np.intp)
    if entry.is_part:
        rows = np.arange(len(y))
        rare = np.bincount(y)[y] < 2  # which stratified drawing refuses
        kept, _ = train_test_split(rows[~rare], train_size=entry.n_rows, stratify=y[~rare], random_state=SEED)
        kept = np.sort(kept)
        frame, y = frame.iloc[kept].reset_index(drop=True), y[kept]
        seen, y = np.unique(y, return_inverse=True)
        return StudySet(entry.name, frame, y, tuple(map(str, target.cat.categories[seen])))
    return StudySet(entry.name, frame, y, tuple(map(str, target.cat.categories)))


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows to learn from and rows to be asked about."""

    data: StudySet
    number: int

    @cached_property
    def train(self) -> NDArray[np.intp]:
        return self.data.folds[self.number][0]

    @cached_property
    def test(self) -> NDArray[np.intp]:
        return self.data.folds[self.number][1]

    @cached_property
    def seen(self) -> NDArray[np.intp]:
        """The classes of the training rows; the others get probability 0 from every method."""
        return np.unique(self.data.y[self.train])

    @property
    def n_classes(self) -> int:
        return len(self.data.classes)

    @property
    def y_train(self) -> NDArray[np.intp]:
        return self.data.y[self.train]

    @property
    def y_test(self) -> NDArray[np.intp]:
        return self.data.y[self.test]

    def frames(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        return self.data.X.iloc[self.train], self.data.X.iloc[self.test]

    def matrices(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return self.data.matrix[self.train], self.data.matrix[self.test]

    def table(self, rows: NDArray[np.intp]) -> Table:
        """Some rows of the set, with the classes of the training rows."""
        whole = self.data.table
        assert whole.target is not None
        schema = replace(whole.schema, classes=tuple(self.seen.tolist()))
        target = np.searchsorted(self.seen, whole.target[rows]).astype(np.int32)
        matrix = None if whole.matrix is None else np.ascontiguousarray(whole.matrix[rows])
        columns = tuple(column[rows] for column in whole.columns) if matrix is None else tuple(matrix.T)
        return Table(schema, columns, target, matrix=matrix)

    def spread(self, probabilities: Any, classes: Any = None) -> NDArray[np.float64]:
        """Columns of the seen classes, or of those named, among the columns of all classes."""
        p = np.asarray(probabilities, float)
        if p.shape[1] == self.n_classes and classes is None:
            return p
        full = np.zeros((len(p), self.n_classes))
        full[:, self.seen if classes is None else np.asarray(classes)] = p
        return full
