"""Conditions: what they hold for, and what becomes of two of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.rules import Condition
from hornbeam.rules.condition import branch_conditions, merged
from hornbeam.tree import Skeleton

nan, inf = np.nan, np.inf
NUMBERS = np.array([-inf, -1.0, 0.0, 0.5, 1.0, inf, nan])
CODES = np.array([-2, -1, 0, 1, 2], np.int32)

bounds = st.none() | st.sampled_from([-inf, -1.0, 0.0, 0.5, 1.0])
numeric = st.builds(
    Condition, st.just(0), above=bounds, at_most=bounds, known=st.booleans(), missing=st.booleans()
)
codes = st.none() | st.sets(st.integers(0, 2)).map(sorted).map(tuple)
nominal = st.builds(Condition, st.just(0), among=codes, known=st.booleans(), missing=st.booleans())


@pytest.mark.parametrize(
    ("condition", "held"),
    [
        (Condition(0, at_most=0.5), [-inf, -1.0, 0.0, 0.5]),
        (Condition(0, above=-inf, at_most=0.0), [-1.0, 0.0]),
        (Condition(0, at_most=-inf), [-inf]),
        (Condition(0), [-inf, -1.0, 0.0, 0.5, 1.0, inf]),
    ],
)
def test_bounds(condition, held):
    assert NUMBERS[condition.holds(NUMBERS)].tolist() == held


def test_missing_values_hold_only_where_told():
    assert Condition(0, known=False, missing=True).holds(NUMBERS).tolist() == [False] * 6 + [True]
    assert Condition(0, above=1.0, missing=True).holds(NUMBERS).tolist() == [False] * 5 + [True, True]
    assert Condition(0, among=(0, 2), missing=True).holds(CODES).tolist() == [False, True, True, False, True]


@given(st.one_of(st.tuples(numeric, numeric), st.tuples(nominal, nominal)))
def test_both_hold_where_each_holds(pair):
    one, other = pair
    column = CODES if one.among is not None or other.among is not None else NUMBERS
    if column is CODES:
        one, other = (Condition(0, among=c.among, known=c.known, missing=c.missing) for c in pair)
    assert ((one & other).holds(column) == (one.holds(column) & other.holds(column))).all()


@given(numeric)
def test_parts_together_are_the_whole(condition):
    held = np.logical_and.reduce([part.holds(NUMBERS) for part in condition.parts])
    assert (held == condition.holds(NUMBERS)).all()
    assert merged(condition.parts) == (condition,)


def test_a_third_child_is_for_missing_values():
    skeleton = Skeleton.of([3, 0, 0, 0], [0, -1, -1, -1], [inf, nan, nan, nan], missing_slot=[2, -1, -1, -1])
    known, nothing, missing = (c.holds(NUMBERS) for c in branch_conditions(skeleton, 0))
    assert known.sum() == 6
    assert not nothing.any()
    assert missing.tolist() == np.isnan(NUMBERS).tolist()
