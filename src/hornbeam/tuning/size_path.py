"""Sizes of a tree with their losses on held-out rows: the result of `size_choice`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hornbeam.checks import check_number
from hornbeam.errors import TreeError
from hornbeam.grid import Grid, Result
from hornbeam.tree.tree import Step, Tree
from hornbeam.typing import Counts, Floats

STEP = "size-path"  # in the history of a tree
_SMALL = 50  # every size up to this is listed in a history; of larger ones,
_RATIO = 0.95  # those that are smaller by this factor
_DECIMALS = 6  # of a loss there; below 0.001, which has too few of them, as many digits
_TOLERANCES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SizePath(Result[dict[str, float]]):
    """Sizes of a tree down to one leaf, each with its loss on held-out rows.

    Parameters
    ----------
    n_leaves : int64 array
        Decreasing to 1; the first is the size at tolerance 0.
    loss : float64 array
        Mean log loss of held-out rows; in regression their mean squared error.
    measure : str, default "log loss"
        Name of the loss.

    Examples
    --------
    >>> path = SizePath(np.array([12, 5, 2, 1]), np.array([0.20, 0.21, 0.35, 0.60]))
    >>> path
    leaves  log loss  increase
        12    0.2000     0.0 %
         5    0.2100     5.0 %
         2    0.3500    75.0 %
         1    0.6000   200.0 %
    >>> path.smallest(tolerance=0.1)
    5
    """

    _COLUMNS: ClassVar = ("n_leaves", "loss", "increase")

    n_leaves: Counts
    loss: Floats
    measure: str = "log loss"

    @property
    def increase(self) -> Floats:
        """Share by which each loss is above the first."""
        first = float(self.loss[0])
        return self.loss / first - 1 if first > 0 else np.where(self.loss > first, np.inf, 0.0)

    def position(self, tolerance: float) -> int:
        """Find the smallest size whose loss is at most the share `tolerance` above the first; at 0, the first."""
        check_number("tolerance", tolerance, 0)
        return 0 if tolerance == 0 else int(np.flatnonzero(self.increase <= tolerance)[-1])

    def smallest(self, tolerance: float) -> int:
        """Return the number of leaves at this tolerance."""
        return int(self.n_leaves[self.position(tolerance)])

    def milestones(self) -> dict[float, int]:
        """Return the least number of leaves for tolerances of 0, 1, 2, 5, 10, 20 and 50 %; equal sizes once.

        Examples
        --------
        >>> SizePath(np.array([12, 5, 1]), np.array([0.20, 0.21, 0.60])).milestones()
        {0.0: 12, 0.05: 5}
        """
        found = {0.0: int(self.n_leaves[0])}
        for tolerance in _TOLERANCES:
            size = self.smallest(tolerance)
            if size < min(found.values()):
                found[tolerance] = size
        return found

    def step(self) -> Step:
        """Return the path as a step of a tree's history: all small sizes, and some of the large ones."""
        kept = [0]
        for at, size in enumerate(self.n_leaves.tolist()):
            if at and (size <= _SMALL or size <= _RATIO * self.n_leaves[kept[-1]]):
                kept.append(at)
        loss = tuple(map(_rounded, self.loss[kept].tolist()))
        return Step.of(STEP, n_leaves=tuple(self.n_leaves[kept].tolist()), loss=loss)

    def _grid(self) -> Grid:
        """Return a table with a row per size."""
        rows = [
            (
                f"{leaves:,}",
                f"{loss:.4f}" if 0.001 <= loss < 1000 else f"{loss:.4g}",
                f"{100 * increase:.1f} %",
            )
            for leaves, loss, increase in zip(*self.to_dict().values(), strict=True)
        ]
        return Grid("Sizes of the tree", ["leaves", self.measure, "increase"], rows, ">")


def _rounded(loss: float) -> float:
    return float(f"{loss:.{_DECIMALS}g}") if loss < 0.001 else round(loss, _DECIMALS)


def size_path(tree: Tree) -> SizePath | None:
    """Return the sizes that were compared when a tree was fitted; None if they were not."""
    for step in reversed(tree.history):
        if step.name == STEP:
            measure = "squared error" if tree.is_regression else "log loss"
            return SizePath(*_columns(step), measure)
    return None


def _columns(step: Step) -> tuple[Counts, Floats]:
    """Return sizes and losses of a step, which may come from a file."""
    match dict(step.parameters):
        case {"n_leaves": tuple(sizes), "loss": tuple(loss), **rest} if (
            not rest and len(sizes) == len(loss) > 0
        ):
            numbers = {*map(type, sizes)} == {int} and {*map(type, loss)} <= {int, float}
            if numbers and all(0 <= each < np.inf for each in loss):
                n_leaves = np.array(sizes)
                if n_leaves.dtype == np.int64 and n_leaves[-1] >= 1 and (np.diff(n_leaves) < 0).all():
                    return n_leaves, np.array(loss, np.float64)
    raise TreeError(
        f"the history has the step {step!s:.200}; expected decreasing numbers of leaves, and a loss of each"
    )
