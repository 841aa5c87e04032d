"""How many values of new rows a model has never seen, for those who watch a service."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from hornbeam.data.reading.columns import MISSING, UNSEEN
from hornbeam.data.schema import Kind
from hornbeam.data.table import Table
from hornbeam.html_table import html_table
from hornbeam.typing import Bools, Counts

__all__ = ["Unseen", "unseen"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Unseen:
    """Counts of unseen categories and missing values for each feature; printed, a line each. It holds no values.

    Parameters
    ----------
    features : tuple of str
        The names.
    tested : bool array of shape (n_features,)
        Whether the model tests the feature: if not, its values change no prediction.
    unseen : int64 array of shape (n_features,)
        Rows with a category that was not among the rows of the fit; 0 where the feature is not nominal.
    missing : int64 array of shape (n_features,)
        Rows without a value. Of an ordinal feature these include values that were never declared.
    n_rows : int
        Rows that were looked at.
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

    def __len__(self) -> int:
        return len(self.features)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns with an entry for each feature, as every frame library takes them.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier("cart").fit([["red"], ["blue"]] * 3, ["no", "yes"] * 3)
        >>> clf.unseen([["red"], ["mauve"]]).to_dict()
        {'feature': ['x0'], 'tested': [True], 'unseen': [1], 'missing': [0]}
        """
        counts = {name: getattr(self, name).tolist() for name in ("tested", "unseen", "missing")}
        return {"feature": list(self.features), **counts}

    def _rows(self) -> list[tuple[str, str, int, str, int]]:
        shares = [f"{100 * count / self.n_rows:.1f} %" for count in self.unseen.tolist()]
        tested = ["yes" if asked else "no" for asked in self.tested.tolist()]
        columns = (self.features, tested, self.unseen.tolist(), shares, self.missing.tolist())
        return list(zip(*columns, strict=True))

    @property
    def _summary(self) -> str:
        have = "has" if self.n_affected == 1 else "have"
        return f"{self.n_affected} of {self.n_rows} rows {have} an unseen category in a tested feature"

    def __repr__(self) -> str:
        width = max(len("feature"), *map(len, self.features))
        lines = [f"{'feature':<{width}}  tested  unseen    share  missing"]
        for name, tested, count, share, missing in self._rows():
            lines.append(f"{name:<{width}}  {tested:<6}  {count:>6}  {share:>7}  {missing:>7}")
        return "\n".join([*lines, self._summary])

    def _repr_html_(self) -> str:
        header = ("feature", "tested", "unseen", "share", "missing")
        text = ("feature", "tested")
        return html_table("Unseen categories", header, self._rows(), text=text, note=self._summary)


def unseen(table: Table, tested: Collection[str]) -> Unseen:
    """Count the unseen categories and the missing values of rows.

    Parameters
    ----------
    table : Table
        Rows read with the schema of a model.
    tested : collection of str
        The names of the features that it tests.

    Returns
    -------
    Unseen

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart").fit([["red"], ["blue"]] * 3, ["no", "yes"] * 3).tree_
    >>> unseen(Table.read([["red"], ["mauve"]], schema=tree.schema), ["x0"]).n_affected
    1
    """
    features = table.schema.features
    nominal = [feature.kind is Kind.NOMINAL for feature in features]
    new = [
        column == UNSEEN if named else np.zeros(table.n_rows, np.bool_)
        for column, named in zip(table.columns, nominal, strict=True)
    ]
    absent = [
        column == MISSING if named else np.isnan(column)
        for column, named in zip(table.columns, nominal, strict=True)
    ]
    asked = np.array([feature.name in tested for feature in features])
    affected = np.zeros(table.n_rows, np.bool_)
    for rows in (rows for rows, counts in zip(new, asked, strict=True) if counts):
        affected |= rows
    return Unseen(
        features=table.schema.names,
        tested=asked,
        unseen=np.array([np.count_nonzero(rows) for rows in new], dtype=np.int64),
        missing=np.array([np.count_nonzero(rows) for rows in absent], dtype=np.int64),
        n_rows=table.n_rows,
        n_affected=int(np.count_nonzero(affected)),
    )
