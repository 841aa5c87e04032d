"""Fits to rows, and predictions of rows, that do not fit memory, or that stay with an engine.

Reading order:

- `plan`: in memory, on a sample, or level by level
- `fit`: the fit by that plan
- `sample`: a random sample of a source
- `predict`: the predictions of a source as Parquet files
"""
