"""A PMML document, read by a small reader that follows the standard, and by JPMML."""

import numpy as np
import pytest
from model_runners import evaluate, needs_jpmml, run_jpmml, run_pmml
from random_models import batches, models

from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.errors import ExportError
from hornbeam.export import to_pmml
from hornbeam.tree import Skeleton
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import pull_up
from support.strategies import chain

nan = np.nan


@batches
def test_a_reader_predicts_the_same_bits(first, compare):
    cases = [(tree, table.slice(0, 150)) for tree, table in models(first, shared=False)]
    compare("PMML, a small reader", "Python", cases, run_pmml(cases))


@needs_jpmml
@batches
def test_jpmml_finds_the_same_nodes(first, compare):
    """JPMML divides the probabilities by their sum, which may change the last bits."""
    cases = models(first, shared=False)
    compare("PMML", "jpmml_evaluator", cases, run_jpmml(cases), bound=1e-14)


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
    rows = [(x, text) for text in (*HOSTILE, "unseen", None) for x in (0.1, 0.2, None)]
    leaf, label, _ = evaluate(to_pmml(tree), rows)
    slot = dict(zip(HOSTILE, slots, strict=True)) | {"unseen": -1, None: 1}
    assert leaf.tolist() == [{-1: 0, 1: 2}.get(slot[text], 4 if x == 0.2 else 3) for x, text in rows]
    assert set(label) == {"<a>", "&\n"}


@pytest.mark.parametrize(("threshold", "expected"), [(np.inf, [1, 1, 1, 3]), (-np.inf, [1, 2, 2, 3])])
def test_infinite_thresholds(threshold, expected):
    skeleton = Skeleton.of(
        [3, 0, 0, 0], [0, -1, -1, -1], [threshold, nan, nan, nan], missing_slot=[2, -1, -1, -1]
    )
    tree = Tree.raw(Schema((Feature("x"),), ("a",)), skeleton, np.array([[3], [1], [1], [1]]))
    leaf, _, _ = evaluate(to_pmml(tree), [(-np.inf,), (-1e308,), (np.inf,), (None,)])
    assert leaf.tolist() == expected


def test_trees_that_pmml_cannot_express_raise():
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
