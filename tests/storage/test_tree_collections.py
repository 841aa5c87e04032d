"""Several trees in one file: what is saved comes back, and damaged files are refused by name."""

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.errors import StorageError, TreeError
from hornbeam.estimators.persistence.files import unpack
from hornbeam.smoothing import Laplace
from hornbeam.storage.difference import compare
from hornbeam.storage.file import decode, encode, read, read_any, write
from hornbeam.storage.model import Model
from hornbeam.tree import Skeleton
from hornbeam.tree.tree import Tree
from support.examples import examples
from support.strategies import trees

pytestmark = pytest.mark.filterwarnings("ignore:the file has no sha256")

SCHEMA = Schema((Feature("age"), Feature("colour", Kind.NOMINAL, ("blue", "red"))), ("no", "yes"))
DEEP = Skeleton.of(
    [2, 2, 0, 0, 0],
    [0, 1, -1, -1, -1],
    [30.0, *[np.nan] * 4],
    slot_start=[0, 0, 2, 2, 2, 2],
    slot_of=[0, 1],
)
STUMP = Skeleton.of([2, 0, 0], [0, -1, -1], [25.0, np.nan, np.nan])
ONE = Tree.raw(SCHEMA, DEEP, np.array([[5, 5], [4, 1], [1, 4], [4, 0], [0, 1]]))
TWO = Tree.raw(SCHEMA, STUMP, np.array([[6, 4], [5, 1], [1, 3]]), unit=0.5)
COLLECTION = Model(
    SCHEMA, (ONE, TWO, Laplace()(ONE)), "ForestClassifier", {"n_estimators": 3}, {"named": True}
)


def digests(model):
    return [tree.digest for tree in model.trees]


@given(trees(), st.integers(0, 3), st.randoms(use_true_random=False))
@examples(40)
def test_every_collection_comes_back(tree, n, random):
    smoothed = tree if tree.is_regression else Laplace()(tree)
    collection = Model(tree.schema, tuple(random.choice([tree, smoothed]) for _ in range(n)), "F", {"a": 1})
    data = encode(collection)
    again = decode(data)
    assert digests(again) == digests(collection)
    assert [one.history for one in again.trees] == [one.history for one in collection.trees]
    assert again.schema == collection.schema
    assert (again.estimator, again.settings) == ("F", {"a": 1})
    assert all(np.array_equal(a.rows, b.rows) for a, b in zip(again.trees, collection.trees, strict=True))
    assert all(
        np.array_equal(a.gain, b.gain, equal_nan=True)
        for a, b in zip(again.trees, collection.trees, strict=True)
    )
    assert encode(again) == data


def test_units_and_histories_are_each_tree_s_own():
    again = decode(encode(COLLECTION))
    assert [tree.unit.tolist() for tree in again.trees] == [[1.0, 1.0], [0.5, 0.5], [1.0, 1.0]]
    assert [len(tree.history) for tree in again.trees] == [0, 0, 1]
    assert not compare(again, COLLECTION)


def test_any_reader_of_safetensors_opens_the_arrays():
    safetensors = pytest.importorskip("safetensors.numpy", reason="another library, of the extra test")
    arrays = safetensors.load(encode(COLLECTION))
    assert arrays["tree_nodes"].tolist() == [5, 3, 5]
    assert arrays["tree_history"].tolist() == [0, 0, 1]
    assert arrays["n_children"].tolist() == [2, 2, 0, 0, 0, 2, 0, 0, 2, 2, 0, 0, 0]
    assert arrays["unit"].shape == (3, 2)


def test_a_tree_of_another_schema_is_refused():
    other = Tree.raw(Schema((Feature("age"),), ("no", "yes")), STUMP, np.array([[6, 4], [5, 1], [1, 3]]))
    with pytest.raises(TreeError, match="tree 1 has another schema than the others"):
        Model(SCHEMA, (ONE, other))


