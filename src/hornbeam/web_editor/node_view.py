"""A node as plain JSON values: its split, its candidate splits, and a histogram."""

from __future__ import annotations

from math import isfinite, isnan
from typing import Any

from hornbeam.data.schema import Kind, Schema
from hornbeam.explain.candidates.node_rows import NodeRows
from hornbeam.explain.candidates.table import CandidateSplit, CandidateSplits
from hornbeam.export.condition_text import condition_text
from hornbeam.export.wording import feature_name
from hornbeam.tree.tree import Tree
from hornbeam.web_editor.round_numbers import round_numbers
from hornbeam.web_editor.value_histogram import value_histogram

__all__ = ["node_view"]

_MOST_CATEGORIES = 6  # in the condition of a child


def node_view(here: NodeRows, candidates: CandidateSplits) -> dict[str, Any]:
    """Return the values that the page shows about a node.

    ``split``: feature, threshold or groups of codes, None at a leaf; ``candidates``: a dict each, best first;
    ``histogram``: of the feature of the split, or of the best candidate; ``limit``: why growing does not split the
    node, or None.
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
    }


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
    first, *others = (condition_text(child.test, _MOST_CATEGORIES) for child in split.children)
    return " | ".join([first, *(text.removeprefix(name).strip() for text in others)])


def _finite(value: float | None) -> float | None:
    return None if value is None or not isfinite(value) else value
