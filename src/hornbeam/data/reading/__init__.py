"""Conversion of X in any container to raw columns, before a schema is applied.

Reading order:

- `columns`: one column, as floats or as codes into a dictionary of values.
- `raw_columns`: all columns of X, from an array or a list of rows.
- `named_rows`: rows as dicts.
- `frame`: data frames and sparse matrices; `read_features` takes any X.
- `arrow`: checks of Arrow arrays.
- `library_errors`: exceptions of other libraries as `DataError`.
"""
