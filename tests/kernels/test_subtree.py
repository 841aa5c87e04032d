"""The growing kernels one by one, against NumPy and against each other."""

import pickle
from dataclasses import replace
from enum import Enum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.growing.criterion import Missing
from hornbeam.growing.grower import Grower
from hornbeam.kernels import subtree
from hornbeam.kernels.subtree import Columns, GrowthSpec, NodeRange, Rows, Split
from support.examples import examples
from support.strategies_growing import OF_CLASSES, bins_of, growers, random_table, spec_of, training_tables

CODES = (np.uint8, np.uint16)


def encoded(table, dtype=np.uint16):
    """Encoded rows of a table, with one bin per value."""
    bins = bins_of(table)
    assert table.target is not None
    weight = None if table.weight is None else table.weight.copy()
    return Rows(bins.encode(table).astype(dtype), table.target.astype(np.uint16), weight), bins


def copy(rows: Rows) -> Rows:
    return Rows(*(None if array is None else array.copy() for array in rows))


def as_set(rows: Rows, begin: int, end: int) -> np.ndarray:
    """Rows of a range in canonical order."""
    weight = np.ones(len(rows.label), np.int64) if rows.weight is None else rows.weight
    table = np.c_[rows.codes, rows.label, weight][begin:end].astype(np.int64)
    return table[np.lexsort(table.T)]


# ---- histograms


@examples(200)
@given(training_tables(max_rows=80), st.sampled_from(CODES), st.data())
def test_histogram_counts_every_value_once(table, dtype, data):
    rows, bins = encoded(table, dtype)
    spec = spec_of(Grower(), table, bins)
    n, k = table.n_rows, table.schema.n_classes
    begin = data.draw(st.integers(0, n))
    end = data.draw(st.integers(begin, n))
    n_slots = data.draw(st.integers(1, 3))
    slots = np.random.default_rng(n).integers(-1, n_slots, n, dtype=np.int32)
    cells = subtree.empty_cells(rows, spec, n_slots)
    subtree.histogram(rows, spec, begin, end, cells, slots)

    expected = np.zeros((n_slots, spec.n_cells, k, 2), np.int64)
    weight = np.ones(n, np.int64) if rows.weight is None else rows.weight
    for row in range(begin, end):
        for f, code in enumerate(rows.codes[row].tolist()):
            if slots[row] >= 0:
                expected[slots[row], spec.offsets[f] + code, rows.label[row]] += (weight[row], 1)
    found = cells.reshape(n_slots, spec.n_cells, k, -1)
    np.testing.assert_array_equal(found[..., 0], expected[..., 0])
    np.testing.assert_array_equal(found[..., -1], expected[..., 1 if rows.weight is not None else 0])


def test_cells_are_counts_or_pairs_of_weight_and_rows():
    plain, bins = encoded(table := random_table(0))
    spec = spec_of(Grower(), table, bins)
    weighted = plain._replace(weight=np.ones(len(plain.label), np.int64))
    assert subtree.empty_cells(plain, spec).dtype == np.int32
    assert subtree.empty_cells(weighted, spec).dtype == np.int64
    assert len(subtree.empty_cells(weighted, spec, 3)) == 3 * 2 * spec.n_cells * spec.n_classes


# ---- the best split, from cells and from rows


