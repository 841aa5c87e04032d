"""A small reader of PMML trees that follows the text of the standard."""

from xml.etree import ElementTree

import numpy as np

__all__ = ["evaluate", "evaluate_segments"]

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
        every = {"or": any, "and": all}[predicate.get("booleanOperator")]
        return every(holds(part, row, read) for part in predicate)
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


def evaluate_segments(document, rows):
    """Predict leaves, labels and probabilities, or means, of rows with a model of segments."""
    root = ElementTree.fromstring(document)
    fields = {field.get("name"): field for field in root.iter(f"{NS}DataField")}
    read = {name: READ[field.get("dataType")] for name, field in fields.items()}
    model = root.find(f"{NS}MiningModel")
    used = [f for f in model.find(f"{NS}MiningSchema") if f.get("usageType") != "target"]
    [target] = set(fields) - {field.get("name") for field in used}
    group = model.find(f"{NS}Segmentation")
    assert group.get("multipleModelMethod") == "selectFirst"
    leaf, label, p = [], [], []
    for values in rows:
        row = {}
        for field, value in zip(used, values, strict=True):
            name = field.get("name")
            declared = [read[name](v.get("value")) for v in fields[name].iter(f"{NS}Value")]
            undeclared = field.get("invalidValueTreatment") == "asMissing" and value not in declared
            row[name] = None if undeclared else value
        segment = next(s for s in group if holds(s[0], row, read))
        leaf.append(int(segment.get("id")))
        names, found = _segment(segment[1], row, read)
        p.append(found)
        label.append(read[target](names[int(np.argmax(found))]) if names[0] else None)
    return np.array(leaf), label, np.array(p)


def _segment(model, row, read):
    if model.tag == f"{NS}TreeModel":
        [node] = model.findall(f"{NS}Node")
        scores = node.findall(f"{NS}ScoreDistribution")
        if not scores:
            return [None], [float(node.get("score"))]
        return [s.get("value") for s in scores], [float(s.get("probability")) for s in scores]
    terms = {f.get("name"): _apply(f[0], row, read) for f in model.find(f"{NS}LocalTransformations")}
    tables = model.findall(f"{NS}RegressionTable")
    scores = []
    for table in tables:
        score = float(table.get("intercept"))
        for predictor in table:
            score += float(predictor.get("coefficient")) * terms[predictor.get("name")]
        scores.append(score)
    if model.get("normalizationMethod") != "softmax":
        return [None], scores
    powers = np.exp(np.array(scores) - max(scores))
    return [table.get("targetCategory") for table in tables], (powers / powers.sum()).tolist()


def _apply(expression, row, read):
    tag = expression.tag.removeprefix(NS)
    if tag == "Constant":
        return float(expression.text)
    if tag == "FieldRef":
        return row[expression.get("field")]
    function, arguments = expression.get("function"), list(expression)
    if function == "isMissing":
        return _apply(arguments[0], row, read) is None
    if function == "if":
        return _apply(arguments[1 if _apply(arguments[0], row, read) else 2], row, read)
    value = _apply(arguments[0], row, read)
    if function == "-":
        return value - _apply(arguments[1], row, read)
    return COMPARE[function](value, read[arguments[0].get("field")](arguments[1].text or ""))
