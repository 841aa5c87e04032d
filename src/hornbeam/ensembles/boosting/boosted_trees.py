"""The fitted boosted model: initial scores, and the trees added to them."""

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hornbeam.checks import check_whole
from hornbeam.data.rows import read_rows
from hornbeam.data.schema import Schema
from hornbeam.data.threads import n_threads
from hornbeam.ensembles.prediction import sum_predictions
from hornbeam.errors import TreeError
from hornbeam.tree.importance import importance
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

_TAG = b"hornbeam boosted 1"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BoostedTrees:
    """Rounds of trees, one per output, whose predictions add up to scores.

    Parameters
    ----------
    schema : Schema
        Schema of the rows and of the target of the model; the target of each tree is numeric.
    start : float64 array of shape (n_outputs,)
        Initial score of every row.
    rounds : tuple of tuple of Tree
        In the order in which they are added up.

    Examples
    --------
    >>> from hornbeam import BoostedTreesRegressor
    >>> reg = BoostedTreesRegressor(n_estimators=3).fit([[0.0], [1.0]], [1.0, 3.0])
    >>> reg.boosted_
    BoostedTrees(3 rounds of 1 tree, 3 nodes)
    >>> reg.boosted_.scores([[1.0]])
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

    def scores(self, X: Any, *, n_jobs: int | None = None, n_estimators: int | None = None) -> Floats:
        """Add up the predictions of all rounds, or of the first `n_estimators`; of shape (n_outputs, n_rows)."""
        check_whole("n_estimators", n_estimators, 0, none="all rounds")
        table = read_rows(X, schema=self.schema)
        scores = np.repeat(self.start[:, None], table.n_rows, axis=1)
        rounds = self.rounds[:n_estimators]
        if rounds:
            rows = replace(table, schema=rounds[0][0].schema, target=None, numeric_target=None)
            for output, trees in enumerate(zip(*rounds, strict=True)):
                scores[output] += sum_predictions(trees, rows, n_threads(n_jobs))[:, 0]
        return scores

    def importance(self) -> Floats:
        """Compute the share of the gain due to the splits of each feature, as a mean over the trees with splits."""
        return importance(self.trees) if self.trees else np.zeros(self.schema.n_features)

    @property
    def digest(self) -> str:
        """Content hash of the initial scores and of the digests of the trees."""
        sha = hashlib.sha256(_TAG + np.ascontiguousarray(self.start, "<f8").tobytes())
        for tree in self.trees:
            sha.update(bytes.fromhex(tree.digest))
        return sha.hexdigest()

    def __repr__(self) -> str:
        n_trees, nodes = len(self.start), sum(tree.n_nodes for tree in self.trees)
        per_round = "1 tree" if n_trees == 1 else f"{n_trees} trees"
        return f"BoostedTrees({len(self.rounds)} rounds of {per_round}, {nodes} nodes)"
