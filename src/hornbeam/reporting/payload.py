"""The tree as compact JSON for the script of the page."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from math import inf, isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.explain.drift import Drift
from hornbeam.export.slope_text import terms_text
from hornbeam.export.source.lookup_tables import LookupTables
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.smoothing.interval_calibration import interval
from hornbeam.tree.tree import Tree, unsmoothed
from hornbeam.tree.walk import evidence_stopping
from hornbeam.tree.words import feature_name, label_text, plain_label


def payload(reported: ReportedModel, level: float, test: Drift | None = None, **more: Any) -> dict[str, Any]:
    """Return all values that the script needs to draw the tree and to predict with it.

    Probabilities are bit for bit (float64, base64), their bounds in steps of 1/65535; evidence is what stops at each
    node, class by class, in the tree's whole numbers. Where the target is numeric, there are means and their bounds as
    float64, raw ones too, and the rows that stop. ``loss`` is the matrix of the decision rule, None if the most
    probable class is decided. ``slopes`` has the terms of paths as numbers, and the own terms of nodes as words; None
    if there are none.
    """
    tree = reported.tree
    skeleton = tree.skeleton
    low, high = interval(tree, level)
    # Bounds of means are not limited, and only row counts are needed per end node.
    bounds = {"low": low, "high": high}
    own = (
        evidence_stopping(skeleton, tree.weight)[:, None]
        if tree.is_regression
        else evidence_stopping(skeleton, tree.evidence)
    )
    nominal = [
        node for node in range(tree.n_nodes) if skeleton.slot_start[node] < skeleton.slot_start[node + 1]
    ]
    nodes = {
        "children": skeleton.n_children.tolist(),
        "feature": skeleton.feature.tolist(),
        "threshold": [_number(t) for t in skeleton.threshold.tolist()],
        "slots": {
            node: skeleton.slot_of[skeleton.slot_start[node] : skeleton.slot_start[node + 1]].tolist()
            for node in nominal
        },
        "missing": skeleton.missing_slot.tolist(),
        "share": _shares(tree),
        "rows": tree.rows.tolist(),
        "own": [_sparse(row) for row in own],
        "borrowed": [round(rows, 1) for rows in tree.borrowed.tolist()],
        **({} if tree.is_regression else {"decided": tree.decided.tolist()}),
        "belief": _packed(tree.belief, "<f8"),
        **{
            name: _packed(bound, "<f8") if tree.is_regression else _packed(np.round(bound * 65535), "<u2")
            for name, bound in bounds.items()
        },
        **({"raw": _packed(unsmoothed(tree), "<f8")} if tree.is_regression else {}),
    }
    return {
        "level": level,
        "unit": tree.unit.item(0),
        "regression": tree.is_regression,
        "classes": ["mean"] if tree.is_regression else [label_text(label) for label in tree.schema.classes],
        "positive": reported.positive,
        "loss": None if tree.decision.loss is None else tree.decision.loss.matrix.tolist(),
        "features": [_feature(reported, at) for at in range(tree.schema.n_features)],
        "nodes": nodes,
        "slopes": _slopes(reported) if len(tree.slopes) else None,
        "test": None if test is None else _test(test),
        **more,
    }


def safe_json(value: Any) -> str:
    """Encode JSON that is safe inside a script element."""
    written = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return written.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _feature(reported: ReportedModel, at: int) -> dict[str, Any]:
    feature = reported.tree.schema.features[at]
    predicted: dict[str, Any] = {"name": feature.name, "kind": feature.kind.value}
    if feature_name(feature.name) != feature.name:
        predicted["word"] = feature_name(feature.name)
    if not feature.is_numeric:
        predicted["categories"] = [_category(category) for category in feature.categories]
        words = {
            code: label_text(category)
            for code, category in enumerate(feature.categories)
            if label_text(category) != plain_label(category)
        }
        if words:
            predicted["words"] = words
    if reported.takes_unseen(at):
        predicted["other"] = True
    if (zero := reported.zero(at)) is not None:
        predicted["zero"] = zero
    return predicted


def _category(category: object) -> str | float | bool:
    given = plain_label(category)
    return repr(given) if isinstance(given, float) and given - given != 0 else given


def _number(threshold: float) -> float | str | None:
    if isnan(threshold):
        return None
    return {inf: "Infinity", -inf: "-Infinity"}.get(threshold, threshold)


def _shares(tree: Tree) -> str | None:
    """The share of each node in the missing values of its parent, for fractional splits."""
    flat = LookupTables.of(tree)
    if not flat.fractional:
        return None
    share = np.zeros(tree.n_nodes)
    place = np.where(flat.share_lead >= 0, flat.share_lead, ~flat.share_lead)
    share[flat.node[place]] = flat.share
    return _packed(share, "<f8")


def _slopes(reported: ReportedModel) -> dict[str, Any]:
    """The terms of the path of each node, number for number, and the words of its own terms."""
    tree, names = reported.tree, ("node", "feature", "category", "low", "high", "centre", "slope")
    terms = tree.path_slopes
    words = {node: terms_text(tree, node, reported.positive) for node in tree.slopes.nodes.tolist()}
    return {**{name: getattr(terms, name).tolist() for name in names}, "words": words}


def _packed(values: NDArray[Any], dtype: str) -> str:
    return b64encode(np.ascontiguousarray(values, dtype).tobytes()).decode("ascii")


def _sparse(row: NDArray[Any]) -> list[float]:
    """Alternating class and count of the classes with rows."""
    there = np.flatnonzero(row)
    return np.stack([there, row[there]], axis=1).ravel().tolist()


def _test(test: Drift) -> dict[str, Any]:
    """Test rows of each class per end node, with the p-value of their difference from the prediction."""
    assert test.observed is not None
    assert test.p_value is not None
    regression = not test.classes
    counts = test.rows[:, None] if regression else np.nan_to_num(test.observed) * test.rows[:, None]
    p_values: Sequence[float | None] = [None if isnan(p) else round(p, 4) for p in test.p_value.tolist()]
    return {
        "node": test.node.tolist(),
        "counts": [[round(value, 3) for value in _sparse(np.round(row, 3))] for row in counts],
        "odd": p_values,
        **({"mean": np.nan_to_num(test.observed[:, 0]).tolist()} if regression else {}),
    }
