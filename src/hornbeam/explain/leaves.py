"""The leaf table: who came to each leaf, what the tree makes of them, and how sure it is."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.explain.intervals import interval
from hornbeam.explain.words import rule_words
from hornbeam.export.answers import answer_words, span_words
from hornbeam.export.words import several
from hornbeam.tree.tree import Tree, unsmoothed
from hornbeam.typing import Counts, Floats

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
        Rows lent by the ancestors; after honest smoothing, in what they are worth.
    raw, smoothed, low, high : ndarray of float64 of shape (n_leaves, n_classes)
        Frequencies, what the tree believes, and the bounds of the interval; of a numeric target, means, of shape
        (n_leaves, 1).
    tree : Tree
        Whose leaves they are.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> X, y = [[0.0]] * 10 + [[1.0]] * 40, ["no"] * 10 + ["no", "yes"] * 20
    >>> TreeClassifier().fit(X, y).leaves()
     node   rows  borrowed  class    raw  smoothed    90 % interval
        1     10       1.0  no     1.000     0.959   0.725 to 1.000
        2     40       0.7  no     0.500     0.501   0.353 to 0.648
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
        return [rule_words(self.tree, node) for node in self.node.tolist()]

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
        named = {"class": list(self.classes) * len(self)} if self.classes else {}
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
            answer = ", ".join(filter(None, answer_words(self.tree, node)))
            sure = span_words(self.tree, low, high, node)
            lines += [
                f"{at + 1}. if {rule}",
                f"{' ' * len(str(at + 1))}  then {answer} ({sure}); {several(self.rows.item(at), 'row')}",
            ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        """Write the class that each leaf decides for, or its mean."""
        if not self.classes:
            yield from self._lines_of_means()
            return
        best = self.tree.decided[self.node]
        names = [str(label) for label in self.classes]
        width = max(len("class"), *map(len, names))
        title = f"{100 * self.level:g} % interval"
        yield f" node   rows  borrowed  {'class':<{width}}    raw  smoothed  {title:>15}"
        for i, k in enumerate(best.tolist()):
            counts = f"{self.node[i]:>5} {self.rows[i]:>6}  {self.borrowed[i]:>8.1f}"
            rates = f"{self.raw[i, k]:.3f}  {self.smoothed[i, k]:>8.3f}"
            yield f"{counts}  {names[k]:<{width}}  {rates}   {self.low[i, k]:.3f} to {self.high[i, k]:.3f}"

    def _lines_of_means(self) -> Iterator[str]:
        yield f" node   rows  borrowed         raw    smoothed  {f'{100 * self.level:g} % interval':>24}"
        for i, node in enumerate(self.node.tolist()):
            counts = f"{node:>5} {self.rows[i]:>6}  {self.borrowed[i]:>8.1f}"
            rates = f"{self.raw[i, 0]:>10.5g}  {self.smoothed[i, 0]:>10.5g}"
            yield f"{counts}  {rates}  {self.low[i, 0]:>10.5g} to {self.high[i, 0]:<10.5g}".rstrip()


def leaves(tree: Tree, level: float = 0.9, *, inner: bool = False) -> Leaves:
    """List the leaves of a tree with their rows, rates and intervals.

    Parameters
    ----------
    tree : Tree
    level : float, default 0.9
        Of the intervals (`interval`).
    inner : bool, default False
        List every node, inner ones too.

    Returns
    -------
    Leaves

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier(smoothing=None).fit([[0.0]] * 3 + [[1.0]] * 5, [0] * 4 + [1] * 4).tree_
    >>> leaves(tree, level=0.8, inner=True)
     node   rows  borrowed  class    raw  smoothed    80 % interval
        0      8       0.0  0      0.500     0.500   0.258 to 0.742
        1      3       0.0  0      1.000     1.000   0.614 to 1.000
        2      5       0.0  1      0.800     0.800   0.477 to 0.977
    """
    low, high = interval(tree, level)
    node = np.arange(tree.n_nodes) if inner else np.flatnonzero(tree.skeleton.is_leaf)
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
    )
