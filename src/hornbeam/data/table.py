"""The one door in: arrays and data frames become typed columns, a target and weights."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.labels import Labels, match_labels, read_labels
from hornbeam.data.numeric_target import NumericTarget, read_numeric_target
from hornbeam.data.reading.frame import read_features
from hornbeam.data.reading.library_errors import reading
from hornbeam.data.schema import Kind, Schema
from hornbeam.data.weights import read_weights
from hornbeam.errors import DataError
from hornbeam.typing import Counts, Floats, Indices

__all__ = ["Table"]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Typed columns of rows that count, with their target and weights, checked against a schema.

    Parameters
    ----------
    schema : Schema
        Names, kinds and categories of the columns, and the class labels.
    columns : tuple of ndarray
        Numeric and ordinal: float64, NaN where missing; an ordinal value is its position in the categories.
        Nominal: int32 codes into the categories, -1 where missing, -2 where the schema lacks the value.
    target : ndarray of int32 or None
        The class code of every row; None where the target is numeric.
    weight : ndarray of int64 or None
        The weight of every row in steps of `unit`; None when every row counts 1.
    unit : float
        What one step of weight is worth.
    matrix : ndarray of float64 or None
        The 2-D array whose columns `columns` are, if there is one.
    names : tuple of str or None
        The names that X itself brought for its columns.
    class_weight : ndarray of float64 or None
        How much the rows of each class weigh in the search for tests, beside their weight. It steers and
        counts nothing: evidence is of `weight` alone.
    measured : NumericTarget or None
        The numeric target of every row.
    rounded : tuple of str
        Names of the columns that `read` had to round: whole numbers beyond 2**53.

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

    @property
    def n_rows(self) -> int:
        """How many rows the table has."""
        return len(self.columns[0])

    def slice(self, begin: int, end: int) -> "Table":
        """Return the rows from `begin` up to `end` as views.

        Examples
        --------
        >>> Table.read([[1.0], [2.0], [3.0]]).slice(1, 3).columns
        (array([2., 3.]),)
        """
        return Table(
            self.schema,
            tuple([column[begin:end] for column in self.columns]),
            None if self.target is None else self.target[begin:end],
            None if self.weight is None else self.weight[begin:end],
            self.unit,
            None if self.matrix is None else self.matrix[begin:end],
            self.names,
            self.class_weight,
            None if self.numeric_target is None else self.numeric_target.take(slice(begin, end)),
        )

    def take(self, rows: NDArray[Any]) -> "Table":
        """Return some rows, in the order asked for, as copies.

        Examples
        --------
        >>> Table.read([[1.0], [2.0], [3.0]]).take(np.array([2, 0])).columns
        (array([3., 1.]),)
        """
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
        )

    def select(self, features: Sequence[int]) -> "Table":
        """Return the table of some columns alone, in the order asked for, as views.

        Examples
        --------
        >>> Table.read([[1.0, 2.0], [3.0, 4.0]]).select([1]).columns
        (array([2., 4.]),)
        """
        if len(features) == len(self.columns) and list(features) == list(range(len(features))):
            return self
        return Table(
            self.schema.select(features),
            tuple([self.columns[feature] for feature in features]),
            self.target,
            self.weight,
            self.unit,
            None,
            None if self.names is None else tuple([self.names[feature] for feature in features]),
            self.class_weight,
            self.numeric_target,
        )

    @classmethod
    def read(
        cls,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        class_weight: Any = None,
        schema: Schema | None = None,
        feature_names: Sequence[str] | None = None,
        target: Kind | None = None,
        needed: Collection[str] | None = None,
    ) -> "Table":
        """Read rows, labels and weights; learn the schema, or match the columns with a given one.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            A NumPy array, a list of rows, or a frame of pandas, polars, pyarrow or any library that speaks
            Arrow. Booleans, strings and categories are nominal, ordered categories of pandas and pyarrow
            ordinal; a column of Python objects is numeric if all of them are numbers, else nominal. NaN,
            None, NA, NaT, null and masked values are missing. A float64 array is not copied; integers beyond
            2**53 are rounded to the nearest float64. With a schema also a dict, or a list of dicts, from names
            to values: a row each.
        y : array-like of shape (n_rows,) or Labels, optional
            Class labels; numbers, if `target` or `schema` says so.
        sample_weight : array-like of shape (n_rows,) or number, optional
            Rows of weight zero are dropped; a class that loses all its rows stays among the classes.
        class_weight : mapping, "balanced" or None
            A factor per class that steers the search for tests; rows of a class of factor 0 are dropped.
        schema : Schema, optional
            The schema to match: categories and labels by value; columns by name in dicts and in frames that have
            other columns too, else by position, and then names must agree.
        feature_names : sequence of str, optional
            Names for the columns, instead of those X has; x0, x1, ... where neither is there.
        target : Kind, optional
            Numeric if y measures; by default what the schema says, else nominal: y names classes.
        needed : collection of str, optional
            Names that dicts must have; another that they lack is a missing value. By default all are needed.

        Returns
        -------
        Table
            The rows that count.

        Raises
        ------
        DataError
            X, y or the weights cannot be used.
        SchemaError
            The columns do not fit the schema.

        Examples
        --------
        >>> train = Table.read([["red"], ["blue"]], [0, 1])
        >>> Table.read([["blue"], ["green"], [None]], schema=train.schema).columns
        (array([ 0, -2, -1], dtype=int32),)
        """
        names = feature_names if schema is None or feature_names is not None else schema.names
        with reading("X"):
            sheet = read_features(X, names, schema, needed)
        if feature_names is not None:
            sheet = sheet.named(feature_names)
        if schema is not None:
            sheet.check(schema)
        kind = target or (Kind.NOMINAL if schema is None else schema.target)
        labels, values = None, None
        if y is not None and kind is Kind.NUMERIC:
            values = read_numeric_target(y)
        elif y is not None:
            labels = y if isinstance(y, Labels) else read_labels(y)
        for given in (values, None if labels is None else labels.codes):
            if given is not None and len(given) != sheet.shape[0]:
                raise DataError(
                    "Found input variables with inconsistent numbers of samples: "
                    f"{[sheet.shape[0], len(given)]}. Pass one {'label' if values is None else 'number'} a row."
                )
        weight, unit, kept, of_class = read_weights(
            sample_weight, sheet.shape[0], class_weight=class_weight, labels=labels
        )
        if kept is not None:
            sheet = sheet.take(kept)
            labels = None if labels is None else Labels(labels.classes, labels.codes[kept])
            values = None if values is None else values[kept]
        if schema is None:
            classes = () if labels is None else tuple(labels.classes.tolist())
            schema = sheet.schema(classes)
            if kind is Kind.NUMERIC:
                schema = replace(schema, target=kind)
            codes = None if labels is None else labels.codes
        else:
            codes = None if labels is None else match_labels(labels, schema.classes)
            if of_class is not None and labels is not None:
                by_label, of_class = of_class[labels.codes], np.ones(schema.n_classes)
                of_class[codes] = by_label
        columns, matrix = sheet.encode(schema)
        measured = None if values is None else NumericTarget.of(values, weight, unit)
        rounded = tuple([schema.names[at] for at in sheet.rounded])
        return cls(schema, columns, codes, weight, unit, matrix, sheet.names, of_class, measured, rounded)
