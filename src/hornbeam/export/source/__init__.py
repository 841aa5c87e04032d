"""A tree as source code: Python, JavaScript and C.

In reading order:

- `lookup_tables`: the tree as flat tables
- `vectors`: rows with expected predictions, to ship as a test
- `python`: a Python module without imports
- `javascript`: a JavaScript object
- `c`: one file of C99
"""
