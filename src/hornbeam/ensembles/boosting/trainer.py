"""Gradient boosting: tree after tree, each grown on what the ones before it left."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.binning.bins import Bins
from hornbeam.data.engine import LocalEngine
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.ensembles.boosting.boosted_trees import BoostedTrees
from hornbeam.ensembles.boosting.early_stopping import EarlyStopping, Validation
from hornbeam.ensembles.boosting.gradients import GradientScale
from hornbeam.ensembles.boosting.losses import Loss, Poisson
from hornbeam.ensembles.boosting.quantile_loss import QuantileLoss
from hornbeam.ensembles.boosting.row_sampler import RowSampler
from hornbeam.errors import DataError, ParameterError
from hornbeam.growing.leafwise import EncodedColumns, GrownTree, Leafwise
from hornbeam.kernels.subtree import child_key
from hornbeam.tree.tree import Tree
from hornbeam.typing import Bools, Floats

__all__ = ["Boosting", "BoostingResult"]

_LARGEST_RATE = 100.0
_LARGEST_SCORE = 1e150  # its square is finite
_LARGEST_LOGARITHM = 300.0  # of a mean


class BoostingResult(NamedTuple):
    """Boosted trees, and the mean loss of held-out rows before the first round and after each, if there are any."""

    boosted: BoostedTrees
    losses: list[float] | None


@dataclass(frozen=True, slots=True)
class Boosting:
    """Everything that makes boosted trees from a table.

    Parameters
    ----------
    loss : Loss
        What the trees lower.
    grower : Leafwise
        How each tree is grown.
    n_rounds : int, default 100
        Rounds at most, each of one tree for every output.
    learning_rate : float, default 0.1
        The part of each Newton step that is taken.
    subsample : float, default 1.0
        Share of the rows that each round is grown on, drawn without replacement.
    max_bins : int, default 255
        Quantile bins of a numeric feature, shared by all trees.
    stopping : EarlyStopping or None, default None
        When to stop earlier; the rounds up to the least loss are kept.
    seed : int, default 0
        Another seed, other draws.

    Notes
    -----
    Gradients are rounded to steps so small that 62 bits hold the sum of all rows, and added up as integers. Every
    draw depends on the seed, the round, and the row or the node. So neither threads nor the order of rows can change
    a bit of the trees.

    Examples
    --------
    >>> from hornbeam.ensembles.boosting.losses import BinaryLogLoss
    >>> table = Table.read([[0.0], [0.0], [1.0]], [1, 1, 0])
    >>> grower = Leafwise(min_samples_leaf=1)
    >>> boosted = Boosting(BinaryLogLoss(), grower, n_rounds=1, learning_rate=1.0).fit(table).boosted
    >>> boosted.start.round(3), boosted.trees[0].belief.ravel().round(12)
    (array([0.693]), array([ 0. ,  1.5, -3. ]))
    """

    loss: Loss
    grower: Leafwise = field(default_factory=Leafwise)
    n_rounds: int = 100
    learning_rate: float = 0.1
    subsample: float = 1.0
    max_bins: int = 255
    stopping: EarlyStopping | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.n_rounds < 1:
            raise ParameterError(f"n_estimators={self.n_rounds}: expected 1 or more.")
        if not 0.0 < self.learning_rate <= _LARGEST_RATE:
            expected = f"a number above 0.0 and up to {_LARGEST_RATE:g}"
            raise ParameterError(f"learning_rate={self.learning_rate}: expected {expected}. Pass 0.1, say.")
        if not 0.0 < self.subsample <= 1.0:
            expected = "a share of the rows above 0.0 and up to 1.0"
            raise ParameterError(f"subsample={self.subsample}: expected {expected}.")
        if (
            self.grower.monotone is not None
            and any(self.grower.monotone)
            and isinstance(self.loss, QuantileLoss)
        ):
            raise ParameterError(
                "monotonic_cst binds means, and leaves answer with quantiles; expected another loss, or no constraints."
            )

    def fit(
        self, table: Table, *, n_jobs: int = 1, on_progress: Callable[[int], None] | None = None
    ) -> BoostingResult:
        """Boost the trees of a table; ``n_jobs`` threads cannot change them.

        `on_progress` is told how many rounds are over.
        """
        run = _Run(self, table, n_jobs)
        while run.goes_on:
            run.advance()
            if on_progress is not None:
                on_progress(len(run.rounds))
        return run.result()


class _Run:
    """Boosting under way: the scores of all rows, and the rounds so far."""

    def __init__(self, boosting: Boosting, table: Table, n_jobs: int) -> None:
        self._boosting, self._table, self._n_jobs = boosting, table, n_jobs
        bins = Bins.fit(MemorySource(table), LocalEngine(n_jobs), max_bins=boosting.max_bins)
        codes = bins.encode(table, n_jobs)
        self._field = EncodedColumns.of(table.schema, bins, codes)
        self._terms = boosting.grower.terms(self._field)
        self._weighting = GradientScale.of(table)
        target = table.target if table.numeric_target is None else table.numeric_target.values
        if target is None:
            raise DataError("The table has no target. Read it with y to boost trees on it.")
        self._target: NDArray[np.int32] | Floats = target
        drawn = boosting.subsample < 1.0 or boosting.stopping is not None
        self._drawing = RowSampler.of(table, codes, boosting.seed) if drawn else None
        self._validation, self._kept = self._hold_out()
        kept = table if self._kept is None else table.take(np.flatnonzero(self._kept))
        self._start = boosting.loss.start(kept)
        self._scores = np.repeat(self._start[:, None], table.n_rows, axis=1)
        self._stop = self._validation is not None and self._validation.hear(self._scores)
        self.rounds: list[tuple[Tree, ...]] = []

    def _hold_out(self) -> tuple[Validation | None, Bools | None]:
        stopping, drawing = self._boosting.stopping, self._drawing
        if stopping is None or drawing is None:
            return None, None
        held = drawing.held_out(stopping.fraction, self._table.target)
        if not held.any() or held.all():
            raise DataError(
                f"validation_fraction={stopping.fraction} of {len(held)} rows leaves none to hold out, or none "
                "to learn from; expected some of both. Pass early_stopping=False."
            )
        rows = np.flatnonzero(held)
        return Validation(stopping, self._boosting.loss, rows, self._target, self._weighting.weight), ~held

    @property
    def goes_on(self) -> bool:
        """Whether there is another round."""
        return not self._stop and len(self.rounds) < self._boosting.n_rounds

    def advance(self) -> None:
        """Grow the trees of one round, all on the scores before it."""
        boosting, number = self._boosting, len(self.rounds)
        added = self._kept
        if boosting.subsample < 1.0 and self._drawing is not None:
            added = self._drawing.sample(number, boosting.subsample, self._kept)
        pull, hessian = boosting.loss.pulls(self._scores, self._target)
        trees = []
        for output in range(boosting.loss.n_outputs):
            pulls = self._weighting.pulls(pull[output], None if hessian is None else hessian[output])
            key = child_key(child_key(boosting.seed, number), output)
            order, n_added = self._order(added)
            grown = boosting.grower.grow(self._field, self._terms, pulls, order, n_added, key, self._n_jobs)
            belief = boosting.learning_rate * self._values(grown, output, added)
            self._scores[output] += belief[grown.node]
            self._check_scores(output)
            trees.append(grown.tree(belief, self._field))
        self.rounds.append(tuple(trees))
        self._stop = self._validation is not None and self._validation.hear(self._scores)

    def _check_scores(self, output: int) -> None:
        """Refuse to go on with scores that the next round cannot compute with."""
        most = _LARGEST_LOGARITHM if isinstance(self._boosting.loss, Poisson) else _LARGEST_SCORE
        if not np.abs(self._scores[output]).max() <= most:
            raise ParameterError(
                f"learning_rate={self._boosting.learning_rate}: in round {len(self.rounds) + 1} scores of some rows "
                f"are beyond {most:g}, as trees answer more than is left to learn. Pass a smaller rate, 0.1 say."
            )

    def _order(self, added: Bools | None) -> tuple[NDArray[np.int32], int]:
        """List the rows that are added up, then those that look on."""
        if added is None:
            return np.arange(self._table.n_rows, dtype=np.int32), self._table.n_rows
        rows = np.flatnonzero(added)
        return np.concatenate([rows, np.flatnonzero(~added)]).astype(np.int32), len(rows)

    def _values(self, grown: GrownTree, output: int, added: Bools | None) -> Floats:
        """What each node answers before the learning rate."""
        loss = self._boosting.loss
        if isinstance(loss, QuantileLoss):
            return loss.values(grown, self._target - self._scores[output], self._weighting.weight, added)
        return grown.newton(self._boosting.grower.l2_regularization)

    def result(self) -> BoostingResult:
        """Return the rounds up to the least loss of the rows held out, or all."""
        losses = None if self._validation is None else self._validation.losses
        best = len(self.rounds) if self._validation is None else self._validation.best
        return BoostingResult(
            BoostedTrees(self._table.schema, self._start, tuple(self.rounds[:best])), losses
        )
