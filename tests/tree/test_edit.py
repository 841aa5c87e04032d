"""Functions that make new trees, against slow versions and results worked out by hand."""

import pickle
import re
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from hornbeam.data.schema import Feature, Schema
from hornbeam.data.table import Table
from hornbeam.errors import DataError, ParameterError, TreeError
from hornbeam.tree import Skeleton, Step, collapse, walk, with_belief
from hornbeam.tree.edit import raise_child
from hornbeam.tree.evidence.count import count_rows, finer_unit
from hornbeam.tree.evidence.fractional import _floor_of_product
from hornbeam.tree.tree import raw_belief
from support.reference_counting import count_nodes, route_nodes
from support.strategies import schemas, skeletons, tables, trees

nan = np.nan


@st.composite
def counted(draw, fractional=True):
    schema = draw(schemas(max_classes=4))
    return draw(skeletons(schema, fractional=fractional)), draw(tables(schema))


def weights(table):
    return [1] * table.n_rows if table.weight is None else table.weight.tolist()


# ---------------------------------------------------------------------------------------------------- count_rows


@given(counted())
def test_count_agrees_with_one_row_at_a_time(pair):
    skeleton, table = pair
    tree = count_rows(skeleton, table)
    evidence, rows = count_nodes(
        skeleton, table.columns, table.target, weights(table), table.schema.n_classes
    )
    assert tree.evidence.tolist() == evidence
    assert tree.rows.tolist() == rows
    assert (tree.unit == table.unit).all()
    np.testing.assert_array_equal(tree.belief, raw_belief(skeleton, tree.evidence))
    assert not tree.borrowed.any()


@given(counted(fractional=False))
def test_rows_are_counted_where_they_stop(pair):
    skeleton, table = pair
    stop = route_nodes(skeleton, table.columns)
    own = np.bincount(stop, minlength=skeleton.n_nodes)
    assert count_rows(skeleton, table).rows.tolist() == walk.pull_up(skeleton, own).tolist()


@given(counted())
def test_two_equal_rows_count_as_one_row_of_weight_two(pair):
    skeleton, table = pair
    unweighted = replace(table, weight=None, unit=1.0)
    twice = replace(
        unweighted,
        columns=tuple(np.concatenate((column, column)) for column in table.columns),
        target=np.concatenate((table.target, table.target)),
    )
    heavy = replace(unweighted, weight=np.full(table.n_rows, 2))
    if not skeleton.is_fractional:
        assert count_rows(skeleton, heavy).digest == count_rows(skeleton, twice).digest
    assert (
        count_rows(skeleton, heavy).evidence[0].tolist() == count_rows(skeleton, twice).evidence[0].tolist()
    )


