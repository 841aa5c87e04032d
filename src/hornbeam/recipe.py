"""A fit as a value: binning, grower, pruner, smoother; and the protocol of everything that fits a tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, Protocol, Self

import numpy as np

from hornbeam.data.binning.bins import MOST_BINS, Bins
from hornbeam.data.engine import Engine, LocalEngine
from hornbeam.data.sources import MemorySource, Source
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.growing.criterion import Criterion, Missing, Nominal
from hornbeam.growing.grower import Grower, grow_in_memory
from hornbeam.growing.watch import Watch
from hornbeam.kernels.pool import Pool
from hornbeam.pruning.error_based import ErrorBased
from hornbeam.pruning.pruner import Pruner, uses_rows
from hornbeam.smoothing.borrowing import Borrowing
from hornbeam.smoothing.estimates import Laplace
from hornbeam.smoothing.monotone import Monotone
from hornbeam.smoothing.smoother import Smoother
from hornbeam.tree.several import apply_to_each
from hornbeam.tree.tree import Tree
from hornbeam.typing import Codes

type Listener = Callable[[int], None] | None
type TreeStep = Callable[[Tree], Tree]

_MISSING_ROWS = 10  # of a branch of missing values; with fewer, a tree predicts worse (record 19)
_MOST_COPIED = 1 << 27  # bytes of codes, so that learning and growing each have their own
_EXACT_ROWS = 20_000  # up to here "auto" tries every distinct value


class Finisher(Protocol):
    """The last part of a fit: prunes, smooths and calibrates a grown tree."""

    def finish(self, tree: Tree, table: Table | None = None, *, n_jobs: int = 1) -> Tree:
        """Return the finished tree; `table` has the rows it was grown from, if they are in memory."""
        ...


@dataclass(frozen=True, slots=True)
class FitLimits:
    """The rows that a fitter uses, for the plan of a fit to files."""

    needs_memory: str | None  # why all rows must be in memory, for a message
    recipe: Recipe | None = None  # to grow level by level
    rows_to_learn: int = 0  # most rows that `RecipeFitter.learn` uses; 0 if it uses none
    rows_to_grow: int | None = None  # most rows that splits are found on
    seed: int = 0  # of samples


class Fitter(Protocol):
    """Fits a tree to a table."""

    @property
    def limits(self) -> FitLimits:
        """The number of rows that the fit uses, and whether they must be in memory."""
        ...

    def fit(self, table: Table, *, n_jobs: int = 1, on_progress: Listener = None) -> Tree:
        """Fit a tree; it does not depend on ``n_jobs``."""
        ...

    def fit_sample(
        self, table: Table, count: TreeStep, *, n_jobs: int = 1, on_progress: Listener = None
    ) -> Tree:
        """Fit a tree to a sample of the rows; `count` replaces its evidence by that of all rows."""
        ...


class RecipeFitter:
    """A fitter that grows by a recipe: a `Recipe`, or one with settings chosen on held-out rows.

    A fit level by level (`hornbeam.out_of_core`) calls `learn` itself.
    """

    __slots__ = ()

    @property
    def limits(self) -> FitLimits:
        """The number of rows that the fit uses, and whether they must be in memory."""
        raise NotImplementedError

    def fit(self, table: Table, *, n_jobs: int = 1, on_progress: Listener = None) -> Tree:
        """Fit a tree; it does not depend on ``n_jobs``."""
        tree, finisher = self._grow(table, n_jobs, on_progress)
        return finisher.finish(tree, table, n_jobs=n_jobs)

    def fit_sample(
        self, table: Table, count: TreeStep, *, n_jobs: int = 1, on_progress: Listener = None
    ) -> Tree:
        """Fit a tree to a sample of the rows; `count` replaces its evidence by that of all rows."""
        tree, finisher = self._grow(table, n_jobs, on_progress)
        del table  # the pass over all rows needs its memory
        return finisher.finish(count(tree), n_jobs=n_jobs)

    def _grow(self, table: Table, n_jobs: int, on_progress: Listener) -> tuple[Tree, Finisher]:
        recipe = self.choose(table, n_jobs=n_jobs)
        bins, codes = recipe.encode(table, n_jobs)
        watch = Watch(on_progress)
        if n_jobs == 1 or not self.limits.rows_to_learn or codes.nbytes > _MOST_COPIED:
            finisher = self.learn(recipe, table, bins, codes, n_jobs=n_jobs)
            return grow_in_memory(recipe.grower, table, bins, codes, n_jobs=n_jobs, watch=watch), finisher
        # Learning leaves threads idle, so the tree grows at the same time; it reorders the codes, hence a copy.
        pool = Pool(1)
        try:
            learning = pool.submit(self.learn, recipe, table, bins, codes.copy(), n_jobs=n_jobs)
            tree = grow_in_memory(recipe.grower, table, bins, codes, n_jobs=n_jobs, watch=watch)
            return tree, learning.result()
        finally:
            pool.shutdown(wait=False)  # after an error or an interrupt, do not wait

    def choose(self, table: Table, *, n_jobs: int = 1) -> Recipe:
        """Return the recipe, with the pruner chosen on these rows if that is to be chosen."""
        raise NotImplementedError

    def learn(self, recipe: Recipe, table: Table, bins: Bins, codes: Codes, *, n_jobs: int = 1) -> Finisher:  # noqa: ARG002
        """Choose the remaining settings on these rows; the result finishes a tree. By default there are none."""
        return recipe


@dataclass(frozen=True, slots=True)
class Recipe(RecipeFitter):
    """All settings of a fit.

    Parameters
    ----------
    max_bins : int, None or "auto"
        Maximum number of codes of a numeric feature: quantile bins, or None for every distinct value (up to 65,535).
        "auto": every value up to 20,000 rows, 255 bins beyond.
    grower : Grower
        Grows the tree.
    pruner : Pruner or None
        Prunes it.
    smoother : Smoother or None
        Estimates its predictions; None for raw frequencies.

    Examples
    --------
    >>> from hornbeam.tree import Table
    >>> from hornbeam.recipe import PRESETS
    >>> table = Table.read([[1.0], [2.0], [3.0], [4.0]], ["a", "a", "b", "b"])
    >>> PRESETS["cart"].fit(table).n_leaves
    2
    """

    max_bins: int | Literal["auto"] | None = "auto"
    grower: Grower = field(default_factory=Grower)
    pruner: Pruner | None = None
    smoother: Smoother | None = None

    @property
    def limits(self) -> FitLimits:
        """The recipe, and the settings that need all rows in memory."""
        needs_memory = None
        if self.grower.missing is Missing.FRACTIONAL:
            needs_memory = "missing='fractional'"
        elif uses_rows(self.pruner):
            needs_memory = f"pruning by {self.pruner}"
        return FitLimits(needs_memory, self)

    def choose(self, table: Table, *, n_jobs: int = 1) -> Self:  # noqa: ARG002
        """Return the recipe itself: nothing is chosen."""
        return self

    def bin(self, table: Table, n_jobs: int = 1) -> Bins:
        """Choose the bins of a table."""
        return self.bin_source(MemorySource(table), LocalEngine(n_jobs))

    def encode(self, table: Table, n_jobs: int = 1) -> tuple[Bins, Codes]:
        """Choose the bins of a table, and encode it."""
        if self.bins_for(table.n_rows) is None and table.n_rows < MOST_BINS:
            bins, codes = Bins.rank(table)
            refined = self.grower.refine(bins, table.schema)
            # A forced split on a column without values adds a code.
            if np.array_equal(refined.n_codes, bins.n_codes):
                return refined, codes
        bins = self.bin(table, n_jobs)
        return bins, bins.encode(table, n_jobs)

    def bin_source(self, source: Source, engine: Engine) -> Bins:
        """Choose the bins of a source; thresholds of forced splits are edges."""
        bins = Bins.fit(source, engine, max_bins=self.bins_for(source.n_rows))
        return self.grower.refine(bins, source.schema)

    def finish(self, tree: Tree, table: Table | None = None, *, n_jobs: int = 1) -> Tree:  # noqa: ARG002
        """Prune and smooth a grown tree."""
        return self.smooth(self.prune(tree, table))

    def smooth(self, tree: Tree) -> Tree:
        """Smooth a pruned tree, and restore the monotone constraints."""
        if self.smoother is not None:
            tree = _apply(self.smoother, tree)
        # Raw frequencies may break a constraint too: the grower keeps it for rows with their class weights.
        monotone = self.grower.monotonic_cst
        return apply_to_each(Monotone(monotone), tree) if monotone is not None and self.is_monotone else tree

    @property
    def is_monotone(self) -> bool:
        """Whether there are monotone constraints, which smoothing restores."""
        return any(self.grower.monotonic_cst or ())

    def reads_values(self, table: Table) -> bool:
        """Whether growing and pruning read values of rows, besides codes: to count rows again at the nodes."""
        weighted, forced = table.class_weight is not None, self.grower.forced_splits is not None
        return table.schema.is_regression or weighted or forced or uses_rows(self.pruner)

    def prune(self, tree: Tree, table: Table | None = None) -> Tree:
        """Prune a grown tree; a pruner that uses the rows it was grown from gets `table`."""
        pruner = self.pruner
        if table is not None and uses_rows(pruner):
            pruner = pruner.with_rows(table)
        return tree if pruner is None else _apply(pruner, tree)

    def bins_for(self, n_rows: int) -> int | None:
        """Return the maximum number of bins for this number of rows; None for every value."""
        if self.max_bins != "auto":
            return self.max_bins
        return None if n_rows <= _EXACT_ROWS else 255


def _apply(step: TreeStep, tree: Tree) -> Tree:
    """Apply a pruner or smoother, which may be the user's own, and check its result."""
    result = apply_to_each(step, tree)
    if not isinstance(result, Tree):
        raise ParameterError(
            f"{step!r} returned {result!r}; expected a Tree. "
            "Pass a function or an object, not a class, that takes a tree and returns one."
        )
    return result


