"""The terms of a tree, which can belong to any node, and the predictions of its nodes, fitted to soft labels."""

from dataclasses import dataclass
from itertools import compress
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.ensembles.distillation.search_rows import SearchRows, mean_and_deviation, relative_weights
from hornbeam.kernels.elementary import dot, exp, row_sums
from hornbeam.kernels.subtree import PathRules
from hornbeam.kernels.terms import EndedRows, Fitting, Selecting, fit_base
from hornbeam.tree.route import route
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.slopes import NO_CATEGORY, Slopes
from hornbeam.tree.walk import features_above, pull_up
from hornbeam.typing import Floats, Indices

_FITTING = Fitting()
_LEAST_GAIN = 0.5  # in all real rows, as the kernel counts it: of two classes, twice the log-likelihood
_LEAST_SCORE = -40.0  # beside the class of largest score, of the prediction of a node
_LEAST_SCALE = 1e-10  # of a term, relative to its largest value: below, rounding would decide
_LEAST_DEVIATION = 1e-6  # of labels, relative to the largest
_SMALLEST, _LARGEST = 1e-100, 1e100  # range of a term: squares beyond are 0 or infinite


class NodeModel(NamedTuple):
    """The terms of a tree, and the prediction of each node for a row whose values are the centres of the terms."""

    slopes: Slopes
    belief: Floats


@dataclass(frozen=True, slots=True)
class NodeTerms:
    """Settings of the terms of a tree: at most `most_terms` in all, each at any node.

    Terms are selected by what they explain of the teacher's labels. Their slopes, and a base for every leaf, are
    fitted together to the real rows and to the teacher, which counts as `teacher_rows` rows in each leaf. All real
    rows together count as many as there are different rows, or groups. The base of any node is such that the mean
    prediction of its rows, without the terms below it, is the mean of their labels.

    `signs` are those of the slopes of each feature, for the second class or the mean: 1, -1, or 0 for any. A node has
    terms of those features that `paths` allows to split it; None: of all.
    """

    most_terms: int
    least_share: float = 0.003
    teacher_rows: float = 100.0
    signs: NDArray[np.int8] | None = None
    paths: PathRules | None = None

    def fit(
        self,
        skeleton: Skeleton,
        search: SearchRows,
        real: Table,
        truth: Floats,
        n_units: int,
        selected: Slopes | None = None,
    ) -> NodeModel:
        """Select and fit the terms of a tree, and fit the predictions of its nodes.

        `search` has the teacher's labels, `truth` those of the real rows: a column for each class, 1 or 0, or one
        column with the target. There are `n_units` different real rows, or groups. Terms that were `selected` before
        are fitted again.
        """
        labels = np.concatenate([search.labels, truth])
        centre, scale = _location(labels)
        labels = (labels - centre) / scale
        natural = relative_weights(search.table)
        signs = np.zeros(real.schema.n_features, np.int8) if self.signs is None else self.signs
        if selected is None:
            taught = _Sorted(skeleton, search.table)
            least_gain = _LEAST_GAIN / n_units * _noise(search, truth, scale)
            terms = self._select(search, taught, labels[: len(natural)], natural, least_gain, signs)
        else:
            columns = selected.node, selected.feature, selected.category, selected.low, selected.high
            terms = list(map(_Term, *(column.tolist() for column in columns)))
        rows = _Sorted(skeleton, search.table, real)
        labels = labels[rows.order]
        own = relative_weights(real) * (n_units / real.n_rows)
        natural, own = (
            np.append(natural, np.zeros(len(own)))[rows.order],
            np.append(np.zeros(len(natural)), own)[rows.order],
        )
        of_end = np.bincount(rows.stop, natural)[rows.stop]
        weight = self.teacher_rows * np.divide(natural, of_end, out=np.zeros_like(natural), where=of_end > 0)
        weight += own
        kept: list[_Term] = []
        values_of: list[Floats] = []
        for term in terms:
            here = rows.below(term.node)
            found = _standardised(term, rows.column(term.feature)[here], weight[here])
            if found is not None:
                kept.append(found[0])
                values_of.append(np.zeros(len(weight)))
                values_of[-1][here] = found[1]
        values = np.column_stack(values_of) if values_of else np.empty((len(weight), 0))
        node = np.array([term.node for term in kept], np.int32)
        sign = signs[[term.feature for term in kept]] if kept else np.empty(0, np.int8)
        slopes = rows.ended(labels, weight).slopes(values, node, sign, _FITTING)
        free = (sign == 0) | (slopes[:, -1] != 0.0)  # the others would go against their sign
        kept, values, node, slopes = list(compress(kept, free)), values[:, free], node[free], slopes[free]
        score, base = np.zeros_like(labels), np.zeros((skeleton.n_nodes, labels.shape[1]))
        for at in range(skeleton.n_nodes):
            here = rows.below(at)
            for number in np.flatnonzero(node == at):
                score[here] += values[here, number, None] * slopes[number]
            known, counted = natural[here], own[here]
            total = dot(known, np.ones(len(known)))
            share = known * (self.teacher_rows / total) + counted if total > 0 else counted
            total = dot(share, np.ones(len(share)))
            if total > 0:
                base[at] = fit_base(score[here], labels[here], share / total)
            else:
                base[at] = base[skeleton.parent[at]]
        if labels.shape[1] == 1:
            return NodeModel(_slopes(kept, slopes * scale), base * scale + centre)
        odds = exp(np.maximum(base - base.max(axis=1, keepdims=True), _LEAST_SCORE))
        return NodeModel(_slopes(kept, slopes), odds / row_sums(odds)[:, None])

    def _select(
        self,
        search: SearchRows,
        rows: "_Sorted",
        labels: Floats,
        weight: Floats,
        least_gain: float,
        signs: NDArray[np.int8],
    ) -> list["_Term"]:
        """Select terms by the labels of the teacher."""
        ended = rows.ended(labels[rows.order], weight[rows.order])
        selecting = Selecting(self.most_terms, least_share=self.least_share, least_gain=least_gain)
        columns = search.coded_columns(rows.order, signs, self._allowed(rows.skeleton, len(signs)))
        found = ended.select(columns, selecting, _FITTING.ridge)
        terms = []
        for node, column, code, low, high in zip(*(array.tolist() for array in found), strict=True):
            category = NO_CATEGORY if code < 0 else int(np.flatnonzero(search.codes_of(column) == code)[0])
            terms.append(_Term(node, int(search.features[column]), category, low, high))
        return sorted(terms)

    def _allowed(self, skeleton: Skeleton, n_features: int) -> NDArray[np.uint8]:
        """Return which features may have terms at each node, of shape (n_nodes, n_features)."""
        if self.paths is None:
            return np.ones((skeleton.n_nodes, n_features), np.uint8)
        nodes = range(skeleton.n_nodes)
        return np.array([self.paths.allowed(features_above(skeleton, node)) for node in nodes], np.uint8)


