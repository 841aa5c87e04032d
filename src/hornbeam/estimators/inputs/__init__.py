"""Input of estimators: targets, files, collections, and warnings about the data.

Reading order:

- `training`: rows and target of a fit: in memory, in files, or a dask collection.
- `prediction_columns`: predictions as columns.
- `fit_warnings`: doubtful columns, rounded integers, too many classes.
"""