PRESETS = MappingProxyType(
    {
        "default": Recipe(
            grower=Grower(Criterion.ENTROPY, corrected=True, min_samples_missing=_MISSING_ROWS),
            smoother=Borrowing(),
        ),
        "id3": Recipe(max_bins=None, grower=Grower(Criterion.ENTROPY, Nominal.MULTIWAY, Missing.OWN)),
        "c4.5": Recipe(
            max_bins=None,
            grower=Grower(Criterion.GAIN_RATIO, Nominal.MULTIWAY, Missing.FRACTIONAL, min_weight_leaf=2.0),
            pruner=ErrorBased(),
        ),
        "c4.4": Recipe(
            max_bins=None,
            grower=Grower(Criterion.GAIN_RATIO, Nominal.MULTIWAY, Missing.FRACTIONAL, min_weight_leaf=2.0),
            smoother=Laplace(),
        ),
        "cart": Recipe(max_bins=None, grower=Grower(Criterion.GINI, Nominal.SUBSET, Missing.LEARNED)),
    }
)
"""Classification: the default, for probabilities, and ID3, C4.5, C4.4 and CART of the literature."""

REGRESSION_PRESETS = MappingProxyType(
    {
        "default": Recipe(
            grower=Grower(Criterion.SQUARED_ERROR, corrected=True, min_samples_missing=_MISSING_ROWS),
            smoother=Borrowing(),
        ),
        "cart": Recipe(
            max_bins=None, grower=Grower(Criterion.SQUARED_ERROR, Nominal.SUBSET, Missing.LEARNED)
        ),
    }
)
"""Regression: the default, and CART."""