@examples(200)
@given(st.data())
def test_cells_and_rows_give_the_same_split(data):
    """Up to 24 rows are ranked, then sorted or counted, from 1,024 on counted into all cells at once."""
    n_rows = data.draw(st.sampled_from([2, 16, 24, 25, 100, 1023, 1024, 3000]))
    table = random_table(
        data.draw(st.integers(0, 2**32 - 1)),
        n_rows=n_rows,
        n_classes=data.draw(st.sampled_from([2, 3, 7])),
        n_values=data.draw(st.sampled_from([2, 20, 20_000])),
        n_categories=data.draw(st.sampled_from([3, 20])),
        weights=data.draw(st.sampled_from(["none", "whole", "real"])),
        noise=1.0,
    )
    grower = data.draw(growers(table, missing=[Missing.OWN, Missing.LEARNED]))
    rows, bins = encoded(table)
    spec = spec_of(replace(grower, max_depth=1, min_samples_split=2), table, bins)
    cells = subtree.empty_cells(rows, spec)
    subtree.histogram(rows, spec, 0, n_rows, cells)
    nodes = subtree.grow(copy(rows), spec, NodeRange(0, n_rows), np.zeros(2, np.int64))
    split = subtree.best_split(cells, spec, nodes.evidence[0], n_rows)
    if len(nodes.parent) == 1:
        may = n_rows >= 2 * grower.min_samples_leaf and np.count_nonzero(nodes.evidence[0]) > 1
        assert split is None or not may or nodes.evidence[0].sum() < 2 * spec.rules.min_weight_leaf
        return
    assert split is not None
    found = (nodes.feature[0], nodes.gain[0], nodes.left[0], nodes.right[0], nodes.missing_slot[0])
    assert found == (split.feature, split.gain, split.left, split.right, split.missing_slot)
    assert len(nodes.parent) == 1 + split.n_slots
    if spec.nominal[split.feature]:
        np.testing.assert_array_equal(nodes.map, split.slot_of[:-1])


def test_a_node_of_one_code_has_no_split():
    table = random_table(0, n_values=1, n_categories=1, missing=0.0)
    rows, bins = encoded(table)
    spec = spec_of(Grower(), table, bins)
    cells = subtree.empty_cells(rows, spec)
    subtree.histogram(rows, spec, 0, table.n_rows, cells)
    assert subtree.best_split(cells, spec, np.bincount(rows.label), table.n_rows) is None


# ---- moving rows


@examples(200)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0, 1, 2, 50, 255, 256, 257, 600, 2000]),
    st.integers(2, 6),
    st.sampled_from(CODES),
    st.booleans(),
)
def test_partition_groups_rows_by_slot(seed, n, n_slots, dtype, weighted):
    rng = np.random.default_rng(seed)
    n_codes = 9
    codes = rng.integers(0, n_codes + 1, (n, 3)).astype(dtype)
    label = rng.integers(0, 3, n).astype(np.uint16)
    rows = Rows(codes, label, rng.integers(1, 99, n) if weighted else None)
    columns = Columns(np.full(3, n_codes, np.int32), np.zeros(3, np.uint8), None, None, 3)
    spec = GrowthSpec(columns, 0, subtree.Rules(), np.zeros(3, np.uint8), None, np.zeros(1, np.int64), 30, 3)
    slot_of = rng.integers(0, n_slots, n_codes + 1, dtype=np.int32)
    begin, end = n // 5, n - n // 7
    before = copy(rows)
    starts = subtree.partition(rows, spec, begin, end, Split(1, 0.0, -1, -1, -1, n_slots, slot_of))
    assert (starts[0], starts[-1], len(starts)) == (begin, end, n_slots + 1)
    for slot in range(n_slots):
        assert (slot_of[rows.codes[starts[slot] : starts[slot + 1], 1]] == slot).all()
    np.testing.assert_array_equal(as_set(rows, begin, end), as_set(before, begin, end))
    np.testing.assert_array_equal(as_set(rows, 0, begin), as_set(before, 0, begin))
    np.testing.assert_array_equal(as_set(rows, end, n), as_set(before, end, n))


def slot_of_code(spec: GrowthSpec, nodes: subtree.Nodes, node: int, code: int) -> int:
    """The slot that a node sends a code to; -1: none."""
    feature = int(nodes.feature[node])
    if code == spec.n_codes[feature]:
        return int(nodes.missing_slot[node])
    if spec.nominal[feature]:
        return int(nodes.map[nodes.map_start[node] + code])
    return 0 if code <= nodes.left[node] else 1


