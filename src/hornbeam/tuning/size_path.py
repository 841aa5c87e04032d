"""Sizes of a tree with their losses on held-out rows: the result of `size_choice`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hornbeam.checks import check_number
from hornbeam.errors import TreeError
from hornbeam.grid import Grid, Result
from hornbeam.tree.evidence.standardised import loss_of
from hornbeam.tree.tree import Step, Tree
from hornbeam.typing import Counts, Floats

STEP = "size-path"  # in the history of a tree
_SMALL = 50  # every size up to this is listed in a history; of larger ones,
_RATIO = 0.95  # those that are smaller by this factor
_DECIMALS = 6  # of a loss there; below 0.001, which has too few of them, as many digits
_MEASURES = {"squared_error": "squared error", "poisson": "Poisson deviance", "gamma": "gamma deviance"}
_TOLERANCES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SizePath(Result[dict[str, float]]):
    """Sizes of a tree down to one leaf, each with its loss on held-out rows.

    Parameters
    ----------
    n_leaves : int64 array
        Decreasing to 1; the first is the size at tolerance 0.
    loss : float64 array
        Mean log loss of held-out rows; in regression their mean squared error, or the mean deviance of the criterion.
    measure : str, default "log loss"
        Name of the loss.
    price : float64 array, optional
        Mean price of a prediction, over the training rows; of a tree with prices of columns.

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
    price: Floats | None = None

    @property
    def increase(self) -> Floats:
        """Share by which each loss is above the first."""
        first = float(self.loss[0])
        return self.loss / first - 1 if first > 0 else np.where(self.loss > first, np.inf, 0.0)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns with a value per size: `n_leaves`, `loss`, `increase`, and `price` if columns have prices."""
        columns = super(SizePath, self).to_dict()
        return columns if self.price is None else columns | {"price": self.price.tolist()}

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
        columns = {"loss": self.loss} if self.price is None else {"loss": self.loss, "price": self.price}
        rounded = {name: tuple(map(_rounded, column[kept].tolist())) for name, column in columns.items()}
        return Step.of(STEP, n_leaves=tuple(self.n_leaves[kept].tolist()), **rounded)

    def _grid(self) -> Grid:
        """Return a table with a row per size."""
        rows = [
            (
                f"{leaves:,}",
                f"{loss:.4f}" if 0.001 <= loss < 1000 else f"{loss:.4g}",
                f"{100 * increase:.1f} %",
                *(f"{one:.4g}" for one in price),
            )
            for leaves, loss, increase, *price in zip(*self.to_dict().values(), strict=True)
        ]
        priced = [] if self.price is None else ["price"]
        return Grid("Sizes of the tree", ["leaves", self.measure, "increase", *priced], rows, ">")


def _rounded(loss: float) -> float:
    return float(f"{loss:.{_DECIMALS}g}") if loss < 0.001 else round(loss, _DECIMALS)


def size_path(tree: Tree) -> SizePath | None:
    """Return the sizes that were compared when a tree was fitted; None if they were not."""
    for step in reversed(tree.history):
        if step.name == STEP:
            measure = _MEASURES[loss_of(tree)] if tree.is_regression else "log loss"
            n_leaves, loss, price = _columns(step)
            return SizePath(n_leaves, loss, measure, price)
    return None


def _columns(step: Step) -> tuple[Counts, Floats, Floats | None]:
    """Return sizes, losses and prices of a step, which may come from a file."""
    match dict(step.parameters):
        case {"n_leaves": tuple(sizes), "loss": tuple(loss), **rest} if rest.keys() <= {"price"} and sizes:
            n_leaves: NDArray[Any] = np.array(sizes if {*map(type, sizes)} == {int} else [0.5])
            falling = n_leaves.dtype == np.int64 and n_leaves[-1] >= 1 and (np.diff(n_leaves) < 0).all()
            if falling and all(_is_column(one, len(sizes)) for one in (loss, *rest.values())):
                price = np.array(rest["price"], np.float64) if rest else None
                return n_leaves, np.array(loss, np.float64), price
    raise TreeError(
        f"the history has the step {step!s:.200}; expected decreasing numbers of leaves, and a loss of each"
    )


def _is_column(numbers: Any, n: int) -> bool:
    """Whether a value from a file is a tuple of `n` finite numbers of 0 or more."""
    if not isinstance(numbers, tuple) or len(numbers) != n or not {*map(type, numbers)} <= {int, float}:
        return False
    return all(0 <= each < np.inf for each in numbers)
