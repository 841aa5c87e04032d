"""Files of trees with slopes: what is saved comes back, and mutated files are refused cleanly."""

import json
import re
from dataclasses import replace
from functools import partial
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hornbeam
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.table import Table
from hornbeam.errors import StorageError
from hornbeam.estimators.persistence.files import pack, unpack
from hornbeam.storage.difference import compare
from hornbeam.storage.file import decode, encode
from hornbeam.storage.model import Model
from hornbeam.tree import Skeleton, Slopes, with_slopes
from hornbeam.tree.route import predict_rows
from hornbeam.tree.tree import Tree
from support.examples import examples
from support.model_documents import document_of, load_document
from support.strategies import trees_with_slopes

pytestmark = pytest.mark.filterwarnings("ignore:the file has no sha256")

GOLDEN = Path(__file__).with_name("golden")
SCHEMA = Schema((Feature("age"), Feature("colour", Kind.NOMINAL, ("blue", "red"))), ("no", "yes"))
SKELETON = Skeleton.of(
    [2, 2, 0, 0, 0],
    [0, 1, -1, -1, -1],
    [30.0, *[np.nan] * 4],
    slot_start=[0, 0, 2, 2, 2, 2],
    slot_of=[0, 1],
)
PLAIN = Tree.raw(SCHEMA, SKELETON, np.array([[5, 5], [4, 1], [1, 4], [4, 0], [0, 1]]))
SLOPES = Slopes.of(
    [2, 4, 4],
    [0, 0, 1],
    low=[31, 18, 0],
    high=[80, 30, 1],
    centre=[40, 22, 0.5],
    slope=[[0.0, 0.1], [0.0, -0.3], [0.25, 0.0]],
    category=[-1, -1, 1],
)
TREE = with_slopes(PLAIN, SLOPES)


def same(one, other):
    return all(
        a.dtype == b.dtype and np.array_equal(a, b) for a, b in zip(one.arrays, other.arrays, strict=True)
    )


@given(trees_with_slopes(), st.booleans())
@examples(60)
def test_every_tree_comes_back(tree, as_tensors):
    data = encode(Model.of(tree), as_tensors=as_tensors)
    again = decode(data)
    assert again.tree.digest == tree.digest
    assert same(again.tree.slopes, tree.slopes)
    assert encode(again, as_tensors=as_tensors) == data  # canonical
    assert not compare(Model.of(tree), again)


@given(trees_with_slopes())
@examples(30)
def test_text_keeps_to_the_published_schema(tree):
    schema = json.loads(
        resources.files("hornbeam.storage").joinpath("model-1.schema.json").read_text(encoding="utf-8")
    )
    jsonschema = pytest.importorskip("jsonschema", reason="the schema is checked with the extra test")
    said = json.loads(encode(Model.of(tree)))
    jsonschema.validate(said, schema)
    if len(tree.slopes):
        del said["tree"]["slope_low"]
        with pytest.raises(jsonschema.ValidationError, match="slope_low"):
            jsonschema.validate(said, schema)


@given(trees_with_slopes(), st.integers(0, 3), st.randoms(use_true_random=False))
@examples(40)
def test_every_collection_comes_back(tree, n, random):
    plain = with_slopes(tree, Slopes.none())
    chosen = tuple(random.choice([tree, plain]) for _ in range(n))
    data = encode(Model(tree.schema, chosen, "F", {"a": 1}))
    again = decode(data)
    assert [one.digest for one in again.trees] == [one.digest for one in chosen]
    assert encode(again) == data


def test_regression_comes_back():
    schema = Schema((Feature("age"),), (), Kind.NUMERIC)
    leaf = Tree.raw(schema, Skeleton.leaf(), np.array([[4, 8, 20]]))
    tree = with_slopes(leaf, Slopes.of([0], [0], low=[1], high=[3], centre=[2], slope=[[0.5]]))
    for as_tensors in (False, True):
        assert decode(encode(Model.of(tree), as_tensors=as_tensors)).tree.digest == tree.digest


@pytest.mark.parametrize("suffix", ["hornbeam", "safetensors"])
def test_an_estimator_comes_back(suffix, tmp_path):
    clf = hornbeam.TreeClassifier("cart", max_depth=1).fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    clf.tree_ = with_slopes(
        clf.tree_, Slopes.of([1], [0], low=[1], high=[2], centre=[1.5], slope=[[0.0, 3.0]])
    )
    path = tmp_path / f"model.{suffix}"
    hornbeam.save(clf, path)
    again = hornbeam.load(path)
    rows = [[0.0], [1.2], [1.9], [3.0], [np.nan]]
    assert again.predict_proba(rows).tolist() == clf.predict_proba(rows).tolist()
    assert again.predict(rows).tolist() == clf.predict(rows).tolist()


@pytest.mark.parametrize("suffix", ["hornbeam", "safetensors"])
def test_the_first_slopes_are_read_for_ever(suffix):
    """Of version 1.4, which brought them."""
    pandas = pytest.importorskip("pandas")
    model = hornbeam.load(GOLDEN / f"1.4.{suffix}")
    expected = json.loads((GOLDEN / "1.4.json").read_text(encoding="utf-8"))
    rows = pandas.DataFrame(expected["rows"])
    assert model.tree_.digest == expected["digest"]
    assert model.predict_proba(rows).tolist() == expected["probabilities"]
    assert model.predict(rows).tolist() == expected["classes"]


def test_trees_without_slopes_have_no_arrays_of_slopes():
    said = json.loads(encode(Model.of(PLAIN)))
    assert said["kind"] == "tree"
    assert not any("slope" in name for name in said["tree"])
    assert "n_terms" not in said


