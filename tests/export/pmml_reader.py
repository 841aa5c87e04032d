"""A small reader of PMML trees that follows the text of the standard."""

from xml.etree import ElementTree

import numpy as np

__all__ = ["evaluate"]

NS = "{http://www.dmg.org/PMML-4_4}"
READ = {"string": str, "integer": int, "double": float, "boolean": lambda text: text == "true"}
COMPARE = {
    "equal": lambda a, b: a == b,
    "lessOrEqual": lambda a, b: a <= b,
    "greaterThan": lambda a, b: a > b,
    "lessThan": lambda a, b: a < b,
    "greaterOrEqual": lambda a, b: a >= b,
}


def holds(predicate, row, read):
    """The value of a predicate; None is unknown, which is false with ``missingValueStrategy="none"``."""
    tag = predicate.tag.removeprefix(NS)
    if tag in ("True", "False"):
        return tag == "True"
    if tag == "CompoundPredicate":
        assert predicate.get("booleanOperator") == "or"
        return any(holds(part, row, read) for part in predicate)
    field = predicate.get("field")
    value = row[field]
    if predicate.get("operator") in ("isMissing", "isNotMissing"):
        return (value is None) == (predicate.get("operator") == "isMissing")
    if value is None:
        return None
    if tag == "SimpleSetPredicate":
        texts = predicate[0].text.split()
        assert len(texts) == int(predicate[0].get("n"))
        return value in map(read[field], texts)
    return COMPARE[predicate.get("operator")](value, read[field](predicate.get("value")))


def evaluate(document, rows):
    """Predict leaves, labels and probabilities of rows."""
    root = ElementTree.fromstring(document)
    fields = {field.get("name"): field for field in root.iter(f"{NS}DataField")}
    read = {name: READ[field.get("dataType")] for name, field in fields.items()}
    [model] = root.iter(f"{NS}TreeModel")
    assert model.get("missingValueStrategy") == "none"
    assert model.get("noTrueChildStrategy") == "returnLastPrediction"
    used = {f.get("name"): f for f in model.iter(f"{NS}MiningField") if f.get("usageType") != "target"}
    [target] = set(fields) - set(used)
    leaf, label, p = [], [], []
    for values in rows:
        row = {}
        for (name, field), value in zip(used.items(), values, strict=True):
            declared = [read[name](v.get("value")) for v in fields[name].iter(f"{NS}Value")]
            undeclared = field.get("invalidValueTreatment") == "asMissing" and value not in declared
            row[name] = None if undeclared else value
        node, child = None, model.find(f"{NS}Node")
        while child is not None:
            node = child
            child = next((c for c in node.findall(f"{NS}Node") if holds(c[0], row, read)), None)
        leaf.append(int(node.get("id")))
        label.append(read[target](node.get("score")))
        p.append([float(score.get("probability")) for score in node.findall(f"{NS}ScoreDistribution")])
    return np.array(leaf), label, np.array(p)
