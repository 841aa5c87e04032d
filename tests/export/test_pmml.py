"""A tree as PMML, read by a small reader that follows the standard's words."""

from xml.etree import ElementTree

import numpy as np
import pytest

pytest.importorskip("duckdb", reason="the extra 'test' brings duckdb, which the shared rows are tried in")

from databases import assert_same, models, rows_of

from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.errors import ExportError
from hornbeam.export import to_pmml
from hornbeam.tree import Skeleton, Tree
from hornbeam.tree.walk import pull_up
from parity import MODELS
from strategies import chain

nan = np.nan
NS = "{http://www.dmg.org/PMML-4_4}"
READ = {"string": str, "integer": int, "double": float, "boolean": lambda word: word == "true"}
COMPARE = {
    "equal": lambda a, b: a == b,
    "lessOrEqual": lambda a, b: a <= b,
    "greaterThan": lambda a, b: a > b,
    "lessThan": lambda a, b: a < b,
    "greaterOrEqual": lambda a, b: a >= b,
}


def holds(predicate, row, read):
    """A predicate's truth; None is unknown, which ``missingValueStrategy="none"`` takes for false."""
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
        words = predicate[0].text.split()
        assert len(words) == int(predicate[0].get("n"))
        return value in map(read[field], words)
    return COMPARE[predicate.get("operator")](value, read[field](predicate.get("value")))


def evaluate(document, rows):
    """Leaves, labels and probabilities of rows."""
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


@pytest.mark.parametrize("first", range(0, MODELS, 20))
def test_a_reader_gets_the_very_bits(first):
    for tree, table in models(first, 20, shared=False):
        few = table.slice(0, 150)
        assert_same(tree, few, *evaluate(to_pmml(tree), rows_of(few)))


HOSTILE = ("]]>", "<!--", "&amp;", '"', "'", "\\", "a b", "", " ", "\n", "\t", "\r", "é", "🌳", "</Value>")


def test_hostile_names():
    features = (Feature("]]>&\"<'\n"), Feature("label", Kind.NOMINAL, HOSTILE))
    slots = [i % 3 - 1 for i in range(len(HOSTILE))]
    skeleton = Skeleton.of(
        [2, 2, 0, 0, 0],
        [1, 0, -1, -1, -1],
        [nan, 0.1, nan, nan, nan],
        slot_start=[0, len(slots), *[len(slots)] * 4],
        slot_of=slots,
        missing_slot=[1, 0, -1, -1, -1],
    )
    evidence = pull_up(skeleton, np.array([[0, 0], [0, 0], [1, 3], [4, 0], [1, 1]]))
    tree = Tree.raw(Schema(features, ("<a>", "&\n")), skeleton, evidence)
    rows = [(x, word) for word in (*HOSTILE, "unseen", None) for x in (0.1, 0.2, None)]
    leaf, label, _ = evaluate(to_pmml(tree), rows)
    slot = dict(zip(HOSTILE, slots, strict=True)) | {"unseen": -1, None: 1}
    assert leaf.tolist() == [{-1: 0, 1: 2}.get(slot[word], 4 if x == 0.2 else 3) for x, word in rows]
    assert set(label) == {"<a>", "&\n"}


@pytest.mark.parametrize(("threshold", "expected"), [(np.inf, [1, 1, 1, 3]), (-np.inf, [1, 2, 2, 3])])
def test_infinite_thresholds(threshold, expected):
    skeleton = Skeleton.of(
        [3, 0, 0, 0], [0, -1, -1, -1], [threshold, nan, nan, nan], missing_slot=[2, -1, -1, -1]
    )
    tree = Tree.raw(Schema((Feature("x"),), ("a",)), skeleton, np.array([[3], [1], [1], [1]]))
    leaf, _, _ = evaluate(to_pmml(tree), [(-np.inf,), (-1e308,), (np.inf,), (None,)])
    assert leaf.tolist() == expected


def test_what_pmml_cannot_say():
    def tree(feature, skeleton, classes=("a",)):
        evidence = np.zeros((skeleton.n_nodes, 1), np.int64)
        return Tree.raw(Schema((feature,), classes), skeleton, evidence)

    with pytest.raises(ExportError, match="501 levels deep, expected 500 at most"):
        to_pmml(tree(Feature("x"), chain(501)))
    with pytest.raises(ExportError, match=r"has the character '\\x00', which XML cannot hold"):
        to_pmml(tree(Feature("x\0"), chain(1)))
    with pytest.raises(ExportError, match=r"has the character '\\ufffe'"):
        to_pmml(tree(Feature("x"), chain(1), ("\ufffe",)))
    with pytest.raises(ExportError, match="empty name"):
        to_pmml(tree(Feature(""), chain(1)))
    assert to_pmml(tree(Feature("x"), chain(500))).count("<Node ") == 1001
