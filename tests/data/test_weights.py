"""Fixed-point weights are exact and do not depend on row order; weight 2 equals a row given twice."""

import math
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.utils.class_weight import compute_sample_weight

from hornbeam.data.fixed_point import fixed_point_weights
from hornbeam.data.labels import read_labels
from hornbeam.data.weights import ClassFactors, Weights, read_weights, to_steps
from hornbeam.errors import DataError, ParameterError

positive = st.floats(min_value=0, exclude_min=True, allow_infinity=False)
ordinary = st.floats(min_value=1e-6, max_value=1e6)


def search_weights(sample_weight, y, class_weight):
    """Return sample weights times class weights, as in the search for splits."""
    labels = read_labels(y)
    read = read_weights(sample_weight, len(y), class_weight=class_weight, labels=labels)
    if read.class_factors is None:
        return read
    codes = labels.codes if read.kept is None else labels.codes[read.kept]
    factors = ClassFactors.of(read.class_factors, read.steps, read.unit, codes)
    return Weights(factors.weigh(read.steps, codes), factors.unit, read.kept, read.class_factors)


@given(st.lists(positive, min_size=1, max_size=30))
def test_fixed_point_weights_are_rounded_to_the_documented_unit(values):
    weight = np.array(values)
    n_times_largest = len(values) * Fraction(max(values))
    try:
        steps, unit = fixed_point_weights(weight)
    except DataError as error:
        if "too large" in str(error):
            assert n_times_largest >= Fraction(1e150) * (1 - Fraction(1, 2**50))
        else:  # a weight below half a step, where a step is more than a row
            step = 2.0 ** math.ceil(math.log2(n_times_largest / 2**49))
            assert step > 1
            assert min(values) <= step / 2
        return
    assert n_times_largest <= Fraction(1e150) * (1 + Fraction(1, 2**50))
    if all(value.is_integer() for value in values) and n_times_largest < 2**50:
        assert unit == 1.0
        assert (steps is None) == all(value == 1 for value in values)
        assert steps is None or steps.tolist() == values
        return
    assert math.frexp(unit)[0] == 0.5  # a power of two
    assert steps.dtype == np.int64
    assert sum(steps.tolist()) <= 2**49 + len(values)
    if unit > 2.0**-1074:
        assert 2**48 < n_times_largest / Fraction(unit) <= 2**49
    for step, value in zip(steps.tolist(), values, strict=True):
        assert step == max(1, round(Fraction(value) / Fraction(unit)))  # both round half to even


@given(st.lists(st.integers(1, 2**20), min_size=1, max_size=30).filter(lambda w: set(w) != {1}))
def test_whole_weights_are_their_own_steps(values):
    steps, unit = fixed_point_weights(np.array(values, dtype=np.float64))
    assert unit == 1.0
    assert steps.tolist() == values


@given(
    st.lists(ordinary, min_size=1, max_size=30).filter(lambda w: any(v % 1 for v in w)), st.integers(-40, -21)
)
def test_scaling_by_a_power_of_two_changes_only_the_unit(values, power):
    weight = np.array(values)
    steps, unit = fixed_point_weights(weight)
    scaled, scaled_unit = fixed_point_weights(np.ldexp(weight, power))
    assert scaled_unit == math.ldexp(unit, power)
    assert scaled.tolist() == steps.tolist()


@given(
    st.data(), st.lists(st.tuples(ordinary | st.just(0.0), st.sampled_from("abc")), min_size=2, max_size=30)
)
@pytest.mark.parametrize("class_weight", [None, "balanced", {"a": 0.3, "b": 2, "c": 1.7}])
def test_the_order_of_rows_does_not_matter(class_weight, data, rows):
    assume(any(w > 0 for w, _ in rows))
    # A mapping must name existing classes: add all three, with weight zero.
    rows = [*rows, (0.0, "a"), (0.0, "b"), (0.0, "c")]
    order = data.draw(st.permutations(range(len(rows))))

    def read(rows):
        weight, y = zip(*rows, strict=True)
        return search_weights(np.array(weight), y, class_weight)

    straight, shuffled = read(rows), read([rows[i] for i in order])
    assert straight.unit == shuffled.unit
    assert (straight.steps is None) == (shuffled.steps is None)

    def all_steps(weights):
        steps = np.zeros(len(rows), dtype=np.int64)
        steps[weights.kept] = 1 if weights.steps is None else weights.steps
        return steps

    np.testing.assert_array_equal(all_steps(straight)[list(order)], all_steps(shuffled))


