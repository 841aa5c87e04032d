"""A whole fit as a value: binning, grower, pruner, smoother."""

from collections.abc import Callable
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from hornbeam.data.binning.bins import Bins
from hornbeam.data.engine import LocalEngine
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.growing import Criterion, Grower, Missing, Nominal
from hornbeam.pruning import Collapse, Pruner
from hornbeam.smoothing import Borrowing, Laplace, Monotone, Smoother
from hornbeam.tree.tree import Tree

__all__ = ["PRESETS", "REGRESSION_PRESETS", "Recipe"]

_EXACT_ROWS = 20_000  # up to here "auto" tries every distinct value


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that makes a tree from a table.

    Parameters
    ----------
    max_bins : int, None or "auto"
        Codes a numeric feature may have: quantile bins, or None for every distinct value (up to 65,535).
        "auto": every value up to 20,000 rows, 255 bins beyond.
    grower : Grower
        How the tree is grown.
    pruner : Pruner or None
        What cuts it back.
    smoother : Smoother or None
        What it believes; None for raw frequencies.

    Examples
    --------
    >>> from hornbeam.data import Table
    >>> from hornbeam.recipe import PRESETS
    >>> table = Table.read([[1.0], [2.0], [3.0], [4.0]], ["a", "a", "b", "b"])
    >>> PRESETS["cart"].fit(table).n_leaves
    2
    """

    max_bins: int | Literal["auto"] | None = "auto"
    grower: Grower = field(default_factory=Grower)
    pruner: Pruner | None = None
    smoother: Smoother | None = None

    def fit(self, table: Table, *, n_jobs: int = 1, on_progress: Callable[[int], None] | None = None) -> Tree:
        """Make the tree of a table; ``n_jobs`` threads cannot change it."""
        bins = self.bin(table, n_jobs)
        return self.finish(self.grower.grow(table, bins, n_jobs=n_jobs, on_progress=on_progress))

    def bin(self, table: Table, n_jobs: int = 1) -> Bins:
        """Choose the bins of a table."""
        return Bins.fit(MemorySource(table), LocalEngine(n_jobs), max_bins=self.bins_for(table.n_rows))

    def finish(self, tree: Tree) -> Tree:
        """Prune and smooth a grown tree."""
        return self.smooth(self.prune(tree))

    def smooth(self, tree: Tree) -> Tree:
        """Smooth a pruned tree."""
        if self.smoother is not None:
            tree = _taken(self.smoother, tree)
        # Raw frequencies may break a constraint too: the grower keeps it on rows steered by their class weights.
        monotone = self.grower.monotone
        return Monotone(monotone)(tree) if monotone is not None and any(monotone) else tree

    def prune(self, tree: Tree) -> Tree:
        """Prune a grown tree."""
        return tree if self.pruner is None else _taken(self.pruner, tree)

    def bins_for(self, n_rows: int) -> int | None:
        """Return the number of bins for so many rows; None for every value."""
        if self.max_bins != "auto":
            return self.max_bins
        return None if n_rows <= _EXACT_ROWS else 255


def _taken(step: Callable[[Tree], Tree], tree: Tree) -> Tree:
    """What a step makes of a tree; steps may be anybody's."""
    made = step(tree)
    if not isinstance(made, Tree):
        raise ParameterError(
            f"{step!r} returned {made!r}; expected a Tree. "
            "Pass a function or an object, not a class, that takes a tree and returns one."
        )
    return made


PRESETS = MappingProxyType(
    {
        "default": Recipe(grower=Grower(Criterion.ENTROPY, corrected=True), smoother=Borrowing()),
        "id3": Recipe(max_bins=None, grower=Grower(Criterion.ENTROPY, Nominal.MULTIWAY, Missing.OWN)),
        "c4.5": Recipe(
            max_bins=None,
            grower=Grower(Criterion.GAIN_RATIO, Nominal.MULTIWAY, Missing.FRACTIONAL, min_weight_leaf=2.0),
            pruner=Collapse(),
        ),
        "c4.4": Recipe(
            max_bins=None,
            grower=Grower(Criterion.GAIN_RATIO, Nominal.MULTIWAY, Missing.FRACTIONAL, min_weight_leaf=2.0),
            smoother=Laplace(),
        ),
        "cart": Recipe(max_bins=None, grower=Grower(Criterion.GINI, Nominal.SUBSET, Missing.LEARNED)),
    }
)
"""PET, our own for probabilities; and the trees of the literature: ID3, C4.5, C4.4 and CART."""

REGRESSION_PRESETS = MappingProxyType(
    {
        "default": Recipe(grower=Grower(Criterion.SQUARED_ERROR, corrected=True), smoother=Borrowing()),
        "cart": Recipe(
            max_bins=None, grower=Grower(Criterion.SQUARED_ERROR, Nominal.SUBSET, Missing.LEARNED)
        ),
    }
)
"""Trees of a numeric target: honest, our own, and CART."""