@given(counted(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(pair, random):
    skeleton, table = pair
    order = random.sample(range(table.n_rows), table.n_rows)
    shuffled = replace(
        table,
        columns=tuple(column[order] for column in table.columns),
        target=table.target[order],
        weight=None if table.weight is None else table.weight[order],
    )
    assert count_rows(skeleton, shuffled).digest == count_rows(skeleton, table).digest


def fractional_table(weight=None):
    values = np.array([0.0, 0.0, 1.0, nan])
    return Table(
        Schema((Feature("x"),), ("a", "b")), (values,), np.array([0, 0, 1, 0], np.int32), weight, 1.0, None
    )


FRACTIONAL = Skeleton.of([2, 0, 0], [0, -1, -1], [0.5, nan, nan], missing_slot=[-2, -1, -1])


def test_a_missing_value_is_split_in_whole_steps():
    # Known 20 : 10, so of 10 missing steps floor(6.67) go left and floor(3.33) right; the remainder goes right.
    tree = count_rows(FRACTIONAL, fractional_table(np.full(4, 10)))
    assert tree.evidence.tolist() == [[30, 10], [26, 0], [4, 10]]
    assert tree.rows.tolist() == [4, 3, 2]


def test_a_smaller_unit_splits_more_exactly():
    assert count_rows(FRACTIONAL, fractional_table()).evidence.tolist() == [[3, 1], [2, 0], [1, 1]]
    fine = count_rows(FRACTIONAL, fractional_table(), unit=2.0**-30)
    np.testing.assert_allclose(fine.evidence * fine.unit, [[3, 1], [8 / 3, 0], [1 / 3, 1]], atol=1e-8)


def test_a_finer_unit_leaves_room_for_exact_sums():
    assert finer_unit(1.0, 2**40) == 2.0**-7
    assert finer_unit(0.125, 2**40) == 0.125


def test_a_missing_value_stops_without_known_rows():
    table = fractional_table()
    lost = replace(table, columns=(np.full(4, nan),))
    assert count_rows(FRACTIONAL, lost).evidence.tolist() == [[3, 1], [0, 0], [0, 0]]


@given(st.integers(0, 2**50 - 1), st.integers(0, 2**50 - 1), st.integers(1, 2**50 - 1))
def test_the_floor_of_a_product_is_exact_beyond_64_bits(a, b, d):
    b = min(b, d)
    assert _floor_of_product(np.array([a]), np.array([b]), np.array([d])).tolist() == [a * b // d]


def test_count_rows_refuses_invalid_input():
    table = fractional_table()
    with pytest.raises(DataError, match="no target"):
        count_rows(FRACTIONAL, replace(table, target=None))
    for unit in (0.3, 2.0):
        with pytest.raises(ParameterError, match=re.escape(f"unit is {unit}")):
            count_rows(FRACTIONAL, table, unit=unit)
    with pytest.raises(DataError, match=r"weigh 4503599627370496 steps, expected below 2\*\*50"):
        count_rows(FRACTIONAL, table, unit=2.0**-50)


# ------------------------------------------------------------------------------------------------- collapse


@given(trees(), st.data())
def test_collapse_keeps_the_nodes_without_a_collapsed_ancestor(tree, data):
    mask = data.draw(npst.arrays(np.bool_, tree.n_nodes))
    s = tree.skeleton
    kept = [i for i in range(tree.n_nodes) if not mask[walk.path(s, i)[:-1]].any()]
    small = collapse(tree, mask, Step.of("prune"))
    assert small.n_nodes == len(kept)
    assert small.evidence.tolist() == tree.evidence[kept].tolist()
    assert small.belief.tolist() == tree.belief[kept].tolist()
    assert small.borrowed.tolist() == tree.borrowed[kept].tolist()
    assert small.rows.tolist() == tree.rows[kept].tolist()
    assert small.history == (*tree.history, Step("prune"))
    for new, old in enumerate(kept):
        leaf = mask[old] or s.n_children[old] == 0
        assert small.skeleton.n_children[new] == (0 if leaf else s.n_children[old])
        assert small.skeleton.feature[new] == (-1 if leaf else s.feature[old])
        if not leaf:
            np.testing.assert_equal(small.skeleton.threshold[new], s.threshold[old])
            np.testing.assert_equal(small.gain[new], tree.gain[old])
            assert small.skeleton.missing_slot[new] == s.missing_slot[old]
            run = slice(s.slot_start[old], s.slot_start[old + 1])
            new_run = slice(small.skeleton.slot_start[new], small.skeleton.slot_start[new + 1])
            assert small.skeleton.slot_of[new_run].tolist() == s.slot_of[run].tolist()


@given(trees(), st.data())
def test_unchecked_edits_pass_all_checks(tree, data):
    """Edits skip checks that they cannot break: here all checks run."""
    small = collapse(tree, data.draw(npst.arrays(np.bool_, tree.n_nodes)))
    uniform = with_belief(small, np.full(small.belief.shape, 1 / small.n_classes), np.ones(small.n_nodes))
    for edited in (small, uniform):
        again = pickle.loads(pickle.dumps(edited))
        assert again.digest == edited.digest
        assert again.skeleton.levels == edited.skeleton.levels
        assert edited.digest == replace(edited, skeleton=replace(edited.skeleton)).digest
        for value in (edited, edited.skeleton):
            arrays = [getattr(value, f.name) for f in fields(value)]
            assert not any(a.flags.writeable for a in arrays if isinstance(a, np.ndarray))


@given(counted(fractional=False), st.data())
def test_collapse_sends_rows_to_the_nearest_kept_node(pair, data):
    skeleton, table = pair
    mask = data.draw(npst.arrays(np.bool_, skeleton.n_nodes))
    tree = count_rows(skeleton, table)
    assert collapse(tree, mask).digest == count_rows(collapse(tree, mask).skeleton, table).digest


@given(trees())
def test_collapsing_nothing_or_leaves_changes_nothing(tree):
    assert collapse(tree, np.zeros(tree.n_nodes, np.bool_)).digest == tree.digest
    assert collapse(tree, tree.skeleton.is_leaf).digest == tree.digest


def test_collapse_refuses_other_than_a_mask():
    tree = count_rows(FRACTIONAL, fractional_table())
    for mask in (np.array([0, 1, 2]), np.array([True])):
        with pytest.raises(TreeError, match="expected bool of shape"):
            collapse(tree, mask)


# ---------------------------------------------------------------------------------------------- raise_child


@given(counted(), st.data())
def test_a_raised_child_replaces_its_parent(pair, data):
    skeleton, table = pair
    inner = np.flatnonzero(skeleton.n_children)
    if not len(inner):
        return
    node = int(data.draw(st.sampled_from(inner.tolist())))
    slot = data.draw(st.integers(0, int(skeleton.n_children[node]) - 1))
    child = int(skeleton.first_child[node]) + slot
    gain = np.where(skeleton.is_leaf, nan, 1.0)
    tree = raise_child(count_rows(skeleton, table, gain=gain), node, slot, table, Step.of("raise"))

    # Compare old and new tree node by node: the child replaces its parent, the rest is the same.
    pairs = [(child if node == 0 else 0, 0)]
    below = set(walk.descendants(skeleton, child).tolist())
    for old, new in pairs:
        assert skeleton.feature[old] == tree.skeleton.feature[new]
        assert skeleton.n_children[old] == tree.skeleton.n_children[new]
        np.testing.assert_equal(skeleton.threshold[old], tree.skeleton.threshold[new])
        np.testing.assert_equal(tree.gain[new], nan if old in below else gain[old])
        for i in range(skeleton.n_children[old]):
            branch = int(skeleton.first_child[old]) + i
            pairs.append((child if branch == node else branch, int(tree.skeleton.first_child[new]) + i))
    assert len(pairs) == tree.n_nodes
    assert tree.evidence.tolist() == count_rows(tree.skeleton, table).evidence.tolist()
    assert tree.history == (Step("raise"),)


def test_only_a_child_can_be_raised():
    table = fractional_table()
    tree = count_rows(FRACTIONAL, table)
    for node, slot in ((0, 2), (0, -1), (1, 0), (3, 0), (-3, 0)):
        with pytest.raises(TreeError, match=f"node {node} has no slot {slot}"):
            raise_child(tree, node, slot, table)


# -------------------------------------------------------------------------------------------------- with_belief


@given(trees())
def test_with_belief_changes_belief_alone(tree):
    uniform = np.full((tree.n_nodes, tree.n_classes), 1 / tree.n_classes)
    smooth = with_belief(tree, uniform, np.ones(tree.n_nodes), Step.of("uniform"))
    assert smooth.belief.tolist() == uniform.tolist()
    assert smooth.borrowed.tolist() == [1.0] * tree.n_nodes
    assert smooth.evidence.tolist() == tree.evidence.tolist()
    assert smooth.skeleton is tree.skeleton
    assert smooth.history == (*tree.history, Step("uniform"))
    assert smooth.digest != tree.digest


def test_without_a_step_the_history_is_the_same():
    tree = count_rows(FRACTIONAL, fractional_table(), history=(Step("grow"),))
    assert with_belief(tree, tree.belief, tree.borrowed).history == (Step("grow"),)
    assert collapse(tree, np.array([True, False, False])).history == (Step("grow"),)
