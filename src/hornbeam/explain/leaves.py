"""The leaf table: rows, rates, intervals and the rule of each leaf."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hornbeam.errors import ParameterError
from hornbeam.explain.intervals import interval
from hornbeam.explain.notebook import leaves_html
from hornbeam.explain.wording import rule_texts
from hornbeam.export.prediction_text import interval_text, prediction_text
from hornbeam.export.wording import pluralise
from hornbeam.tree.decision.positive import class_code
from hornbeam.tree.tree import Tree, unsmoothed
from hornbeam.typing import Counts, Floats, Label

__all__ = ["Leaves", "leaves"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Leaves:
    """Leaves, or nodes, of a tree as columns; printed, a line each.

    Parameters
    ----------
    classes : tuple of hashable
        The class labels; empty where the target is numeric.
    level : float
        Of the intervals.
    node : ndarray of intp
        Their ids in the tree, as `TreeClassifier.apply` gives them.
    rows : ndarray of int64
        Rows that came.
    borrowed : ndarray of float64
        Rows lent by the ancestors; after cross-fitted smoothing, in what they are worth.
    raw, smoothed, low, high : ndarray of float64 of shape (n_leaves, n_classes)
        Frequencies, what the tree believes, and the bounds of the interval; of a numeric target, means, of shape
        (n_leaves, 1).
    tree : Tree
        Whose leaves they are.
    code : int, optional
        The class of interest, by its position in `classes`: printed lines have its rates. If not given, each line
        has those of the class that the leaf decides for.

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
        """What leads to each leaf, in words.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> TreeClassifier("cart").fit([[0], [1], [2]], ["a", "b", "a"]).leaves().rule
        ['x0 ≤ 0.5', '0.5 < x0 ≤ 1.5', 'x0 > 1.5']
        """
        return rule_texts(self.tree, self.node.tolist())

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns with an entry for each leaf and class, as every frame library takes them.

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
        rule = [words for words in self.rule for _ in range(k)]
        per_class = {
            name: getattr(self, name).ravel().tolist() for name in ("raw", "smoothed", "low", "high")
        }
        named: dict[str, list[Any]] = {}
        if self.classes:
            decided = [self.classes[code] for code in self.tree.decided[self.node].tolist() for _ in range(k)]
            named = {"decided": decided, "class": list(self.classes) * len(self)}
        return {**per_leaf, "rule": rule, **named, **per_class}

    def as_rules(self) -> str:
        """Write a rule for each leaf: what leads there, what it answers, how sure that is, and its rows.

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
        low, high = interval(self.tree, self.level)
        lines = []
        for at, (rule, node) in enumerate(zip(self.rule, self.node.tolist(), strict=True)):
            answer = ", ".join(filter(None, prediction_text(self.tree, node)))
            if self.code is not None:
                answer = "; ".join([prediction_text(self.tree, node)[0], self._interest(node)])
            sure = interval_text(self.tree, low, high, node, code=self.code)
            lines += [
                f"{at + 1}. if {rule}",
                f"{' ' * len(str(at + 1))}  then {answer} ({sure}); {pluralise(self.rows.item(at), 'row')}",
            ]
        return "\n".join(lines)

    def _interest(self, node: int) -> str:
        """The class of interest and its probability."""
        return " ".join(prediction_text(self.tree, node, code=self.code))

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        return leaves_html(self)

    def _lines(self) -> Iterator[str]:
        """Write what each leaf decides for, with the rates of that class or of the class of interest; or the mean."""
        rules = self.rule
        if not self.classes:
            yield from self._lines_of_means(rules)
            return
        decided = self.tree.decided[self.node].tolist()
        shown = decided if self.code is None else [self.code] * len(self)
        names, head = [str(label) for label in self.classes], "class"
        if self.code is not None:
            head = "decided"
            yield f"rates of {names[self.code]}"
        width = max(len(head), *map(len, names))
        title = f"{100 * self.level:g} % interval"
        yield f" node   rows  borrowed  {head:<{width}}    raw  smoothed  {title:>15}  rule"
        for i, k in enumerate(shown):
            counts = f"{self.node[i]:>5} {self.rows[i]:>6}  {self.borrowed[i]:>8.1f}"
            rates = f"{self.raw[i, k]:.3f}  {self.smoothed[i, k]:>8.3f}"
            span = f"{self.low[i, k]:.3f} to {self.high[i, k]:.3f}"
            yield f"{counts}  {names[decided[i]]:<{width}}  {rates}   {span}  {rules[i]}"

    def _lines_of_means(self, rules: list[str]) -> Iterator[str]:
        title = f"{100 * self.level:g} % interval"
        yield f" node   rows  borrowed         raw    smoothed  {title:>24}  rule"
        for i, node in enumerate(self.node.tolist()):
            counts = f"{node:>5} {self.rows[i]:>6}  {self.borrowed[i]:>8.1f}"
            rates = f"{self.raw[i, 0]:>10.5g}  {self.smoothed[i, 0]:>10.5g}"
            yield f"{counts}  {rates}  {self.low[i, 0]:>10.5g} to {self.high[i, 0]:<10.5g}  {rules[i]}"


def leaves(
    tree: Tree,
    level: float = 0.9,
    *,
    inner: bool = False,
    positive: Label | None = None,
    by: Literal["node", "risk"] = "node",
) -> Leaves:
    """List the leaves of a tree with their rows, rates and intervals.

    Parameters
    ----------
    tree : Tree
    level : float, default 0.9
        Of the intervals (`interval`).
    inner : bool, default False
        List every node, inner ones too.
    positive : label, optional
        The class of interest: every printed line has the rates of this class, so that they compare down the column.
    by : {"node", "risk"}, default "node"
        The order: by number, or the highest probability of `positive` first; where the target is numeric, the
        highest mean. Equal ones are in the order of their numbers.

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
    code = None if positive is None else class_code(tree.schema.classes, positive)
    low, high = interval(tree, level)
    node = np.arange(tree.n_nodes) if inner else np.flatnonzero(tree.skeleton.is_leaf)
    if by == "risk":
        node = node[np.argsort(-_risk(tree, code)[node], kind="stable")]
    elif by != "node":
        raise ParameterError(f"by={by!r}: expected 'node' or 'risk'.")
    raw = unsmoothed(tree)
    return Leaves(
        classes=tree.schema.classes,
        level=level,
        node=node,
        rows=tree.rows[node],
        borrowed=tree.borrowed[node],
        raw=raw[node],
        smoothed=tree.belief[node],
        low=low[node],
        high=high[node],
        tree=tree,
        code=code,
    )


def _risk(tree: Tree, code: int | None) -> Floats:
    """Of each node the probability of the class of interest, or the mean."""
    if code is None and not tree.is_regression:
        raise ParameterError(
            f"by='risk' needs positive=, the class whose probability is the risk: one of {list(tree.schema.classes)}."
        )
    return tree.belief[:, code or 0]