@examples(100)
@given(st.data(), st.sampled_from(CODES))
def test_nodes_count_the_rows_that_their_splits_send_there(data, dtype):
    """Rows are sorted by feature below a node of few rows, and counted if a feature has few codes."""
    table = data.draw(training_tables(max_rows=80))
    grower = data.draw(growers(table, missing=[Missing.OWN, Missing.LEARNED]))
    rows, bins = encoded(table, dtype)
    moved, spec = copy(rows), spec_of(grower, table, bins)
    nodes = subtree.grow(moved, spec, NodeRange(0, table.n_rows), np.zeros(2, np.int64))
    np.testing.assert_array_equal(as_set(moved, 0, table.n_rows), as_set(rows, 0, table.n_rows))
    counts, n_rows = np.zeros_like(nodes.evidence), np.zeros_like(nodes.rows)
    child = {
        (int(parent), int(slot)): at
        for at, (parent, slot) in enumerate(zip(nodes.parent, nodes.slot, strict=True))
    }
    for codes, label, weight in zip(rows.codes.tolist(), rows.label, table.row_weights, strict=True):
        node = 0
        while True:
            counts[node, label] += round(weight / table.unit)
            n_rows[node] += 1
            if nodes.feature[node] < 0:
                break
            node = child[node, slot_of_code(spec, nodes, node, codes[nodes.feature[node]])]
    np.testing.assert_array_equal(counts, nodes.evidence)
    np.testing.assert_array_equal(n_rows, nodes.rows)


# ---- rules


def test_pickled_rules_keep_every_field():
    rules = subtree.Rules()
    names = [name for name in dir(rules) if not name.startswith("_")]
    for i, name in enumerate(names):
        default = getattr(rules, name)
        kind = type(default)
        other = (
            next(member for member in kind if member != default) if issubclass(kind, Enum) else kind(i + 2)
        )
        setattr(rules, name, other)
    loaded = pickle.loads(pickle.dumps(rules))
    assert len(names) == 21
    assert {name: getattr(loaded, name) for name in names} == {name: getattr(rules, name) for name in names}


@pytest.mark.parametrize("state", [{}, {"unit": 1.0}, subtree.Rules().__getstate__() | {"max_depth": "deep"}])
def test_incomplete_states_of_rules_are_rejected(state):
    with pytest.raises(ValueError, match="rules: a state with"):
        subtree.Rules.__new__(subtree.Rules).__setstate__(state)


# ---- progress, and wrong arguments


def test_progress_ends_at_all_rows():
    table = random_table(0, n_rows=3000, noise=1.0)
    rows, bins = encoded(table)
    progress = np.zeros(2, np.int64)
    subtree.grow(rows, spec_of(Grower(), table, bins), NodeRange(0, 3000), progress)
    assert progress.tolist() == [3000, 0]


def test_growing_stops_when_asked():
    table = random_table(0, n_rows=3000, noise=1.0)
    rows, bins = encoded(table)
    nodes = subtree.grow(rows, spec_of(Grower(), table, bins), NodeRange(0, 3000), np.array([0, 1]))
    assert len(nodes.parent) == 1


@pytest.fixture
def small():
    table = random_table(0, n_rows=10)
    rows, bins = encoded(table)
    return rows, spec_of(Grower(), table, bins)


def test_ranges_outside_the_table_are_rejected(small):
    rows, spec = small
    for begin, end in ((-1, 5), (6, 5), (0, 11)):
        with pytest.raises(ValueError, match="rows within the table expected"):
            subtree.grow(rows, spec, NodeRange(begin, end), np.zeros(2, np.int64))
        with pytest.raises(ValueError, match="rows within the table expected"):
            subtree.histogram(rows, spec, begin, end, subtree.empty_cells(rows, spec))


