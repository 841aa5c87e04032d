"""The table of candidate splits at a node: their gains, their children, and why some are not allowed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, isnan
from typing import Any, overload

import numpy as np

from hornbeam.data.binning.bins import Bins
from hornbeam.data.schema import Schema
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.explain.node_cells import NodeRows, weighted_table
from hornbeam.explain.notebook import candidate_splits_html
from hornbeam.export.condition_text import condition_text
from hornbeam.export.wording import feature_name, label_text, number_text, pluralise
from hornbeam.growing import Criterion, Grower, impurity
from hornbeam.growing.candidates import Candidate, Direction, NodeCells, Way, all_candidates, best_candidates
from hornbeam.recipe import PRESETS, REGRESSION_PRESETS, Recipe
from hornbeam.tree.condition import Condition
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import unwrap
from hornbeam.typing import Floats

__all__ = ["CandidateChild", "CandidateSplit", "CandidateSplits", "candidate_splits"]

_MOST_LINES = 100
_MOST_CHILDREN = 6  # in a line
_MOST_CATEGORIES = 4  # in the condition of a child, in a line
_MOST_CLASSES = 6  # whose counts are printed
_BITS = (Criterion.ENTROPY, Criterion.GAIN_RATIO)


@dataclass(frozen=True, slots=True)
class CandidateChild:
    """A child of a candidate split.

    Parameters
    ----------
    test : Condition
        The condition of its rows.
    rows : int
        Number of rows.
    weight : float
        Their weight; the number of rows if each has weight 1.
    counts : tuple of float
        Weight of each class; empty if the target is numeric. Class weights do not change it.
    mean, sum_of_squares : float or None
        For a numeric target, its mean, and the sum of the squared differences from it.

    Examples
    --------
    >>> import hornbeam
    >>> X, y = [[1], [2], [3], [4]], ["no", "no", "yes", "no"]
    >>> best = hornbeam.candidate_splits(hornbeam.TreeClassifier("id3").fit(X, y), X, y)[0]
    >>> [(child.condition, child.counts) for child in best.children]
    [('x0 ≤ 2.5', (2.0, 0.0)), ('x0 > 2.5', (1.0, 1.0))]
    """

    test: Condition
    rows: int
    weight: float
    counts: tuple[float, ...] = ()
    mean: float | None = None
    sum_of_squares: float | None = None

    @property
    def condition(self) -> str:
        """The condition of its rows, as text."""
        return condition_text(self.test)


@dataclass(frozen=True, slots=True)
class CandidateSplit:
    """A candidate split of a node.

    Parameters
    ----------
    feature : str
        Name of the feature.
    column : int
        Its index.
    threshold : float or None
        Of a numeric feature; infinite for known against missing values. None for a nominal feature.
    categories : tuple of tuples, or None
        Of a nominal feature, the categories of each child.
    missing : {"left", "right", "own", "every"} or None
        Where rows with a missing value go: to the first or second child, to a child of their own, or a part to every
        child. None if the node has no missing value of this feature.
    children : tuple of CandidateChild
    gain : float
        Decrease of the impurity: in bits for entropy and gain ratio; for a numeric target, of the mean squared error.
    penalty : float
        What C4.5 subtracts from the gain of a numeric feature: log2 of the number of allowed cuts, divided by the
        weight of the node. 0 for other criteria.
    split_information : float or None
        Entropy of the weights of the children in bits, for criteria in bits.
    gain_ratio : float or None
        Penalised gain over split information, for criteria in bits.
    s_value : float or None
        If features are compared by S-values (`Grower`): the S-value of the best split of a feature.
    rank : int
        1 for the split that growing takes.
    chosen : bool
        Whether it is the split of the tree at this node.
    rejected : str or None
        Why growing does not allow the split; None if it does.

    Examples
    --------
    >>> import hornbeam
    >>> X, y = [["sun"], ["rain"], ["snow"], ["rain"]], ["out", "in", "in", "in"]
    >>> best = hornbeam.candidate_splits(hornbeam.TreeClassifier("id3").fit(X, y), X, y)[0]
    >>> best.condition, round(best.gain, 3), round(best.gain_ratio, 3)
    ('x0 = rain | = snow | = sun', 0.811, 0.541)
    """

    feature: str
    column: int
    threshold: float | None
    categories: tuple[tuple[Any, ...], ...] | None
    missing: Direction | None
    children: tuple[CandidateChild, ...]
    gain: float
    penalty: float
    split_information: float | None
    gain_ratio: float | None
    s_value: float | None
    rank: int
    chosen: bool
    rejected: str | None

    @property
    def penalised_gain(self) -> float:
        """Gain minus penalty, as in `Tree.gain`."""
        return self.gain - self.penalty

    @property
    def condition(self) -> str:
        """The conditions of the children in one line; long lists are cut."""
        name = feature_name(self.feature)
        shown = [condition_text(child.test, _MOST_CATEGORIES) for child in self.children[:_MOST_CHILDREN]]
        tests = [shown[0], *(text.removeprefix(f"{name} ") for text in shown[1:])]
        if len(self.children) > _MOST_CHILDREN:
            tests.append(f"… {len(self.children) - _MOST_CHILDREN} more")
        return " | ".join(tests) + (", missing to every child" if self.missing == "every" else "")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CandidateSplits(Sequence[CandidateSplit]):
    """The candidate splits of a node; printed, a line per split.

    Parameters
    ----------
    splits : tuple of CandidateSplit
        The best split of each feature, best first; or all splits of one feature, in the order in which growing looks
        at them: by threshold, or categories by rate.
    node : int
    rows : int
        Rows at the node.
    weight : float
        Their weight.
    criterion : str
        The measure of the gain.
    impurity : float or None
        Entropy or Gini impurity of the node, or the variance of its target; None for Hellinger distance.
    order : str
        What features are compared by: "gain", "gain ratio" or "S-value".
    classes : tuple
        The class labels; empty if the target is numeric.
    limit : str or None
        Why growing does not split the node at all; None if it may.

    Examples
    --------
    >>> import hornbeam
    >>> X = [["sun", 20], ["rain", 20], ["snow", -5], ["rain", 8]]
    >>> y = ["out", "in", "in", "in"]
    >>> hornbeam.candidate_splits(hornbeam.TreeClassifier("id3").fit(X, y), X, y)
    node 0: 4 rows, entropy 0.8113 bits
    rank    gain  split                       in out in each child
      1*  0.8113  x0 = rain | = snow | = sun  2 0 | 1 0 | 0 1
      2   0.3113  x1 ≤ 14 | > 14              2 0 | 1 1
    * the split of the tree
    """

    splits: tuple[CandidateSplit, ...]
    node: int
    rows: int
    weight: float
    criterion: str
    impurity: float | None
    order: str
    classes: tuple[Any, ...]
    limit: str | None

    def __len__(self) -> int:
        return len(self.splits)

    @overload
    def __getitem__(self, at: int) -> CandidateSplit: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[CandidateSplit, ...]: ...
    def __getitem__(self, at: int | slice) -> CandidateSplit | tuple[CandidateSplit, ...]:
        return self.splits[at]

    @property
    def best(self) -> CandidateSplit | None:
        """The split of rank 1, if growing allows it; else None."""
        first = next((split for split in self.splits if split.rank == 1), None)
        return None if first is None or first.rejected else first

    @property
    def chosen(self) -> CandidateSplit | None:
        """The split of the tree at this node; None if it is a leaf, or its split is not a candidate."""
        return next((split for split in self.splits if split.chosen), None)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns with an entry per split, for a data frame.

        Examples
        --------
        >>> import pandas as pd
        >>> import hornbeam
        >>> X, y = [[1], [2], [3], [4]], ["no", "no", "yes", "no"]
        >>> splits = hornbeam.candidate_splits(hornbeam.TreeClassifier("id3").fit(X, y), X, y, feature="x0")
        >>> pd.DataFrame(splits.to_dict())[["rank", "threshold", "gain", "chosen"]].round(3)
           rank  threshold   gain  chosen
        0     2        1.5  0.123   False
        1     1        2.5  0.311    True
        2     3        3.5  0.123   False
        """
        names = (
            "rank", "feature", "condition", "threshold", "missing", "gain", "penalty", "split_information",
            "gain_ratio", "s_value", "chosen", "rejected",
        )  # fmt: skip
        columns = {name: [getattr(split, name) for split in self.splits] for name in names}
        columns["rows"] = [[child.rows for child in split.children] for split in self.splits]
        inside = "counts" if self.classes else "mean"
        columns[inside] = [[getattr(child, inside) for child in split.children] for split in self.splits]
        return columns

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        return candidate_splits_html(self)

    def _lines(self) -> Iterator[str]:
        yield self._caption()
        if self.limit:
            yield f"not split: {self.limit}"
        rows = self._cells()
        if not rows:
            yield "no candidate: every feature has a single value here"
            return
        header = self._header()
        widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
        left = {len(header) - 1 - at for at in range(2 + self._any_rejected)}
        for row in (header, *rows):
            cells = [
                f"{cell:<{width}}" if at in left else f"{cell:>{width}}"
                for at, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            yield "  ".join(cells).rstrip()
        yield from self._notes()

    def _notes(self) -> list[str]:
        """Sentences below the table."""
        more = len(self) - _MOST_LINES
        return [f"… and {pluralise(more, 'split')} more"] * (more > 0) + ["* the split of the tree"] * (
            self.chosen is not None
        )

    @property
    def _any_rejected(self) -> bool:
        return any(split.rejected for split in self.splits)

    def _caption(self) -> str:
        weighted = "" if self.weight == self.rows else f", weight {self.weight:.5g}"
        caption = f"node {self.node}: {pluralise(self.rows, 'row')}{weighted}"
        if self.impurity is None:
            return caption
        bits = self.criterion in _BITS
        name = "variance" if not self.classes else "entropy" if bits else self.criterion
        return f"{caption}, {name} {self._digits(self.impurity)}{' bits' * bits}"

    def _header(self) -> list[str]:
        counted = " ".join(map(label_text, self.classes)) if self._prints_counts else "rows"
        inside = f"{counted} in each child" if self.classes else "mean (rows) in each child"
        scores = {"gain ratio": ["split info", "ratio"], "S-value": ["S-value"]}.get(self.order, [])
        return ["rank", "gain", *scores, "split", inside, *(["not allowed because"] * self._any_rejected)]

    def _cells(self) -> list[list[str]]:
        """Write the cells of each line, without the worst splits if there are more than 100."""
        return [self._line(split) for split in self.splits if split.rank <= _MOST_LINES]

    def _line(self, split: CandidateSplit) -> list[str]:
        scores = []
        if self.order == "gain ratio":
            scores = [self._digits(split.split_information), self._digits(split.gain_ratio)]
        elif self.order == "S-value":
            scores = ["" if split.s_value is None else f"{split.s_value:.2f}"]
        children = [self._child(child) for child in split.children[:_MOST_CHILDREN]]
        if len(split.children) > _MOST_CHILDREN:
            children.append("…")
        return [
            f"{split.rank}{'*' if split.chosen else ' '}",
            self._digits(split.penalised_gain),
            *scores,
            split.condition,
            " | ".join(children),
            *([split.rejected or ""] * self._any_rejected),
        ]

    @property
    def _prints_counts(self) -> bool:
        return 0 < len(self.classes) <= _MOST_CLASSES

    def _digits(self, number: float | None) -> str:
        if number is None:
            return ""
        return f"{number:.4f}" if self.classes else f"{number:.5g}"

    def _child(self, child: CandidateChild) -> str:
        if child.mean is not None:
            return f"{number_text(child.mean, 4)} ({child.rows})"
        return " ".join(f"{n:.4g}" for n in child.counts) if self._prints_counts else str(child.rows)


def candidate_splits(
    model: Any,
    X: Any,
    y: Any,
    node: int = 0,
    *,
    feature: str | int | None = None,
    sample_weight: Any = None,
    grower: Grower | None = None,
) -> CandidateSplits:
    """List the candidate splits at a node of a fitted tree, with the gain and the children of each.

    Parameters
    ----------
    model : TreeClassifier, TreeRegressor or Tree
        Growth settings are those of the fit. From a `Tree` the number of bins is unknown: it is taken to be every value
        up to 20,000 rows, and 255 bins beyond.
    X : array-like or data frame of shape (n_rows, n_features)
        All rows the tree was fitted to; those that reach the node are counted. Other rows are allowed: the gains are
        then those of these rows.
    y : array-like of shape (n_rows,)
        Their classes, or a numeric target.
    node : int, default 0
        Number of the node; 0 is the root. A leaf has candidates too.
    feature : str or int, optional
        Name or index of a feature: list all its splits. If not given, the best split of every feature.
    sample_weight : array-like of shape (n_rows,), default=None
        A row of weight 2 counts as two rows.
    grower : Grower, optional
        Other growth settings, or the settings for a tree that was not grown by Hornbeam.

    Returns
    -------
    CandidateSplits
        A sequence of `CandidateSplit`: print it, or convert it with `to_dict`. A feature with a single value at the
        node has no split.

    Raises
    ------
    ParameterError
        If the node or the feature does not exist, or the growth settings are unknown.
    DataError
        If no row reaches the node.
    SchemaError
        If the columns or the classes are not those of the tree.

    See Also
    --------
    hornbeam.impurity : impurity of class counts.

    Notes
    -----
    The kernel that grows trees computes the gains, so the split of a tree has the gain in `Tree.gain`. With
    `max_features` all features are listed, not only those drawn.

    Examples
    --------
    >>> import hornbeam
    >>> X, y = [[1, 5], [2, 6], [3, 5], [4, 6]], ["no", "no", "yes", "no"]
    >>> clf = hornbeam.TreeClassifier("id3").fit(X, y)
    >>> hornbeam.candidate_splits(clf, X, y)
    node 0: 4 rows, entropy 0.8113 bits
    rank    gain  split            no yes in each child
      1*  0.3113  x0 ≤ 2.5 | > 2.5  2 0 | 1 1
      2   0.3113  x1 ≤ 5.5 | > 5.5  1 1 | 2 0
    * the split of the tree
    >>> [(split.threshold, round(split.gain, 3)) for split in hornbeam.candidate_splits(clf, X, y, feature="x0")]
    [(1.5, 0.123), (2.5, 0.311), (3.5, 0.123)]
    """
    tree, recipe = _tree_and_recipe(model, grower)
    if not 0 <= node < tree.n_nodes:
        raise ParameterError(f"node={node}: expected a node of the tree, from 0 to {tree.n_nodes - 1}.")
    column = None if feature is None else _column(tree.schema, feature)
    read = isinstance(X, Table)  # by the schema already, with its target and weights
    table = X if read else Table.read(X, y, sample_weight=sample_weight, schema=tree.schema)
    if (factors := _class_weight(tree)) is not None:
        table = weighted_table(table, factors)
    here = NodeRows.of(tree, table, recipe.grower, recipe.bins_for(table.n_rows), node)
    counts = here.count()
    if column is None:
        candidates = best_candidates(counts)
        ranks = list(range(len(candidates)))
    else:
        candidates, ranks = all_candidates(counts, column)
    way = here.way()
    maker = _Maker(here, counts, recipe.grower, None if way is None else way.key)
    return CandidateSplits(
        splits=tuple(maker.split(*pair) for pair in zip(candidates, ranks, strict=True)),
        node=node,
        rows=counts.n_rows,
        weight=here.own_weight().sum().item(),
        criterion=recipe.grower.criterion.value,
        impurity=_node_impurity(counts, recipe.grower.criterion),
        order="gain ratio" if counts.rules.gain_ratio else "S-value" if counts.rules.corrected else "gain",
        classes=tree.schema.classes,
        limit=_limit(counts, recipe.grower),
    )


@dataclass(frozen=True, slots=True)
class _Maker:
    """Turns candidates on codes into splits on values."""

    here: NodeRows
    counts: NodeCells
    grower: Grower
    chosen: tuple[Any, ...] | None

    def split(self, one: Candidate, rank: int) -> CandidateSplit:
        way, bins = one.way, self.here.bins
        feature = self.here.table.schema.features[way.feature]
        threshold = None if way.groups else self._threshold(way, bins)
        tests = self._tests(way, threshold)
        in_bits = self.grower.criterion in _BITS
        information = one.split_information
        ratio = one.penalised_gain / information if information > 1e-6 else 0.0
        corrected = self.counts.rules.corrected and not isnan(one.score)
        return CandidateSplit(
            feature=feature.name,
            column=way.feature,
            threshold=threshold,
            categories=tuple(
                tuple(feature.categories[code] for code in group if code < bins.n_codes[way.feature])
                for group in way.groups
            )
            if way.groups
            else None,
            missing=way.missing,
            children=tuple(self._child(*pair) for pair in zip(tests, self._sums(one), strict=True)),
            gain=one.gain,
            penalty=one.penalty,
            split_information=information if in_bits else None,
            gain_ratio=ratio if in_bits else None,
            s_value=one.score if corrected else None,
            rank=rank + 1,
            chosen=way.key == self.chosen,
            rejected=one.rejected,
        )

    def _threshold(self, way: Way, bins: Bins) -> float:
        if way.right == bins.n_codes[way.feature]:
            return inf
        at_values = self.grower.criterion is Criterion.GAIN_RATIO
        return float(bins.threshold(way.feature, way.left, way.right, at_values=at_values))

    def _tests(self, way: Way, threshold: float | None) -> list[Condition]:
        f, missing_code = way.feature, int(self.here.bins.n_codes[way.feature])
        feature = self.here.table.schema.features[f]
        if threshold is None:
            groups = [tuple(code for code in group if code < missing_code) for group in way.groups]
            return [
                Condition(f, feature, among=known, missing=missing_code in group)
                for known, group in zip(groups, way.groups, strict=True)
            ]
        alone = Condition(f, feature, among=(), missing=True)
        if threshold == inf:
            return [Condition(f, feature), alone]
        tests = [
            Condition(f, feature, at_most=threshold, missing=way.missing == "left"),
            Condition(f, feature, above=threshold, missing=way.missing == "right"),
        ]
        return [*tests, alone] if way.missing == "own" else tests

    def _sums(self, one: Candidate) -> Floats:
        """Return the sums of the children, with their parts of the missing values that go to every child."""
        if one.way.missing != "every":
            return one.children
        weight = one.children[:, 1:].sum(axis=1, keepdims=True)
        lost = self.counts.shown[one.way.feature][-1]
        parts: Floats = one.children + weight / weight.sum() * lost
        parts[:, 0] = one.children[:, 0] + lost[0]  # a part of each of these rows is in every child
        return parts

    def _child(self, test: Condition, sums: Floats) -> CandidateChild:
        rows, *numbers = sums.tolist()
        if self.here.table.numeric_target is None:
            return CandidateChild(test, round(rows), sum(numbers), tuple(numbers))
        weight, total, squares = numbers
        mean = self.here.mean + total / weight
        return CandidateChild(
            test, round(rows), weight, mean=mean, sum_of_squares=max(0.0, squares - total * total / weight)
        )


def _tree_and_recipe(model: Any, grower: Grower | None) -> tuple[Tree, Recipe]:
    """Return the tree of a model, and how it was binned and grown."""
    inner = unwrap(model)
    if inner.before is not None:
        raise ParameterError(f"model is {inner.pipeline_error}.")
    tree = inner.model if isinstance(inner.model, Tree) else getattr(inner.model, "tree_", None)
    if not isinstance(tree, Tree):
        raise ParameterError(
            f"model is a {type(inner.model).__name__} without a tree; expected a fitted TreeClassifier or "
            "TreeRegressor, or a Tree. Call fit first, or pass one tree of a forest."
        )
    max_bins: Any = getattr(inner.model, "max_bins", "auto")
    if max_bins == "auto":
        presets = REGRESSION_PRESETS if tree.is_regression else PRESETS
        preset = getattr(inner.model, "preset", "default")
        max_bins = presets[preset].max_bins if preset in presets else "auto"
    return tree, Recipe(max_bins, _grower(tree) if grower is None else grower)


def _grower(tree: Tree) -> Grower:
    """Return the growth settings in the history of a tree."""
    for step in reversed(tree.history):
        if step.name == "grow":
            return Grower(**dict(step.parameters))
    raise ParameterError(
        "the history of the tree has no growth settings, because Hornbeam did not grow it; expected a grown tree. "
        "Pass the settings to use, for example grower=Grower('gini')."
    )


def _class_weight(tree: Tree) -> Any:
    """Return the class weights that the tree was grown with, from its history; None if there were none."""
    steps = [dict(step.parameters) for step in tree.history if step.name == "recount"]
    return next((step["class_weight"] for step in steps if "class_weight" in step), None)


def _column(schema: Schema, feature: str | int) -> int:
    if isinstance(feature, str):
        if feature in schema.names:
            return schema.names.index(feature)
    elif 0 <= feature < schema.n_features:
        return int(feature)
    names = ", ".join(map(repr, schema.names[:10])) + ", …" * (schema.n_features > 10)
    raise ParameterError(
        f"feature={feature!r}: expected one of {names}, or an index from 0 to {schema.n_features - 1}."
    )


def _node_impurity(counts: NodeCells, criterion: Criterion) -> float | None:
    if criterion is Criterion.SQUARED_ERROR:
        _, weight, total, squares = counts.shown[0].sum(axis=0)
        return max(0.0, float(squares / weight - (total / weight) ** 2))
    if criterion is Criterion.HELLINGER:
        return None
    found = impurity(counts.evidence, "gini" if criterion is Criterion.GINI else "entropy")
    return float(found)


def _limit(counts: NodeCells, grower: Grower) -> str | None:
    """Say why growing does not split the node, whatever its candidates."""
    rules, rows = counts.rules, counts.n_rows
    if not counts.spec.sums and np.count_nonzero(counts.evidence) == 1:
        return "all rows have the same class"
    if rows < grower.min_samples_split:
        return f"{pluralise(rows, 'row')}; min_samples_split={grower.min_samples_split}"
    if rows < 2 * grower.min_samples_leaf:
        return f"{pluralise(rows, 'row')}; min_samples_leaf={grower.min_samples_leaf}"
    if counts.weight < 2 * rules.min_weight_leaf:
        weight, least = counts.weight * rules.unit, rules.min_weight_leaf * rules.unit
        return f"weight {weight:.5g}; each child needs {least:.5g}"
    if grower.max_depth is not None and counts.node.depth >= grower.max_depth:
        return f"max_depth={grower.max_depth}"
    return None
