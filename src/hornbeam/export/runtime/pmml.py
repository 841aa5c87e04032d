"""A tree as PMML, the XML format of the Data Mining Group."""

from __future__ import annotations

import re
from math import inf, isinf, isnan
from sys import float_info
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from hornbeam.data.schema import Feature, Kind
from hornbeam.errors import ExportError
from hornbeam.export.checks import check_not_fractional, check_path_tests
from hornbeam.export.runtime.pmml_slopes import segments
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import HasTree, single_tree
from hornbeam.typing import Category, Label

_MAX_DEPTH = 500  # XML readers and writers recurse
_PLAIN = re.compile(r'[^\s"\\]+')  # text that needs no quotes inside an Array
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML 1.0, even escaped


def to_pmml(model: Tree | HasTree) -> str:
    """Write a tree as a PMML 4.4 document.

    Parameters
    ----------
    model : Tree, or fitted TreeClassifier or TreeRegressor

    Returns
    -------
    str
        An XML document with one ``TreeModel``; with slopes of leaves, a ``MiningModel`` with a segment for each node
        where a row may stop. Its outputs are ``leaf``, the node where a row stops, and
        ``p0``, ``p1``, ..., the probabilities in the order of the tree's classes; the target field is called
        ``label``. For a numeric target the outputs are ``leaf`` and ``mean``. An output gets underscores at its end if
        a feature has the same name.

    Raises
    ------
    ExportError
        If missing values go to every child, if a name has a character that XML cannot hold, if the tree is
        deeper than 500 levels, or if the tree has slopes and the tree decides by costs or class weights.

    Notes
    -----
    The predicate of every branch tests for missing values itself. If no branch is true, the prediction is that of the
    last node (``noTrueChildStrategy="returnLastPrediction"``), so unseen categories stop as they do in the tree. Pass
    missing values as missing, not as NaN.

    With slopes of leaves the label is text, and the probabilities use the reader's exponential function.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> from hornbeam.export import to_pmml
    >>> clf = TreeClassifier("cart").fit([[0]] * 5 + [[1]] * 5, ["ill"] * 4 + ["well"] * 5 + ["ill"])
    >>> print(to_pmml(clf)[:98])
    <?xml version='1.0' encoding='utf-8'?>
    <PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4">
    """
    tree = single_tree(model)
    check_not_fractional(tree, "PMML")
    if tree.depth > _MAX_DEPTH:
        raise ExportError(
            f"The tree is {tree.depth} levels deep, expected {_MAX_DEPTH} at most: few readers of XML go deeper. "
            "Prune it, or export it to SQL."
        )
    taken = set(tree.schema.names)
    document = Element("PMML", xmlns="http://www.dmg.org/PMML-4_4", version="4.4")
    header = SubElement(document, "Header")
    SubElement(header, "Application", name="Hornbeam")
    label = _unique("label", taken)
    _dictionary(document, tree, label)
    if len(tree.slopes):
        _sloped(document, tree, label, taken)
    else:
        _tree_model(document, tree, label, taken)
    indent(document)
    return tostring(document, encoding="unicode", xml_declaration=True).replace(
        "encoding='us-ascii'", "encoding='utf-8'"
    )


def _tree_model(document: Element, tree: Tree, label: str, taken: set[str]) -> None:
    model = SubElement(
        document,
        "TreeModel",
        functionName="regression" if tree.is_regression else "classification",
        missingValueStrategy="none",
        noTrueChildStrategy="returnLastPrediction",
        splitCharacteristic="multiSplit",
    )
    _mining_schema(model, tree, label)
    _output(model, tree, taken)
    _nodes(model, tree)


def _sloped(document: Element, tree: Tree, label: str, taken: set[str]) -> None:
    """Write a tree with slopes: PMML has one prediction for each leaf of a TreeModel."""
    if not tree.decision.is_default:
        raise ExportError(
            "This tree has slopes, and it decides by costs or class weights; the label of PMML is then the "
            "most probable class. Export with costs=None, or to Python, JavaScript, C, SQL or ONNX."
        )
    check_path_tests(tree, "PMML with slopes")
    model = SubElement(
        document, "MiningModel", functionName="regression" if tree.is_regression else "classification"
    )
    _mining_schema(model, tree, label)
    _output(model, tree, taken)
    segments(
        model,
        tree,
        lambda inner: _mining_schema(inner, tree, label),
        lambda element, parent, node: _predicate(element, tree, parent, node),
        _text,
    )


def _dictionary(document: Element, tree: Tree, label: str) -> None:
    fields = SubElement(document, "DataDictionary", numberOfFields=str(tree.schema.n_features + 1))
    for feature in tree.schema.features:
        name = _name(feature.name)
        if feature.is_numeric:
            SubElement(fields, "DataField", name=name, optype="continuous", dataType="double")
        else:
            _categorical(fields, name, feature.categories, _type(feature.categories))
    if tree.is_regression:
        SubElement(fields, "DataField", name=label, optype="continuous", dataType="double")
    else:
        # In a model of segments JPMML looks probabilities up by text alone.
        kind = "string" if len(tree.slopes) else _type(tree.schema.classes)
        _categorical(fields, label, tree.schema.classes, kind)


def _categorical(fields: Element, name: str, values: tuple[Label, ...], kind: str) -> None:
    field = SubElement(fields, "DataField", name=name, optype="categorical", dataType=kind)
    for value in values:
        SubElement(field, "Value", value=_text(value))


