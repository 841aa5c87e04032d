"""Enumerations: gain measures, kinds of nominal splits, treatments of missing values."""

from enum import StrEnum


class Criterion(StrEnum):
    """Measure of the gain of a split.

    Examples
    --------
    >>> Criterion("gini")
    <Criterion.GINI: 'gini'>
    """

    ENTROPY = "entropy"
    """Information gain in bits (ID3)."""
    GAIN_RATIO = "gain_ratio"
    """Gain over split information, among splits of at least average gain, with the MDL penalty and the
    minimum-split rule for numeric splits (C4.5 Release 8)."""
    GINI = "gini"
    """Decrease of the Gini impurity (CART)."""
    HELLINGER = "hellinger"
    """Squared Hellinger distance between each class and the rest, averaged: it does not depend on class frequencies."""
    SQUARED_ERROR = "squared_error"
    """Decrease of the mean squared error, for numeric targets (CART)."""
    POISSON = "poisson"
    """Decrease of half the mean Poisson deviance, for counts and rates: targets of 0 or more."""
    GAMMA = "gamma"
    """Decrease of half the mean gamma deviance, for amounts whose spread grows with their mean: targets above 0."""

    @property
    def is_numeric(self) -> bool:
        """Whether it is for numeric targets."""
        return self is Criterion.SQUARED_ERROR or self.is_deviance

    @property
    def is_deviance(self) -> bool:
        """Whether it is a deviance, which compares means by their ratio."""
        return self in (Criterion.POISSON, Criterion.GAMMA)

    @property
    def loss(self) -> str:
        """The loss that pruning and smoothing lower on held-out rows: the deviance, or the squared error."""
        return self.value if self.is_deviance else "squared_error"

    @property
    def in_bits(self) -> bool:
        """Whether it measures gains in bits."""
        return self in (Criterion.ENTROPY, Criterion.GAIN_RATIO)

    @property
    def impurity(self) -> "Criterion | None":
        """The impurity of class counts that its gains decrease; None if it compares splits only, or numbers."""
        if self.in_bits:
            return Criterion.ENTROPY
        return self if self is Criterion.GINI else None


class Nominal(StrEnum):
    """Kind of split of a nominal feature.

    Examples
    --------
    >>> Nominal.MULTIWAY.value
    'multiway'
    """

    MULTIWAY = "multiway"
    """One child for each category present."""
    SUBSET = "subset"
    """Two children: the best subset (exact for two classes, for numeric targets and for up to ten categories; of more
    categories and classes the best along their principal direction)."""


class Missing(StrEnum):
    """Treatment of rows whose tested value is missing.

    Examples
    --------
    >>> Missing("own").name
    'OWN'
    """

    OWN = "own"
    """To a third child; to the better of the two children if they are fewer than a leaf must hold."""
    LEARNED = "learned"
    """To the child that makes the better split."""
    FRACTIONAL = "fractional"
    """To every child, with a part of their weight (C4.5)."""
