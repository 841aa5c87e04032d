"""The shorter way to name a set of categories: by its members, or by those it leaves out."""

from collections.abc import Sequence

__all__ = ["shorter_side"]

_FEW = 3  # categories that are always named by themselves


def shorter_side(codes: Sequence[int], n_categories: int) -> tuple[list[int], bool]:
    """Choose the shorter list: the categories of a set, or those it leaves out.

    Parameters
    ----------
    codes : sequence of int
        The categories of the set, by code.
    n_categories : int
        How many categories the feature has; codes are 0 to ``n_categories - 1``.

    Returns
    -------
    listed : list of int
        The categories to name.
    left_out : bool
        Whether they are the ones that the set leaves out. That is so for sets of more than three categories,
        if fewer are left out than are in it.

    Examples
    --------
    >>> shorter_side([0, 2, 3, 4], 5), shorter_side([0, 2], 5), shorter_side([0, 1], 3)
    (([1], True), ([0, 2], False), ([0, 1], False))
    """
    if len(codes) <= _FEW or 2 * len(codes) <= n_categories:
        return list(codes), False
    inside = set(codes)
    return [code for code in range(n_categories) if code not in inside], True
