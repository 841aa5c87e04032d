"""The same data give the same tree, bit for bit: for any threads, partition, row order and input type."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam import TreeClassifier
from hornbeam.data.encoded_rows import EncodedRows
from hornbeam.data.engine import LocalEngine
from hornbeam.data.table import Table
from hornbeam.growing.criterion import Criterion, Missing, Nominal
from hornbeam.growing.grower import Grower, grow_in_memory
from hornbeam.kernels.subtree import Rows
from hornbeam.recipe import PRESETS
from hornbeam.tree.evidence.count import count_rows
from hornbeam.tree.tree import Tree
from support.examples import examples
from support.strategies_growing import OF_CLASSES, bins_of, growers, random_table, training_tables

whole_rows = (Missing.OWN, Missing.LEARNED)
SMALL = {"quick_codes": 0, "serial_rows": 0, "smallest_grain": 1}  # small data use all threads
seeds = st.integers(0, 2**32 - 1)


def assert_same(one: Tree, other: Tree) -> None:
    assert one.digest == other.digest
    np.testing.assert_array_equal(one.gain, other.gain)
    np.testing.assert_array_equal(one.rows, other.rows)


def take(table: Table, rows: np.ndarray, weight: np.ndarray | None = None) -> Table:
    """Some rows of a table, in some order."""
    assert table.target is not None
    own = None if table.weight is None else table.weight[rows]
    columns = tuple(column[rows] for column in table.columns)
    return Table(
        table.schema, columns, table.target[rows], own if weight is None else weight, table.unit, None
    )


@examples(200)
@given(st.data())
def test_any_number_of_threads(data):
    table = data.draw(training_tables(max_rows=120))
    grower, bins = data.draw(growers(table)), bins_of(table)
    alone = grower.grow(table, bins)
    for n_jobs in (1, 2, 3, 8):
        assert_same(grow_in_memory(grower, table, bins, n_jobs=n_jobs, **SMALL), alone)


@examples(200)
@given(st.data())
def test_any_partition_and_any_limit_of_gathering(data):
    """Histograms for all nodes (0), or rows gathered for nodes of up to 5 or 50 rows.

    Histograms are sent in one message, cut by features, or for a few nodes at a time.
    """
    table = data.draw(training_tables(max_rows=80))
    grower, bins = data.draw(growers(table, missing=whole_rows)), bins_of(table)
    assert table.target is not None
    rows = Rows(bins.encode(table), table.target.astype(np.uint16), table.weight)
    source = EncodedRows(rows, block=data.draw(st.sampled_from([1, 3, 1000])))
    alone = grower.grow(table, bins)
    for gather_rows in (0, 5, 50):
        n_tasks = data.draw(st.sampled_from([1, 2, 7, 31]))
        engine = LocalEngine(data.draw(st.sampled_from([1, 2])), n_tasks, reverse=data.draw(st.booleans()))
        limits = {"gather_rows": gather_rows, "budget": data.draw(st.sampled_from([1, 2000, 20_000, 2**28]))}
        assert_same(
            grower.grow_by_level(source, bins, table.schema, engine, unit=table.unit, **limits), alone
        )


@examples(200)
@given(st.data(), seeds)
def test_any_order_of_rows(data, seed):
    table = data.draw(training_tables(max_rows=120))
    grower = data.draw(growers(table))
    shuffled = take(table, np.random.default_rng(seed).permutation(table.n_rows))
    assert_same(grower.grow(shuffled, bins_of(shuffled)), grower.grow(table, bins_of(table)))


@pytest.mark.parametrize("seed", [2077, 5095, 8083])
def test_any_order_of_rows_with_near_ties_of_categories(seed):
    """Positions of categories are floats: sums row by row would depend on the order of these rows."""
    table = random_table(
        seed,
        n_rows=20 + seed % 60,
        n_classes=3 + seed % 4,
        n_numeric=0,
        n_nominal=2,
        n_categories=7,
        weights=["real", "whole", "none"][seed % 3],
        noise=1.0,
    )
    shuffled = take(table, np.random.default_rng(seed).permutation(table.n_rows))
    assert_same(Grower().grow(shuffled, bins_of(shuffled)), Grower().grow(table, bins_of(table)))


@examples(200)
@given(st.data(), seeds)
def test_a_row_of_weight_two_is_two_rows(data, seed):
    """Except for limits on the number of rows (`min_samples_leaf`, C4.5's 0.3 N) and for fractional rows.

    For these, twice the floor of a share is not the floor of twice the share.
    """
    table = data.draw(training_tables(max_rows=60))
    table = Table(table.schema, table.columns, table.target, None, 1.0, None)
    criteria = set(OF_CLASSES) - {Criterion.GAIN_RATIO}
    grower = data.draw(growers(table, criteria=sorted(criteria), missing=whole_rows))
    grower = replace(grower, min_samples_split=2, min_samples_leaf=1)
    times = np.random.default_rng(seed).integers(1, 4, table.n_rows)
    heavy = take(table, np.arange(table.n_rows), weight=times)
    repeated = take(table, np.repeat(np.arange(table.n_rows), times))
    bins = bins_of(table)
    one, other = grower.grow(heavy, bins), grower.grow(repeated, bins)
    assert one.digest == other.digest
    np.testing.assert_array_equal(one.gain, other.gain)


@examples(200)
@given(seeds, st.integers(2, 5), st.sampled_from(sorted(PRESETS)))
def test_class_weights_choose_splits_like_sample_weights_and_do_not_change_evidence(seed, n_classes, preset):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 6, (50, 3)).astype(float), rng.integers(0, n_classes, 50)
    factor = rng.exponential(size=n_classes) + 0.1
    weight = dict(zip(range(n_classes), factor.tolist(), strict=True))
    by_class = Table.read(X, y, class_weight={k: weight[k] for k in np.unique(y).tolist()})
    by_row = Table.read(X, y, sample_weight=factor[y])
    grower = PRESETS[preset].grower
    one, other = grower.grow(by_class, bins_of(by_class)), grower.grow(by_row, bins_of(by_row))
    np.testing.assert_array_equal(one.gain, other.gain)
    for name in ("n_children", "feature", "threshold", "missing_slot", "slot_of"):
        np.testing.assert_array_equal(getattr(one.skeleton, name), getattr(other.skeleton, name))
    plain = count_rows(one.skeleton, Table.read(X, y))
    np.testing.assert_array_equal(one.evidence, plain.evidence)
    np.testing.assert_array_equal(one.rows, plain.rows)


@examples(200)
@given(st.data())
def test_codes_of_one_byte_and_of_two_bytes(data):
    table = data.draw(training_tables(max_rows=80))
    grower, bins = data.draw(growers(table)), bins_of(table)
    codes = bins.encode(table)
    assert codes.dtype == np.uint8
    assert_same(grower.grow(table, bins, codes.astype(np.uint16)), grower.grow(table, bins, codes))


@examples(200)
@given(
    seeds,
    st.sampled_from([600, 1023, 1500, 4000]),
    st.sampled_from([2, 3, 6]),
    st.sampled_from([5, 40, 3000]),
    st.sampled_from(["none", "whole", "real"]),
    st.sampled_from(OF_CLASSES),
    st.sampled_from(Nominal),
)
def test_large_nodes_and_small_nodes(seed, n_rows, n_classes, n_values, weights, criterion, nominal):
    """In memory large nodes use histograms and small ones read rows; level by level all use histograms."""
    table = random_table(
        seed,
        n_rows=n_rows,
        n_classes=n_classes,
        n_values=n_values,
        n_categories=20,
        missing=0.05,
        weights=weights,
        noise=0.4,
    )
    bins = bins_of(table)
    grower = Grower(criterion, nominal, max_depth=3)
    assert table.target is not None
    source = EncodedRows(Rows(bins.encode(table), table.target.astype(np.uint16), table.weight))
    by_level = grower.grow_by_level(source, bins, table.schema, LocalEngine(), unit=table.unit, gather_rows=0)
    assert_same(by_level, grower.grow(table, bins))


@examples(80)
@given(seeds, st.sampled_from(sorted(PRESETS)), st.booleans())
def test_every_input_type_gives_the_same_tree(seed, preset, holes):
    """A NumPy array of objects, pandas, polars and pyarrow hold the same rows."""
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    rng = np.random.default_rng(seed)
    n = 30
    numbers = rng.integers(0, 8, n) / 4
    words = rng.choice(["red", "green", "blue"], n).astype(object)
    truths = rng.random(n) < 0.5
    y = rng.choice(["no", "yes", "perhaps"], n)
    if holes:
        numbers[rng.random(n) < 0.2] = np.nan
        words[rng.random(n) < 0.2] = None
    data = {
        "x0": numbers.tolist(),
        "x1": words.tolist(),
        "x2": truths.tolist(),
    }
    objects = np.array(list(zip(*data.values(), strict=True)), dtype=object)
    frames = (
        pd.DataFrame(data),
        pd.DataFrame(data).astype({"x1": "category"}),
        pl.DataFrame(data),
        pl.DataFrame(data).with_columns(pl.col("x1").cast(pl.Categorical)),
        pa.table(data),
    )
    reference = TreeClassifier(preset).fit(objects, y).tree_
    for frame in frames:
        assert_same(TreeClassifier(preset).fit(frame, y).tree_, reference)
