"""A limit on the memory and time of tuning when there are many classes.

Every node of a tree has a number for each class, so that trees of n nodes and K classes have n K cells. Time and memory
of tuning grow with the cells of all regrown trees together. Above the limit fewer trees are regrown, from fewer rows.
"""

__all__ = ["MOST_CELLS", "most_rows", "most_trees"]

MOST_CELLS = 40_000_000  # of all trees together: 0.3 GB an array


def most_rows(n_classes: int, cells: int = MOST_CELLS) -> int:
    """Return how many rows two trees may be grown from, if each row is a leaf.

    Examples
    --------
    >>> most_rows(2), most_rows(3_000)
    (5000000, 3333)
    """
    return max(cells // (4 * n_classes), 100)


def most_trees(n_nodes: int, n_classes: int, cells: int = MOST_CELLS) -> int:
    """Return how many trees of so many nodes there may be, 2 at least.

    Examples
    --------
    >>> most_trees(1_999, 1_000), most_trees(5_999, 3_000)
    (20, 2)
    """
    return max(cells // (n_nodes * n_classes), 2)
