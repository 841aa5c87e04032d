"""The fitted forest: trees whose predictions are averaged, and a temperature."""

import hashlib
import struct
from dataclasses import dataclass
from math import inf
from typing import Any

from hornbeam.data.rows import read_rows
from hornbeam.data.schema import Schema
from hornbeam.data.threads import n_threads
from hornbeam.ensembles.prediction import mean_prediction
from hornbeam.ensembles.temperature import apply_temperature
from hornbeam.errors import TreeError
from hornbeam.tree.importance import importance
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

_TAG = b"hornbeam forest 1"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Forest:
    """Trees of one schema whose predictions are averaged.

    Parameters
    ----------
    trees : tuple of Tree
        In the order in which their predictions are added up.
    temperature : float, default 1.0
        For classes: the averaged probabilities are raised to the power 1 / temperature and scaled to a sum of 1.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> trees = [TreeClassifier("cart").fit([[0], [1]], y).tree_ for y in (["no", "yes"], ["yes", "no"])]
    >>> forest = Forest(tuple(trees))
    >>> forest
    Forest(2 trees, 6 nodes, depth up to 1)
    >>> forest.predict([[1.0]])
    array([[0.5, 0.5]])
    """

    trees: tuple[Tree, ...]
    temperature: float = 1.0

    def __post_init__(self) -> None:
        if not self.trees:
            raise TreeError("a forest needs at least one tree; found none")
        if any(tree.schema != self.schema for tree in self.trees):
            raise TreeError(
                "the trees have different schemas; expected trees of the same columns and classes"
            )
        if not 0 < self.temperature < inf:
            raise TreeError(f"the temperature is {self.temperature}; expected a finite number above 0")
        if self.schema.is_regression and self.temperature != 1.0:
            raise TreeError(f"the temperature is {self.temperature}; expected 1 for a numeric target")

    @property
    def schema(self) -> Schema:
        """Names, kinds and categories of the features, and the classes."""
        return self.trees[0].schema

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all trees."""
        return sum(tree.n_nodes for tree in self.trees)

    @property
    def digest(self) -> str:
        """Content hash of the digests of the trees in their order, and of the temperature unless it is 1."""
        sha = hashlib.sha256(_TAG)
        for tree in self.trees:
            sha.update(bytes.fromhex(tree.digest))
        if self.temperature != 1.0:
            sha.update(struct.pack("<d", self.temperature))
        return sha.hexdigest()

    def predict(self, X: Any, *, n_jobs: int | None = None) -> Floats:
        """Predict each row of X, in any form: the mean of the trees, scaled by the temperature."""
        table = read_rows(X, schema=self.schema)
        return apply_temperature(mean_prediction(self.trees, table, n_threads(n_jobs)), self.temperature)

    def importance(self) -> Floats:
        """Compute the share of the gain due to the splits of each feature, as a mean over the trees with splits."""
        return importance(self.trees)

    def __repr__(self) -> str:
        n, depth = len(self.trees), max(tree.depth for tree in self.trees)
        scaled = f", temperature {self.temperature}" if self.temperature != 1.0 else ""
        return f"Forest({n} tree{'s' * (n != 1)}, {self.n_nodes:,} nodes, depth up to {depth}{scaled})"