def test_who_wants_one_tree_is_told_what_the_file_is(tmp_path):
    write(COLLECTION, tmp_path / "collection.hornbeam")
    with pytest.raises(StorageError, match="a ForestClassifier with 3 trees; expected one tree"):
        read(tmp_path / "collection.hornbeam")
    assert digests(read_any(tmp_path / "collection.hornbeam")) == digests(COLLECTION)
    write(Model.of(ONE, "RuleClassifier", content="rules"), tmp_path / "rules.hornbeam")
    with pytest.raises(StorageError, match="a RuleClassifier with rules; expected one tree"):
        read(tmp_path / "rules.hornbeam")


def test_collections_are_compared_tree_by_tree():
    fewer = Model(SCHEMA, (ONE, ONE), "ForestClassifier", {"n_estimators": 2}, {"named": True})
    found = compare(COLLECTION, fewer)
    assert found.settings == ("n_estimators: 3, now 2",)
    assert found.structure[0] == "3 trees, now 2 trees"
    assert found.structure[1].startswith("tree 1, every row: age <= 25.0 / age > 25.0")
    assert found.evidence[0] == "tree 1, every row: [3, 2], now [5, 5]"
    with pytest.raises(
        StorageError, match="a ForestClassifier of 3 trees and a Tree of 1 tree; expected two"
    ):
        compare(COLLECTION, Model.of(ONE))


# ------------------------------------------------------------------------------------------------------- hostile


def forged(header=None, **arrays):
    """The collection with other entries in its header and other arrays, in the layout of a writer."""
    data = encode(COLLECTION)
    length = int.from_bytes(data[:8], "little")
    entries = json.loads(data[8 : 8 + length])
    said = json.loads(entries.pop("__metadata__")["hornbeam"])
    del said["sha256"]
    said.update(header or {})
    body, made = b"", {}
    for name, entry in entries.items():
        begin, end = entry["data_offsets"]
        part = data[8 + length + begin : 8 + length + end]
        if name in arrays:
            given = np.array(arrays[name])
            part, entry["shape"] = given.tobytes(), list(given.shape)
        made[name] = entry | {"data_offsets": [len(body), len(body) + len(part)]}
        body += part
    head = json.dumps({"__metadata__": {"hornbeam": json.dumps(said)}, **made}).encode()
    return len(head).to_bytes(8, "little") + head + body


def test_the_forger_leaves_a_sound_file_sound():
    assert digests(decode(forged())) == digests(COLLECTION)


I4 = np.int32
BELIEF = np.concatenate([tree.belief for tree in COLLECTION.trees])
CHILDREN = [2, 2, 0, 0, 0, 2, 0, 0, 2, 2, 0, 0, 0]


