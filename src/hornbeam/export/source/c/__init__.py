"""A tree as one file of C99 without heap, library or header beyond <stdint.h>.

In reading order:

- `source`: `to_c`, the whole file and its test
- `program`: the settings and names that all parts use
- `numbers`: literals and comparisons of each input type
- `names`: identifiers, strings and comments
- `declarations`: the head of the file
- `nested`: the layout of nested ifs
- `tables`: the layouts of tables and bins
- `slopes`: tables and functions of leaves with slopes
- `predictions`: tables of predictions, and the public functions
"""

from hornbeam.export.source.c.source import to_c

__all__ = ["to_c"]
