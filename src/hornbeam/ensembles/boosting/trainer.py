"""Gradient boosting: parameters, and the loop over rounds."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.binning.bins import Bins
from hornbeam.data.engine import LocalEngine
from hornbeam.data.groups import keep_copies_together
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.ensembles.boosting.boosted_trees import BoostedTrees
from hornbeam.ensembles.boosting.early_stopping import EarlyStopping, Validation
from hornbeam.ensembles.boosting.gradients import GradientScale
from hornbeam.ensembles.boosting.losses import LeafInputs, Loss
from hornbeam.ensembles.boosting.row_sampler import RowSampler
from hornbeam.errors import DataError, ParameterError
from hornbeam.growing.encoded_table import EncodedTable
from hornbeam.growing.leafwise import Leafwise
from hornbeam.kernels.subtree import child_key
from hornbeam.tree.tree import Tree
from hornbeam.typing import Bools, Floats

__all__ = ["Boosting", "BoostingResult"]

_LARGEST_RATE = 100.0


class BoostingResult(NamedTuple):
    """Boosted trees, and the mean loss of held-out rows before the first round and after each; None without them."""

    boosted: BoostedTrees
    losses: list[float] | None


@dataclass(frozen=True, slots=True)
class Boosting:
    """Parameters and procedure of gradient boosting.

    Parameters
    ----------
    loss : Loss
        The loss that the trees minimise.
    grower : Leafwise
        Parameters of each tree.
    n_rounds : int, default 100
        Maximum number of rounds, each with one tree per output.
    learning_rate : float, default 0.1
        Factor of the leaf values.
    subsample : float, default 1.0
        Share of the rows that the trees of a round are grown on, drawn without replacement.
    max_bins : int, default 255
        Maximum number of quantile bins of a numeric feature; the bins are shared by all trees.
    stopping : EarlyStopping or None, default None
        Early stopping; the rounds up to the smallest validation loss are kept. None for all rounds.
    seed : int, default 0
        Seed of the draws of rows and features.

    Notes
    -----
    Gradients are rounded to fixed-point steps, small enough that the sum over all rows fits 62 bits, and added up as
    integers. Every draw depends on the seed, the round, and the row or the node. So the trees are bit for bit the same
    for any number of threads and any order of rows.

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
        if self.grower.monotone is not None and any(self.grower.monotone) and not self.loss.allows_monotone:
            raise ParameterError(
                "monotonic_cst constrains means, and this loss predicts quantiles; expected another loss, or no "
                "constraints."
            )

    def fit(
        self,
        table: Table,
        *,
        start: Floats | None = None,
        n_jobs: int = 1,
        on_progress: Callable[[int], None] | None = None,
    ) -> BoostingResult:
        """Fit boosted trees to a table; the result does not depend on `n_jobs`, the number of threads.

        `start` has the initial scores of each row from another model, of shape (n_outputs, n_rows); the boosted trees
        start from 0 then, and their scores are to be added to those of that model. None for the best constant.
        `on_progress` is called after each round with the number of rounds so far.
        """
        run = _Run(self, table, start, n_jobs)
        while not run.finished:
            run.advance()
            if on_progress is not None:
                on_progress(len(run.rounds))
        return run.result()