@pytest.mark.parametrize(
    "class_weight", ["balanced", {"a": 2.5, "b": 1, "c": 7}, {"a": 3}, {"a": 1, "b": 1, "c": 1, "d": 4}]
)
def test_class_weights_equal_those_of_scikit_learn(class_weight):
    y = np.array(list("aabcbbbacc"))
    weights = search_weights(None, y, class_weight)
    found = (np.ones(len(y)) if weights.steps is None else weights.steps) * weights.unit
    np.testing.assert_allclose(found, compute_sample_weight(class_weight, y), rtol=1e-12)


def test_sample_weight_and_class_weight_multiply():
    weights = search_weights([1, 2, 3], ["a", "b", "a"], {"a": 5, "b": 1})
    assert weights.steps.tolist() == [5, 2, 15]
    assert weights.unit == 1.0


def test_class_weights_do_not_change_the_sample_weights():
    labels = read_labels(["a", "b", "a"])
    weights = read_weights([1, 2, 3], 3, class_weight={"a": 5, "b": 1}, labels=labels)
    assert (weights.steps.tolist(), weights.unit) == ([1, 2, 3], 1.0)
    assert weights.class_factors.tolist() == [5.0, 1.0]
    assert read_weights(None, 3, class_weight={"a": 5}, labels=labels).steps is None
    assert read_weights(None, 3, class_weight={"a": 1}, labels=labels).class_factors is None


def test_balanced_counts_a_weight_of_two_as_two_rows():
    weighted = search_weights([2, 1, 0, 1], ["a", "a", "b", "b"], "balanced")
    # totals 3 and 1 of 4, so the factors are 4 / (2 * 3) and 4 / (2 * 1)
    np.testing.assert_allclose(weighted.steps * weighted.unit, [2 * 2 / 3, 2 / 3, 2], rtol=1e-12)
    assert weighted.kept.tolist() == [True, True, False, True]


def test_balanced_ignores_a_class_without_weight():
    weights = read_weights([1, 1, 0], 3, class_weight="balanced", labels=read_labels(["a", "b", "c"]))
    assert weights.steps is None
    assert weights.kept.tolist() == [True, True, False]


@pytest.mark.parametrize(
    "weight",
    [[2, 1], (2, 1), np.array([2, 1], dtype=np.int8), pd.Series([2, 1], index=[5, 5]), pl.Series([2, 1])],
)
def test_weights_are_the_same_from_every_container(weight):
    assert read_weights(weight, 2).steps.tolist() == [2, 1]


def test_one_number_is_the_weight_of_every_row():
    assert read_weights(1, 3) == (None, 1.0, None, None)
    assert read_weights(2.0, 3).steps.tolist() == [2, 2, 2]


def test_the_array_of_weights_is_not_changed():
    weight = np.array([0.5, 0.0, 2.0])
    read_weights(weight, 3, class_weight={"a": 3}, labels=read_labels(["a", "a", "b"]))
    assert weight.tolist() == [0.5, 0.0, 2.0]


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, -1], "-1.0 in row 1; expected finite numbers of zero or more"),
        ([float("nan"), 1], "nan in row 0"),
        ([1, float("inf")], "inf in row 1"),
        ([0, 0], "at least one non-zero"),
        ([1, 2, 3], r"sample_weight.shape == \(3,\), expected \(2,\)"),
        ([[1, 2], [1, 2]], "Sample weights must be 1D array or scalar, got 2D array"),
        (["a", "b"], "sample_weight must hold numbers"),
        (pl.Series([1, None]), "nan in row 1"),
    ],
)
def test_wrong_sample_weights_are_refused(weight, message):
    with pytest.raises(DataError, match=message):
        read_weights(weight, 2)


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ("even", "'even'; expected 'balanced'"),
        ([{"a": 1}], "is a list; expected 'balanced', a mapping"),
        ({"a": 1, "z": 2}, r"The classes, \['b'\], are not in class_weight.*\['z'\]"),
        ({"a": -1}, "zero or more"),
        ({"a": float("nan")}, "zero or more"),
    ],
)
def test_wrong_class_weights_are_refused(class_weight, message):
    with pytest.raises(ParameterError, match=message):
        read_weights(None, 2, class_weight=class_weight, labels=read_labels(["a", "b"]))