def _mining_schema(model: Element, tree: Tree, label: str) -> None:
    schema = SubElement(model, "MiningSchema")
    for feature in tree.schema.features:
        # An undeclared ordinal value is missing; an unseen nominal category is kept, and takes no branch.
        treatment = "asMissing" if feature.kind is Kind.ORDINAL else "asIs"
        SubElement(schema, "MiningField", name=feature.name, invalidValueTreatment=treatment)
    SubElement(schema, "MiningField", name=label, usageType="target")


def _output(model: Element, tree: Tree, taken: set[str]) -> None:
    output = SubElement(model, "Output")
    leaf = {"optype": "categorical", "dataType": "string", "feature": "entityId"}
    SubElement(output, "OutputField", leaf | {"name": _unique("leaf", taken)})
    if tree.is_regression:
        mean = {"optype": "continuous", "dataType": "double", "feature": "predictedValue"}
        SubElement(output, "OutputField", mean | {"name": _unique("mean", taken)})
    probability = {"optype": "continuous", "dataType": "double", "feature": "probability"}
    for k, value in enumerate(tree.schema.classes):
        SubElement(
            output, "OutputField", probability | {"name": _unique(f"p{k}", taken), "value": _text(value)}
        )


def _nodes(model: Element, tree: Tree) -> None:
    best, unit = tree.decided, tree.unit.item(0)
    labels = [_text(label) for label in tree.schema.classes]
    elements: list[Element] = []
    for node in range(tree.n_nodes):
        parent = tree.skeleton.parent.item(node)
        counts, beliefs = tree.evidence[node].tolist(), tree.belief[node].tolist()
        element = SubElement(
            model if parent < 0 else elements[parent],
            "Node",
            id=str(node),
            score=repr(beliefs[0]) if tree.is_regression else labels[best[node]],
            recordCount=repr(tree.weight.item(node) * unit),
        )
        _predicate(element, tree, parent, node)
        elements.append(element)
        if tree.is_regression:
            continue
        for label, count, belief in zip(labels, counts, beliefs, strict=True):
            score = {"value": label, "recordCount": repr(count * unit), "probability": repr(belief)}
            SubElement(element, "ScoreDistribution", score)


def _predicate(element: Element, tree: Tree, parent: int, node: int) -> None:
    """Write the condition on which a row goes from the parent to a node."""
    skeleton = tree.skeleton
    if parent < 0:
        SubElement(element, "True")
        return
    feature = tree.schema.features[skeleton.feature[parent]]
    slot = node - skeleton.first_child.item(parent)
    known = _known(tree, feature, parent, slot)
    missing = skeleton.missing_slot[parent] == slot
    absent = Element("SimplePredicate", field=feature.name, operator="isMissing")
    if known is None:
        element.append(absent if missing else Element("False"))
    else:
        element.append(_any_of([absent, known]) if missing else known)


def _known(tree: Tree, feature: Feature, parent: int, slot: int) -> Element | None:
    """Write the condition on which a known value goes to a slot; None if no value does."""
    skeleton, threshold = tree.skeleton, tree.skeleton.threshold.item(parent)
    if slot > 1 and not isnan(threshold):
        return None
    if feature.is_numeric:
        return _compared(feature.name, threshold, slot)
    if isnan(threshold):
        run = skeleton.slot_of[skeleton.slot_start[parent] : skeleton.slot_start[parent + 1]]
    else:
        run = np.where(np.arange(len(feature.categories)) <= threshold, 0, 1)
    return _is_among(
        feature.name, [feature.categories[code] for code in np.flatnonzero(run == slot)], feature
    )


def _compared(name: str, threshold: float, slot: int) -> Element | None:
    """Write that a value is at most the threshold, or above it; an infinite threshold without writing infinity."""
    if threshold == inf:
        return None if slot else Element("SimplePredicate", field=name, operator="isNotMissing")
    cut = repr(-float_info.max if isinf(threshold) else threshold)
    operators = ("lessThan", "greaterOrEqual") if isinf(threshold) else ("lessOrEqual", "greaterThan")
    return Element("SimplePredicate", field=name, operator=operators[slot], value=cut)


def _is_among(name: str, categories: list[Category], feature: Feature) -> Element | None:
    """Write that a value is one of these categories; None if there are none."""
    texts = [_text(category) for category in categories]
    if not texts:
        return None
    if len(texts) > 1 and all(map(_PLAIN.fullmatch, texts)):
        chosen = Element("SimpleSetPredicate", field=name, booleanOperator="isIn")
        kind = {"string": "string", "integer": "int", "double": "real"}.get(
            _type(feature.categories), "string"
        )
        SubElement(chosen, "Array", n=str(len(texts)), type=kind).text = " ".join(texts)
        return chosen
    equal = [Element("SimplePredicate", field=name, operator="equal", value=text) for text in texts]
    return _any_of(equal) if len(equal) > 1 else equal[0]


def _any_of(predicates: list[Element]) -> Element:
    compound = Element("CompoundPredicate", booleanOperator="or")
    compound.extend(predicates)
    return compound


def _type(values: tuple[Label, ...]) -> str:
    for kind, name in ((bool, "boolean"), (int, "integer"), ((int, float), "double")):
        if values and all(
            isinstance(value, kind) and (kind is bool) == isinstance(value, bool) for value in values
        ):
            return name
    return "string"


def _text(value: Label) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    found = _FORBIDDEN.search(text)
    if found:
        raise ExportError(f"{text!r} has the character {found[0]!r}, which XML cannot hold. Rename it.")
    return text


def _name(name: str) -> str:
    if not name:
        raise ExportError("A feature has an empty name, expected one that PMML can refer to. Rename it.")
    return _text(name)


def _unique(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name