class _Run:
    """State of the boosting loop: the scores of all rows, and the rounds so far."""

    def __init__(self, boosting: Boosting, table: Table, start: Floats | None, n_jobs: int) -> None:
        self._boosting, self._table, self._n_jobs = boosting, table, n_jobs
        bins = Bins.fit(MemorySource(table), LocalEngine(n_jobs), max_bins=boosting.max_bins)
        self._encoded = EncodedTable.for_gradients(table, bins, n_jobs)
        self._spec = boosting.grower.terms(self._encoded)
        self._gradient_scale = GradientScale.of(table)
        self._weight = self._gradient_scale.weight
        target = table.target if table.numeric_target is None else table.numeric_target.values
        if target is None:
            raise DataError("The table has no target. Read it with y to fit boosted trees.")
        self._target: NDArray[np.int32] | Floats = target
        sampled = boosting.subsample < 1.0 or boosting.stopping is not None
        grouped = keep_copies_together(table) if boosting.stopping is not None else table
        self._sampler = RowSampler.of(grouped, self._encoded.codes, boosting.seed) if sampled else None
        self._validation, self._kept = self._hold_out()
        kept = table if self._kept is None else table.take(np.flatnonzero(self._kept))
        constant = boosting.loss.initial_score(kept)  # checks the target, too
        self._initial_score = constant if start is None else np.zeros_like(constant)
        self._scores = np.repeat(constant[:, None], table.n_rows, axis=1) if start is None else start.copy()
        self._stop = self._validation is not None and self._validation.update(self._scores)
        self.rounds: list[tuple[Tree, ...]] = []

    def _hold_out(self) -> tuple[Validation | None, Bools | None]:
        """Draw the held-out rows of early stopping; return them, and the mask of the training rows."""
        stopping, sampler = self._boosting.stopping, self._sampler
        if stopping is None or sampler is None:
            return None, None
        held = sampler.held_out(stopping.fraction, self._table.target)
        if not held.any() or held.all():
            raise DataError(
                f"validation_fraction={stopping.fraction} of {len(held)} rows leaves none to hold out, or none "
                "to learn from; expected some of both. Pass early_stopping=False."
            )
        rows = np.flatnonzero(held)
        return Validation(stopping, self._boosting.loss, rows, self._target, self._weight), ~held

    @property
    def finished(self) -> bool:
        """Whether the last round was grown."""
        return self._stop or len(self.rounds) >= self._boosting.n_rounds

    def advance(self) -> None:
        """Grow the trees of one round on the gradients at the current scores."""
        boosting, loss, number = self._boosting, self._boosting.loss, len(self.rounds)
        grower, sampled = boosting.grower, self._kept
        if boosting.subsample < 1.0 and self._sampler is not None:
            sampled = self._sampler.sample(number, boosting.subsample, self._kept)
        gradient, hessian = loss.negative_gradients(self._scores, self._target)
        trees = []
        for output in range(loss.n_outputs):
            gradients = self._gradient_scale.fixed_point(
                gradient[output], None if hessian is None else hessian[output]
            )
            key = child_key(child_key(boosting.seed, number), output)
            order, n_sampled = self._order(sampled)
            grown = grower.grow(self._encoded, self._spec, gradients, order, n_sampled, key, self._n_jobs)
            inputs = LeafInputs(
                grown, grower.l2_regularization, self._scores[output], self._target, self._weight, sampled
            )
            belief = boosting.learning_rate * loss.leaf_values(inputs)
            self._scores[output] += belief[grown.node]
            self._check_scores(output)
            trees.append(grown.tree(belief, self._encoded))
        self.rounds.append(tuple(trees))
        self._stop = self._validation is not None and self._validation.update(self._scores)

    def _check_scores(self, output: int) -> None:
        """Raise an error if a score is too large to compute gradients from."""
        most = self._boosting.loss.max_score
        if not np.abs(self._scores[output]).max() <= most:
            raise ParameterError(
                f"learning_rate={self._boosting.learning_rate}: in round {len(self.rounds) + 1} scores of some rows "
                f"are beyond {most:g}, so boosting diverges. Pass a smaller rate, 0.1 say."
            )

    def _order(self, sampled: Bools | None) -> tuple[NDArray[np.int32], int]:
        """List the sampled rows, then the others, and count the sampled rows."""
        if sampled is None:
            return np.arange(self._table.n_rows, dtype=np.int32), self._table.n_rows
        rows = np.flatnonzero(sampled)
        return np.concatenate([rows, np.flatnonzero(~sampled)]).astype(np.int32), len(rows)

    def result(self) -> BoostingResult:
        """Return the rounds up to the smallest validation loss, or all."""
        losses = None if self._validation is None else self._validation.losses
        best = len(self.rounds) if self._validation is None else self._validation.best
        return BoostingResult(
            BoostedTrees(self._table.schema, self._initial_score, tuple(self.rounds[:best])), losses
        )
