"""What a split is worth, how nominal features split, where missing values go."""

from enum import StrEnum

__all__ = ["Criterion", "Missing", "Nominal"]


class Criterion(StrEnum):
    """What a split is worth.

    Examples
    --------
    >>> Criterion("gini")
    <Criterion.GINI: 'gini'>
    """

    ENTROPY = "entropy"
    """Information gain in bits (ID3)."""
    GAIN_RATIO = "gain_ratio"
    """Gain over split information among tests of at least average gain, with the MDL penalty and the
    minimum-split rule for numeric tests (C4.5 Release 8)."""
    GINI = "gini"
    """Decrease of the Gini impurity (CART)."""
    HELLINGER = "hellinger"
    """Squared Hellinger distance between each class and the rest, averaged: blind to how rare a class is."""
    SQUARED_ERROR = "squared_error"
    """Decrease of the mean squared error, for numeric targets (CART)."""


class Nominal(StrEnum):
    """How a nominal feature splits.

    Examples
    --------
    >>> Nominal.MULTIWAY.value
    'multiway'
    """

    MULTIWAY = "multiway"
    """One child for each category present."""
    SUBSET = "subset"
    """Two children: the best subset (exact for two classes and for means, along the principal direction for more
    classes)."""


class Missing(StrEnum):
    """Where rows go whose tested value is missing.

    Examples
    --------
    >>> Missing("own").name
    'OWN'
    """

    OWN = "own"
    """To a child of their own; to the better of the two where they are fewer than a leaf must hold."""
    LEARNED = "learned"
    """To the child that makes the better split."""
    FRACTIONAL = "fractional"
    """To every child, their weight shared out (C4.5)."""
