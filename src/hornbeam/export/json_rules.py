"""A tree as rules in JSON, for programs in any language."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from hornbeam.checks import check_whole
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.export.checks import check_path_tests
from hornbeam.export.source.vectors import TestVectors
from hornbeam.kernels.elementary import log
from hornbeam.tree.evidence.fractional import child_shares
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import HasTree, with_quantiles
from hornbeam.tree.words import plain_label

type _Conditions = list[dict[str, Any]]

_READING = (
    "A condition holds for a known value if the value is at_most the number, above it, in the list, or not_in the "
    "list; with known: true it holds for every known value. A condition may have several of these fields, and all of "
    "them must hold; without any it holds for no known value. For a missing value it holds with the weight `missing`, "
    "which is 0 if the field is absent. The weight of a rule is the product of the weights of its conditions, first to "
    "last. The prediction for a row is the sum of weight times probabilities, or times mean, over the rules, first to "
    "last. Values of an ordinal feature that are not in its categories are missing."
)
_READING_SLOPES = (
    " A rule with slopes predicts by scores. The score of a class is its number in scores, null for a probability of "
    "0 whatever the slopes, plus, over the slopes first to last, its number in slope times (value - centre). The value "
    "is that of the feature, at least low and at most high; of an ordinal feature its position among the categories, "
    "beginning with 0; with a category, 1 if the value is that category, else 0. A slope whose value is missing is "
    "left out. The probabilities are exp(score) divided by their sum, and the class without costs is the first of the "
    "largest score. A mean, or a quantile, is the number of the rule plus the slopes."
)


def to_json(
    model: Tree | HasTree,
    *,
    indent: int | None = None,
    quantiles: Sequence[float] | None = None,
    vectors: Any = None,
) -> str:
    """Write a tree as a list of rules in JSON: one for each node where rows can stop.

    Parameters
    ----------
    model : Tree, or fitted TreeClassifier or TreeRegressor
    indent : int, optional
        Spaces of indentation; default one line.
    quantiles : sequence of float, optional
        Levels, such as ``[0.1, 0.5, 0.9]``: the quantiles of `TreeRegressor.predict_quantile`, beside the mean, of a
        `TreeRegressor` that was fitted with ``distribution=True``.
    vectors : array-like or data frame of shape (n_rows, n_features), optional
        Rows to ship with the rules, each with its node and probabilities, or mean.

    Returns
    -------
    str
        A strict JSON object, in ASCII. Its field ``reading`` explains how to apply the rules; the result is then the
        tree's probabilities, or mean, bit for bit. With slopes the class is the tree's, and probabilities
        depend on the reader's exponential function.

    Raises
    ------
    ExportError
        If the paths to the leaves have more than 2,000,000 tests together: each rule repeats all tests of its path.

    Examples
    --------
    >>> import json
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart").fit([[0]] * 5 + [[1]] * 5, ["ill"] * 4 + ["well"] * 5 + ["ill"])
    >>> for rule in json.loads(to_json(clf))["rules"]:
    ...     print(rule["if"], rule["probabilities"])
    [{'feature': 'x0', 'at_most': 0.5}] [0.8, 0.2]
    [{'feature': 'x0', 'above': 0.5}] [0.2, 0.8]
    [{'feature': 'x0', 'missing': 1}] [0.5, 0.5]
    """
    tree = with_quantiles(model, quantiles)
    check_whole("indent", indent, 0, none="one line")
    check_path_tests(tree, "JSON")
    schema = tree.schema
    document: dict[str, Any] = {
        "format": "hornbeam-rules",
        "version": 1,
        "digest": tree.digest,
        "reading": _READING + _READING_SLOPES * (len(tree.slopes) > 0),
        "features": json_features(schema),
        **({} if tree.is_regression else {"classes": [json_value(label) for label in schema.classes]}),
        **({"quantiles": list(schema.quantiles)} if schema.quantiles else {}),
        "rules": _rules(tree),
    }
    if vectors is not None:
        expected = TestVectors.of(tree, vectors)
        rows = [[json_value(value) for value in row] for row in expected.values()]
        predictions = zip(rows, expected.nodes.tolist(), expected.probabilities.tolist(), strict=True)
        document["vectors"] = [
            {"row": row, "node": node, **_prediction(tree, p)} for row, node, p in predictions
        ]
    return json.dumps(document, indent=indent, allow_nan=False)


def _rules(tree: Tree) -> list[dict[str, Any]]:
    """List the rules depth first, so that shares are added in the order of the tree's own walk."""
    shares, skeleton = child_shares(tree), tree.skeleton
    is_leaf = skeleton.is_leaf.tolist()
    rules: list[dict[str, Any]] = []
    # Nodes to write: each with the conditions of its path, and whether rows stop at it.
    todo: list[tuple[int, _Conditions, bool]] = [(0, [], is_leaf[0])]
    while todo:
        node, path, stops = todo.pop()
        if stops:
            rules.append(_rule(tree, node, path))
            continue
        children, rest = _conditions(tree, node, shares.get(node, {}))
        if rest is not None:
            todo.append((node, [*path, rest], True))
        first = skeleton.first_child.item(node)
        below = [(first + slot, [*path, condition]) for slot, condition in enumerate(children)]
        todo += [(child, conditions, is_leaf[child]) for child, conditions in reversed(below)]
    return rules


