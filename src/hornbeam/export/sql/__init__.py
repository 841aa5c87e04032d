"""A tree or a list of rules as SQL.

In reading order:

- `queries`: the exporter `to_sql`, and the conditions of rules
- `dialect`: columns and constants in each database
- `expressions`: the splits of a tree, and the conditions of rules, as expressions
- `select`: the whole SELECT
- `prediction_tables`: its tables if missing values go to every child, or the tree has slopes
"""
