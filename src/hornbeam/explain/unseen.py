"""Counts of unseen categories and missing values in new rows, for monitoring."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from hornbeam.data.reading.columns import MISSING, UNSEEN
from hornbeam.data.table import Table
from hornbeam.grid import Grid, Result
from hornbeam.typing import Bools, Counts


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Unseen(Result[dict[str, Any]]):
    """Counts of unseen categories and missing values per feature; it does not hold the values.

    Parameters
    ----------
    features : tuple of str
        Names of the features.
    tested : bool array of shape (n_features,)
        Whether the model tests the feature; if not, its values do not change a prediction.
    unseen : int64 array of shape (n_features,)
        Rows with a category that is not in the training data; 0 if the feature is not nominal.
    missing : int64 array of shape (n_features,)
        Rows without a value; for an ordinal feature, also values that are not among its categories.
    n_rows : int
        Number of rows.
    n_affected : int
        Rows with an unseen category in a feature that the model tests.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart").fit([["red"], ["blue"]] * 3, ["no", "yes"] * 3)
    >>> clf.unseen([["red"], ["mauve"], [None], ["pink"]])
    feature  tested  unseen    share  missing
    x0       yes          2   50.0 %        1
    2 of 4 rows have an unseen category in a tested feature
    """

    features: tuple[str, ...]
    tested: Bools
    unseen: Counts
    missing: Counts
    n_rows: int
    n_affected: int

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns with a value per feature.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier("cart").fit([["red"], ["blue"]] * 3, ["no", "yes"] * 3)
        >>> clf.unseen([["red"], ["mauve"]]).to_dict()
        {'feature': ['x0'], 'tested': [True], 'unseen': [1], 'missing': [0]}
        """
        counts = {name: getattr(self, name).tolist() for name in ("tested", "unseen", "missing")}
        return {"feature": list(self.features), **counts}

    def _grid(self) -> Grid:
        """Return a table with a row per feature."""
        shares = [f"{100 * count / self.n_rows:.1f} %" for count in self.unseen.tolist()]
        tested = ["yes" if is_tested else "no" for is_tested in self.tested.tolist()]
        columns = (self.features, tested, self.unseen.tolist(), shares, self.missing.tolist())
        have = "has" if self.n_affected == 1 else "have"
        note = f"{self.n_affected} of {self.n_rows} rows {have} an unseen category in a tested feature"
        header = ("feature", "tested", "unseen", f"{'share':>7}", "missing")
        return Grid("Unseen categories", header, list(zip(*columns, strict=True)), "<<>", note)


def unseen(table: Table, tested: Collection[str]) -> Unseen:
    """Count the unseen categories and the missing values in rows; `tested` are names of features."""
    features = table.schema.features
    nominal = [feature.is_nominal for feature in features]
    new = [
        column == UNSEEN if is_nominal else np.zeros(table.n_rows, np.bool_)
        for column, is_nominal in zip(table.columns, nominal, strict=True)
    ]
    absent = [
        column == MISSING if is_nominal else np.isnan(column)
        for column, is_nominal in zip(table.columns, nominal, strict=True)
    ]
    is_tested = np.array([feature.name in tested for feature in features])
    affected = np.zeros(table.n_rows, np.bool_)
    for rows in (rows for rows, counts in zip(new, is_tested, strict=True) if counts):
        affected |= rows
    return Unseen(
        features=table.schema.names,
        tested=is_tested,
        unseen=np.array([np.count_nonzero(rows) for rows in new], dtype=np.int64),
        missing=np.array([np.count_nonzero(rows) for rows in absent], dtype=np.int64),
        n_rows=table.n_rows,
        n_affected=int(np.count_nonzero(affected)),
    )
