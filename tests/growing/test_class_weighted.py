"""Class weights in growing level by level: the same splits as in memory, and evidence at the rows' own weights."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.data.encoded_rows import EncodedRows
from hornbeam.data.engine import LocalEngine
from hornbeam.errors import ParameterError
from hornbeam.growing.count_encoded import count_encoded
from hornbeam.growing.criterion import Missing
from hornbeam.growing.grower import Grower
from hornbeam.kernels.subtree import Rows
from hornbeam.tree.evidence.count import count_rows
from support.examples import examples
from support.recording_engines import Travelling
from support.strategies_growing import bins_of, growers, random_table, training_tables


def encoded(table, bins, block=7):
    return EncodedRows(Rows(bins.encode(table), table.target.astype(np.uint16), table.weight), block)


@examples(150)
@given(st.data())
def test_the_tree_is_the_one_grown_in_memory(data):
    table = data.draw(training_tables(max_rows=60))
    whole = st.integers(1, 9).map(float)
    factors = st.lists(
        whole | st.floats(1e-3, 1e3), min_size=table.schema.n_classes, max_size=table.schema.n_classes
    )
    table = replace(table, class_weight=np.array(data.draw(factors)))
    grower = data.draw(growers(table, missing=[Missing.OWN, Missing.LEARNED]))
    grower = replace(grower, max_leaf_nodes=data.draw(st.sampled_from([None, 3])))
    bins = bins_of(table)
    engine = data.draw(st.sampled_from([LocalEngine(), LocalEngine(n_tasks=3, reverse=True), Travelling()]))
    grown = grower.grow_by_level(
        encoded(table, bins),
        bins,
        table.schema,
        engine,
        unit=table.unit,
        class_weight=table.class_weight,
        gather_rows=data.draw(st.sampled_from([None, 0, 10])),
    )
    alone = grower.grow(table, bins)
    assert grown.digest == alone.digest
    assert grown.history == alone.history
    np.testing.assert_array_equal(grown.gain, alone.gain)
    np.testing.assert_array_equal(grown.rows, alone.rows)
    np.testing.assert_array_equal(grown.unit, alone.unit)


@examples(100)
@given(st.data())
def test_encoded_rows_are_counted_like_the_table(data):
    """The training codes with other labels and weights."""
    table = data.draw(training_tables(max_rows=60))
    grower, bins = data.draw(growers(table, missing=[Missing.OWN, Missing.LEARNED])), bins_of(table)
    tree = grower.grow(table, bins)
    rng = np.random.default_rng(table.n_rows)
    target = rng.permutation(table.target)
    other = replace(table, target=target, weight=None, unit=1.0)
    counted = count_encoded(tree, encoded(other, bins), bins, LocalEngine(n_tasks=2))
    expected = count_rows(tree.skeleton, other)
    np.testing.assert_array_equal(counted.evidence, expected.evidence)
    np.testing.assert_array_equal(counted.rows, expected.rows)


@pytest.mark.parametrize("max_bins", [8, None])
def test_rows_outside_the_training_set_are_counted_like_a_table(max_bins):
    """Values, missing values and unseen categories that the training rows do not have."""
    table = random_table(4, n_rows=400, n_values=40, missing=0.05)
    bins = bins_of(table, max_bins)
    some = replace(table, columns=tuple(c[:60] for c in table.columns), target=table.target[:60], weight=None)
    tree = Grower().grow(some, bins)
    counted = count_encoded(tree, encoded(table, bins), bins, LocalEngine())
    expected = count_rows(tree.skeleton, table)
    np.testing.assert_array_equal(counted.evidence, expected.evidence)


def test_fractional_trees_are_refused():
    table = random_table(0, missing=0.3)
    bins = bins_of(table)
    tree = Grower(missing=Missing.FRACTIONAL).grow(table, bins)
    with pytest.raises(ParameterError, match="sends missing values to every child"):
        count_encoded(tree, encoded(table, bins), bins, LocalEngine())
