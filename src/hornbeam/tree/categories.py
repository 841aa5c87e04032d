"""Short lists of categories: the members of a set, or the categories outside it."""

from collections.abc import Sequence

__all__ = ["shorter_side"]

_ALWAYS_LISTED = 3  # categories


def shorter_side(codes: Sequence[int], n_categories: int) -> tuple[list[int], bool]:
    """Choose the shorter list: the categories of a set, or those outside it.

    Parameters
    ----------
    codes : sequence of int
        The categories of the set, by code.
    n_categories : int
        Number of categories of the feature; codes are 0 to ``n_categories - 1``.

    Returns
    -------
    listed : list of int
        The categories to list.
    left_out : bool
        Whether they are the categories outside the set: for sets of more than three categories, if fewer are outside
        than inside.

    Examples
    --------
    >>> shorter_side([0, 2, 3, 4], 5), shorter_side([0, 2], 5), shorter_side([0, 1], 3)
    (([1], True), ([0, 2], False), ([0, 1], False))
    """
    if len(codes) <= _ALWAYS_LISTED or 2 * len(codes) <= n_categories:
        return list(codes), False
    inside = set(codes)
    return [code for code in range(n_categories) if code not in inside], True
