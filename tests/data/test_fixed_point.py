"""Fixed point: worked numbers of the units and steps of weights and numeric targets."""

import numpy as np
import pytest

from hornbeam.data.fixed_point import (
    WeightSummary,
    are_normalised,
    choose_unit,
    fixed_point_weights,
    nearest_steps,
    power_of_two_unit,
    product_steps,
    to_fixed_point,
    unit_scaled,
)
from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.weights import ClassFactors


def test_power_of_two_unit():
    assert power_of_two_unit(3.0, 4, -1074) == 0.25
    assert power_of_two_unit(0.0, 4, -1074) == 1.0


def test_values_to_the_nearest_steps():
    assert nearest_steps(np.array([0.5, -2.1]), 0.25).tolist() == [2, -8]
    assert to_fixed_point(np.array([0.5, 2.0, 1e-9]), 0.25).tolist() == [2, 8, 1]


def test_a_product_is_exact_before_it_is_rounded():
    numerator, denominator = (0.1).as_integer_ratio()
    assert product_steps(np.array([0.1]), np.array([2.0**62]), 1.0).tolist() == [
        numerator * 2**62 // denominator
    ]


def test_units_of_weights():
    assert choose_unit(WeightSummary(2, 1.0, 3.0, True)) == 1.0
    assert choose_unit(WeightSummary(2, 0.25, 0.5, False)) == 2.0**-49
    merged = WeightSummary.of(np.array([1.0, 4.0])).merge(WeightSummary.of(np.array([0.5])))
    assert merged == WeightSummary(3, 0.5, 4.0, False)
    assert fixed_point_weights(np.ones(2)) == (None, 1.0)
    assert (are_normalised(4, 0.25), are_normalised(5, 0.25)) == (True, False)


def test_squares_of_scaled_values_do_not_overflow():
    values, power = unit_scaled(np.array([3.0, -6.0]))
    assert (values.tolist(), power) == ([0.75, -1.5], 4.0)


def test_steps_of_class_weights():
    factors = ClassFactors.of_whole(np.array([5.0, 1.0, 2.0]), np.array([True, True, False]), 10)
    assert factors.weigh(None, np.array([0, 1, 0])).tolist() == [5, 1, 5]


def test_units_of_a_numeric_target():
    assert NumericTarget.units(3.0, 2.0, 2) == (2.0**-58, 2.0**-56)
    target = NumericTarget.of(np.array([1.5, -2.0, 0.25]))
    assert (target.numerators() * target.unit).tolist() == [1.5, -2.0, 0.25]
    assert (target.squares(np.array([1, 2, 4])) * target.square_unit).tolist() == [2.25, 8.0, 0.25]
    assert NumericTarget(np.array([1.0, 2.5]), 0.5, 0.5).numerators(np.array([1, 3])).tolist() == [2, 15]


@pytest.mark.parametrize(("step", "largest"), [(1.0, 0.0), (0.25, 0.5)])
def test_rounding_of_a_numerator(step, largest):
    assert NumericTarget.rounding(np.array([1, 2]), step) == largest
