"""The fields that change a digest, and those that do not."""

import datetime as dt
import hashlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.errors import SchemaError
from hornbeam.tree import Skeleton, Step
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import leaves_below
from support.strategies import trees

PARTS = (
    "parent",
    "first_child",
    "n_children",
    "feature",
    "threshold",
    "slot_start",
    "slot_of",
    "missing_slot",
)


def leaf(*classes, features=()):
    return Tree.raw(Schema(features, classes), Skeleton.leaf(), np.ones((1, len(classes)), np.int64))


def split(threshold, missing_slot=-1):
    skeleton = Skeleton.of(
        [2, 0, 0], [0, -1, -1], [threshold, np.nan, np.nan], missing_slot=[missing_slot, -1, -1]
    )
    return Tree.raw(Schema((Feature("x"),), ("a",)), skeleton, np.array([[2], [1], [1]]))


def test_the_bytes_are_those_documented():
    def number(n):
        return n.to_bytes(8, "little")

    def string(text):
        return b"s" + number(len(text)) + text.encode()

    stream = b"hornbeam tree 1"
    stream += number(2) + string("x") + string("numeric") + number(0)
    stream += (
        string("c") + string("nominal") + number(2) + b"b" + number(1) + b"\0" + b"b" + number(1) + b"\1"
    )
    stream += (
        number(3) + string("a") + b"i" + number(2) + b"10" + b"f" + number(8) + np.float64(0.5).tobytes()
    )
    for values, dtype in [([-1], "<i4"), ([-1], "<i4"), ([0], "<i4"), ([-1], "<i4"), ([np.nan], "<f8")]:
        stream += number(1) + np.array(values, dtype).tobytes()  # parent ... threshold
    stream += number(2) + bytes(8) + number(0) + number(1) + np.array([-1], "<i4").tobytes()
    for values, dtype in [([1, 1, 1], "<i8"), ([1] * 3, "<f8"), ([1 / 3] * 3, "<f8"), ([0], "<f8")]:
        stream += number(len(values)) + np.array(values, dtype).tobytes()
    features = (Feature("x"), Feature("c", Kind.NOMINAL, (False, True)))
    assert leaf("a", 10, 0.5, features=features).digest == hashlib.sha256(stream).hexdigest()


def test_the_digest_never_changes_between_versions():
    assert split(0.5).digest == "485ed2262bd7ff648a19e3a8aedc7bdb2d5e00524eddc0f6ca652e5fc19eef8e"


@given(trees())
def test_rows_gain_and_history_do_not_change_the_digest(tree):
    gain = np.where(tree.skeleton.is_leaf, np.nan, 7.0)
    other = replace(tree, rows=np.zeros_like(tree.rows), gain=gain, history=(Step("other"),))
    assert other.digest == tree.digest


@given(trees())
def test_every_other_field_changes_the_digest(tree):
    k = tree.n_classes
    changed = [
        replace(tree, evidence=tree.evidence + leaves_below(tree.skeleton)[:, None]),
        replace(tree, unit=tree.unit / 2),
        replace(tree, borrowed=tree.borrowed + 1),
        replace(tree, schema=Schema(tree.schema.features, tuple(f"other {i}" for i in range(k)))),
        replace(
            tree, schema=Schema((*tree.schema.features, Feature("one more feature")), tree.schema.classes)
        ),
    ]
    assert len({tree.digest, *(other.digest for other in changed)}) == len(changed) + 1


def test_labels_of_different_types_differ():
    variants = [leaf(*c) for c in [(0, 1), (0.0, 1.0), (False, True), ("0", "1"), ((0,), (1,)), (None, 1)]]
    assert len({tree.digest for tree in variants}) == len(variants)


def test_the_split_of_text_into_labels_changes_the_digest():
    assert leaf("ab", "c").digest != leaf("a", "bc").digest
    assert leaf("a", features=(Feature("b"),)).digest != leaf("a", "b").digest


def test_numpy_and_python_labels_have_the_same_digest():
    assert leaf(np.int64(3), np.str_("a"), np.float64(0.5), np.True_).digest == leaf(3, "a", 0.5, True).digest


def test_every_nan_and_both_zeros_have_the_same_digest():
    assert split(-0.0).digest == split(0.0).digest
    other_nan = np.array([0x7FF800000000BEEF], np.uint64).view(np.float64)
    tree = leaf("a")
    parts = {name: getattr(tree.skeleton, name) for name in PARTS}
    assert replace(tree, skeleton=Skeleton(**parts | {"threshold": other_nan})).digest == tree.digest
    assert split(0.5).digest != split(0.25).digest
    assert split(0.5).digest != split(0.5, missing_slot=1).digest


def test_other_labels_are_hashed_by_type_and_repr():
    day = dt.date(2000, 1, 2)
    assert leaf(day).digest == leaf(dt.date(2000, 1, 2)).digest
    assert leaf(day).digest != leaf(dt.date(2000, 1, 3)).digest
    assert leaf("\ud800").digest != leaf("\ud801").digest
    with pytest.raises(SchemaError, match="does not show its value"):
        _ = leaf(object()).digest
