"""Prices of columns: what a path pays for the columns that it tests, from the history of a tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hornbeam.checks import is_number
from hornbeam.errors import ParameterError, TreeError, shown
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import n_roots, push_down
from hornbeam.typing import Floats

PER_CENT = 0.01  # a unit of price, times the weight of prices, is this share of the loss without columns
MOST_PRICE = 1e15

type PricedItems = tuple[tuple[float, tuple[int, ...]], ...]
"""Prices, each with the indices of the features that need it; a path pays it once."""


def check_items(items: Any) -> None:
    """Refuse anything but pairs of a price and indices of features; None is no prices."""
    for pair in _listed(items, items):
        match pair:
            case (price, tuple(features) | list(features)) if is_number(price) and 0 <= price <= MOST_PRICE:
                if features and all(type(f) is int and f >= 0 for f in features):
                    continue
        raise _wrong_items(items)


def _listed(items: Any, value: Any) -> Iterable[Any]:
    if items is None or isinstance(items, (tuple, list)):
        return items or ()
    raise _wrong_items(value)


def _wrong_items(value: Any) -> ParameterError:
    return ParameterError(
        f"feature_costs={shown(value)}: expected pairs of a price, a finite number of 0 or more, and indices of "
        "features, from 0. Pass ((3.0, (0,)),) for a price of 3 of the first feature."
    )


@dataclass(frozen=True, slots=True)
class FeatureCosts:
    """Prices of features, and the weight of a price beside the loss.

    Each item is a price and the features that need it, such as one blood sample for several values. A path pays an item
    once, at its first split on one of these features. One unit of price times `weight` is worth one per cent of the
    loss of predicting the same for every row.
    """

    items: PricedItems
    weight: float

    @classmethod
    def of(cls, tree: Tree) -> Self | None:
        """Return the prices that a tree was grown with; None without any.

        Raises
        ------
        TreeError
            If the history, which may come from a file, has something else in their place.
        """
        for step in tree.history:
            parameters = dict(step.parameters) if step.name == "grow" else {}
            if parameters.get("feature_costs"):
                return cls._checked(parameters, tree)
        return None

    @classmethod
    def _checked(cls, parameters: dict[str, Any], tree: Tree) -> Self:
        items, weight = parameters["feature_costs"], parameters.get("feature_cost_weight", 0.0)
        try:
            check_items(items)
        except ParameterError as error:
            raise TreeError(str(error)) from error
        if not is_number(weight) or not 0 <= weight <= MOST_PRICE:
            raise TreeError(
                f"the history has feature_cost_weight={shown(weight)}; expected a number of 0 or more"
            )
        most = max(f for _, features in items for f in features)
        if most >= tree.schema.n_features:
            raise TreeError(
                f"the history has a price of feature {most}; expected 0 to {tree.schema.n_features - 1}"
            )
        return cls(tuple((float(price), tuple(features)) for price, features in items), float(weight))

    def paid(self, tree: Tree) -> Floats:
        """Return what a row pays at each node for its split; 0 at leaves. Works for trees side by side."""
        feature = tree.skeleton.feature
        total = np.zeros(tree.n_nodes)
        roots = n_roots(tree.skeleton)
        for price, features in self.items:
            here = np.isin(feature, features)
            if not here.any():
                continue
            upto = push_down(tree.skeleton, here, np.logical_or)
            before = np.append(np.zeros(roots, np.bool_), upto[tree.skeleton.parent[roots:]])
            total[here & ~before] += price
        return total

    def mean(self, tree: Tree) -> float:
        """Return the mean price of a prediction, over the rows that the tree counts.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, ["a", "a", "b", "c"] * 5
        >>> tree = TreeClassifier("cart", feature_costs={"x0": 1, "x1": 4}).fit(X, y).tree_
        >>> FeatureCosts.of(tree).mean(tree)
        3.0
        """
        weight = tree.weight_in_rows
        return float((weight * self.paid(tree)).sum() / weight[0])

    def of_paths(self, tree: Tree) -> Floats:
        """Return for each node what a row has paid that stops there."""
        return push_down(tree.skeleton, self.paid(tree))
