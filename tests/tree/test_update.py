"""Adding, removing and decaying evidence, against one row at a time."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.data.schema import Feature, Schema
from hornbeam.data.table import Table
from hornbeam.errors import DataError, ParameterError
from hornbeam.tree import Skeleton
from hornbeam.tree.evidence.count import count_at_nodes, count_rows
from hornbeam.tree.evidence.fractional import known_weight
from hornbeam.tree.evidence.update import add_rows, decay, remove_rows
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import evidence_stopping
from support.examples import examples
from support.reference_counting import count_nodes
from support.strategies import schemas, skeletons, tables, trees

nan = np.nan
few = examples(40)


@st.composite
def two_tables(draw, fractional=True):
    """A skeleton, two tables of integer weights in the same unit, and positive shares of all nodes."""
    schema = draw(schemas(max_classes=4))
    skeleton = draw(skeletons(schema, fractional=fractional))
    one, other = (draw(tables(schema, max_rows=20)) for _ in range(2))
    one, other = (replace(table, weight=_small_weight(table), unit=1.0) for table in (one, other))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    return skeleton, one, other, rng.integers(1, 50, skeleton.n_nodes)


def _small_weight(table):
    return None if table.weight is None else table.weight % 2**30 + 1


def counted(skeleton, table, shares):
    [(evidence, rows, _)] = count_at_nodes([skeleton], table, unit=table.unit, shares=[shares])
    return Tree.raw(table.schema, skeleton, evidence, unit=table.unit, rows=rows)


def together(one, other):
    """Concatenate two tables, the other first."""
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
def test_added_rows_count_as_if_counted_at_first(drawn):
    skeleton, one, other, shares = drawn
    tree = add_rows(counted(skeleton, one, shares), other, shares=shares)
    replace(tree)  # runs every check
    both = counted(skeleton, together(one, other), shares)
    assert tree.digest == both.digest
    assert tree.rows.tolist() == both.rows.tolist()
    assert tree.history[-1].name == "add-rows"


@few
@given(two_tables(fractional=False))
def test_added_rows_agree_with_one_row_at_a_time(drawn):
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
def test_removing_rows_undoes_adding_them_in_any_order(drawn):
    skeleton, one, other, shares = drawn
    tree = counted(skeleton, one, shares)
    both = add_rows(tree, other, shares=shares)
    assert remove_rows(both, other, shares=shares).digest == tree.digest
    assert remove_rows(both, one, shares=shares).digest == counted(skeleton, other, shares).digest
    empty = remove_rows(tree, one, shares=shares)
    assert not empty.evidence.any()
    assert not empty.rows.any()


@few
@given(two_tables())
def test_removing_more_than_was_counted_is_refused(drawn):
    skeleton, one, other, shares = drawn
    with pytest.raises(DataError, match="to be forgotten"):
        remove_rows(counted(skeleton, one, shares), together(one, other), shares=shares)


FRACTIONAL = Skeleton.of([2, 0, 0], [0, -1, -1], [0.5, nan, nan], missing_slot=[-2, -1, -1])
STUMP = Skeleton.of([2, 0, 0], [0, -1, -1], [0.5, nan, nan])
SCHEMA = Schema((Feature("x"),), ("a", "b"))


def table(values, codes, weight=None, unit=1.0):
    return Table(SCHEMA, (np.array(values),), np.array(codes, np.int32), weight, unit)


def test_missing_values_are_split_by_the_same_shares_again():
    rows = table([0.0, 0.0, 1.0, nan], [0, 0, 1, 0], np.full(4, 30))
    tree = count_rows(FRACTIONAL, rows)
    assert tree.evidence.tolist() == [[90, 30], [80, 0], [10, 30]]
    shares = known_weight(FRACTIONAL, rows, rows.weight)
    assert shares.tolist() == [120, 60, 30]
    # A known row is added on the right. The next missing one is split two to one as before.
    more = add_rows(tree, table([1.0, nan], [1, 1], np.full(2, 30)), shares=shares)
    assert more.evidence.tolist() == [[90, 90], [80, 20], [10, 70]]
    known = remove_rows(more, table([0.0, 0.0], [0, 0], np.full(2, 30)), shares=shares)
    assert remove_rows(known, table([nan], [0], np.full(1, 30)), shares=shares).evidence.tolist() == [
        [0, 90],
        [0, 20],
        [0, 70],
    ]


def test_by_default_missing_values_are_split_by_the_evidence():
    tree = Tree.raw(SCHEMA, FRACTIONAL, np.array([[9, 3], [9, 0], [0, 3]]) * 2**56)
    more = add_rows(tree, table([nan], [1], np.array([8])))
    assert (more.evidence - tree.evidence).tolist() == [[0, 8], [0, 6], [0, 2]]


def test_heavy_rows_are_counted_in_blocks():
    light = count_rows(STUMP, table([0.0], [0]), unit=2.0**-48)
    tree = add_rows(light, table([1.0] * 9, [0, 1, 1] * 3))
    assert (tree.evidence * tree.unit).tolist() == [[4, 6], [1, 0], [3, 6]]
    assert str(tree.history[-1]) == "add-rows(rows=9, weight=9.0)"


@few
@given(trees(), st.floats(0.01, 1.0, exclude_max=True))
def test_decay_multiplies_the_evidence_of_every_node(tree, factor):
    decayed = decay(tree, factor)
    replace(decayed)  # runs every check
    own = evidence_stopping(tree.skeleton, tree.evidence) * tree.unit
    # Half a step, and the rounding of a product of floats, for each class of each node.
    slack = 0.5 * decayed.unit[0] + 1e-15 * own.max()
    np.testing.assert_allclose(
        evidence_stopping(decayed.skeleton, decayed.evidence) * decayed.unit, own * factor, rtol=0, atol=slack
    )
    assert decayed.rows is tree.rows
    total = int(tree.evidence[0].sum())
    assert not total or 2**47 * factor * 0.99 < decayed.evidence[0].sum() < 2**48


def test_a_factor_of_one_changes_nothing():
    tree = count_rows(STUMP, table([0.0, 1.0], [0, 1]))
    assert decay(tree, 1.0) is tree


def test_decay_rounds_half_to_even():
    """Half of 2**47 - 1 steps is 2**46 - 1/2."""
    tree = Tree.raw(SCHEMA, Skeleton.leaf(), np.array([[2**47 - 1, 1]]), unit=0.5)
    decayed = decay(tree, 0.5)
    assert decayed.unit[0] == 0.5
    assert decayed.evidence.tolist() == [[2**46, 0]]
    assert decay(tree, 0.75).evidence.tolist() == [[3 * 2**45 - 1, 1]]


def test_invalid_updates_are_refused():
    tree = count_rows(STUMP, table([0.0, 1.0], [0, 1]))
    with pytest.raises(DataError, match="schema is not the tree's"):
        add_rows(tree, Table.read([[0.0]], ["c"]))
    with pytest.raises(DataError, match="no target"):
        remove_rows(tree, Table(SCHEMA, (np.zeros(1),)))
    with pytest.raises(ParameterError, match=r"expected the table's unit 0\.5 divided by a whole number"):
        add_rows(tree, table([0.0], [0], np.array([3]), 0.5))
    with pytest.raises(DataError, match=r"weigh 9.22e\+18 steps of 1, expected at most 4.61e\+18"):
        add_rows(tree, table([0.0], [0], np.array([2**63 - 1])))
    with pytest.raises(ParameterError, match=r"decay=1.1: expected a number above 0, up to 1"):
        decay(tree, 1.1)


def test_the_error_has_the_leaf_and_class_of_rows_never_counted():
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
    fractional = count_rows(FRACTIONAL, table([0.0, 1.0, nan, nan], [0, 0, 0, 0], np.full(4, 10)))
    with pytest.raises(DataError, match="leaf 2 has fewer rows than are to be forgotten"):
        remove_rows(fractional, table([0.0, 0.0], [0, 0], np.full(2, 10)))
