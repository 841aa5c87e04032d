"""A limit on the memory and time of tuning when there are many classes.

A tree of n nodes and K classes has n K cells. Time and memory of tuning grow with the cells of all fold trees together.
Above the limit fewer fold trees are grown, from fewer rows.
"""

__all__ = ["MOST_CELLS", "max_rows", "max_trees"]

MOST_CELLS = 40_000_000  # of all trees together: 0.3 GB per array


def max_rows(n_classes: int, cells: int = MOST_CELLS) -> int:
    """Return the maximum number of rows of two trees, if each row is a leaf."""
    return max(cells // (4 * n_classes), 100)


def max_trees(n_nodes: int, n_classes: int, cells: int = MOST_CELLS) -> int:
    """Return the maximum number of trees of this size, at least 2."""
    return max(cells // (n_nodes * n_classes), 2)
