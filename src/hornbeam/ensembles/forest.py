"""A forest as a value: trees that answer with their mean."""

import hashlib
from dataclasses import dataclass

from hornbeam.data.schema import Schema
from hornbeam.data.table import Table
from hornbeam.ensembles.answers import mean_answer
from hornbeam.ensembles.importance import importance
from hornbeam.errors import TreeError
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

__all__ = ["Forest"]

_TAG = b"hornbeam forest 1"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Forest:
    """Trees of one schema whose answers are averaged.

    Parameters
    ----------
    trees : tuple of Tree
        In the order in which their answers are added up.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> trees = [TreeClassifier("cart").fit([[0], [1]], y).tree_ for y in (["no", "yes"], ["yes", "no"])]
    >>> forest = Forest(tuple(trees))
    >>> forest
    Forest(2 trees, 6 nodes, depth up to 1)
    >>> forest.answer(Table.read([[1.0]], schema=forest.schema))
    array([[0.5, 0.5]])
    """

    trees: tuple[Tree, ...]

    def __post_init__(self) -> None:
        if not self.trees:
            raise TreeError("a forest of no trees cannot answer; expected at least one")
        if any(tree.schema != self.schema for tree in self.trees):
            raise TreeError(
                "the trees have different schemas; expected trees of the same columns and classes"
            )

    @property
    def schema(self) -> Schema:
        """Names, kinds and categories of the features, and the classes."""
        return self.trees[0].schema

    @property
    def n_nodes(self) -> int:
        """Nodes of all trees together."""
        return sum(tree.n_nodes for tree in self.trees)

    @property
    def digest(self) -> str:
        """Name of this forest as a value: those of its trees, hashed in their order."""
        sha = hashlib.sha256(_TAG)
        for tree in self.trees:
            sha.update(bytes.fromhex(tree.digest))
        return sha.hexdigest()

    def answer(self, table: Table, n_jobs: int = 1) -> Floats:
        """Give the mean of the trees' answers to each row; threads cannot change it."""
        return mean_answer(self.trees, table, n_jobs)

    def importance(self) -> Floats:
        """Say how much of the trees' gain is due to tests of each feature."""
        return importance(self.trees)

    def __repr__(self) -> str:
        n, depth = len(self.trees), max(tree.depth for tree in self.trees)
        return f"Forest({n} tree{'s' * (n != 1)}, {self.n_nodes:,} nodes, depth up to {depth})"
