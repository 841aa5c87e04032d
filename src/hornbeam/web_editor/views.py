"""A node and the tree as plain JSON values: splits, candidate splits, a histogram, and the effect of the edits."""

from __future__ import annotations

from dataclasses import replace
from math import exp, isfinite, isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Kind, Schema
from hornbeam.editing.editor import TreeEditor
from hornbeam.evaluation.score_change import ScoreChange
from hornbeam.explain.candidates.node_rows import NodeRows
from hornbeam.explain.candidates.table import CandidateSplit, CandidateSplits
from hornbeam.export.slope_text import NodeTerm, node_terms
from hornbeam.reporting.payload import payload
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.tree.tree import Tree
from hornbeam.tree.words import feature_name
from hornbeam.tuning.size_path import size_path
from hornbeam.typing import Bools, Floats, Indices

_MOST_CATEGORIES = 6  # in the condition of a child
_MOST_DIGITS = 3
_LEVEL = 0.9  # of the intervals
_LOWER_IS_BETTER = frozenset({"log loss", "Brier score", "mean squared error", "cost per row"})
_BARS = 30
_TAIL = 0.5  # per cent of the rows at each end, which share the first and the last bar
_MOST_BARS = 30
_SAMPLE = 10_000  # rows that show whether there are few values


def node_view(here: NodeRows, candidates: CandidateSplits) -> dict[str, Any]:
    """Return the values that the page shows about a node.

    ``split``: feature, threshold or groups of codes, None at a leaf; ``candidates``: a dict each, best first;
    ``histogram``: of the feature of the split, or of the best candidate; ``limit``: why growing does not split the
    node, or None; ``terms``: a dict for each term of the node.
    """
    tree, node = here.tree, here.node
    column = tree.skeleton.feature.item(node)
    if column < 0 and len(candidates):
        column = candidates[0].column
    histogram = None if column < 0 else {"feature": column, **value_histogram(here, column)}
    return {
        "node": node,
        "digest": tree.digest,
        "split": _split(tree, node, histogram),
        "histogram": histogram,
        "order": candidates.order,
        "candidates": [_candidate(tree.schema, split) for split in candidates],
        "limit": candidates.limit,
        "terms": [_term(term) for term in node_terms(tree, node)],
    }


def _term(term: NodeTerm) -> dict[str, Any]:
    """Return a term in words, its step, its categories, and the effect of each or of a step; None with more classes."""
    effects: list[float] | None = None
    if len(term.classes) in (0, 2):
        slopes = term.slope if term.codes else term.slope[None] * term.step
        changes = [term.contrast(slope, 1) for slope in slopes]
        effects = changes if not term.classes else [exp(min(change, 700.0)) for change in changes]
    codes = list(term.codes) or None
    return {"feature": term.column, "text": term.text(), "per": term.step, "codes": codes, "effects": effects}


def _split(tree: Tree, node: int, histogram: dict[str, Any] | None) -> dict[str, Any] | None:
    skeleton = tree.skeleton
    column = skeleton.feature.item(node)
    if column < 0:
        return None
    threshold = skeleton.threshold.item(node)
    if isnan(threshold):
        slots = skeleton.slot_of[skeleton.slot_start.item(node) : skeleton.slot_start.item(node + 1)]
        n_groups = int(slots.max(initial=-1)) + 1
        groups = [(slots == slot).nonzero()[0].tolist() for slot in range(n_groups)]
        return {"feature": column, "groups": groups}
    if not isfinite(threshold):
        return {"feature": column}
    if tree.schema.features[column].kind is Kind.ORDINAL:
        return {"feature": column, "value": int(threshold)}
    edges = [] if histogram is None else histogram["edges"]
    rounds = round_numbers(threshold, edges[0], edges[-1]) if edges else []
    return {"feature": column, "value": threshold, "round": rounds}


def _candidate(schema: Schema, split: CandidateSplit) -> dict[str, Any]:
    error = split.held_out_error
    return {
        "feature": split.column,
        "text": _text(schema, split),
        "gain": split.gain,
        "held_out": _finite(split.held_out_gain),
        "error": _finite(error),
        "rows": [child.rows for child in split.children],
        "counts": [list(child.counts) for child in split.children],
        "chosen": split.chosen,
        "rejected": split.rejected,
    }


def _text(schema: Schema, split: CandidateSplit) -> str:
    """Write the conditions of the children; the name of the feature is in the first one only."""
    name = feature_name(schema.names[split.column])
    first, *others = (child.condition.text(_MOST_CATEGORIES) for child in split.children)
    return " | ".join([first, *(text.removeprefix(name).strip() for text in others)])


def _finite(value: float | None) -> float | None:
    return None if value is None or not isfinite(value) else value


def round_numbers(threshold: float, low: float, high: float) -> list[float]:
    """Return numbers of one to three digits near a threshold, the roundest first.

    `low` and `high` are the smallest and the largest value at the node: a threshold must leave rows on both sides.
    """
    found: list[float] = []
    for digits in range(1, _MOST_DIGITS + 1):
        number = float(f"{threshold:.{digits}g}")
        if number == threshold:
            break
        if low <= number < high and number not in found:
            found.append(number)
    return found