@pytest.mark.parametrize(
    ("header", "arrays", "message"),
    [
        ({"kind": "forest"}, {}, "kind is 'forest'; expected 'tree', 'regression tree', 'rules', 'trees'"),
        ({"kind": None}, {}, "kind is None; expected 'tree'"),
        ({"kind": "tree"}, {}, "'n_trees' is no key of version 1.5"),
        ({"kind": "regression trees"}, {}, "n_classes is 2; expected 0: the target of a regression tree"),
        ({"n_trees": 10**9}, {}, "n_trees is 1000000000; expected a whole number from 0 to 65,536"),
        ({"n_trees": 4}, {}, "tree_nodes is {'dtype': 'I32', 'shape': [3]} in 12 bytes"),
        ({"n_nodes": 2**26 + 1}, {}, "n_nodes is 67108865; expected a whole number"),
        ({"n_nodes": 2**26, "n_classes": 5}, {}, "n_nodes times n_classes is 335,544,320"),
        ({"n_trees": 2**16, "n_features": 2**17}, {}, "n_trees times n_features is 8,589,934,592"),
        ({"history": []}, {}, "tree_history runs from 0 to 1; expected 0 to -1"),
        ({"history": {}}, {}, "history is {}; expected a list of histories"),
        ({"history": [{}, []]}, {}, "history is {}; expected a list of steps"),
        ({}, {"tree_history": np.array([0, 0, 2], I4)}, "tree_history runs from 0 to 2"),
        ({}, {"tree_history": np.array([0, -1, 0], I4)}, "tree_history runs from -1 to 0"),
        ({}, {"tree_nodes": np.array([5, 3, 4], I4)}, "tree_nodes adds up to 12; expected 13"),
        (
            {},
            {"tree_nodes": np.array([5, 8, 0], I4)},
            "tree_nodes runs from 0 to 8; expected 1 to 16,777,216",
        ),
        ({}, {"tree_nodes": np.array([2**31 - 1] * 3, I4)}, "tree_nodes runs from 2147483647"),
        ({}, {"tree_nodes": np.array([3, 5, 5], I4)}, "tree 0: n_children adds up to 4, expected 2"),
        (
            {},
            {"n_children": np.array([*CHILDREN[:5], 0, 2, 0, *CHILDREN[8:]], I4)},
            "tree 1: n_children[0] is 0",
        ),
        ({}, {"n_children": np.array([-2, *CHILDREN[1:]], I4)}, "tree 0: n_children[0] is -2"),
        (
            {},
            {"feature": np.array([0, 1, *[-1] * 3, 2, -1, -1, 0, 1, *[-1] * 3], I4)},
            "feature runs from -1 to 2",
        ),
        (
            {},
            {"feature": np.array([0, 0, *[-1] * 3, 0, -1, -1, 0, 1, *[-1] * 3], I4)},
            "n_slots is 4; expected 2",
        ),
        ({}, {"slot_of": np.array([0, 1, 0, 7], I4)}, "tree 2: slot_of[1] is 7 at node 1"),
        (
            {},
            {"belief": np.where(np.arange(13)[:, None] == 6, np.nan, BELIEF)},
            "tree 1: belief[1] is [nan, nan]",
        ),
        ({}, {"unit": np.array([[1.0, 1.0], [0.5, np.nan], [1.0, 1.0]])}, "tree 1: unit is [0.5, nan]"),
        ({"sha256": "0" * 64}, {}, "the file was changed since it was saved"),
    ],
)
def test_a_wrong_collection_is_refused_by_name(header, arrays, message):
    with pytest.raises(StorageError, match=re.escape(message)):
        decode(forged(header, **arrays))


def test_a_collection_cut_short_or_long_is_refused():
    data = encode(COLLECTION)
    for wrong in (*(data[:at] for at in range(0, len(data), 97)), data[:-1], data + b"\0"):
        with pytest.raises(StorageError):
            decode(wrong)


def test_every_changed_byte_of_the_arrays_is_noticed():
    sound = encode(COLLECTION)
    data, body = bytearray(sound), 8 + int.from_bytes(sound[:8], "little")
    refused = 0
    for at in range(body, len(data), 7):
        data[at] ^= 1
        try:
            again = decode(bytes(data))
        except StorageError:
            refused += 1
        else:  # another way to write a missing number
            assert not compare(again, COLLECTION, atol=0.0)
            assert np.isnan(np.frombuffer(data[at - (at - body) % 8 :][:8])[0])
        data[at] ^= 1
    assert refused > 50


def test_a_text_holds_one_tree():
    said = json.loads(encode(Model.of(ONE))) | {"kind": "trees", "n_trees": 1}
    with pytest.raises(StorageError, match="kind is 'trees' in a text; expected one tree"):
        decode(json.dumps(said).encode())


def test_trees_that_say_not_what_they_are_together_are_refused():
    for estimator, message in (
        (None, "the estimator is a None; expected TreeClassifier"),
        ("TreeClassifier", "the kind is 'trees', expected 'tree'"),
        ("ForestRegressor", "the kind is 'trees', expected 'regression trees'"),
        ("os.system", "the estimator is a 'os.system'; expected TreeClassifier"),
    ):
        with pytest.raises(StorageError, match=re.escape(message)):
            unpack(Model(SCHEMA, COLLECTION.trees, estimator))
