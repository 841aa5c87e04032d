"""Input of estimators: targets, files, collections, and warnings about the data.

Reading order:

- `targets`: read `y`.
- `sources`: paths, sources and dask collections instead of arrays, in `fit` and in prediction methods.
- `prediction_columns`: predictions as columns.
- `fit_warnings`: doubtful columns, rounded integers, too many classes.
"""