def test_rules_of_a_tree_with_slopes_are_refused():
    with pytest.raises(StorageError, match="the tree of the rules has slopes; expected none"):
        encode(Model.of(TREE, content="rules"))


document, load = partial(document_of, TREE), load_document


def test_the_document_is_sound_as_it_is():
    assert load(document()).tree.digest == TREE.digest


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_terms": 4}, "slope_node has 3 entries; expected a list of 4"),
        ({"n_terms": -1}, "n_terms is -1; expected a whole number"),
        ({"n_terms": True}, "n_terms is True; expected a whole number"),
        ({"n_terms": 2**24 + 1}, "n_terms is 16777217; expected a whole number from 0 to 16,777,216"),
        ({"kind": "tree"}, "'n_terms' is no key of version 1.5"),
        ({"kind": "rules with slopes"}, "kind is 'rules with slopes'"),
        ({"kind": "trees with slopes"}, "n_trees is missing"),
        ({"slope_node": [2, 4, 1]}, "slopes has terms 1 and 2 of nodes 4 and 1, expected ascending order"),
        ({"slope_feature": [0, 1, 1]}, "expected ascending order without repeats"),
        ({"slope_node": [2, 4, 5]}, "slopes.node[2] is 5, expected one of the 5 nodes"),
        ({"slope_node": [-1, 4, 4]}, "slopes.node[0] is -1"),
        ({"slope_feature": [0, 0, 2]}, "slopes.feature[2] is 2, expected one of the schema's 2 features"),
        ({"slope_category": [-1, -1, 2]}, "slopes.category[2] is 2, expected the code of a category"),
        ({"slope_low": [41.0, 18.0, 0.0]}, "slopes.centre[0] is 40.0, expected a number from low to high"),
        ({"slope_low": [None, 18.0, 0.0]}, "slopes.low[0] is nan, expected a finite number"),
        ({"slope_high": ["inf", 30.0, 1.0]}, "slopes.high[0] is inf, expected a finite number"),
        ({"slope": [0.0, 1e100, 0.0, 0.0, 0.0, 0.0]}, "expected a change of at most 1e+100"),
        ({"slope": [0.0] * 5}, "slope has 5 entries; expected a list of 6"),
        ({"missing_slot": [-2, -1, -1, -1, -1]}, "where missing values go to every child"),
    ],
)
def test_a_wrong_document_is_refused_by_name(changes, message):
    with pytest.raises(StorageError, match=re.escape(message)):
        load(document(**changes))


def test_an_array_of_slopes_that_is_missing_or_unknown_is_refused():
    said = document()
    del said["tree"]["slope_high"]
    with pytest.raises(StorageError, match=r"expected the arrays n_children, feature, .*slope_high"):
        load(said)
    said = json.loads(encode(Model.of(PLAIN)))
    said["tree"]["slope"] = []
    with pytest.raises(StorageError, match="tree has 'slope'; expected only the arrays"):
        load(said)


ROWS = Table(SCHEMA, (np.array([20.0, 50.0, np.nan]), np.array([0, 1, -1], np.int32)), None, None, 1.0, None)


@pytest.mark.parametrize("as_tensors", [False, True])
def test_a_mutated_file_loads_or_is_refused(as_tensors):
    """Flipped, cut, doubled and replaced bytes, without the fingerprint: no other error, and what loads predicts."""
    rng = np.random.default_rng(20)
    data = encode(Model.of(TREE), as_tensors=as_tensors)
    stated = re.search(rb'\\?"sha256\\?": \\?"[0-9a-f]{64}\\?",? ?', data)
    blank = data[: stated.start()] + b" " * len(stated[0]) + data[stated.end() :]
    assert decode(blank).tree.digest == TREE.digest
    loaded = 0
    for _ in range(3_000):
        mutant = bytearray(blank)
        for _ in range(rng.integers(1, 4)):
            at, kind = int(rng.integers(len(mutant))), rng.integers(4)
            if kind == 0:
                mutant[at] ^= 1 << int(rng.integers(8))
            elif kind == 1:
                mutant[at] = int(rng.choice(list(b'0123456789-.e,[]{}" ')))
            elif kind == 2:
                del mutant[at : at + int(rng.integers(1, 6))]
            else:
                mutant[at:at] = mutant[at : at + int(rng.integers(1, 6))]
        try:
            tree = decode(bytes(mutant)).tree
        except StorageError:
            continue
        loaded += 1
        if tree.schema == SCHEMA:
            assert np.isfinite(predict_rows(tree, ROWS)).all()
    assert loaded  # some changes are harmless


# --------------------------------------------------------------------------------------------------- differences


def test_a_changed_slope_is_a_difference():
    steeper = replace(SLOPES, slope=SLOPES.slope * [[2.0], [1.0], [1.0]])
    found = hornbeam.diff(TREE, with_slopes(PLAIN, steeper))
    change = (
        "age > 30.0: slope of age: [0.0, 0.1] from 31.0 to 80.0 around 40.0, now [0.0, 0.2] from 31.0 to 80.0"
    )
    assert found.belief == (f"{change} around 40.0",)
    assert (found.structure, found.evidence, found.schema) == ((), (), ())


def test_a_slope_that_is_gone_is_a_difference():
    fewer = SLOPES.renumbered([0, 1, 2, 3, -1])
    found = hornbeam.diff(TREE, with_slopes(PLAIN, fewer))
    assert len(found.belief) == 2
    assert "slope of colour = 'red': [0.25, 0.0] from 0.0 to 1.0 around 0.5, now none" in found.belief[1]
    assert not hornbeam.diff(TREE, unpack(decode(encode(pack(TREE)))))
