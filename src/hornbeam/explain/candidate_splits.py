"""The function that lists the candidate splits at a node: it reads the rows, and makes the table."""

from dataclasses import dataclass, replace
from math import inf, isnan
from typing import Any

import numpy as np

from hornbeam.data.binning.bins import Bins
from hornbeam.data.schema import Schema
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError, shown
from hornbeam.explain.candidate_checks import HeldOutRows, association, child_of_row
from hornbeam.explain.candidate_table import CandidateChild, CandidateSplit, CandidateSplits
from hornbeam.explain.node_cells import NodeRows
from hornbeam.explain.training_rows import TrainingRows, read_held_out
from hornbeam.export.wording import pluralise
from hornbeam.growing import Criterion, Grower, impurity
from hornbeam.growing.candidates import Candidate, NodeCells, Way, all_candidates, best_candidates
from hornbeam.tree.condition import Condition
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

__all__ = ["candidate_splits", "candidates_at", "candidates_of", "check_node", "find_column"]


def candidate_splits(
    model: Any,
    X: Any,
    y: Any,
    node: int = 0,
    *,
    feature: str | int | None = None,
    sample_weight: Any = None,
    grower: Grower | None = None,
    held_out: Any = None,
) -> CandidateSplits:
    """List the candidate splits at a node of a fitted tree, with the gain and the children of each.

    Parameters
    ----------
    model : TreeClassifier, TreeRegressor or Tree
        Growth settings are those of the fit. From a `Tree` the number of bins is unknown: it is taken to be every value
        up to 20,000 rows, and 255 bins beyond.
    X : array-like or data frame of shape (n_rows, n_features), or Table
        All rows the tree was fitted to; those that reach the node are counted. Other rows are allowed: the gains are
        then those of these rows.
    y : array-like of shape (n_rows,) or None
        Their classes, or a numeric target. None if X is a `Table`, which has its target and weights.
    node : int, default 0
        Number of the node; 0 is the root. A leaf has candidates too.
    feature : str or int, optional
        Name or index of a feature: list all its splits. If not given, the best split of every feature.
    sample_weight : array-like of shape (n_rows,), default=None
        A row of weight 2 counts as two rows.
    grower : Grower, optional
        Other growth settings, or the settings for a tree that was not grown by Hornbeam.
    held_out : tuple of X and y, or Table, optional
        Rows that the tree was not grown from: each split then has its gain on those that reach the node, with the
        standard error. A third entry of the tuple is their weights.

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
        If no row reaches the node, or `y` is None.
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
    tree, rows = TrainingRows.of(model, X, y, sample_weight, grower)
    return candidates_at(tree, rows, node, feature, read_held_out(tree.schema, held_out))


def candidates_at(
    tree: Tree,
    rows: TrainingRows,
    node: int,
    feature: str | int | None = None,
    held_out: Table | None = None,
) -> CandidateSplits:
    """List the best split of each feature at a node, or all splits of one feature, of encoded rows."""
    check_node(tree, node)
    column = None if feature is None else find_column(tree.schema, feature)
    here = NodeRows.of(tree, rows.encoded, rows.grower, node)
    return candidates_of(here, rows.grower, column, held_out)


def candidates_of(
    here: NodeRows,
    grower: Grower,
    column: int | None = None,
    held_out: Table | None = None,
    *,
    associations: bool = True,
) -> CandidateSplits:
    """List the best split of each feature, or all splits of one, for the rows of a node.

    Associations with the split of the tree take most of the time, so they can be left out.
    """
    tree, counts = here.tree, here.count()
    if column is None:
        candidates = best_candidates(counts)
        ranks = list(range(len(candidates)))
    else:
        candidates, ranks = all_candidates(counts, column)
    way = here.way()
    maker = _Maker(here, counts, grower, None if way is None else way.key)
    splits = [maker.split(*pair) for pair in zip(candidates, ranks, strict=True)]
    if held_out is not None:
        fresh = HeldOutRows.of(tree, held_out, here.node, grower.criterion)
        gains = [fresh.gain(split.children) for split in splits]
        splits = [
            replace(one, held_out_gain=g, held_out_error=e) for one, (g, e) in zip(splits, gains, strict=True)
        ]
    return CandidateSplits(
        splits=_with_associations(splits, here) if associations else tuple(splits),
        node=here.node,
        rows=counts.n_rows,
        weight=here.own_weight().sum().item(),
        criterion=grower.criterion.value,
        impurity=_node_impurity(counts, grower.criterion),
        order="gain ratio" if counts.rules.gain_ratio else "S-value" if counts.rules.corrected else "gain",
        classes=tree.schema.classes,
        limit=_limit(counts, grower),
    )


def _with_associations(splits: list[CandidateSplit], here: NodeRows) -> tuple[CandidateSplit, ...]:
    chosen = next((split for split in splits if split.chosen), None)
    if chosen is None:
        return tuple(splits)
    columns, weight = here.table.take(here.at).columns, here.own_weight()
    child = child_of_row(chosen.children, columns)
    return tuple(
        replace(split, association=association(child, child_of_row(split.children, columns), weight))
        for split in splits
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
        in_bits = self.grower.criterion.in_bits
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


def check_node(tree: Tree, node: object) -> None:
    """Raise `ParameterError` if a tree has no such node."""
    if not _is_index(node, tree.n_nodes):
        raise ParameterError(
            f"node={shown(node)}: expected a node of the tree, from 0 to {tree.n_nodes - 1}."
        )


def _is_index(value: object, n: int) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and 0 <= int(value) < n


def find_column(schema: Schema, feature: str | int) -> int:
    """Return the index of a feature, given by its name or index."""
    if isinstance(feature, str):
        if feature in schema.names:
            return schema.names.index(feature)
    elif _is_index(feature, schema.n_features):
        return int(feature)
    names = ", ".join(map(repr, schema.names[:10])) + ", …" * (schema.n_features > 10)
    raise ParameterError(
        f"feature={shown(feature)}: expected one of {names}, or an index from 0 to {schema.n_features - 1}."
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
