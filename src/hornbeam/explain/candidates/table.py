"""The candidate splits of a node as a table, and its text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from hornbeam.explain.candidates.way import Direction
from hornbeam.grid import Grid, Result
from hornbeam.growing.criterion import Criterion
from hornbeam.tree.condition import Condition
from hornbeam.tree.words import feature_name, label_text, number_text, pluralise

_MOST_LINES = 100
_MOST_CHILDREN = 6  # in a line
_MOST_CATEGORIES = 4  # in the condition of a child, in a line
_MOST_CLASSES = 6  # whose counts are printed


_COLUMNS = (
    "rank", "feature", "condition", "threshold", "missing", "gain", "penalty", "split_information",
    "gain_ratio", "s_value", "chosen", "rejected", "association", "held_out_gain", "held_out_error",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CandidateChild:
    """A child of a candidate split.

    Parameters
    ----------
    condition : Condition
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
    >>> best = hornbeam.TreeClassifier("id3").fit(X, y).candidate_splits(X, y)[0]
    >>> [(str(child.condition), child.counts) for child in best.children]
    [('x0 ≤ 2.5', (2.0, 0.0)), ('x0 > 2.5', (1.0, 1.0))]
    """

    condition: Condition
    rows: int
    weight: float
    counts: tuple[float, ...] = ()
    mean: float | None = None
    sum_of_squares: float | None = None


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
    children : tuple
        The children, each with `condition`, `rows`, `weight`, `counts` (the weight of each class), and for a numeric
        target `mean` and `sum_of_squares`.
    gain : float
        Decrease of the impurity: in bits for entropy and gain ratio; for a numeric target, of the mean squared error or
        of half the mean deviance.
    penalty : float
        What C4.5 subtracts from the gain of a numeric feature: log2 of the number of allowed cuts, divided by the
        weight of the node; for any criterion, the price of the feature (`feature_costs`). 0 without these.
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
    association : float or None
        How well it stands in for the split of the tree, as a surrogate split: 1 if it separates the rows of the node in
        the same way, 0 if it says nothing about them. None at a leaf, and at a split with thousands of children.
    held_out_gain, held_out_error : float or None
        If there are held-out rows: the gain on those of the node, and its standard error.

    Examples
    --------
    >>> import hornbeam
    >>> X, y = [["sun"], ["rain"], ["snow"], ["rain"]], ["out", "in", "in", "in"]
    >>> best = hornbeam.TreeClassifier("id3").fit(X, y).candidate_splits(X, y)[0]
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
    association: float | None = None
    held_out_gain: float | None = None
    held_out_error: float | None = None

    @property
    def penalised_gain(self) -> float:
        """Gain minus penalty, as in `Tree.gain`."""
        return self.gain - self.penalty

    @property
    def condition(self) -> str:
        """The conditions of the children in one line; long lists are cut."""
        name = feature_name(self.feature)
        shown = [child.condition.text(_MOST_CATEGORIES) for child in self.children[:_MOST_CHILDREN]]
        tests = [shown[0], *(text.removeprefix(f"{name} ") for text in shown[1:])]
        if len(self.children) > _MOST_CHILDREN:
            tests.append(f"… {len(self.children) - _MOST_CHILDREN} more")
        return " | ".join(tests) + (", missing to every child" if self.missing == "every" else "")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON; `rows` and `counts` or `mean` have a value per child.

        Examples
        --------
        >>> import hornbeam
        >>> X, y = [[1], [2], [3], [4]], ["no", "no", "yes", "no"]
        >>> best = hornbeam.TreeClassifier("id3").fit(X, y).candidate_splits(X, y)[0]
        >>> best.to_dict()["rows"], best.to_dict()["counts"]
        ([2, 2], [(2.0, 0.0), (1.0, 1.0)])
        """
        inside = "mean" if self.children[0].mean is not None else "counts"
        return {
            **{name: getattr(self, name) for name in _COLUMNS},
            "rows": [child.rows for child in self.children],
            inside: [getattr(child, inside) for child in self.children],
        }

    def __str__(self) -> str:
        return f"{self.condition}: gain {self.penalised_gain:.4g}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CandidateSplits(Result[CandidateSplit]):
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
        Entropy or Gini impurity of the node, or the variance of its target; None for Hellinger distance and for
        deviances.
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
    >>> hornbeam.TreeClassifier("id3").fit(X, y).candidate_splits(X, y)
    node 0: 4 rows, entropy 0.8113 bits
    rank    gain  split                       in out in each child
      1*  0.8113  x0 = rain | = snow | = sun  2 0 | 1 0 | 0 1
      2   0.3113  x1 ≤ 14 | > 14              2 0 | 1 1
    * the split of the tree
    """

    _COLUMNS: ClassVar = _COLUMNS
    _ENTRIES: ClassVar = "splits"

    splits: tuple[CandidateSplit, ...]
    node: int
    rows: int
    weight: float
    criterion: str
    impurity: float | None
    order: str
    classes: tuple[Any, ...]
    limit: str | None

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
        """Return columns with a value per split.

        Examples
        --------
        >>> import hornbeam
        >>> X, y = [[1], [2], [3], [4]], ["no", "no", "yes", "no"]
        >>> splits = hornbeam.TreeClassifier("id3").fit(X, y).candidate_splits(X, y, feature="x0")
        >>> splits.to_frame()[["rank", "threshold", "gain", "chosen"]].round(3)
           rank  threshold   gain  chosen
        0     2        1.5  0.123   False
        1     1        2.5  0.311    True
        2     3        3.5  0.123   False
        """
        columns = Result.to_dict(self)
        columns["rows"] = [[child.rows for child in split.children] for split in self.splits]
        inside = "counts" if self.classes else "mean"
        columns[inside] = [[getattr(child, inside) for child in split.children] for split in self.splits]
        return columns

    def __repr__(self) -> str:
        grid = self._grid()
        limit = f"not split: {self.limit}\n" if self.limit else ""
        table = grid.text() if grid.rows else "no candidate: every feature has a single value here"
        return f"{grid.caption}\n{limit}{table}"

    def _repr_html_(self) -> str:
        grid = self._grid()
        limit = [f"Not split: {self.limit}"] * bool(self.limit)
        return replace(grid, note="\n".join([*limit, *grid.note.splitlines()])).html()

    def _grid(self) -> Grid:
        """Return a table with a row per split, without the worst splits if there are more than 100."""
        rows = [self._line(split) for split in self.splits if split.rank <= _MOST_LINES]
        more = len(self) - _MOST_LINES
        notes = [f"… and {pluralise(more, 'split')} more"] * (more > 0)
        notes += ["* the split of the tree"] * (self.chosen is not None)
        header = self._header()
        align = ">" * header.index("split") + "<"
        return Grid(self._caption(), header, rows, align, "\n".join(notes))

    @property
    def _any_held_out(self) -> bool:
        return any(split.held_out_gain is not None for split in self.splits)

    @property
    def _any_rejected(self) -> bool:
        return any(split.rejected for split in self.splits)

    def _caption(self) -> str:
        weighted = "" if self.weight == self.rows else f", weight {self.weight:.5g}"
        caption = f"node {self.node}: {pluralise(self.rows, 'row')}{weighted}"
        if self.impurity is None:
            return caption
        bits = Criterion(self.criterion).in_bits
        name = "variance" if not self.classes else "entropy" if bits else self.criterion
        return f"{caption}, {name} {self._digits(self.impurity)}{' bits' * bits}"

    def _header(self) -> list[str]:
        counted = " ".join(map(label_text, self.classes)) if self._prints_counts else "rows"
        inside = f"{counted} in each child" if self.classes else "mean (rows) in each child"
        scores = {"gain ratio": ["split info", "ratio"], "S-value": ["S-value"]}.get(self.order, [])
        scores += ["held-out gain"] * self._any_held_out
        return ["rank", "gain", *scores, "split", inside, *(["not allowed because"] * self._any_rejected)]

    def _line(self, split: CandidateSplit) -> list[str]:
        scores = []
        if self.order == "gain ratio":
            scores = [self._digits(split.split_information), self._digits(split.gain_ratio)]
        elif self.order == "S-value":
            scores = ["" if split.s_value is None else f"{split.s_value:.2f}"]
        if split.held_out_gain is not None and split.held_out_error is not None:
            scores += [f"{self._digits(split.held_out_gain)} ± {self._digits(split.held_out_error)}"]
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
