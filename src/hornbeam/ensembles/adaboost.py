"""AdaBoost: trees that vote, each grown on rows whose weights rise where the trees before it are wrong."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from hornbeam.checks import check_flags, check_number, check_whole
from hornbeam.data.encoded_rows import EncodedTable
from hornbeam.data.fixed_point import fixed_point_weights
from hornbeam.data.rows import read_rows
from hornbeam.data.schema import Schema
from hornbeam.data.table import Table
from hornbeam.data.threads import n_threads
from hornbeam.ensembles.canonical_rows import CanonicalRows
from hornbeam.ensembles.prediction import sum_votes
from hornbeam.errors import ParameterError, TreeError
from hornbeam.kernels.elementary import exp, log
from hornbeam.kernels.subtree import child_key
from hornbeam.recipe import Recipe
from hornbeam.tree.importance import importance
from hornbeam.tree.route import predict_rows
from hornbeam.tree.tree import Tree
from hornbeam.typing import Bools, Counts, Floats

_TAG = b"hornbeam votes 1"
_LARGEST_RATE = 100.0
_MOST_COPIES = 2**26  # with more rows, a row of weight 2 is no longer exactly two rows
_LEAST_FACTOR = 1e-100  # rows that no tree gets wrong keep some weight
_BITS = 53  # of a random number: the precision of float64


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class VotingTrees:
    """Trees of one schema that vote with weights.

    Parameters
    ----------
    trees : tuple of Tree
        Each votes for its most probable class, the first of equals.
    weights : float64 array of shape (n_trees,)
        Weight of each tree, above 0.
    errors : float64 array of shape (n_trees,)
        Share of the weight of the training rows on which each tree was wrong, when it was grown.

    Examples
    --------
    >>> from hornbeam import AdaBoostClassifier
    >>> clf = AdaBoostClassifier(3).fit([[0], [1], [2], [3]], ["no", "yes", "no", "no"])
    >>> clf.voting_
    VotingTrees(3 trees, 9 nodes)
    >>> clf.voting_.shares([[1.0]]).round(3)
    array([[0.268, 0.732]])
    """

    trees: tuple[Tree, ...]
    weights: Floats
    errors: Floats

    def __post_init__(self) -> None:
        if not self.trees:
            raise TreeError("a vote needs at least one tree; found none")
        if any(tree.schema != self.schema for tree in self.trees):
            raise TreeError(
                "the trees have different schemas; expected trees of the same columns and classes"
            )
        for name, values, most in (("weights", self.weights, np.inf), ("errors", self.errors, 1.0)):
            if (
                values.shape != (len(self.trees),)
                or not (np.isfinite(values) & (values >= 0) & (values <= most)).all()
            ):
                raise TreeError(f"the {name} are {values!r:.80}; expected a finite number for each tree")
        if not 0 < self.weights.sum() < np.inf:
            raise TreeError(
                "the weights add up to 0, or to more than any number; expected a finite sum above 0"
            )

    @property
    def schema(self) -> Schema:
        """Names, kinds and categories of the features, and the classes."""
        return self.trees[0].schema

    @property
    def training_error_bound(self) -> Floats:
        """Upper bound of the training error after each tree: the product of all Z up to then."""
        half = exp(self.weights / 2)
        return np.cumprod((1 - self.errors) / half + self.errors * half)

    def shares(self, X: Any, *, n_jobs: int | None = None, n_estimators: int | None = None) -> Floats:
        """Compute the share of each class in the votes of all trees, or of the first; of shape (n_rows, n_classes)."""
        check_whole("n_estimators", n_estimators, 1, none="all trees")
        table = read_rows(X, schema=self.schema)
        weights = self.weights[:n_estimators]
        votes = sum_votes(self.trees[:n_estimators], weights, table, n_threads(n_jobs))
        return votes / votes.sum(axis=1, keepdims=True)

    def staged_shares(self, X: Any, *, n_jobs: int | None = None) -> Iterator[Floats]:
        """Iterate over the shares of the first tree, of the first two, and so on."""
        table, threads = read_rows(X, schema=self.schema), n_threads(n_jobs)
        each = (
            sum_votes([tree], self.weights[at : at + 1], table, threads) for at, tree in enumerate(self.trees)
        )
        return (votes / votes.sum(axis=1, keepdims=True) for votes in accumulate(each))

    def importance(self) -> Floats:
        """Compute the share of the gain due to the splits of each feature, as a mean over the trees with splits."""
        return importance(self.trees)

    @property
    def digest(self) -> str:
        """Content hash of the weights and errors, and of the digests of the trees."""
        sha = hashlib.sha256(_TAG)
        for values in (self.weights, self.errors):
            sha.update(np.ascontiguousarray(values, "<f8").tobytes())
        for tree in self.trees:
            sha.update(bytes.fromhex(tree.digest))
        return sha.hexdigest()

    def __repr__(self) -> str:
        n = len(self.trees)
        return f"VotingTrees({n} tree{'s' * (n != 1)}, {sum(tree.n_nodes for tree in self.trees)} nodes)"


def probabilities(shares: Floats) -> Floats:
    """Turn shares of votes into probabilities as scikit-learn's AdaBoost does (Zhu and others, 2009, equation 15).

    Examples
    --------
    >>> probabilities(np.array([[0.0, 1.0], [0.5, 0.5]])).round(3)
    array([[0.119, 0.881],
           [0.5  , 0.5  ]])
    """
    n_classes = shares.shape[1]
    above = exp((n_classes * shares - 1) / max(n_classes - 1, 1) / max(n_classes - 1, 1))
    return above / above.sum(axis=1, keepdims=True)


@dataclass(frozen=True, slots=True)
class AdaBoost:
    """Parameters and procedure of AdaBoost for two classes or more (SAMME).

    The weights of rows are integers in every round, and are added up exactly, in canonical order. So the trees are
    bit for bit the same for any order of rows and any number of threads, and a row of weight 2 is two rows.
    """

    recipe: Recipe
    n_trees: int = 50
    learning_rate: float = 1.0
    resample: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.n_trees < 1:
            raise ParameterError(f"n_estimators={self.n_trees}: expected 1 or more.")
        check_number("learning_rate", self.learning_rate, 0, _LARGEST_RATE, above=True)
        check_flags(resample=self.resample)

    def fit(
        self, table: Table, *, n_jobs: int = 1, on_progress: Callable[[int], None] | None = None
    ) -> VotingTrees:
        """Grow the trees, one after the other; `on_progress` is called with the number of trees so far."""
        rows = CanonicalRows.of(table, self.recipe, n_jobs)
        target, n_classes = rows.table.target, table.schema.n_classes
        assert target is not None
        factor = np.ones(rows.n_rows)  # of the weight of each row, at most 1
        trees: list[Tree] = []
        weights: list[float] = []
        errors: list[float] = []
        for number in range(self.n_trees):
            weight, unit = _weighted(rows.table, factor)
            drawn = self._draw(weight, rows.table, number) if self.resample else None
            sample = (
                rows.sample(np.arange(rows.n_rows), weight, unit) if drawn is None else _drawn(rows, drawn)
            )
            tree = self._grow(sample, number, n_jobs)
            wrong: Bools = predict_rows(tree, rows.table, n_jobs).argmax(axis=1) != target
            counts = np.ones(rows.n_rows, np.int64) if weight is None else weight
            error = int(counts[wrong].sum()) / int(counts.sum())
            alpha = self._alpha(error, n_classes)
            if alpha <= 0 and trees:
                break
            trees.append(tree)
            weights.append(alpha if alpha > 0 else 1.0)  # the only tree, which is no better than a guess
            errors.append(error)
            if on_progress is not None:
                on_progress(len(trees))
            if alpha <= 0 or error == 0:
                break
            factor = np.where(wrong, factor, factor * float(exp(-alpha)))
            factor = np.maximum(factor / factor.max(), _LEAST_FACTOR)
        return VotingTrees(tuple(trees), np.array(weights), np.array(errors))

    def _alpha(self, error: float, n_classes: int) -> float:
        """Compute the weight of a tree; 1 for one without errors, 0 for one that is no better than a guess."""
        if error == 0:
            return 1.0
        if error >= 1 - 1 / n_classes:
            return 0.0
        return self.learning_rate * float(log((1 - error) / error) + log(n_classes - 1.0))

    def _grow(self, sample: EncodedTable, number: int, n_jobs: int) -> Tree:
        tree = self.recipe.grower.grow(sample, key=child_key(self.seed, number), n_jobs=n_jobs)
        return self.recipe.finish(tree, sample.table, n_jobs=n_jobs)

    def _draw(self, weight: Counts | None, table: Table, number: int) -> Counts:
        """Draw as many rows as there are, with their weights as probabilities; return how often each was drawn."""
        ends = np.cumsum(np.ones(table.n_rows, np.int64) if weight is None else weight)
        total = float(table.row_weights.sum())
        n_draws = int(total) if _has_copies(table) else table.n_rows
        bits = np.random.Philox(key=[self.seed, number]).random_raw(n_draws) >> np.uint64(64 - _BITS)
        at = np.searchsorted(ends, np.ldexp(bits.astype(np.float64), -_BITS) * float(ends[-1]), side="right")
        return np.bincount(at, minlength=table.n_rows)


def _weighted(table: Table, factor: Floats) -> tuple[Counts | None, float]:
    """Multiply the weights of rows by factors: steps, None if each row counts 1, and their unit.

    The sum stays that of the rows, since leaves may need a least weight.
    """
    if (factor == 1).all():
        return table.weight, table.unit
    total = float(table.row_weights.sum())
    copies = table.weight if _has_copies(table) else None
    if copies is None and table.weight is not None:
        steps, _ = fixed_point_weights(factor * table.row_weights)
    else:
        steps, _ = fixed_point_weights(factor, int(total))  # the same steps for each copy of a row
    weight = np.ones(table.n_rows, np.int64) if steps is None else steps
    if copies is not None:
        weight = weight * copies
    return weight, total / int(weight.sum())


def _has_copies(table: Table) -> bool:
    """Whether each row stands for a whole number of rows."""
    return table.weight is None or (table.unit == 1.0 and int(table.weight.sum()) <= _MOST_COPIES)


def _drawn(rows: CanonicalRows, times: Counts) -> EncodedTable:
    """Return the rows that were drawn, each with the number of times as its weight."""
    drawn = np.flatnonzero(times)
    return rows.sample(drawn, times[drawn])