class _Term(NamedTuple):
    """A term; `mean` and `deviation` are those of its values, once they are known."""

    node: int
    feature: int
    category: int
    low: float
    high: float
    mean: float = 0.0
    deviation: float = 1.0


class _Sorted:
    """Rows of tables, sorted by the node where they end in preorder: those below a node are one slice."""

    def __init__(self, skeleton: Skeleton, *tables: Table) -> None:
        size = pull_up(skeleton, np.ones(skeleton.n_nodes, np.int64))
        rank = np.zeros(skeleton.n_nodes, np.int64)
        taken = rank + 1  # next position among the descendants of each node
        for node in range(1, skeleton.n_nodes):
            parent = skeleton.parent[node]
            rank[node] = rank[parent] + taken[parent]
            taken[parent] += size[node]
        self.skeleton, self.tables = skeleton, tables
        self.stop_of_row = np.concatenate([route(skeleton, table) for table in tables])
        self.order = np.argsort(rank[self.stop_of_row], kind="stable")
        self.stop: Indices = self.stop_of_row[self.order]
        at = rank[self.stop]
        self._begin, self._end = at.searchsorted(rank), at.searchsorted(rank + size)

    def below(self, node: int) -> slice:
        """Return the rows at a node and below it."""
        return slice(int(self._begin[node]), int(self._end[node]))

    def column(self, feature: int) -> NDArray[np.generic]:
        """Return the values of a feature."""
        return np.concatenate([table.columns[feature] for table in self.tables])[self.order]

    def ended(self, labels: Floats, weight: Floats) -> EndedRows:
        """Return the rows as the kernels take them, with sorted labels and weights."""
        start = np.flatnonzero(np.diff(self.stop, prepend=-1))
        return EndedRows(
            labels,
            weight / dot(weight, np.ones(len(weight))),
            self.skeleton.parent,
            self.stop[start],
            np.append(start, len(self.stop)),
        )


def _location(labels: Floats) -> tuple[float, float]:
    """Return the mean and the standard deviation of means; 0 and 1 for probabilities, and where all are 0."""
    largest = float(np.abs(labels).max(initial=0.0))
    if labels.shape[1] > 1 or largest == 0.0:
        return 0.0, 1.0
    mean, deviation = mean_and_deviation(labels[:, 0] / largest)
    return mean * largest, max(deviation, _LEAST_DEVIATION) * largest


def _noise(search: SearchRows, truth: Floats, scale: float) -> float:
    """Return the squared error of the teacher for real rows, in units of the scale, at most 1; 1 for probabilities."""
    real = search.origin < len(truth)
    if truth.shape[1] > 1 or not real.any():
        return 1.0
    error = (search.labels[real, 0] - truth[search.origin[real], 0]) / scale
    return min(dot(error, error) / len(error), 1.0)


def _standardised(term: _Term, column: NDArray[np.generic], weight: Floats) -> tuple[_Term, Floats] | None:
    """Clip and standardise the values of a term; a missing value becomes the mean. None: it hardly varies."""
    if term.category >= 0:
        known, value = column != -1, (column == term.category).astype(np.float64)
    else:
        known, value = column == column, np.clip(column, term.low, term.high)
    share = np.where(known, weight, 0.0)
    total = dot(share, np.ones(len(share)))
    if total <= 0 or not _SMALLEST < term.high - term.low < _LARGEST:
        return None
    share /= total
    filled = np.where(known, value, 0.0)
    mean = dot(share, filled)
    deviation = sqrt(dot(share, np.square(filled - mean)))
    if deviation <= _LEAST_SCALE * max(abs(term.low), abs(term.high)):
        return None
    return term._replace(mean=mean, deviation=deviation), np.where(known, (filled - mean) / deviation, 0.0)


def _slopes(terms: list[_Term], slopes: Floats) -> Slopes:
    """Make the table of terms from standardised slopes; a term is centred at its mean."""
    if not terms:
        return Slopes.none(slopes.shape[1])
    node, feature, category, low, high, mean, deviation = zip(*terms, strict=True)
    centre = np.clip(mean, low, high)
    return Slopes.of(node, feature, low, high, centre, slopes / np.array(deviation)[:, None], category)
