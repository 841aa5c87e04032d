"""Evidence that comes, fades and goes: against one row at a time, and back to the last step."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbeam.data.schema import Feature, Schema
from hornbeam.data.table import Table
from hornbeam.errors import DataError, ParameterError
from hornbeam.tree import Skeleton, Tree, add_rows, count_rows, decay, remove_rows
from hornbeam.tree.edit import count_evidence
from hornbeam.tree.evidence.fractional import known_weight
from hornbeam.tree.walk import evidence_stopping
from reference import count_nodes
from strategies import schemas, skeletons, tables, trees

nan = np.nan
few = settings(max_examples=40)


@st.composite
def two_tables(draw, fractional=True):
    """A skeleton, two tables of whole weights in the same unit, and shares by which every node can be reached."""
    schema = draw(schemas(max_classes=4))
    skeleton = draw(skeletons(schema, fractional=fractional))
    one, other = (draw(tables(schema, max_rows=20)) for _ in range(2))
    one, other = (replace(table, weight=_light(table), unit=1.0) for table in (one, other))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    return skeleton, one, other, rng.integers(1, 50, skeleton.n_nodes)


def _light(table):
    return None if table.weight is None else table.weight % 2**30 + 1


def counted(skeleton, table, shares):
    evidence, rows = count_evidence(skeleton, table, table.unit, shares)
    return Tree.raw(table.schema, skeleton, evidence, unit=table.unit, rows=rows)


def together(one, other):
    """Both tables in one, a row of the other first."""
    weight = [np.ones(t.n_rows, np.int64) if t.weight is None else t.weight for t in (other, one)]
    return replace(
        one,
        columns=tuple(np.concatenate(pair) for pair in zip(other.columns, one.columns, strict=True)),
        target=np.concatenate((other.target, one.target)),
        weight=np.concatenate(weight),
        matrix=None,
    )


@few
@given(two_tables())
def test_rows_that_come_later_count_as_if_they_had_come_before(drawn):
    skeleton, one, other, shares = drawn
    tree = add_rows(counted(skeleton, one, shares), other, shares=shares)
    replace(tree)  # runs every check
    both = counted(skeleton, together(one, other), shares)
    assert tree.digest == both.digest
    assert tree.rows.tolist() == both.rows.tolist()
    assert tree.history[-1].name == "add-rows"


@few
@given(two_tables(fractional=False))
def test_the_sum_is_that_of_one_row_at_a_time(drawn):
    skeleton, one, other, _ = drawn
    both = together(one, other)
    evidence, rows = count_nodes(
        skeleton, both.columns, both.target, both.weight.tolist(), both.schema.n_classes
    )
    tree = add_rows(count_rows(skeleton, one), other)
    assert tree.evidence.tolist() == evidence
    assert tree.rows.tolist() == rows


@few
@given(two_tables())
def test_what_was_added_can_be_removed_and_the_other_way_round(drawn):
    skeleton, one, other, shares = drawn
    tree = counted(skeleton, one, shares)
    both = add_rows(tree, other, shares=shares)
    assert remove_rows(both, other, shares=shares).digest == tree.digest
    assert remove_rows(both, one, shares=shares).digest == counted(skeleton, other, shares).digest
    nobody = remove_rows(tree, one, shares=shares)
    assert not nobody.evidence.any()
    assert not nobody.rows.any()


@few
@given(two_tables())
def test_more_than_there_is_cannot_be_removed(drawn):
    skeleton, one, other, shares = drawn
    with pytest.raises(DataError, match="to be forgotten"):
        remove_rows(counted(skeleton, one, shares), together(one, other), shares=shares)


SHARING = Skeleton.of([2, 0, 0], [0, -1, -1], [0.5, nan, nan], missing_slot=[-2, -1, -1])
STUMP = Skeleton.of([2, 0, 0], [0, -1, -1], [0.5, nan, nan])
SCHEMA = Schema((Feature("x"),), ("a", "b"))


def table(values, codes, weight=None, unit=1.0):
    return Table(SCHEMA, (np.array(values),), np.array(codes, np.int32), weight, unit)


def test_missing_values_go_on_being_shared_as_they_were():
    rows = table([0.0, 0.0, 1.0, nan], [0, 0, 1, 0], np.full(4, 30))
    tree = count_rows(SHARING, rows)
    assert tree.evidence.tolist() == [[90, 30], [80, 0], [10, 30]]
    shares = known_weight(SHARING, rows, rows.weight)
    assert shares.tolist() == [120, 60, 30]
    # A known row comes to the right. The next missing one is shared by two to one all the same.
    more = add_rows(tree, table([1.0, nan], [1, 1], np.full(2, 30)), shares=shares)
    assert more.evidence.tolist() == [[90, 90], [80, 20], [10, 70]]
    known = remove_rows(more, table([0.0, 0.0], [0, 0], np.full(2, 30)), shares=shares)
    assert remove_rows(known, table([nan], [0], np.full(1, 30)), shares=shares).evidence.tolist() == [
        [0, 90],
        [0, 20],
        [0, 70],
    ]


def test_unless_they_are_told_missing_values_are_shared_by_the_evidence():
    tree = Tree.raw(SCHEMA, SHARING, np.array([[9, 3], [9, 0], [0, 3]]) * 2**56)
    more = add_rows(tree, table([nan], [1], np.array([8])))
    assert (more.evidence - tree.evidence).tolist() == [[0, 8], [0, 6], [0, 2]]


def test_blocks_of_heavy_rows_are_counted_one_by_one():
    light = count_rows(STUMP, table([0.0], [0]), unit=2.0**-48)
    tree = add_rows(light, table([1.0] * 9, [0, 1, 1] * 3))
    assert (tree.evidence * tree.unit).tolist() == [[4, 6], [1, 0], [3, 6]]
    assert str(tree.history[-1]) == "add-rows(rows=9, weight=9.0)"


@few
@given(trees(), st.floats(0.01, 1.0, exclude_max=True))
def test_what_fades_fades_everywhere_alike(tree, factor):
    faded = decay(tree, factor)
    replace(faded)  # runs every check
    own = evidence_stopping(tree.skeleton, tree.evidence) * tree.unit
    # Half a step, and what the product of two floats may lose, for each class of each node.
    slack = 0.5 * faded.unit[0] + 1e-15 * own.max()
    np.testing.assert_allclose(
        evidence_stopping(faded.skeleton, faded.evidence) * faded.unit, own * factor, rtol=0, atol=slack
    )
    assert faded.rows is tree.rows
    total = int(tree.evidence[0].sum())
    assert not total or 2**47 * factor * 0.99 < faded.evidence[0].sum() < 2**48


def test_nothing_fades_by_a_factor_of_one():
    tree = count_rows(STUMP, table([0.0, 1.0], [0, 1]))
    assert decay(tree, 1.0) is tree


def test_the_nearest_step_is_taken_and_of_two_the_even_one():
    """Of 2**47 steps and one more, half is 2**46 and a half."""
    tree = Tree.raw(SCHEMA, Skeleton.leaf(), np.array([[2**47 - 1, 1]]), unit=0.5)
    faded = decay(tree, 0.5)
    assert faded.unit[0] == 0.5
    assert faded.evidence.tolist() == [[2**46, 0]]
    assert decay(tree, 0.75).evidence.tolist() == [[3 * 2**45 - 1, 1]]


def test_what_cannot_be_counted_is_refused():
    tree = count_rows(STUMP, table([0.0, 1.0], [0, 1]))
    with pytest.raises(DataError, match="schema is not the tree's"):
        add_rows(tree, Table.read([[0.0]], ["c"]))
    with pytest.raises(DataError, match="no target"):
        remove_rows(tree, Table(SCHEMA, (np.zeros(1),)))
    with pytest.raises(ParameterError, match="expected the table's unit 0.5 divided by a whole number"):
        add_rows(tree, table([0.0], [0], np.array([3]), 0.5))
    with pytest.raises(DataError, match=r"weigh 9.22e\+18 steps of 1, expected at most 4.61e\+18"):
        add_rows(tree, table([0.0], [0], np.array([2**63 - 1])))
    with pytest.raises(ParameterError, match=r"decay=1.1: expected a number above 0, up to 1"):
        decay(tree, 1.1)


def test_who_never_came_is_named_by_leaf_and_class():
    tree = count_rows(STUMP, table([0.0, 1.0, nan], [0, 1, 0]))
    for row, message in (
        ((1.0, 0), "leaf 2 has 0 rows of the class 'a', but 1 are to be forgotten"),
        ((nan, 1), "node 0 has 0 rows of the class 'b', but 1 are to be forgotten"),
    ):
        with pytest.raises(DataError, match=message):
            remove_rows(tree, table([row[0]], [row[1]]))
    heavy = count_rows(STUMP, table([0.0, 1.0], [0, 1], np.array([2, 1])))
    with pytest.raises(DataError, match="leaf 1 has fewer rows than are to be forgotten"):
        remove_rows(heavy, table([0.0, 0.0], [0, 0]))
    shared = count_rows(SHARING, table([0.0, 1.0, nan, nan], [0, 0, 0, 0], np.full(4, 10)))
    with pytest.raises(DataError, match="leaf 2 has fewer rows than are to be forgotten"):
        remove_rows(shared, table([0.0, 0.0], [0, 0], np.full(2, 10)))
