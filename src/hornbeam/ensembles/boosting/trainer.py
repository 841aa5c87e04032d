"""Gradient boosting: parameters, the rows of each round, and the loop over rounds."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import batched
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.binning.bins import Bins
from hornbeam.data.encoded_rows import EncodedTable
from hornbeam.data.engine import LocalEngine
from hornbeam.data.row_order import canonical_order, keep_copies_together, unit_ranks
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.ensembles.boosting.boosted_trees import BoostedTrees
from hornbeam.ensembles.boosting.early_stopping import EarlyStopping, Validation
from hornbeam.ensembles.boosting.gradients import GradientScale
from hornbeam.ensembles.boosting.losses import LeafInputs, Loss
from hornbeam.errors import DataError, ParameterError
from hornbeam.growing.leafwise import GrownTree, Leafwise, build_trees
from hornbeam.kernels.leafwise import add_values
from hornbeam.kernels.subtree import child_key
from hornbeam.typing import Bools, Codes, Counts, Floats

_LARGEST_RATE = 100.0
_HELD_OUT = 2**63  # key of the held-out rows; rounds are numbered from 0


@dataclass(frozen=True, slots=True, eq=False)
class RowSampler:
    """Random draws of rows that depend on the seed, the round and the rows alone.

    `position` is that of each row in the canonical order, which does not depend on the order of the table. The random
    number of a row is that of its position, from the counter-based generator Philox keyed by seed and round. Equal rows
    may swap positions without any effect on the model. `unit` is the number of the group of each row, if rows belong to
    groups: these are held out as a whole.
    """

    position: Counts
    seed: int
    unit: Counts | None = None

    @classmethod
    def of(cls, table: Table, codes: Codes, seed: int) -> Self:
        """Compute the canonical order of the rows of a table."""
        order, hashes = canonical_order(table, codes)
        position = np.empty(len(order), np.int64)
        position[order] = np.arange(len(order))
        return cls(position, seed, None if table.group is None else unit_ranks(hashes, table))

    def _random_bits(self, key: int) -> NDArray[np.uint64]:
        bits: NDArray[np.uint64] = np.random.Philox(key=[self.seed, key]).random_raw(len(self.position))
        return bits[self.position]

    def sample(self, number: int, share: float, candidates: Bools | None = None) -> Bools:
        """Draw a share of the rows without replacement for a round; `candidates` is a mask, None for all rows."""
        rows = np.arange(len(self.position)) if candidates is None else np.flatnonzero(candidates)
        size = max(1, round(share * len(rows)))
        order = np.argpartition(self._random_bits(number)[rows], size - 1)
        drawn = np.zeros(len(self.position), np.bool_)
        drawn[rows[order[:size]]] = True
        return drawn

    def held_out(self, share: float, strata: NDArray[np.int32] | None = None) -> Bools:
        """Draw a share of the rows, the same share of every stratum; or groups of at most that share, at least one."""
        if self.unit is not None:
            rows, order = np.bincount(self.unit), self._shuffled_units()
            n_units = np.searchsorted(np.cumsum(rows[order]), share * len(self.unit), side="right")
            return np.isin(self.unit, order[: max(1, n_units)])
        order = self._shuffled(strata)
        steps = np.floor(np.arange(len(order) + 1) * share)
        held = np.zeros(len(order), np.bool_)
        held[order[np.diff(steps) > 0]] = True
        return held

    def folds(self, n_folds: int, strata: NDArray[np.int32] | None = None) -> list[Bools]:
        """Divide the rows among folds of equal size, each with the same share of every stratum; return their masks.

        Groups are divided as a whole, among no more folds than there are groups.
        """
        order = self._shuffled(strata) if self.unit is None else self._shuffled_units()
        n_folds = min(n_folds, len(order))
        turn = np.empty(len(order), np.intp)
        turn[order] = np.arange(len(order)) % n_folds
        of_row = turn if self.unit is None else turn[self.unit]
        return [of_row == number for number in range(n_folds)]

    def _shuffled(self, strata: NDArray[np.int32] | None) -> NDArray[np.intp]:
        """Return the rows in random order, stratum by stratum."""
        bits = self._random_bits(_HELD_OUT)
        return np.argsort(bits) if strata is None else np.lexsort((bits, strata))

    def _shuffled_units(self) -> NDArray[np.intp]:
        """Return the groups in random order."""
        assert self.unit is not None
        return np.argsort(np.random.Philox(key=[self.seed, _HELD_OUT]).random_raw(int(self.unit.max()) + 1))


class BoostingResult(NamedTuple):
    """Boosted trees, and the mean loss of held-out rows before the first round and after each; None without them."""

    boosted: BoostedTrees
    losses: list[float] | None


@dataclass(frozen=True, slots=True)
class Boosting:
    """Parameters and procedure of gradient boosting.

    Gradients are rounded to fixed-point steps, small enough that the sum over all rows fits 62 bits, and added up as
    integers. Every draw depends on the seed, the round, and the row or the node. So the trees are bit for bit the same
    for any number of threads and any order of rows.
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
            self.grower.monotonic_cst is not None
            and any(self.grower.monotonic_cst)
            and not self.loss.allows_monotone
        ):
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
        rows = _Rows(self, table, n_jobs)
        kept = [None] if self.stopping is None else [~held for held in rows.held_out(self.stopping)]
        runs = [_Run(self, rows, mask, start) for mask in kept]
        validation = None if self.stopping is None else rows.validation(self.stopping, runs)
        stop = validation is not None and validation.update(run.scores for run in runs)
        for number in range(1, self.n_rounds + 1):
            if stop:
                break
            for run in runs:
                run.advance()
            stop = validation is not None and validation.update(run.scores for run in runs)
            if on_progress is not None:
                on_progress(number)
        if validation is None:
            return BoostingResult(runs[0].boosted(self.n_rounds), None)
        final = runs[0]
        if validation.stopping.folds is not None:
            final = _Run(self, rows, None, start)
            for _ in range(validation.best):
                final.advance()
        return BoostingResult(final.boosted(validation.best), validation.losses)


