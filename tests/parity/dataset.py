"""Classification data as plain columns: what the recorder hands to Weka and the twin grows a tree from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Attribute:
    """A name and, for a nominal attribute, its declared values in order; numeric when `values` is None."""

    name: str
    values: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows of attributes and a class.

    Attributes
    ----------
    attributes : tuple of Attribute
    columns : tuple of float64 arrays
        Numeric values, or positions in the declared values; NaN is missing.
    classes : tuple of str
    target : int array
        Position in `classes`; never missing.
    """

    name: str
    attributes: tuple[Attribute, ...]
    columns: tuple[NDArray[np.float64], ...]
    classes: tuple[str, ...]
    target: NDArray[np.intp]

    @property
    def n_rows(self) -> int:
        return len(self.target)

    @property
    def has_missing(self) -> bool:
        return any(bool(np.isnan(column).any()) for column in self.columns)

    @classmethod
    def of_rows(cls, name: str, header: dict[str, list[str] | None], rows: list[list[Any]]) -> Dataset:
        """Read rows of plain values; `header` declares each nominal column's values, the class comes last."""
        declared = [None if values is None else tuple(values) for values in header.values()]
        columns = [
            np.array([np.nan if v is None else values.index(v) if values else v for v in column], float)
            for values, column in zip(declared, zip(*rows, strict=True), strict=True)
        ]
        attributes = tuple(Attribute(n, values) for n, values in zip(header, declared, strict=True))
        classes = attributes[-1].values
        assert classes is not None, "the class is nominal"
        return cls(name, attributes[:-1], tuple(columns[:-1]), classes, columns[-1].astype(np.intp))

    @classmethod
    def of_parquet(cls, path: Path) -> Dataset:
        """Read one set of the UCI collection: dictionary columns are nominal, the last one is the class."""
        from pyarrow import parquet, types  # type: ignore[import-untyped]  # only the collection needs it

        attributes, columns = [], []
        table = parquet.read_table(path)
        for name, column in zip(table.column_names, table.columns, strict=True):
            values = None
            if types.is_dictionary(column.type):
                packed = column.unify_dictionaries().combine_chunks()
                values, column = tuple(packed.dictionary.to_pylist()), packed.indices
            attributes.append(Attribute(name, values))
            columns.append(column.to_pandas().to_numpy(dtype=float, na_value=np.nan))
        classes = attributes[-1].values
        assert classes is not None, f"{path.name}: the last column is the class, so it must be a dictionary"
        target = columns.pop().astype(np.intp)
        return cls(path.stem, tuple(attributes[:-1]), tuple(columns), classes, target)

    def header(self) -> dict[str, list[str] | None]:
        """What `of_rows` takes as its header."""
        nominal = {a.name: None if a.values is None else list(a.values) for a in self.attributes}
        return nominal | {"target": list(self.classes)}

    def rows(self) -> list[list[Any]]:
        """What `of_rows` takes as its rows: strings, numbers, None for missing."""
        plain = [
            [
                None if np.isnan(v) else attribute.values[int(v)] if attribute.values else v
                for v in column.tolist()
            ]
            for attribute, column in zip(self.attributes, self.columns, strict=True)
        ]
        plain.append([self.classes[code] for code in self.target])
        return [list(row) for row in zip(*plain, strict=True)]
