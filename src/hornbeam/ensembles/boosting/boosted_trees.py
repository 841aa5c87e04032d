"""Boosted trees as a value: a start, and trees whose answers are added to it."""

import hashlib
from dataclasses import dataclass, replace

import numpy as np

from hornbeam.data.schema import Schema
from hornbeam.data.table import Table
from hornbeam.ensembles.importance import importance
from hornbeam.ensembles.prediction import sum_predictions
from hornbeam.errors import TreeError
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

__all__ = ["BoostedTrees"]

_TAG = b"hornbeam boosted 1"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BoostedTrees:
    """Rounds of trees, one for each output, whose answers add up to scores.

    Parameters
    ----------
    schema : Schema
        Of the rows, with the target they were fitted to; the trees' own target is numeric.
    start : float64 array of shape (n_outputs,)
        The score of every row before the first round.
    rounds : tuple of tuple of Tree
        In the order in which they are added up.

    Examples
    --------
    >>> from hornbeam import BoostedTreesRegressor
    >>> reg = BoostedTreesRegressor(n_estimators=3).fit([[0.0], [1.0]], [1.0, 3.0])
    >>> reg.boosted_
    Boosted(3 rounds of 1 tree, 3 nodes)
    >>> reg.boosted_.scores(Table.read([[1.0]], schema=reg.boosted_.schema))
    array([[2.]])
    """

    schema: Schema
    start: Floats
    rounds: tuple[tuple[Tree, ...], ...]

    def __post_init__(self) -> None:
        if any(len(trees) != len(self.start) for trees in self.rounds):
            raise TreeError(f"a round lacks trees; expected {len(self.start)}, one for each output")

    @property
    def trees(self) -> tuple[Tree, ...]:
        """All trees, round by round."""
        return tuple(tree for trees in self.rounds for tree in trees)

    def scores(self, table: Table, n_jobs: int = 1, n_rounds: int | None = None) -> Floats:
        """Add up the answers to each row, of all rounds or the first; of shape (n_outputs, n_rows)."""
        scores = np.repeat(self.start[:, None], table.n_rows, axis=1)
        rounds = self.rounds[:n_rounds]
        if rounds:
            rows = replace(table, schema=rounds[0][0].schema, target=None, numeric_target=None)
            for output, trees in enumerate(zip(*rounds, strict=True)):
                scores[output] += sum_predictions(trees, rows, n_jobs)[:, 0]
        return scores

    def importance(self) -> Floats:
        """Share of the gain that is due to tests of each feature, the mean over trees that have any."""
        return importance(self.trees)

    @property
    def digest(self) -> str:
        """The same start and the same trees, the same word."""
        word = hashlib.sha256(_TAG + np.ascontiguousarray(self.start, "<f8").tobytes())
        for tree in self.trees:
            word.update(bytes.fromhex(tree.digest))
        return word.hexdigest()

    def __repr__(self) -> str:
        n_trees, nodes = len(self.start), sum(tree.n_nodes for tree in self.trees)
        per_round = "1 tree" if n_trees == 1 else f"{n_trees} trees"
        return f"Boosted({len(self.rounds)} rounds of {per_round}, {nodes} nodes)"
