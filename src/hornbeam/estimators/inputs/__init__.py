"""Input of estimators: targets, files, dask collections, and warnings about the data.

Reading order:

- `targets`: read `y`.
- `sources`: paths and sources instead of arrays, in `fit` and in prediction methods.
- `prediction_columns`: predictions as columns.
- `dask_rows`: write dask collections as files.
- `fit_warnings`: doubtful columns, rounded integers, too many classes.
"""
