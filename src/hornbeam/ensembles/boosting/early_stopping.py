"""Early stopping: the rule, and the loss of held-out rows per round."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hornbeam.ensembles.boosting.losses import Loss
from hornbeam.errors import ParameterError
from hornbeam.typing import Floats


@dataclass(frozen=True, slots=True)
class EarlyStopping:
    """Share of held-out rows, and the number of rounds without improvement before boosting stops.

    With `folds` each fold is held out of boosted trees of its own to choose the number of rounds, and the final trees
    are grown on all rows. Without, the final trees are those without the held-out rows.
    """

    fraction: float = 0.1
    patience: int = 10
    tol: float = 1e-7
    folds: int | None = None

    def __post_init__(self) -> None:
        if not 0.0 < self.fraction < 1.0:
            expected = "a share of the rows above 0.0 and below 1.0"
            raise ParameterError(f"validation_fraction={self.fraction}: expected {expected}.")
        if self.patience < 1:
            raise ParameterError(f"n_iter_no_change={self.patience}: expected a whole number of at least 1.")
        if not self.tol >= 0.0:
            raise ParameterError(f"tol={self.tol}: expected a number of at least 0.0.")


@dataclass(slots=True, eq=False)
class Validation:
    """Mean loss of the held-out rows per round.

    `held_out` are the rows that are held out of each of the boosted trees: one array, or one for each fold; `target`
    and `weight` are those of all rows. `losses` has the mean loss before the first round and after each, `best` is the
    number of rounds with the smallest loss so far.
    """

    stopping: EarlyStopping
    loss: Loss
    held_out: list[NDArray[np.intp]]
    target: NDArray[np.int32] | Floats
    weight: Floats | None
    losses: list[float] = field(default_factory=list)
    best: int = 0

    def update(self, scores: Iterable[Floats]) -> bool:
        """Record the loss at the scores of all rows by each of the boosted trees; return whether to stop."""
        losses = np.concatenate(
            [
                self.loss.row_losses(each[:, rows], self.target[rows])
                for each, rows in zip(scores, self.held_out, strict=True)
            ]
        )
        weight = None if self.weight is None else self.weight[np.concatenate(self.held_out)]
        # Sorted, so that the sum, and with it the number of rounds, does not depend on the order of the rows.
        parts = losses if weight is None else losses * weight
        total = len(losses) if weight is None else float(np.sort(weight).sum())
        self.losses.append(float(np.sort(parts).sum()) / total)
        if self.losses[-1] < self.losses[self.best] - self.stopping.tol:
            self.best = len(self.losses) - 1
        return len(self.losses) - 1 - self.best >= self.stopping.patience