def test_class_weights_need_labels():
    with pytest.raises(ParameterError, match="without y"):
        read_weights(None, 2, class_weight="balanced")


def test_a_product_too_large_is_refused():
    with pytest.raises(DataError, match="too large"):
        search_weights([1e300], ["a"], {"a": 1e300})


@pytest.mark.parametrize("largest", [1e308, 9e307, 1.7976931348623157e308])
@pytest.mark.parametrize("n", [2, 200])
def test_weights_near_the_largest_float_are_refused_and_the_advice_works(largest, n):
    weight = np.full(n, largest)
    weight[0] /= 3
    with pytest.raises(DataError, match="too large to be added up") as raised:
        read_weights(weight, n)
    divisor = float(re.search(r"Divide all weights by (1e\d+)", str(raised.value))[1])
    small = read_weights(weight / divisor, n)
    assert small.steps[0] * 3 == pytest.approx(small.steps[-1])


def test_weights_that_differ_too_much_are_refused():
    with pytest.raises(DataError, match="differ too much") as raised:
        read_weights([1e140, 1e-300], 2)
    divisor = float(re.search(r"Divide all weights by (1e\d+)", str(raised.value))[1])
    assert read_weights([1e140 / divisor, 1e-300 / divisor], 2).steps[0] > 2**47
    with pytest.raises(DataError, match="differ too much"):
        search_weights(None, ["a", "b"], {"a": 1e140, "b": 1e-300})
    # The same ratio with steps below 1: a weight below half a step counts as one step.
    assert read_weights([1.0, 1e-300], 2).steps[1] == 1


def test_subnormal_weights_are_normalised():
    weight = np.array([5e-324, 1e-323, 5e-324])
    read = read_weights(weight, 3)
    assert (read.steps * read.unit).tolist() == [0.75, 1.5, 0.75]


@pytest.mark.parametrize("weight", [[10**400, 1], ["a", "b"], [None, 1.0], [Decimal("sNaN"), 1], [1j, 1]])
def test_weights_that_are_not_floats_are_refused(weight):
    with pytest.raises(DataError, match="sample_weight"):
        read_weights(weight, 2)


def test_class_weight_zero_drops_the_class():
    weights = read_weights(None, 2, class_weight={"a": 0}, labels=read_labels(["a", "b"]))
    assert weights.kept.tolist() == [False, True]
    with pytest.raises(DataError, match="weight 0"):
        read_weights(None, 1, class_weight={"a": 0}, labels=read_labels(["a"]))


def test_weights_are_rounded_to_the_steps_of_a_tree():
    assert to_steps(None, 2, 0.25).tolist() == [4, 4]
    assert to_steps([3, 0, 1], 3, 1.0).tolist() == [3, 0, 1]
    assert to_steps(2, 3, 0.5).tolist() == [4, 4, 4]
    # The nearest step, as in training; a positive weight gets at least one.
    assert to_steps([0.3, 0.01, 0], 3, 0.125).tolist() == [2, 1, 0]
    # Not normalised: the total may be less than one row.
    assert to_steps([0.25, 0.25], 2, 0.25).tolist() == [1, 1]


@pytest.mark.parametrize("kind", ["whole", "real"])
def test_to_steps_gives_the_steps_of_training(kind):
    rng = np.random.default_rng(3)
    weight = rng.integers(1, 9, 50) if kind == "whole" else rng.exponential(size=50)
    steps, unit, _, _ = read_weights(weight, 50)
    assert to_steps(weight, 50, unit).tolist() == steps.tolist()


def test_fractional_weights_are_refused_if_the_unit_is_one():
    with pytest.raises(
        DataError, match=r"0\.5 in row 1, but the tree counts whole rows: expected whole numbers"
    ):
        to_steps([1, 0.5], 2, 1.0)
    with pytest.raises(DataError, match=r"which is 4\.61e\+18 steps of 2\.17e-19: expected below 2\*\*50"):
        to_steps([1.0], 1, 2.0**-62)