def _conditions(tree: Tree, node: int, shares: dict[int, float]) -> tuple[_Conditions, dict[str, Any] | None]:
    """Write the condition of each child of a node, and that of rows that stop at it, or None if no row can."""
    skeleton = tree.skeleton
    feature = tree.schema.features[skeleton.feature[node]]
    n_children, missing = skeleton.n_children.item(node), skeleton.missing_slot.item(node)
    children: _Conditions = [{"feature": feature.name} for _ in range(n_children)]
    rest: dict[str, Any] = {"feature": feature.name}
    if feature.is_nominal:
        run = skeleton.slot_of[skeleton.slot_start[node] : skeleton.slot_start[node + 1]]
        for slot, condition in enumerate(children):
            condition["in"] = [json_value(feature.categories[code]) for code in np.flatnonzero(run == slot)]
        rest["not_in"] = [json_value(feature.categories[code]) for code in np.flatnonzero(run >= 0)]
    else:
        _compare(feature, skeleton.threshold.item(node), children)
    if missing >= 0:
        children[missing]["missing"] = 1
    elif shares:
        for child, share in shares.items():
            children[child - skeleton.first_child.item(node)]["missing"] = share
    else:
        rest["missing"] = 1
    return children, rest if len(rest) > 1 else None


def _compare(feature: Feature, threshold: float, children: _Conditions) -> None:
    """Write a comparison: of numbers, or of categories in their order."""
    if feature.kind is Kind.ORDINAL:
        left = sum(code <= threshold for code in range(len(feature.categories)))
        children[0]["in"] = [json_value(category) for category in feature.categories[:left]]
        children[1]["in"] = [json_value(category) for category in feature.categories[left:]]
    elif threshold == inf:
        children[0]["known"] = True
    else:
        children[0]["at_most"] = children[1]["above"] = threshold


def _rule(tree: Tree, node: int, path: _Conditions) -> dict[str, Any]:
    classes = tree.schema.classes
    decided = {"class": json_value(classes[tree.decided[node]])} if classes else {}
    return {
        "node": node,
        "if": path,
        **decided,
        **_prediction(tree, tree.belief[node].tolist()),
        **_slopes(tree, node),
        "rows": tree.rows.item(node),
        "evidence": (tree.evidence[node] * tree.unit).tolist(),
    }


def _slopes(tree: Tree, node: int) -> dict[str, Any]:
    """Write the scores and slopes of a rule, if its path has any."""
    written = []
    for at, category, low, high, centre, slope in tree.path_slopes.terms(node):
        feature = tree.schema.features[at]
        of = {"category": json_value(feature.categories[category])} if category >= 0 else {}
        limits = {"low": low, "high": high, "centre": centre}
        own = slope[:1] if tree.is_regression else slope  # quantiles have that of the mean
        written.append({"feature": feature.name, **of, **limits, "slope": own})
    if not written:
        return {}
    if tree.is_regression:
        return {"slopes": written}
    scores = log(tree.belief[node].copy()).tolist()
    return {"scores": [None if score == -inf else score for score in scores], "slopes": written}


def _prediction(tree: Tree, belief: list[float]) -> dict[str, Any]:
    if not tree.is_regression:
        return {"probabilities": belief}
    return {"mean": belief[0], **({"quantiles": belief[1:]} if tree.schema.quantiles else {})}


def json_features(schema: Schema) -> list[dict[str, Any]]:
    """Convert features to JSON values."""
    return [
        {"name": f.name, "kind": f.kind.value, "categories": [json_value(c) for c in f.categories]}
        for f in schema.features
    ]


def json_value(value: object) -> Any:
    """Convert a category or label to a JSON value; infinities and NaN to text."""
    if value is None:
        return None
    plain = plain_label(value)
    return repr(plain) if isinstance(plain, float) and plain - plain != 0 else plain
