"""Slot maps stored as int8: the same routing and digest as int32, and copied in blocks."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from hornbeam import TreeClassifier
from hornbeam.data.schema import Feature, Kind
from hornbeam.errors import TreeError
from hornbeam.tree import Schema, Skeleton
from hornbeam.tree.level_order import concat_ranges, node_blocks, take_ranges
from hornbeam.tree.tree import Tree


def star(n_children: int, dtype: type) -> Skeleton:
    """A root with one child per category, and one more category that stops."""
    n = n_children + 1
    return Skeleton.of(
        n_children=[n_children] + [0] * n_children,
        feature=[0] + [-1] * n_children,
        threshold=[np.nan] * n,
        slot_start=[0] + [n_children + 1] * n,
        slot_of=np.array([*range(n_children), -1], dtype),
    )


@pytest.mark.parametrize(
    ("n_children", "kept"), [(2, np.int8), (127, np.int8), (128, np.int32), (500, np.int32)]
)
def test_slots_are_int8_if_every_slot_fits(n_children, kept):
    skeleton = star(n_children, np.int32)
    assert skeleton.slot_of.dtype == kept
    assert_array_equal(skeleton.slot_of, [*range(n_children), -1])
    assert not skeleton.slot_of.flags.writeable
    assert_array_equal(pickle.loads(pickle.dumps(skeleton)).slot_of, skeleton.slot_of)


def test_the_digest_does_not_depend_on_the_dtype_of_slots():
    schema = Schema((Feature("c", Kind.NOMINAL, tuple("abcd")),), ("no", "yes"))
    evidence = np.array([[3, 3], [1, 1], [1, 1], [1, 1]])
    digests = {Tree.raw(schema, star(3, dtype), evidence).digest for dtype in (np.int8, np.int32)}
    assert len(digests) == 1


def test_other_dtypes_of_slots_are_refused():
    skeleton = star(2, np.int8)
    with pytest.raises(TreeError, match="slot_of holds int16, expected int32"):
        Skeleton(
            *(
                getattr(skeleton, name)
                for name in ("parent", "first_child", "n_children", "feature", "threshold")
            ),
            skeleton.slot_start,
            skeleton.slot_of.astype(np.int16),
            skeleton.missing_slot,
        )


def test_a_column_of_300_categories_is_learned():
    rng = np.random.default_rng(0)
    names = np.array([f"m{i:04d}" for i in range(300)])
    code = rng.integers(0, 300, 3000)
    y = rng.random(3000) < 0.1 + 0.8 * (code % 2)
    clf = TreeClassifier("cart", max_depth=3).fit(names[code][:, None], y)
    assert clf.tree_.skeleton.slot_of.dtype == np.int8
    assert (clf.predict(names[code][:, None]) == (code % 2)).mean() > 0.95
    wide = TreeClassifier("cart", nominal_split="multiway", max_depth=1).fit(names[code][:, None], y)
    assert wide.tree_.skeleton.slot_of.dtype == np.int32


@given(arrays(np.int64, st.integers(0, 12), elements=st.integers(0, 5)), st.integers(1, 7), st.data())
def test_take_ranges_in_blocks_equals_one_index(length, block, data):
    begin = np.array([data.draw(st.integers(0, 20 - n)) for n in length.tolist()], np.int64)
    values = np.arange(100, 120)
    starts, taken = take_ranges(values, begin, length, block)
    blocks = list(node_blocks(starts, block))
    assert_array_equal(taken, values[concat_ranges(begin, length)])
    assert [at for first, last in blocks for at in range(first, last)] == list(range(len(length)))
    assert all(last == first + 1 or starts[last] - starts[first] <= block for first, last in blocks)