def test_arrays_of_wrong_length_are_rejected(small):
    rows, spec = small
    progress, node = np.zeros(2, np.int64), NodeRange(0, 10)
    with pytest.raises(ValueError, match="one label and one weight per row expected"):
        subtree.grow(rows._replace(label=rows.label[:-1].copy()), spec, node, progress)
    with pytest.raises(ValueError, match="one code per feature expected"):
        subtree.grow(rows._replace(codes=rows.codes[:, :-1].copy()), spec, node, progress)
    with pytest.raises(ValueError, match="rows done and stop"):
        subtree.grow(rows, spec, node, np.zeros(3, np.int64))
    with pytest.raises(ValueError, match="the cells of one node expected"):
        subtree.best_split(np.zeros(3, np.int32), spec, np.zeros(5, np.int64), 10)
    cells, slots = subtree.empty_cells(rows, spec), np.full(10, 1, np.int32)
    with pytest.raises(ValueError, match="slots within the cells expected"):
        subtree.histogram(rows, spec, 0, 10, cells, slots)
    with pytest.raises(ValueError, match="one sum per channel expected"):
        subtree.best_split(subtree.empty_cells(rows, spec), spec, np.zeros(5, np.int64), 10)
    with pytest.raises(ValueError, match="one slot per code expected"):
        subtree.partition(rows, spec, 0, 10, Split(0, 0.0, 0, 1, -1, 2, np.zeros(2, np.int32)))
    with pytest.raises(ValueError, match="a feature of the table expected"):
        subtree.partition(rows, spec, 0, 10, Split(9, 0.0, 0, 1, -1, 2, np.zeros(2, np.int32)))


def test_fractional_rows_need_weights():
    table = random_table(0, n_rows=10)
    rows, bins = encoded(table)
    with pytest.raises(ValueError, match="fractional rows need classes and weights"):
        subtree.grow(
            rows,
            spec_of(Grower(missing=Missing.FRACTIONAL), table, bins),
            NodeRange(0, 10),
            np.zeros(2, np.int64),
        )


@pytest.mark.parametrize(
    ("n_codes", "nominal", "monotone", "n_classes", "words"),
    [
        ([3, 4], [0], None, 2, "one entry per feature"),
        ([3], [0], [1, 0], 2, "one entry per feature"),
        ([3], [0], None, 0, "between 1 and 65,535 classes"),
        ([3], [0], None, 65_536, "between 1 and 65,535 classes"),
        ([65_536], [0], None, 2, "between 0 and 65,535 codes"),
        ([-1], [0], None, 2, "between 0 and 65,535 codes"),
        ([3], [0], [1], 3, "monotone constraints need two classes"),
    ],
)
def test_invalid_columns_are_rejected(n_codes, nominal, monotone, n_classes, words):
    with pytest.raises(ValueError, match=words):
        Columns(
            np.array(n_codes, np.int32),
            np.array(nominal, np.uint8),
            None if monotone is None else np.array(monotone, np.int8),
            None,
            n_classes,
        )


@pytest.mark.parametrize(
    ("position", "reliability", "words"),
    [
        ([0, 1, 2, -1], None, "one position per cell"),
        ([0, 1, 2], [0.5], "one position per cell"),
        ([0, 1, 2, -1], [0.5, 0.5], "one reliability per feature"),
        ([0, 1, 40_000, -1], [0.5], "positions between -1 and 32,767"),
        ([0, 1, -2, -1], [0.5], "positions between -1 and 32,767"),
        ([0, 1, 2, -1], [1.5], "a reliability between 0 and 1"),
        ([0, 1, 2, -1], [np.nan], "a reliability between 0 and 1"),
    ],
)
def test_an_invalid_order_of_categories_is_rejected(position, reliability, words):
    given = np.array([3], np.int32), np.ones(1, np.uint8), None, None, 2, np.array(position, np.int32)
    with pytest.raises(ValueError, match=words):
        Columns(*given, None if reliability is None else np.array(reliability))


def test_numbers_have_no_order_of_categories():
    with pytest.raises(ValueError, match="of a nominal feature"):
        Columns(
            *(np.array([1], np.int32), np.zeros(1, np.uint8), None, None, 2),
            *(np.array([0, -1], np.int32), np.array([0.5])),
        )


@pytest.mark.parametrize("criterion", OF_CLASSES)
def test_every_criterion_has_a_kernel(criterion):
    table = random_table(0, n_rows=100, noise=0.0)
    assert Grower(criterion).grow(table, bins_of(table)).n_leaves > 1


def test_an_unknown_criterion_is_rejected(small):
    rows, spec = small
    with pytest.raises(ValueError, match=r"criterion 0 \(entropy\), 1 \(gini\) or 2 \(hellinger\) expected"):
        subtree.grow(rows, spec._replace(criterion=9), NodeRange(0, 10), np.zeros(2, np.int64))
