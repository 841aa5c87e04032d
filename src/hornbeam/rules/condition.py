"""What a rule asks of one feature."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.tree.skeleton import Skeleton
from hornbeam.typing import Bools

__all__ = ["Condition", "branch_conditions", "merged"]


@dataclass(frozen=True, slots=True)
class Condition:
    """That a value lies within bounds, or is one of some categories, or is there at all.

    What is not mentioned is not asked for: ``Condition(0)`` holds for every known value.

    Parameters
    ----------
    feature : int
        The column asked about.
    above, at_most : float, optional
        ``above < value <= at_most``; of an ordinal feature, positions in its categories.
    among : tuple of int, optional
        Codes of the categories that will do, ascending.
    known : bool, default True
        False: no known value will do.
    missing : bool, default False
        Whether a missing value will do.

    Examples
    --------
    >>> import numpy as np
    >>> within = Condition(0, above=1.0) & Condition(0, at_most=3.0)
    >>> within.holds(np.array([1.0, 2.0, 3.0, 4.0, np.nan]))
    array([False,  True,  True, False, False])
    """

    feature: int
    above: float | None = None
    at_most: float | None = None
    among: tuple[int, ...] | None = None
    known: bool = True
    missing: bool = False

    def holds(self, column: NDArray[Any]) -> Bools:
        """Say for which values of a table's column the condition holds."""
        nominal = column.dtype.kind == "i"
        missing: Bools = column == -1 if nominal else np.isnan(column)
        if not self.known:
            return missing if self.missing else np.zeros(len(column), np.bool_)
        found = ~missing
        if self.above is not None:
            found &= column > self.above
        if self.at_most is not None:
            found &= column <= self.at_most
        if self.among is not None:
            found &= np.isin(column, self.among)
        return found | missing if self.missing else found

    def __and__(self, other: Condition) -> Condition:
        """Ask for both of two conditions on one feature."""
        above = [bound for bound in (self.above, other.above) if bound is not None]
        at_most = [bound for bound in (self.at_most, other.at_most) if bound is not None]
        among = self.among if other.among is None else other.among
        if self.among is not None and other.among is not None:
            among = tuple([code for code in self.among if code in other.among])
        return Condition(
            self.feature,
            above=max(above, default=None),
            at_most=min(at_most, default=None),
            among=among,
            known=self.known and other.known,
            missing=self.missing and other.missing,
        )

    @property
    def parts(self) -> tuple[Condition, ...]:
        """The condition as tests that each could be dropped: the two bounds of an interval are two.

        Examples
        --------
        >>> [part.at_most for part in Condition(0, above=1.0, at_most=3.0).parts]
        [None, 3.0]
        """
        if self.above is None or self.at_most is None or not self.known:
            return (self,)
        return replace(self, at_most=None), replace(self, above=None)


def merged(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """Make one condition of all that ask about the same feature, features in their order.

    Examples
    --------
    >>> [(c.feature, c.at_most) for c in merged([Condition(1, at_most=9.0), Condition(0), Condition(1, at_most=5.0)])]
    [(0, None), (1, 5.0)]
    """
    found: dict[int, Condition] = {}
    for condition in conditions:
        here = found.get(condition.feature)
        found[condition.feature] = condition if here is None else here & condition
    return tuple([found[feature] for feature in sorted(found)])


def branch_conditions(skeleton: Skeleton, node: int) -> list[Condition]:
    """Say what leads to each child of a node.

    A missing value that goes to every child in part meets none of the conditions, as in C4.5's rules.

    Examples
    --------
    >>> import numpy as np
    >>> stump = Skeleton.of([2, 0, 0], [0, -1, -1], [30.5, np.nan, np.nan])
    >>> [(one.above, one.at_most) for one in branch_conditions(stump, 0)]
    [(None, 30.5), (30.5, None)]
    """
    feature, threshold = skeleton.feature.item(node), skeleton.threshold.item(node)
    n_children, missing = skeleton.n_children.item(node), skeleton.missing_slot.item(node)
    if isnan(threshold):
        run = skeleton.slot_of[skeleton.slot_start[node] : skeleton.slot_start[node + 1]]
        codes = [tuple(np.flatnonzero(run == slot).tolist()) for slot in range(n_children)]
        nothing = Condition(feature, known=False)
        asked = [Condition(feature, among=among) if among else nothing for among in codes]
    elif np.isposinf(threshold):
        asked = [Condition(feature), *[Condition(feature, known=False)] * (n_children - 1)]
    else:
        sides = [Condition(feature, at_most=threshold), Condition(feature, above=threshold)]
        asked = [*sides, *[Condition(feature, known=False)] * (n_children - 2)]
    if missing >= 0:
        asked[missing] = replace(asked[missing], missing=True)
    return asked
