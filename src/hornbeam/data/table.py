"""The table: X, y and weights as typed columns, a target and integer weights."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.groups import copies_as_groups, read_groups, split_group_column
from hornbeam.data.labels import Labels, match_labels, read_labels
from hornbeam.data.numeric_target import NumericTarget, read_numeric_target
from hornbeam.data.reading.columns import as_data_error
from hornbeam.data.reading.frame import read_features
from hornbeam.data.schema import Kind, Schema, default_kind
from hornbeam.data.weights import read_weights
from hornbeam.errors import DataError
from hornbeam.typing import Counts, Floats, Indices


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Typed columns of the rows with a weight above zero, with their target and weights.

    Parameters
    ----------
    schema : Schema
        Names, kinds and categories of the columns, and the class labels.
    columns : tuple of ndarray
        Numeric and ordinal: float64, NaN where missing; an ordinal value is its position in the categories.
        Nominal: int32 codes into the categories, -1 where missing, -2 for a value that is not in the schema.
    target : ndarray of int32 or None
        The class code of every row; None where the target is numeric.
    weight : ndarray of int64 or None
        The weight of every row in steps of `unit`; None when every row counts 1.
    unit : float
        The weight of one integer step.
    matrix : ndarray of float64 or None
        The 2-D array that `columns` are views of, if there is one.
    names : tuple of str or None
        The column names of X; None if it has none.
    class_weight : ndarray of float64 or None
        Factor of each class in the search for splits, multiplied with `weight` there. Evidence counts `weight` alone.
    numeric_target : NumericTarget or None
        The numeric target of every row.
    rounded : tuple of str
        Names of the columns with whole numbers beyond 2**53, which `read` rounded to float64.
    group : ndarray of int64 or None
        Equal values for the rows of one group, such as a patient; None if each row is one of its own.

    Examples
    --------
    >>> rows = [[30, "no"], [41, None], [52, "yes"]]
    >>> table = Table.read(rows, ["well", "ill", "ill"], feature_names=["age", "smokes"])
    >>> table.schema.features[1].categories, table.schema.classes
    (('no', 'yes'), ('ill', 'well'))
    >>> table.columns[0], table.columns[1], table.target
    (array([30., 41., 52.]), array([ 0, -1,  1], dtype=int32), array([1, 0, 0], dtype=int32))
    """

    schema: Schema
    columns: tuple[NDArray[Any], ...]
    target: Indices | None = None
    weight: Counts | None = None
    unit: float = 1.0
    matrix: Floats | None = None
    names: tuple[str, ...] | None = None
    class_weight: Floats | None = None
    numeric_target: NumericTarget | None = None
    rounded: tuple[str, ...] = ()
    group: Counts | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0])

    @property
    def n_groups(self) -> int | None:
        """Number of groups; None if rows do not belong to groups."""
        return None if self.group is None else len(np.unique(self.group))

    @property
    def row_weights(self) -> Floats:
        """Weight of each row; 1 where no weights were given."""
        return np.ones(self.n_rows) if self.weight is None else np.multiply(self.weight, self.unit)

    @property
    def truth(self) -> Floats:
        """Perfect prediction of each row: a column for each class, 1 or 0, or one column with the numeric target."""
        if self.numeric_target is not None:
            return self.numeric_target.values[:, None]
        return np.eye(self.schema.n_classes)[self.target]

    def slice(self, begin: int, end: int) -> "Table":
        """Return the rows from `begin` up to `end` as views.

        Examples
        --------
        >>> Table.read([[1.0], [2.0], [3.0]]).slice(1, 3).columns
        (array([2., 3.]),)
        """
        return self._rows(slice(begin, end))

    def take(self, rows: NDArray[Any]) -> "Table":
        """Return some rows, in the given order, as copies.

        Examples
        --------
        >>> Table.read([[1.0], [2.0], [3.0]]).take(np.array([2, 0])).columns
        (array([3., 1.]),)
        """
        return self._rows(rows)

    def _rows(self, rows: Any) -> "Table":
        matrix = None if self.matrix is None else self.matrix[rows]
        return Table(
            self.schema,
            tuple([column[rows] for column in self.columns] if matrix is None else matrix.T),
            None if self.target is None else self.target[rows],
            None if self.weight is None else self.weight[rows],
            self.unit,
            matrix,
            self.names,
            self.class_weight,
            None if self.numeric_target is None else self.numeric_target.take(rows),
            group=None if self.group is None else self.group[rows],
        )

    def select(self, features: Sequence[int]) -> "Table":
        """Return a table of some columns, in the given order, as views.

        Examples
        --------
        >>> Table.read([[1.0, 2.0], [3.0, 4.0]]).select([1]).columns
        (array([2., 4.]),)
        """
        if len(features) == len(self.columns) and list(features) == list(range(len(features))):
            return self
        return replace(
            self,
            schema=self.schema.select(features),
            columns=tuple([self.columns[feature] for feature in features]),
            matrix=None,
            names=None if self.names is None else tuple([self.names[feature] for feature in features]),
            rounded=(),
        )

    @classmethod
    def read(
        cls,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        class_weight: Any = None,
        groups: Any = None,
        schema: Schema | None = None,
        feature_names: Sequence[str] | None = None,
        target_kind: str | None = None,
        needed: Collection[str] | None = None,
    ) -> "Table":
        """Read X, y and weights; infer the schema, or match the columns with a given one.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            A NumPy array, a list of rows, or a data frame of pandas, polars, pyarrow or any library with the Arrow
            interface. Booleans, strings and categories are nominal; ordered categories of pandas and pyarrow are
            ordinal; a column of Python objects is numeric if all of them are numbers, else nominal. NaN,
            None, NA, NaT, null and masked values are missing. A float64 array is not copied; integers beyond
            2**53 are rounded to the nearest float64. With a schema also a dict from names to values, which is one
            row, or a list of such dicts.
        y : array-like of shape (n_rows,) or Labels, optional
            Class labels, or numbers if the target is numeric.
        sample_weight : array-like of shape (n_rows,) or number, optional
            Rows of weight zero are dropped; a class that loses all its rows stays among the classes.
        class_weight : mapping, "balanced" or None
            A factor per class for the search for splits; rows of a class with factor 0 are dropped.
        groups : array-like of shape (n_rows,), str or None
            The group of each row, or the name of its column in a data frame, which is then no feature. "copies": rows
            of equal values and target are a group.
        schema : Schema, optional
            The schema to match: categories and labels by value; columns by name in dicts and in frames that have
            other columns too, else by position, and then the names must be equal.
        feature_names : sequence of str, optional
            Column names to use instead of those of X. Without any names: x0, x1, ...
        target_kind : {"nominal", "numeric"}, optional
            Nominal for classification, numeric for regression. Default: the target of the schema, else nominal.
        needed : collection of str, optional
            Names that dicts must have; any other that is absent is a missing value. Default: all names.

        Returns
        -------
        Table
            The rows with a weight above zero.

        Raises
        ------
        DataError
            If X, y or the weights cannot be used.
        SchemaError
            If the columns do not match the schema.

        Examples
        --------
        >>> train = Table.read([["red"], ["blue"]], [0, 1])
        >>> Table.read([["blue"], ["green"], [None]], schema=train.schema).columns
        (array([ 0, -2, -1], dtype=int32),)
        """
        kind = default_kind(target_kind, schema)
        if groups is not None:
            X, groups = split_group_column(X, groups)
        names = feature_names if schema is None or feature_names is not None else schema.names
        with as_data_error("X"):
            raw = read_features(X, names, schema, needed)
        if feature_names is not None:
            raw = raw.with_names(feature_names)
        if schema is not None:
            raw.check(schema)
        labels, values = None, None
        if y is not None and kind is Kind.NUMERIC:
            values = read_numeric_target(y)
        elif y is not None:
            labels = y if isinstance(y, Labels) else read_labels(y)
        for y_rows in (values, None if labels is None else labels.codes):
            if y_rows is not None and len(y_rows) != raw.shape[0]:
                raise DataError(
                    "Found input variables with inconsistent numbers of samples: "
                    f"{[raw.shape[0], len(y_rows)]}. Pass one {'label' if values is None else 'number'} per row."
                )
        group = None if groups is None or isinstance(groups, str) else read_groups(groups, raw.shape[0])
        weight, unit, kept, factors = read_weights(
            sample_weight, raw.shape[0], class_weight=class_weight, labels=labels
        )
        if kept is not None:
            raw = raw.take(kept)
            labels = None if labels is None else labels.take(kept)
            values = None if values is None else values[kept]
            group = None if group is None else group[kept]
        if schema is None:
            classes = () if labels is None else tuple(labels.classes.tolist())
            schema = raw.schema(classes)
            if kind is Kind.NUMERIC:
                schema = replace(schema, target_kind=kind)
            codes = None if labels is None else labels.codes
        else:
            codes = None if labels is None else match_labels(labels, schema.classes)
            if factors is not None and labels is not None:
                row_factors, factors = factors[labels.codes], np.ones(schema.n_classes)
                factors[codes] = row_factors
        columns, matrix = raw.encode(schema)
        numbers = None if values is None else NumericTarget.of(values, weight, unit)
        rounded = tuple([schema.names[at] for at in raw.rounded])
        by = codes if numbers is None else numbers.values
        group = copies_as_groups(columns, by) if isinstance(groups, str) else group
        return cls(schema, columns, codes, weight, unit, matrix, raw.names, factors, numbers, rounded, group)
