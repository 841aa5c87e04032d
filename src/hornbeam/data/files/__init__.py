"""Rows in files: Parquet and text files, the cache of encoded rows, and safe writing.

Reading order:

- `addresses`: addresses of stores, as texts without credentials; `stores`: reads and writes there, and on disk.
- `paths`: paths, folders, patterns and addresses of stores become a list of files.
- `footers`: row groups and column types, from the footers of Parquet files and the names of folders.
- `selection`: which columns are features, labels and weights; the rows of a row group, or of a part of one.
- `summary`: categories, classes and weights of all rows.
- `parquet`: `scan_parquet`, built from these.
- `parquet_writer`: a stream of rows as a Parquet file, and columns of codes.
- `target_folder`: the folder that predictions are written to.
- `cache`: encoded rows on disk.
- `delimited`, `tabular`: CSV and Parquet files of the command line.
- `profile`: facts about one column.
- `atomic_write`, `scratch`: files that are complete or absent, safe opening, temporary folders.
"""
