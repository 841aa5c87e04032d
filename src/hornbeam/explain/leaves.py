"""The leaf table: rows, rates, intervals and the rule of each leaf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from hornbeam.checks import check_choice, check_flags
from hornbeam.errors import ParameterError
from hornbeam.export.slope_text import path_terms_texts, terms_above, terms_text
from hornbeam.export.wording import interval_text, prediction_text, range_text, rule_texts
from hornbeam.grid import Grid, Result, by_class
from hornbeam.smoothing.interval_calibration import interval
from hornbeam.tree.decision import class_code
from hornbeam.tree.tree import Tree, unsmoothed
from hornbeam.tree.words import label_text, pluralise, probability_head
from hornbeam.typing import Counts, Floats, Label

if TYPE_CHECKING:
    from hornbeam.smoothing.distribution import Distribution


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Leaves(Result[dict[str, Any]]):
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
    raw, probability, low, high : ndarray of float64 of shape (n_leaves, n_classes)
        Frequencies, smoothed probabilities, and the bounds of their intervals; for a numeric target, means, of shape
        (n_leaves, 1). Terms are not in them: they are the values at the centres of the terms.
    tree : Tree
        The tree of these leaves.
    row_range : ndarray of float64 of shape (n_leaves, 3), optional
        Lower bound, median and upper bound of single rows, if the model was fitted with ``distribution=True``.
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
    probability: Floats
    low: Floats
    high: Floats
    tree: Tree
    code: int | None = None
    row_range: Floats | None = None

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
        """The terms of the path of each leaf, as text; those of a node above it begin with the rows they hold for.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> TreeClassifier("cart").fit([[0], [1], [2]], ["a", "b", "a"]).leaves().terms
        [[], [], []]
        """
        return path_terms_texts(self.tree, self.node.tolist(), self.code)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns with a value per leaf.

        ``prediction`` is the predicted class. The frequency, the probability and the bounds of each class are
        ``raw_<class>``, ``p_<class>``, ``low_<class>`` and ``high_<class>``. For a numeric target ``prediction`` is the
        mean, beside ``raw``, ``low`` and ``high``; with a distribution also ``row_low``, ``row_median`` and
        ``row_high``. ``terms`` is there if the tree has slopes.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> leaves = TreeClassifier(smoothing=None).fit([[0], [1]], ["no", "yes"]).leaves()
        >>> leaves.to_frame()[["node", "prediction", "p_yes", "high_yes"]].round(2)
           node prediction  p_yes  high_yes
        0     1         no    0.0       0.9
        1     2        yes    1.0       1.0
        """
        columns: dict[str, list[Any]] = {
            name: getattr(self, name).tolist() for name in ("node", "rows", "borrowed")
        }
        columns["rule"] = self.rule
        if len(self.tree.slopes):
            columns["terms"] = ["; ".join(texts) for texts in self.terms]
        columns["prediction"] = self.probability[:, 0].tolist()
        if self.classes:
            columns["prediction"] = [self.classes[code] for code in self.tree.decided[self.node].tolist()]
            columns |= by_class("p", self.classes, self.probability)
        for name in ("raw", "low", "high"):
            columns |= by_class(name, self.classes, getattr(self, name))
        if self.row_range is not None:
            names = ("row_low", "row_median", "row_high")
            columns |= dict(zip(names, self.row_range.T.tolist(), strict=True))
        return columns

    def as_rules(self) -> str:
        """Write a rule per leaf: conditions, prediction, interval, number of rows, and terms.

        Terms of nodes above come first, with the rows that they hold for.

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
        lines = self._shared_terms
        for at, (rule, node, terms) in enumerate(
            zip(self.rule, self.node.tolist(), self._own_terms, strict=True)
        ):
            name, value = prediction_text(self.tree, node, code=self.code)
            head = "" if self.code is None else f"{probability_head(self.classes[self.code])} "
            prediction = ", ".join(filter(None, (name, head + value)))
            bounds = interval_text(self.tree, self.low[at], self.high[at], node, code=self.code)
            indent = " " * len(f"{at + 1}. ")
            lines += [
                f"{at + 1}. if {rule}",
                f"{indent}then {prediction} ({bounds}); {pluralise(self.rows.item(at), 'row')}",
                *(f"{indent}     {words}" for words in self._range_texts[at : at + 1]),
                *(f"{indent}     {term}" for term in terms),
            ]
        return "\n".join(lines)

    @property
    def _range_texts(self) -> list[str]:
        if self.row_range is None:
            return []
        return [range_text(low, median, high, self.level) for low, median, high in self.row_range.tolist()]

    @property
    def _own_terms(self) -> list[list[str]]:
        return [terms_text(self.tree, node, self.code) for node in self.node.tolist()]

    @property
    def _shared_terms(self) -> list[str]:
        """The terms of nodes above that have no line of their own."""
        return terms_above(self.tree, self.node.tolist(), self.code)

    def _range_columns(self, width: int) -> dict[str, list[str]]:
        if self.row_range is None:
            return {}
        low, median, high = ([f"{value:.5g}" for value in column] for column in self.row_range.T.tolist())
        ranges = [f"{a:>{width}} to {b:<{width}}" for a, b in zip(low, high, strict=True)]
        return {f"{'median':>{width}}": median, f"{f'{100 * self.level:g} % of rows':>15}": ranges}

    def __len__(self) -> int:
        return len(self.node)

    def __repr__(self) -> str:
        above = "" if self.code is None else f"rates of {self.classes[self.code]}\n"
        return above + self._grid().text()

    def _grid(self) -> Grid:
        """Return a table with the rates of the predicted class of each leaf, or of the class of interest, or its mean.

        The terms of a leaf stand below its rule, those of nodes above below the table.
        """
        decided = self.tree.decided[self.node].tolist() if self.classes else [0] * len(self)
        shown = decided if self.code is None else [self.code] * len(self)
        raw, smoothed, low, high = (
            [f"{values.item(at, k):{'.3f' if self.classes else '.5g'}}" for at, k in enumerate(shown)]
            for values in (self.raw, self.probability, self.low, self.high)
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
            **self._range_columns(width),
            "rule": [
                "\n".join([rule, *terms]) for rule, terms in zip(self.rule, self._own_terms, strict=True)
            ],
        }
        align = ">>><>>><" if self.classes else ">" * (len(columns) - 1) + "<"
        rows = list(zip(*columns.values(), strict=True))
        return Grid(caption, list(columns), rows, align, "\n".join(self._shared_terms))


def leaves(
    tree: Tree,
    level: float = 0.9,
    *,
    distribution: Distribution | None = None,
    inner: bool = False,
    positive: Label | None = None,
    by: Literal["node", "risk"] = "node",
) -> Leaves:
    """List the leaves of a tree (`TreeClassifier.leaves`)."""
    check_flags(inner=inner)
    check_choice("by", by, ("node", "risk"))
    code = None if positive is None else class_code(tree.schema.classes, positive)
    node = np.arange(tree.n_nodes) if inner else np.flatnonzero(tree.skeleton.is_leaf)
    if by == "risk":
        node = node[np.argsort(-_risk(tree, code)[node], kind="stable")]
    raw = unsmoothed(tree)
    low, high = interval(tree, level, node)
    return Leaves(
        classes=tree.schema.classes,
        level=level,
        node=node,
        rows=tree.rows[node],
        borrowed=tree.borrowed[node],
        raw=raw[node],
        probability=tree.belief[node],
        low=low,
        high=high,
        tree=tree,
        code=code,
        row_range=None if distribution is None else distribution.ranges(node.astype(np.int32), level),
    )


def _risk(tree: Tree, code: int | None) -> Floats:
    """Return the probability of the class of interest, or the mean, of each node."""
    if code is None and not tree.is_regression:
        raise ParameterError(
            f"by='risk' needs positive=, the class whose probability is the risk: one of {list(tree.schema.classes)}."
        )
    return tree.belief[:, code or 0]