def drawn_tree(reported: ReportedModel, tree: Tree) -> dict[str, Any]:
    """Return the values that draw a tree, as in the report."""
    return payload(replace(reported, tree=tree), _LEVEL, still=True)


def tree_view(editor: TreeEditor, reported: ReportedModel) -> dict[str, Any]:
    """Return the values that the page shows about the edited tree; `reported` is the model before the edits.

    ``tree``: as in the report; ``now`` and ``before``: size and digest; ``scores``: before and after the edits on the
    held-out rows, or None; ``edits``: what was done; ``sizes``: numbers of leaves with their loss on held-out rows of
    the fit, or None.
    """
    path = size_path(editor.first)
    return {
        "tree": drawn_tree(reported, editor.tree),
        "now": _size(editor.tree),
        "before": _size(editor.first),
        "rows": editor.rows.table.n_rows,
        "held_out": None if editor.held_out is None else editor.held_out.n_rows,
        "scores": None if editor.held_out is None else [_score(change) for change in editor.score_changes()],
        "edits": [
            {"what": edit.what, "reason": edit.reason, "author": edit.author, "leaves": edit.after.n_leaves}
            for edit in editor.edits
        ],
        "sizes": None if path is None else [path.n_leaves.tolist(), path.loss.tolist(), path.measure],
    }


def _size(tree: Tree) -> dict[str, Any]:
    return {"leaves": tree.n_leaves, "depth": tree.depth, "digest": tree.digest[:16]}


def _score(change: ScoreChange) -> dict[str, Any]:
    """Return a score with its texts, and whether it is better: None if the change may be chance."""
    better = None
    if isfinite(change.error) and abs(change.difference) > 2 * change.error:
        better = (change.difference < 0) == (change.name in _LOWER_IS_BETTER)
    return {"name": change.name, "texts": change.texts, "better": better}


def value_histogram(here: NodeRows, column: int) -> dict[str, Any]:
    """Count the rows of a node by value and class.

    ``counts`` has the rows of each class in each bar; for a numeric target the number of rows. Numeric features have
    ``edges``, the limits of the bars; others ``codes``, the categories with most rows, and ``others``, the number of
    categories that are left out. ``missing`` is the number of rows without a value.
    """
    table, at = here.table, here.at
    values, label = table.columns[column][at], _labels(here)
    n_labels = max(table.schema.n_classes, 1)
    feature = table.schema.features[column]
    known: Bools = values >= 0 if feature.is_nominal else np.isfinite(values)
    values, label = values[known], label[known]
    missing = len(at) - len(values)
    if not feature.is_numeric:
        codes, counts, others = _by_category(values.astype(np.intp), label, len(feature.categories), n_labels)
        return {"codes": codes, "counts": counts, "others": others, "missing": missing}
    edges, counts = _by_value(values, label, n_labels)
    return {"edges": edges, "counts": counts, "missing": missing}


def _labels(here: NodeRows) -> Indices:
    target = here.table.target
    return np.zeros(len(here.at), np.int32) if target is None else target[here.at]


def _by_category(
    values: NDArray[np.intp], label: Indices, n_codes: int, n_labels: int
) -> tuple[list[int], list[list[int]], int]:
    counts = np.bincount(values * n_labels + label, minlength=n_codes * n_labels).reshape(n_codes, n_labels)
    total = counts.sum(axis=1)
    largest = np.argsort(-total, kind="stable")[:_MOST_BARS]
    shown = np.sort(largest[total[largest] > 0])
    return shown.tolist(), counts[shown].tolist(), int((total > 0).sum() - len(shown))


def _by_value(values: Floats, label: Indices, n_labels: int) -> tuple[list[float], list[list[int]]]:
    if not len(values):
        return [], []
    edges = _edges(values)
    n = len(edges) - 1
    # A value on a limit belongs to the bar on its left, as at a threshold; the ends have the values beyond, too.
    bar = np.clip(np.searchsorted(edges, values) - 1, 0, n - 1)
    counts = np.bincount(bar * n_labels + label, minlength=n * n_labels).reshape(n, n_labels)
    return edges.tolist(), counts.tolist()


def _edges(values: Floats) -> Floats:
    """Return the limits of the bars: a bar for each of a few equidistant values, else bars of equal width."""
    low, high = np.percentile(values, [_TAIL, 100 - _TAIL], method="nearest").tolist()
    sample = values[:_SAMPLE]
    distinct = np.unique(sample[(sample >= low) & (sample <= high)])
    step = np.diff(distinct).min(initial=high - low)
    if not step:
        return np.array([low - 0.5, low + 0.5])
    n = round((high - low) / step) + 1
    if n <= _BARS:
        return np.linspace(low - step / 2, high + step / 2, n + 1)
    return np.linspace(low, high, _BARS + 1)
