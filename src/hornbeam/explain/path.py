"""Decision paths: the nodes that a row passes, the condition at each, and where the row stops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, nan
from types import MappingProxyType
from typing import Any

from hornbeam.explain.borrowed_rows import BorrowedRows, borrowed_rows
from hornbeam.explain.row_terms import RowTerm, row_terms
from hornbeam.export.wording import known_text, value_of, value_text
from hornbeam.tree import Condition
from hornbeam.tree.condition import branch_condition
from hornbeam.tree.route import follow
from hornbeam.tree.skeleton import EVERY_CHILD, STOP
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import path
from hornbeam.tree.words import feature_name, plain_label
from hornbeam.typing import Category, Floats

type _Bounds = Mapping[int, tuple[tuple[float, ...], tuple[float, ...]]]


@dataclass(frozen=True, slots=True)
class PathStep:
    """A node on the decision path of a row.

    Parameters
    ----------
    node : int
        Its id in the tree.
    condition : Condition or None
        The condition on the row that leads here from the node above; None at the root.
    value : str, number, bool or None
        The row's value of the tested feature; None if it is missing, and at the root.
    rows : int
        Training rows at the node.
    counts : tuple of float
        Their weight in each class; for a numeric target, their weight, sum and sum of squares.
    probability : tuple of float
        The smoothed probability of each class; for a numeric target, the mean.
    borrowed : float
        Rows that the node borrowed.
    low, high : tuple of float, default ()
        Bounds of the interval of each of them.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart").fit([[20.0], [30.0], [40.0]], ["no", "no", "yes"])
    >>> step = clf.explain([[36.0]])[0].paths[0].steps[-1]
    >>> print(step)
    x0 > 35 (is 36)
    >>> step.node, step.rows, step.probability
    (2, 1, (0.0, 1.0))
    """

    node: int
    condition: Condition | None
    value: Category | None
    rows: int
    counts: tuple[float, ...]
    probability: tuple[float, ...]
    borrowed: float
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()

    def raw(self, k: int | None) -> float:
        """Compute the frequency of a class among the training rows, or their mean; NaN without rows.

        Parameters
        ----------
        k : int or None
            Position of the class; None for a numeric target.
        """
        total = self.counts[0] if k is None else sum(self.counts)
        return self.counts[1 if k is None else k] / total if total else nan

    def __str__(self) -> str:
        if self.condition is None:
            return "every row"
        value = known_text(self.condition.feature, self.value)
        return f"{self.condition!s} (is {value})"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        plain: dict[str, Any] = {"node": self.node, "text": str(self)}
        if self.condition is not None:
            value = None if self.value is None else plain_label(self.value)
            plain |= {
                "feature": self.condition.feature.name,
                "value": repr(value) if value in (inf, -inf) else value,
                "condition": self.condition.to_dict(),
            }
        counts = {"rows": self.rows, "counts": list(self.counts), "probability": list(self.probability)}
        bounds = {"low": list(self.low), "high": list(self.high)} if self.low else {}
        return {**plain, **counts, **bounds, "borrowed": self.borrowed}


@dataclass(frozen=True, slots=True)
class DecisionPath:
    """The path of a row, or of a part of it, from the root to the node where it stops.

    Parameters
    ----------
    steps : tuple of PathStep
        The nodes on the path, the root first.
    end : str
        Where it stops: "a leaf", or the inner node and the reason.
    borrowed_from : tuple of BorrowedRows
        Sources of the rows that the last node borrowed; empty if the smoother does not tell them apart.
    share : float, default 1.0
        Share of the row on this path: below 1 if a missing value was distributed over the children.
    terms : tuple of RowTerm, default ()
        The terms of the nodes on the path: how far each value of the row moves the prediction of the last node.
    price : float, optional
        Price of the columns that the path tests; of a tree with prices of columns.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart", smoothing="hgs").fit([[20.0], [30.0], [40.0]], ["no", "no", "yes"])
    >>> path = clf.explain([[36.0]])[0].paths[0]
    >>> path.node, path.end, [str(source) for source in path.borrowed_from]
    (2, 'a leaf', ['1.0 from node 0', '1.0 from the uniform prior'])
    """

    steps: tuple[PathStep, ...]
    end: str
    borrowed_from: tuple[BorrowedRows, ...]
    share: float = 1.0
    terms: tuple[RowTerm, ...] = ()
    price: float | None = None

    @property
    def node(self) -> int:
        """The node where it stops."""
        return self.steps[-1].node

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "share": self.share,
            "steps": [step.to_dict() for step in self.steps],
            "end": self.end,
            "borrowed_from": [source.to_dict() for source in self.borrowed_from],
            **({"terms": [term.to_dict() for term in self.terms]} if self.terms else {}),
            **({} if self.price is None else {"price": self.price}),
        }


def end_nodes(
    tree: Tree, row: Sequence[float], shares: dict[int, dict[int, float]]
) -> Iterator[tuple[int, float]]:
    """Yield every node where a part of a row stops, and that part, depth first.

    `shares` has per node the share of each child in rows with a missing value (`child_shares`).
    """
    skeleton, features = tree.skeleton, tree.schema.features
    todo = [(0, 1.0)]
    while todo:
        node, part = todo.pop()
        feature = skeleton.feature.item(node)
        slot = STOP if feature < 0 else follow(skeleton, node, features[feature], row[feature])
        if slot >= 0:
            todo.append((skeleton.first_child.item(node) + slot, part))
        elif slot == EVERY_CHILD and node in shares:
            todo += [(child, part * share) for child, share in reversed(shares[node].items())]
        else:
            yield node, part


def paths(
    tree: Tree,
    row: Sequence[float],
    shares: dict[int, dict[int, float]],
    bounds: _Bounds = MappingProxyType({}),
    prices: Floats | None = None,
) -> tuple[DecisionPath, ...]:
    """Find the decision paths of a row; there are several only if a missing value was distributed over children.

    `row` has a value per feature, as in the columns of a table; `shares` are those of `end_nodes`, `bounds` the bounds
    of the intervals of each node; `prices` are what a path to each node pays.
    """
    return tuple(
        DecisionPath(
            tuple(_path_step(tree, at, row, bounds) for at in path(tree.skeleton, node)),
            _end(tree, node, row),
            borrowed_rows(tree, node),
            part,
            row_terms(tree, node, row),
            None if prices is None else prices.item(node),
        )
        for node, part in end_nodes(tree, row, shares)
    )


def _path_step(tree: Tree, node: int, row: Sequence[float], bounds: _Bounds) -> PathStep:
    parent = tree.skeleton.parent.item(node)
    value, condition = None, None
    if parent >= 0:
        condition = branch_condition(tree, node)
        value = value_of(condition.feature, row[condition.column])
        # For a known value it does not matter that missing values take the same branch.
        condition = replace(condition, missing=condition.missing and value is None)
    low, high = bounds.get(node, ((), ()))
    return PathStep(
        node=node,
        condition=condition,
        value=value,
        rows=tree.rows.item(node),
        counts=tuple((tree.evidence[node] * tree.unit).tolist()),
        probability=tuple(tree.belief[node].tolist()),
        borrowed=tree.borrowed.item(node),
        low=low,
        high=high,
    )


def _end(tree: Tree, node: int, row: Sequence[float]) -> str:
    """Describe where a row stops, and why if it is not a leaf."""
    tested = tree.skeleton.feature.item(node)
    if tested < 0:
        return "a leaf"
    feature = tree.schema.features[tested]
    name = feature_name(feature.name)
    everywhere = tree.skeleton.missing_slot[node] == EVERY_CHILD
    why = "no row shows where to go" if everywhere else "no branch is for that"
    return f"node {node}: {name} is {value_text(feature, row[tested])}, and {why}"
