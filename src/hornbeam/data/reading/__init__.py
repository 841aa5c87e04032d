"""Conversion of X in any container to raw columns, before a schema is applied.

Reading order:

- `columns`: one column, as floats or as codes into a dictionary of values; checks of Arrow arrays, and exceptions of
  other libraries as `DataError`.
- `raw_columns`: all columns of X, from an array, a list of rows, or dicts.
- `frame`: data frames and sparse matrices; `read_features` takes any X.
"""