class _Rows:
    """The rows of a fit: their codes, target and weights, and the draws from them."""

    def __init__(self, boosting: Boosting, table: Table, n_jobs: int) -> None:
        self.loss, self.table, self.n_jobs = boosting.loss, table, n_jobs
        bins = Bins.fit(MemorySource(table), LocalEngine(n_jobs), max_bins=boosting.max_bins)
        self.encoded = EncodedTable.for_gradients(table, bins, n_jobs)
        self.terms = boosting.grower.terms(self.encoded)
        self.gradient_scale = GradientScale.of(table)
        self.weight = self.gradient_scale.weight
        target = table.target if table.numeric_target is None else table.numeric_target.values
        if target is None:
            raise DataError("The table has no target. Read it with y to fit boosted trees.")
        self.target: NDArray[np.int32] | Floats = target
        sampled = boosting.subsample < 1.0 or boosting.stopping is not None
        grouped = keep_copies_together(table) if boosting.stopping is not None else table
        self.sampler = RowSampler.of(grouped, self.encoded.codes, boosting.seed) if sampled else None

    def held_out(self, stopping: EarlyStopping) -> list[Bools]:
        """Draw the masks of the rows that are held out: one, or one for each fold."""
        assert self.sampler is not None
        if stopping.folds is not None:
            masks = self.sampler.folds(stopping.folds, self.table.target)
        else:
            masks = [self.sampler.held_out(stopping.fraction, self.table.target)]
        if not masks[0].any() or masks[0].all():
            raise DataError(
                f"validation_fraction={stopping.fraction} of {len(masks[0])} rows leaves none to hold out, or none "
                "to learn from; expected some of both. Pass early_stopping=False."
            )
        return masks

    def validation(self, stopping: EarlyStopping, runs: "list[_Run]") -> Validation:
        """Return the validation on the rows that each run holds out."""
        held_out = [np.flatnonzero(~run.kept) for run in runs if run.kept is not None]
        return Validation(stopping, self.loss, held_out, self.target, self.weight)


