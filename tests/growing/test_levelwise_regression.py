"""Growing level by level with a numeric target: the tree of rows in memory, and sums at the edge of 64 bits."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.data.encoded_rows import EncodedRows, EncodingSource
from hornbeam.data.engine import LocalEngine
from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.schema import Kind
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.errors import DataError, ParameterError
from hornbeam.growing.criterion import Criterion, Missing
from hornbeam.growing.grower import Grower
from hornbeam.growing.search import make_spec
from hornbeam.kernels import levelwise, subtree
from hornbeam.kernels.subtree import NodeRange, Rows
from hornbeam.tree.evidence.count import evidence_units
from support.examples import examples
from support.recording_engines import Counting, Travelling
from support.strategies_growing import bins_of, growers, random_table, regression_tables

CORRECTED = Grower(Criterion.SQUARED_ERROR, corrected=True)
whole_rows = (Missing.OWN, Missing.LEARNED)


def numeric_table(seed=0, weights="none", **options):
    """A table of `random_table` with a numeric target."""
    table = random_table(seed, weights=weights, **options)
    noise = np.random.default_rng(seed).normal(size=table.n_rows)
    schema = replace(table.schema, classes=(), target_kind=Kind.NUMERIC)
    values = NumericTarget.of(table.target + noise, table.weight, table.unit)
    return replace(table, schema=schema, target=None, numeric_target=values)


def grow(grower, table, engine=None, block=10, **options):
    source, bins = MemorySource(table, block), bins_of(table)
    return grower.grow_by_level(
        EncodingSource(source, bins),
        bins,
        table.schema,
        LocalEngine() if engine is None else engine,
        unit=evidence_units(table),
        target=source,
        **({"gather_rows": 0} | options),
    )


def assert_same(one, other):
    assert one.digest == other.digest
    np.testing.assert_array_equal(one.gain, other.gain)
    np.testing.assert_array_equal(one.rows, other.rows)
    np.testing.assert_array_equal(one.evidence, other.evidence)


@examples(100)
@given(st.data())
def test_any_partition_and_any_limit_of_gathering(data):
    table = data.draw(regression_tables(max_rows=60))
    grower = data.draw(growers(table, missing=whole_rows))
    alone = grower.grow(table, bins_of(table))
    for gather_rows in (0, 5, 50):
        engine = LocalEngine(n_tasks=data.draw(st.sampled_from([1, 3, 16])), reverse=data.draw(st.booleans()))
        limits = {"gather_rows": gather_rows, "budget": data.draw(st.sampled_from([1, 2000, 20_000, 2**28]))}
        block = data.draw(st.sampled_from([1, 3, 1000]))
        assert_same(grow(grower, table, engine, block, **limits), alone)


@pytest.mark.parametrize("grower", [CORRECTED, Grower(Criterion.SQUARED_ERROR)])
@pytest.mark.parametrize("weights", ["none", "whole", "real"])
def test_the_tree_does_not_depend_on_budget_tasks_or_order(grower, weights):
    table = numeric_table(1, weights, n_rows=200, noise=0.6, n_numeric=4, n_nominal=2)
    grower, shapes = replace(grower, max_depth=5), set()
    alone = grower.grow(table, bins_of(table))
    for budget, (n_tasks, reverse) in zip(
        (1, 10_000, 40_000, 2**28), ((1, False), (3, False), (16, True), (3, True)), strict=True
    ):
        passes = []
        engine = LocalEngine(n_tasks=n_tasks, reverse=reverse)
        assert_same(grow(grower, table, engine, budget=budget, on_progress=passes.append), alone)
        shapes |= {(p.blocks > 1, p.n_nodes > 1) for p in passes[1:]}
    assert shapes == {(False, False), (False, True), (True, False), (True, True)}


@pytest.mark.parametrize("options", [{}, {"budget": 20_000}, {"gather_rows": 60, "budget": 4000}])
def test_everything_that_tasks_exchange_can_be_pickled(options):
    table = numeric_table(2, "real", n_rows=200, noise=0.6)
    assert_same(grow(CORRECTED, table, Travelling(), **options), CORRECTED.grow(table, bins_of(table)))


def test_one_reduction_per_level_and_one_for_the_squares_of_leaves():
    table, engine = numeric_table(n_rows=300), Counting()
    tree = grow(replace(CORRECTED, max_depth=4), table, engine)
    assert (tree.depth, engine.n_calls) == (4, 1 + 4 + 1)


def test_siblings_are_subtracted_with_their_squares():
    """Half of the rows of a level are counted at most, and the tree is that of all rows counted."""
    table, passes = numeric_table(n_rows=300, missing=0.0), []
    tree = grow(replace(CORRECTED, max_depth=6), table, on_progress=passes.append)
    assert_same(tree, replace(CORRECTED, max_depth=6).grow(table, bins_of(table)))
    assert all(p.n_rows <= 150 for p in passes[2:])


@pytest.mark.parametrize("grower", [CORRECTED, replace(CORRECTED, monotonic_cst=(1, 0, 0), max_depth=6)])
def test_growing_continues_from_a_checkpoint(tmp_path, grower):
    """Interrupted after each pass in turn."""
    table, path = numeric_table(3, "whole", n_rows=200, noise=0.5), tmp_path / "state"
    alone = grower.grow(table, bins_of(table))

    class StopHereError(Exception):
        pass

    def interrupt(done):
        if done.phase != "survey":
            raise StopHereError

    for gather_rows in (0, 30):
        n_stops = 0
        while True:
            try:
                tree = grow(
                    grower,
                    table,
                    gather_rows=gather_rows,
                    checkpoint=path,
                    on_progress=interrupt,
                    budget=9000,
                )
            except StopHereError:
                n_stops += 1
                assert path.exists()
            else:
                break
        assert n_stops > 3
        assert not path.exists()
        assert_same(tree, alone)


def test_a_checkpoint_of_other_units_is_refused(tmp_path):
    table, path = numeric_table(3, n_rows=60), tmp_path / "state"

    def interrupt(done):
        if done.phase == "count":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grow(CORRECTED, table, checkpoint=path, on_progress=interrupt)
    target = table.numeric_target
    other = replace(table, numeric_target=replace(target, unit=2 * target.unit))
    with pytest.raises(ParameterError, match="belongs to another tree: weights differ"):
        grow(CORRECTED, other, checkpoint=path)


# ---- sums at the edge


def heavy_table(sign):
    """10**10 rows by their weights, just below a power of two: every value is rounded up to the same step."""
    n_rows = 153_000
    weight = np.full(n_rows, 65_535)
    values = np.full(n_rows, sign * (2.0 - 2.0**-40))
    values[::3] /= 2
    X = np.repeat(np.arange(3.0), n_rows // 3)[:, None]
    table = Table.read(X, values, sample_weight=weight, target_kind=Kind.NUMERIC)
    assert int(table.weight.sum()) > 10**10
    return table


@pytest.mark.parametrize("sign", [1, -1])
def test_sums_of_ten_billion_rows_are_exact(sign):
    table = heavy_table(sign)
    tree = grow(replace(CORRECTED, max_depth=1), table, LocalEngine(n_tasks=3), block=20_000)
    assert_same(tree, replace(CORRECTED, max_depth=1).grow(table, bins_of(table)))
    target = table.numeric_target
    exact = [
        sum(column.tolist())
        for column in (table.weight, target.numerators(table.weight), target.squares(table.weight))
    ]
    assert tree.evidence[0].tolist() == exact
    assert max(map(abs, exact)) > 2**59


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_squares_are_exact_in_128_bits(weighted):
    """Numerators whose squares need 122 bits; parts of several partitions, and of a difference, add up."""
    rng = np.random.default_rng(5)
    numerator = rng.integers(-(2**55), 2**55, 30)
    numerator[0] = 2**60  # of 2**61, which all together may have
    weight = rng.integers(1, 2**40, 30) if weighted else None
    rows = Rows(np.zeros((30, 1), np.uint8), np.empty(0, np.uint16), weight, numerator)
    node, slot_of_node = rng.integers(0, 3, 30).astype(np.int32), np.array([0, -1, 1], np.int32)
    parts = np.zeros(8, np.int64)
    for span in (slice(0, 11), slice(11, 30)):
        levelwise.add_squares(rows.take(span), node[span], slot_of_node, parts)

    def exact(of_node):
        return sum(
            int(x) ** 2 // (int(weight[row]) if weighted else 1)
            for row, x in enumerate(numerator)
            if node[row] in of_node
        )

    def value(four):
        return sum(int(part) << (32 * i) for i, part in enumerate(four))

    assert [value(parts[:4]), value(parts[4:])] == [exact([0]), exact([2])]
    spec = make_spec(CORRECTED, numeric_table().schema, bins_of(numeric_table()))
    mine = np.flatnonzero(node == 2)
    all_parts = np.zeros(4, np.int64)
    levelwise.add_squares(rows, node, np.array([0, -1, 0], np.int32), all_parts)
    some = rows.take(mine)
    evidence = np.array([len(mine) if weight is None else some.weight.sum(), some.numerator.sum()])
    spec.rules.corrected = True
    direct = subtree.target_variance(some, spec, NodeRange(0, len(mine)))
    assert direct > 0
    assert levelwise.variance_of_squares(all_parts - parts[:4], spec, evidence) == direct


# ---- refusals


def test_units_and_rows_of_the_target_are_needed():
    table, bins = numeric_table(), bins_of(numeric_table())
    with pytest.raises(ParameterError, match="expected its rows as target="):
        CORRECTED.grow_by_level(EncodingSource(MemorySource(table), bins), bins, table.schema, LocalEngine())


def test_rows_without_numerators_are_refused():
    table = numeric_table()
    bins, source = bins_of(table), MemorySource(table)
    labelled = EncodedRows(Rows(bins.encode(table), np.zeros(table.n_rows, np.uint16), None))
    units = evidence_units(table)
    with pytest.raises(DataError, match="the rows have no numeric target"):
        CORRECTED.grow_by_level(labelled, bins, table.schema, LocalEngine(), unit=units, target=source)
