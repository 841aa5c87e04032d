"""Trees with slopes in PMML: a model of segments, one for each node where a row may stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from math import inf
from xml.etree.ElementTree import Element, SubElement

from hornbeam.data.schema import Kind
from hornbeam.export.source.lookup_tables import node_scores
from hornbeam.tree.slopes import Term
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import path
from hornbeam.typing import Label

_NEVER = -1e300  # the score of a class of probability 0: not every reader accepts infinity


def segments(
    model: Element,
    tree: Tree,
    mining_schema: Callable[[Element], None],
    predicate: Callable[[Element, int, int], None],
    text: Callable[[Label], str],
) -> None:
    """Write the segments: children before their parent, so that the first one whose predicate is true is the node.

    `mining_schema` adds the fields of a model to it, `predicate` adds to an element the condition on which a row goes
    from a parent to a node, `text` writes a label or category.
    """
    scores = node_scores(tree).tolist()
    group = SubElement(model, "Segmentation", multipleModelMethod="selectFirst")
    for node in _children_first(tree):
        segment = SubElement(group, "Segment", id=str(node))
        _path(segment, tree, node, predicate)
        if tree.n_classes == 1 or not tree.path_slopes.of_node(node):
            _constant(segment, tree, node, mining_schema, text)
        else:
            _regression(segment, tree, node, scores[node], mining_schema, text)


def _children_first(tree: Tree) -> Iterator[int]:
    yield from range(tree.n_nodes - 1, -1, -1)  # in level order, children come after their parents


def _path(segment: Element, tree: Tree, node: int, predicate: Callable[[Element, int, int], None]) -> None:
    nodes = path(tree.skeleton, node)
    if len(nodes) < 3:
        predicate(segment, -1 if node == 0 else 0, node)
        return
    every = SubElement(segment, "CompoundPredicate", booleanOperator="and")
    for parent, child in pairwise(nodes):
        predicate(every, parent, child)


def _constant(
    segment: Element,
    tree: Tree,
    node: int,
    mining_schema: Callable[[Element], None],
    text: Callable[[Label], str],
) -> None:
    """Write a node without terms as a tree of one node."""
    belief, function = tree.belief[node].tolist(), "regression" if tree.is_regression else "classification"
    model = SubElement(segment, "TreeModel", functionName=function, missingValueStrategy="none")
    mining_schema(model)
    best = repr(belief[0]) if tree.is_regression else text(tree.schema.classes[tree.decided[node]])
    only = SubElement(model, "Node", id=str(node), score=best)
    SubElement(only, "True")
    weight = tree.weight_in_rows.item(node)
    for label, probability in zip(tree.schema.classes, belief, strict=False):
        score = {
            "value": text(label),
            "recordCount": repr(weight * probability),
            "probability": repr(probability),
        }
        SubElement(only, "ScoreDistribution", score)


def _regression(
    segment: Element,
    tree: Tree,
    node: int,
    scores: list[float],
    mining_schema: Callable[[Element], None],
    text: Callable[[Label], str],
) -> None:
    """Write a node with terms on its path as a regression: on scores with softmax, or on the mean."""
    terms = tree.path_slopes.terms(node)
    settings = {"functionName": "regression"}
    if not tree.is_regression:
        settings = {"functionName": "classification", "normalizationMethod": "softmax"}
    model = SubElement(segment, "RegressionModel", settings)
    mining_schema(model)
    derived = SubElement(model, "LocalTransformations")
    names = _new_names(tree, len(terms))
    for name, term in zip(names, terms, strict=True):
        _distance(derived, tree, term, name, text)
    for k, score in enumerate(scores):
        table = SubElement(model, "RegressionTable", intercept=repr(max(score, _NEVER)))
        if not tree.is_regression:
            table.set("targetCategory", text(tree.schema.classes[k]))
        for name, term in zip(names, terms, strict=True):
            SubElement(table, "NumericPredictor", name=name, coefficient=repr(term.slope[k]))


def _new_names(tree: Tree, n: int) -> list[str]:
    prefix = "distance"
    while any(name.startswith(prefix) for name in tree.schema.names):
        prefix += "_"
    return [f"{prefix}{j}" for j in range(n)]


def _distance(derived: Element, tree: Tree, term: Term, name: str, text: Callable[[Label], str]) -> None:
    """Write the distance of a value from the centre; 0 if the value is missing."""
    at, category, low, high, centre, _ = term
    feature = tree.schema.features[at]
    field = SubElement(derived, "DerivedField", name=name, optype="continuous", dataType="double")
    known = _otherwise(field, "isMissing", feature.name, None, 0.0)
    if feature.kind is Kind.ORDINAL:
        *others, last = [
            (value, min(max(float(code), low), high) - centre)
            for code, value in enumerate(feature.categories)
        ]
        for value, distance in others:
            known = _otherwise(known, "equal", feature.name, text(value), distance)
        _number(known, last[1])
    elif category >= 0:
        _number(
            _otherwise(known, "equal", feature.name, text(feature.categories[category]), 1.0 - centre),
            -centre,
        )
    else:
        known = _otherwise(known, "lessThan", feature.name, repr(low), low - centre)
        known = _otherwise(known, "greaterThan", feature.name, repr(high), high - centre)
        difference = SubElement(known, "Apply", function="-")
        SubElement(difference, "FieldRef", field=feature.name)
        _number(difference, centre)


def _otherwise(parent: Element, function: str, field: str, value: str | None, result: float) -> Element:
    """Write a condition and its result; the caller adds what holds otherwise to the element returned."""
    choice = SubElement(parent, "Apply", function="if")
    condition = SubElement(choice, "Apply", function=function)
    SubElement(condition, "FieldRef", field=field)
    if value is not None:
        SubElement(condition, "Constant").text = value
    _number(choice, result)
    return choice


def _number(parent: Element, value: float) -> None:
    assert abs(value) < inf
    SubElement(parent, "Constant", dataType="double").text = repr(value + 0.0)
