"""How probabilities become an answer."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.tree.costs import Costs
from hornbeam.typing import Floats

__all__ = ["Verdict"]


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """Take a row for its most probable class; with weights or costs, for the one at least stake.

    Parameters
    ----------
    weight : float64 array of shape (n_classes,), optional
        How much the rows of each class count. Default: alike.
    costs : Costs, optional
        What each mistake costs. Default: every one the same.

    Examples
    --------
    >>> import numpy as np
    >>> belief = np.array([[0.7, 0.3], [0.4, 0.6]])
    >>> Verdict()(belief), Verdict(costs=Costs([[0, 1], [5, 0]]))(belief)
    (array([0, 1]), array([1, 1]))
    """

    weight: Floats | None = None
    costs: Costs | None = None

    def __call__(self, probability: Any) -> NDArray[np.intp]:
        """Return the code of the class each row is best taken for; on a tie, the first."""
        stake = np.asarray(probability, np.float64)
        if self.weight is not None:
            stake = stake * self.weight
        return stake.argmax(axis=1) if self.costs is None else self.costs.cheapest(stake)
