"""The protocol of smoothers, and checks of their parameters."""

from collections.abc import Sequence
from typing import ClassVar, Protocol

import numpy as np

from hornbeam.checks import check_number
from hornbeam.data.schema import Schema
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

_MOST_ROWS = 1e100  # far below the overflow of their sums


class Smoother(Protocol):
    """A step that estimates the predictions of every node: a callable from a tree to a tree."""

    __slots__ = ()

    def __call__(self, tree: Tree, /) -> Tree:
        """Return the smoothed tree."""
        ...


class NamedSmoother(Smoother, Protocol):
    """A smoother of the registry: a frozen dataclass with a name and defaults for all parameters.

    The step that it adds to the history has this name and the values of its fields, so that an update of the tree and
    a loaded file can smooth again. See `hornbeam.smoothing.registry`.

    Attributes
    ----------
    name : str
        The value of the parameter ``smoothing``, and the name of the step in the history.
    for_regression : bool, default False
        Whether it smooths regression trees too.
    needs_only_ancestors : bool, default False
        Whether a prediction depends on the node and its ancestors alone. Pruning below the node does not change it
        then, so that cross-validation smooths a tree once for all candidates.
    """

    __slots__ = ()

    name: ClassVar[str]
    for_regression: ClassVar[bool] = False
    needs_only_ancestors: ClassVar[bool] = False

    def check_schema(self, schema: Schema, /) -> None:  # noqa: ARG002
        """Raise `ParameterError` if the parameters do not fit the classes or features of a schema."""
        return

    @property
    def prior_name(self) -> str:
        """Name of the prior of a classification tree, for explanations."""
        return "the uniform prior"

    def pseudo_counts(self, tree: Tree, path: Sequence[int], /) -> Floats | None:  # noqa: ARG002
        """Split the pseudo-counts of a node by their origin, for explanations: from the prior, then from each ancestor.

        `path` are the nodes from the root down to the node; the tree was smoothed by this smoother. None: they cannot
        be split.
        """
        return None


def all_from_one(tree: Tree, path: Sequence[int], origin: int) -> Floats:
    """Pseudo-counts of the last node of a path, all of one origin: 0 is the prior, -1 the parent."""
    counts = np.zeros(len(path))
    counts[origin] = tree.borrowed[path[-1]]
    return counts


def check_rows(name: str, value: float, *, some: bool = False) -> None:
    """Raise `ParameterError` unless a parameter is a number of rows, 0 or more (if `some`, above 0)."""
    check_number(name, value, 0.0, _MOST_ROWS, above=some, what="a number of rows")