class _Run:
    """State of the boosting loop: the scores of all rows, and the rounds so far.

    `kept` is the mask of the rows to learn from, None for all; `start` has the initial scores of another model.
    """

    def __init__(self, boosting: Boosting, rows: _Rows, kept: Bools | None, start: Floats | None) -> None:
        self._boosting, self._rows, self.kept = boosting, rows, kept
        table = rows.table if kept is None else rows.table.take(np.flatnonzero(kept))
        constant = boosting.loss.initial_score(table)  # checks the target, too
        self._initial_score = constant if start is None else np.zeros_like(constant)
        n_rows = rows.table.n_rows
        self.scores = np.repeat(constant[:, None], n_rows, axis=1) if start is None else start.copy()
        self._grown: list[tuple[GrownTree, Floats]] = []  # with their predictions, tree by tree of each round

    def advance(self) -> None:
        """Grow the trees of one round on the gradients at the current scores."""
        boosting, rows, number = self._boosting, self._rows, self._n_rounds
        loss, grower, sampled = boosting.loss, boosting.grower, self.kept
        if boosting.subsample < 1.0 and rows.sampler is not None:
            sampled = rows.sampler.sample(number, boosting.subsample, self.kept)
        gradient, hessian = loss.negative_gradients(self.scores, rows.target)
        shapes = [np.shape(one) for one in (gradient, hessian) if one is not None]
        if set(shapes) != {self.scores.shape}:
            raise ParameterError(
                f"negative_gradients of {type(loss).__name__} returned arrays of the shapes {shapes}; expected the "
                f"shape of the scores, {self.scores.shape}, and None for hessians of 1."
            )
        for output in range(loss.n_outputs):
            gradients = rows.gradient_scale.fixed_point(
                gradient[output], None if hessian is None else hessian[output]
            )
            key = child_key(child_key(boosting.seed, number), output)
            order, n_sampled = self._order(sampled)
            grown = grower.grow(rows.terms, gradients, order, n_sampled, key, rows.n_jobs)
            inputs = LeafInputs(
                grown, grower.l2_regularization, self.scores[output], rows.target, rows.weight, sampled
            )
            belief = np.ascontiguousarray(boosting.learning_rate * loss.leaf_values(inputs), np.float64)
            self._check_scores(add_values(self.scores[output], belief, grown.node))
            self._grown.append((grown.without_rows(), belief))

    def _check_scores(self, largest: float) -> None:
        """Raise an error if the largest absolute score is too large to compute gradients from."""
        most = self._boosting.loss.max_score
        if not largest <= most:
            raise ParameterError(
                f"learning_rate={self._boosting.learning_rate}: in round {self._n_rounds + 1} scores of some rows "
                f"are beyond {most:g}, so boosting diverges. Pass a smaller rate, 0.1 say."
            )

    def _order(self, sampled: Bools | None) -> tuple[NDArray[np.int32] | None, int]:
        """List the sampled rows, then the others; None for all rows. Count the sampled rows."""
        if sampled is None:
            return None, self._rows.table.n_rows
        rows = np.flatnonzero(sampled)
        return np.concatenate([rows, np.flatnonzero(~sampled)]).astype(np.int32), len(rows)

    @property
    def _n_rounds(self) -> int:
        return len(self._grown) // self._boosting.loss.n_outputs

    def boosted(self, n_rounds: int) -> BoostedTrees:
        """Build the trees of the first rounds."""
        n = self._boosting.loss.n_outputs
        rounds = tuple(batched(build_trees(self._grown[: n * n_rounds], self._rows.encoded), n))
        return BoostedTrees(self._rows.table.schema, self._initial_score, rounds)
