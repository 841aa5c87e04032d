"""Monotone constraints hold on every path."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.data.table import Table
from hornbeam.growing.criterion import Missing, Nominal
from hornbeam.growing.grower import Grower
from hornbeam.tree.route import predict_rows
from support.examples import examples
from support.strategies_growing import OF_CLASSES, bins_of, random_table

# Three numeric features, and a nominal one, which has no order.
signs = st.tuples(*[st.sampled_from([-1, 0, 1])] * 3, st.just(0)).filter(any)


@examples(200)
@given(
    st.integers(0, 2**32 - 1),
    signs,
    st.sampled_from(OF_CLASSES),
    st.sampled_from(Nominal),
    st.sampled_from([Missing.OWN, Missing.LEARNED]),
    st.sampled_from([0.0, 0.2]),
    st.sampled_from([1, 3]),
)
def test_the_probability_is_monotone_in_each_constrained_feature(
    seed, sign, criterion, nominal, missing, holes, leaf
):
    table = random_table(seed, n_rows=60, n_numeric=3, missing=holes, noise=0.7, weights="whole")
    grower = Grower(criterion, nominal, missing, min_samples_leaf=leaf, monotonic_cst=sign)
    tree = grower.grow(table, bins_of(table))
    grid = np.arange(-0.5, 4.0, 0.25)
    for feature in range(3):
        if sign[feature] == 0:
            continue
        # Each row is repeated for every value of the grid; the other features stay the same.
        columns = [np.repeat(column, len(grid)) for column in table.columns]
        columns[feature] = np.tile(grid, table.n_rows)
        swept = Table(table.schema, tuple(columns), None, None, 1.0, None)
        second = predict_rows(tree, swept)[:, 1].reshape(table.n_rows, len(grid))
        assert (sign[feature] * np.diff(second, axis=1) >= 0).all()


def test_a_constraint_against_the_data_gives_a_single_leaf():
    table = Table.read(np.arange(8.0)[:, None], [0, 0, 0, 0, 1, 1, 1, 1])
    rising, falling = (Grower(monotonic_cst=(sign,)).grow(table, bins_of(table)) for sign in (1, -1))
    assert rising.n_leaves == 2
    assert falling.n_leaves == 1


@pytest.mark.parametrize("missing", [Missing.OWN, Missing.LEARNED])
def test_a_split_of_known_against_missing_values_adds_no_bound(missing):
    """Rows with missing values are negative here; rows with known values must still reach 1."""
    x = np.array([np.nan] * 8 + [0.0] * 8 + [1.0] * 8)[:, None]
    y = [0] * 8 + [0] * 4 + [1] * 4 + [1] * 8
    tree = Grower(missing=missing, monotonic_cst=(1,)).grow(table := Table.read(x, y), bins_of(table))
    probability = predict_rows(tree, Table.read(np.array([[np.nan], [0.0], [1.0]]), schema=tree.schema))[:, 1]
    assert probability.tolist() == [0.0, 0.5, 1.0]
