"""Correlation of rows of a group, and losses as coefficients of powers."""

import numpy as np

from hornbeam.data.table import Table
from hornbeam.tuning.candidate_losses import squared_losses
from hornbeam.tuning.simulation import GroupDependence


def test_two_groups_of_one_class_each():
    """Where the rate is one half, two rows of a group count as one."""
    table = Table.read([[1.0], [2.0], [3.0], [4.0]], ["no", "no", "yes", "yes"])
    found = GroupDependence.of(table, np.full((4, 2), 0.5), np.array([0, 0, 1, 1]))
    assert (found.correlation, found.design_effect) == (1.0, 2.0)


def test_squared_losses_are_coefficients_of_powers():
    loss, square = squared_losses(np.array([2.0]))
    powers = 5.0 ** np.arange(5)
    assert (float(loss[0] @ powers), float(square[0] @ powers)) == (9.0, 81.0)
