"""A tree as one file of C99 without heap, library or header beyond <stdint.h>.

In reading order:

- `source`: `to_c`, the whole file and its test
- `program`: the settings that all parts use, and identifiers, strings and comments
- `numbers`: literals and comparisons of each input type
- `declarations`: the head of the file
- `layouts`: nested ifs, tables and bins
- `slope_terms`: tables and functions of trees with slopes
- `predictions`: tables of predictions, and the public functions
"""
