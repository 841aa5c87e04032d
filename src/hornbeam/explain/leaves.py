"""The leaf table: rows, rates, intervals and the rule of each leaf."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hornbeam.errors import ParameterError
from hornbeam.explain.intervals import interval
from hornbeam.export.slope_text import terms_text
from hornbeam.export.wording import interval_text, label_text, pluralise, prediction_text, rule_texts
from hornbeam.grid import Grid
from hornbeam.tree.decision import class_code
from hornbeam.tree.tree import Tree, unsmoothed
from hornbeam.tree.unwrap import HasTree, single_tree
from hornbeam.typing import Counts, Floats, Label


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Leaves:
    """Leaves, or all nodes, of a tree as columns; printed, a line per leaf.

    Parameters
    ----------
    classes : tuple of hashable
        The class labels; empty if the target is numeric.
    level : float
        Level of the intervals.
    node : ndarray of intp
        Node ids, as returned by `TreeClassifier.apply`.
    rows : ndarray of int64
        Training rows.
    borrowed : ndarray of float64
        Rows borrowed from the ancestors; after cross-fitted smoothing, in units of the node's own rows.
    raw, smoothed, low, high : ndarray of float64 of shape (n_leaves, n_classes)
        Frequencies, smoothed probabilities, and the bounds of their intervals; for a numeric target, means, of shape
        (n_leaves, 1). Terms of leaves with slopes are not in them: they are the values of the leaf as a whole.
    tree : Tree
        The tree of these leaves.
    code : int, optional
        Position in `classes` of the class of interest, whose rates are printed. If not given, each line has the rates
        of the predicted class of the leaf.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> X, y = [[0.0]] * 10 + [[1.0]] * 40, ["no"] * 10 + ["no", "yes"] * 20
    >>> TreeClassifier().fit(X, y).leaves()
     node   rows  borrowed  class    raw  smoothed    90 % interval  rule
        1     10       1.0  no     1.000     0.959   0.725 to 1.000  x0 ≤ 0.5
        2     40       0.7  no     0.500     0.501   0.353 to 0.648  x0 > 0.5
    """

    classes: tuple[Any, ...]
    level: float
    node: NDArray[np.intp]
    rows: Counts
    borrowed: Floats
    raw: Floats
    smoothed: Floats
    low: Floats
    high: Floats
    tree: Tree
    code: int | None = None

    def __len__(self) -> int:
        return len(self.node)

    @property
    def rule(self) -> list[str]:
        """The conditions on the path to each leaf, as text.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> TreeClassifier("cart").fit([[0], [1], [2]], ["a", "b", "a"]).leaves().rule
        ['x0 ≤ 0.5', '0.5 < x0 ≤ 1.5', 'x0 > 1.5']
        """
        return rule_texts(self.tree, self.node.tolist())

    @property
    def terms(self) -> list[list[str]]:
        """The terms of each leaf, as text; empty lists for leaves without slopes.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> TreeClassifier("cart").fit([[0], [1], [2]], ["a", "b", "a"]).leaves().terms
        [[], [], []]
        """
        return [terms_text(self.tree, node, self.code) for node in self.node.tolist()]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns with an entry per leaf and class, for a data frame; ``terms`` if a leaf has slopes.

        Examples
        --------
        >>> import pandas as pd
        >>> from hornbeam import TreeClassifier
        >>> leaves = TreeClassifier(smoothing=None).fit([[0], [1]], ["no", "yes"]).leaves()
        >>> pd.DataFrame(leaves.to_dict())[["node", "class", "smoothed", "high"]].round(2)
           node class  smoothed  high
        0     1    no       1.0   1.0
        1     1   yes       0.0   0.9
        2     2    no       0.0   0.9
        3     2   yes       1.0   1.0
        """
        k = len(self.classes) or 1
        per_leaf = {name: np.repeat(getattr(self, name), k).tolist() for name in ("node", "rows", "borrowed")}
        rule = [text for text in self.rule for _ in range(k)]
        per_class = {
            name: getattr(self, name).ravel().tolist() for name in ("raw", "smoothed", "low", "high")
        }
        named: dict[str, list[Any]] = {}
        if self.classes:
            decided = [self.classes[code] for code in self.tree.decided[self.node].tolist() for _ in range(k)]
            named = {"decided": decided, "class": list(self.classes) * len(self)}
        terms = {"terms": ["; ".join(texts) for texts in self.terms for _ in range(k)]}
        return {**per_leaf, "rule": rule, **(terms if len(self.tree.slopes) else {}), **named, **per_class}

    def as_rules(self) -> str:
        """Write a rule per leaf: conditions, prediction, interval, number of rows, and terms.

        Examples
        --------
        >>> from hornbeam import TreeRegressor
        >>> X, y = [[1], [2], [3], [4]], [1.0, 2.0, 7.0, 9.0]
        >>> print(TreeRegressor("cart", max_depth=1).fit(X, y).leaves().as_rules())
        1. if x0 ≤ 2.5
           then 1.5 (-2.57536 to 5.57536); 2 rows
        2. if x0 > 2.5
           then 8 (3.67101 to 12.329); 2 rows
        """
        lines = []
        for at, (rule, node, terms) in enumerate(zip(self.rule, self.node.tolist(), self.terms, strict=True)):
            prediction = ", ".join(filter(None, prediction_text(self.tree, node)))
            if self.code is not None:
                interest = " ".join(prediction_text(self.tree, node, code=self.code))
                prediction = f"{prediction_text(self.tree, node)[0]}; {interest}"
            bounds = interval_text(self.tree, self.low[at], self.high[at], node, code=self.code)
            indent = " " * len(f"{at + 1}. ")
            lines += [
                f"{at + 1}. if {rule}",
                f"{indent}then {prediction} ({bounds}); {pluralise(self.rows.item(at), 'row')}",
                *(f"{indent}     {term}" for term in terms),
            ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        above = "" if self.code is None else f"rates of {self.classes[self.code]}\n"
        return above + self.grid().text()

    def _repr_html_(self) -> str:
        return self.grid().html()

    def grid(self) -> Grid:
        """Return a table with the rates of the predicted class of each leaf, or of the class of interest, or its mean.

        The terms of a leaf stand below its rule.
        """
        decided = self.tree.decided[self.node].tolist() if self.classes else [0] * len(self)
        shown = decided if self.code is None else [self.code] * len(self)
        raw, smoothed, low, high = (
            [f"{values.item(at, k):{'.3f' if self.classes else '.5g'}}" for at, k in enumerate(shown)]
            for values in (self.raw, self.smoothed, self.low, self.high)
        )
        caption = pluralise(len(self), "leaf", "leaves")
        if self.classes:
            width, bounds = 5, [f"{a} to {b}" for a, b in zip(low, high, strict=True)]
            named = {
                "class" if self.code is None else "decided": [label_text(self.classes[k]) for k in decided]
            }
            caption += "" if self.code is None else f", rates of {label_text(self.classes[self.code])}"
        else:
            width, bounds = 10, [f"{a:>10} to {b:<10}" for a, b in zip(low, high, strict=True)]
            named = {}
        columns = {
            " node": self.node.tolist(),
            " rows": self.rows.tolist(),
            "borrowed": [f"{rows:.1f}" for rows in self.borrowed.tolist()],
            **named,
            f"{'raw':>{width}}": raw,
            f"{'smoothed':>{width}}": smoothed,
            f"{f'{100 * self.level:g} % interval':>15}": bounds,
            "rule": ["\n".join([rule, *terms]) for rule, terms in zip(self.rule, self.terms, strict=True)],
        }
        align = ">>><>>><" if self.classes else ">>>>>><"
        return Grid(caption, list(columns), list(zip(*columns.values(), strict=True)), align)


def leaves(
    tree: Tree | HasTree,
    level: float = 0.9,
    *,
    inner: bool = False,
    positive: Label | None = None,
    by: Literal["node", "risk"] = "node",
) -> Leaves:
    """List the leaves of a tree with their rows, rates and intervals.

    Parameters
    ----------
    tree : Tree, or fitted estimator of one tree
    level : float, default 0.9
        Level of the intervals (`interval`).
    inner : bool, default False
        Whether to list the inner nodes too.
    positive : label, optional
        The class of interest: every printed line has the rates of this class, so that leaves can be compared.
    by : {"node", "risk"}, default "node"
        The order: by node id, or the highest probability of `positive` first; for a numeric target, the highest mean
        first. Ties are in the order of the node ids.

    Returns
    -------
    Leaves

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier(smoothing=None).fit([[0.0]] * 3 + [[1.0]] * 5, [0] * 4 + [1] * 4).tree_
    >>> leaves(tree, level=0.8, inner=True)
     node   rows  borrowed  class    raw  smoothed    80 % interval  rule
        0      8       0.0  0      0.500     0.500   0.258 to 0.742  every row
        1      3       0.0  0      1.000     1.000   0.614 to 1.000  x0 ≤ 0.5
        2      5       0.0  1      0.800     0.800   0.477 to 0.977  x0 > 0.5
    >>> leaves(tree, positive=1, by="risk")
    rates of 1
     node   rows  borrowed  decided    raw  smoothed    90 % interval  rule
        2      5       0.0  1        0.800     0.800   0.396 to 0.989  x0 > 0.5
        1      3       0.0  0        0.000     0.000   0.000 to 0.499  x0 ≤ 0.5
    """
    tree = single_tree(tree)
    code = None if positive is None else class_code(tree.schema.classes, positive)
    node = np.arange(tree.n_nodes) if inner else np.flatnonzero(tree.skeleton.is_leaf)
    if by == "risk":
        node = node[np.argsort(-_risk(tree, code)[node], kind="stable")]
    elif by != "node":
        raise ParameterError(f"by={by!r}: expected 'node' or 'risk'.")
    raw = unsmoothed(tree)
    low, high = interval(tree, level, node)
    return Leaves(
        classes=tree.schema.classes,
        level=level,
        node=node,
        rows=tree.rows[node],
        borrowed=tree.borrowed[node],
        raw=raw[node],
        smoothed=tree.belief[node],
        low=low,
        high=high,
        tree=tree,
        code=code,
    )


def _risk(tree: Tree, code: int | None) -> Floats:
    """Return the probability of the class of interest, or the mean, of each node."""
    if code is None and not tree.is_regression:
        raise ParameterError(
            f"by='risk' needs positive=, the class whose probability is the risk: one of {list(tree.schema.classes)}."
        )
    return tree.belief[:, code or 0]
