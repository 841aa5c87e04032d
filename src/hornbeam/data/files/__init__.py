"""Rows in files: Parquet and text files, the cache of encoded rows, and safe writing.

Reading order:

- `addresses`: addresses of stores, as texts without credentials; `stores`: reads and writes there, and on disk.
- `paths`: paths, folders, patterns and addresses of stores become a list of files.
- `folder_columns`: columns in the names of folders.
- `footers`: row groups and column types, from the footers of Parquet files.
- `row_groups`: the rows of a row group, or of a part of one.
- `selection`: which columns are features, labels and weights.
- `summary`: categories, classes and weights of all rows.
- `parquet`: `ParquetSource`, built from these.
- `parquet_writer`: a stream of rows as a Parquet file.
- `coded_column`, `target_folder`: columns of predictions, and the folder they are written to.
- `encoded_file`, `cache`: encoded rows on disk.
- `delimited`, `tabular`: CSV and Parquet files of the command line.
- `profile`: facts about one column.
- `atomic_write`, `scratch`, `regular_file`: files that are complete or absent, temporary folders, safe opening.
"""
