"""Short lists of categories: the members of a set, or the categories outside it."""

from collections.abc import Sequence

__all__ = ["shorter_side"]

_ALWAYS_LISTED = 3  # categories


def shorter_side(codes: Sequence[int], n_categories: int) -> tuple[list[int], bool]:
    """Choose the shorter list of codes: the categories of a set, or those outside it; True for those outside.

    The categories outside are listed for sets of more than three categories, if fewer are outside than inside.
    """
    if len(codes) <= _ALWAYS_LISTED or 2 * len(codes) <= n_categories:
        return list(codes), False
    inside = set(codes)
    return [code for code in range(n_categories) if code not in inside], True
