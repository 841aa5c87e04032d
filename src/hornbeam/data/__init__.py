"""Input data: X, y and weights as typed tables, their bins, and sources that need not fit in memory.

Reading order:

- `schema`: names, kinds and categories of the features, and the classes.
- `labels`, `numeric_target`: the target of a classifier, and of a regressor.
- `fixed_point`, `weights`: row weights as integers, so that sums are exact in any order.
- `table`: the typed columns, target and weights of some rows.
- `reading/`: arrays, lists, dicts and data frames become raw columns.
- `engine`: runs tasks over partitions of rows; threads here, clusters in `hornbeam.engines`.
- `sources`: partitions are addresses of rows, and a source reads them.
- `rows`: rows in any form, opened as a source.
- `binning/`: cut points, and the codes of values.
- `encoded_rows`: a table with its bins and codes, and encoded rows partition by partition.
- `hashes`: hashes of rows, and of strings and arrays.
- `groups`, `row_order`: rows that belong together, and a row order that depends on content alone.
- `target_copies`, `column_checks`: columns that should probably not be features.
- `files/`: Parquet and CSV files, the cache of encoded rows, and safe writing.
"""
