"""The kernels of the level phase, against a walk by hand, against NumPy, and against the kernels of one node."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbeam.growing import Grower, Missing
from hornbeam.kernels import levelwise, subtree
from hornbeam.kernels.levelwise import CodeTree
from hornbeam.kernels.subtree import CRITERIA, GrowthSpec, Rows, Rules
from strategies_growing import OF_CLASSES, bins_of, growers, random_table, training_tables

N_CODES, NOMINAL = 4, np.array([0, 0, 1], np.uint8)
seeds = st.integers(0, 2**32 - 1)
codings = st.sampled_from([np.uint8, np.uint16])


def plain_terms(n_classes=2):
    n_codes, rules = np.full(3, N_CODES, np.int32), Rules()
    rules.total_weight = 1000
    return GrowthSpec.of(n_codes, NOMINAL, None, None, n_classes, CRITERIA["entropy"], rules)


def random_tests(rng):
    """A tree grown at random: one leaf after the other is opened, and some tests let a row stop."""
    columns = {name: [-1] for name in CodeTree._fields if name != "map"}
    slot_map = []
    for node in range(14):
        if node >= len(columns["feature"]) or rng.random() < 0.2:
            continue
        feature = int(rng.integers(3))
        n_children = int(rng.integers(2, 4))
        columns["feature"][node], columns["first_child"][node] = feature, len(columns["feature"])
        columns["missing_slot"][node] = int(rng.integers(-1, n_children))
        if NOMINAL[feature]:
            columns["map_start"][node] = len(slot_map)
            slot_map += rng.integers(-1, n_children, N_CODES).tolist()
        else:
            columns["left"][node] = int(rng.integers(N_CODES))
        for column in columns.values():
            column += [-1] * n_children
    arrays = {name: np.array(column, np.int32) for name, column in columns.items()}
    arrays["map_start"] = arrays["map_start"].astype(np.int64)
    return CodeTree(**arrays, map=np.array(slot_map, np.int32))


def stop_of(row, guide):
    node = 0
    while (feature := guide.feature[node]) >= 0:
        code = row[feature]
        if code == N_CODES:
            slot = guide.missing_slot[node]
        elif NOMINAL[feature]:
            slot = guide.map[guide.map_start[node] + code]
        else:
            slot = int(code > guide.left[node])
        if slot < 0:
            return node
        node = guide.first_child[node] + slot
    return node


@settings(max_examples=200)
@given(seeds, codings, st.integers(0, 1200))
def test_every_row_stops_where_the_tests_lead_it(seed, dtype, n_rows):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, N_CODES + 1, (n_rows, 3)).astype(dtype)
    guide = random_tests(rng)
    found = levelwise.descend(codes, plain_terms(), guide)
    checked = slice(None, None, max(1, n_rows // 40))
    assert found[checked].tolist() == [stop_of(row, guide) for row in codes[checked].tolist()]


@settings(max_examples=100)
@given(seeds, codings, st.booleans())
def test_open_nodes_are_counted_as_if_one_by_one(seed, dtype, weighted):
    rng = np.random.default_rng(seed)
    n_rows, terms, guide = 700, plain_terms(3), random_tests(rng)
    weight = rng.integers(1, 9, n_rows) if weighted else None
    codes = rng.integers(0, N_CODES + 1, (n_rows, 3)).astype(dtype)
    rows = Rows(codes, rng.integers(0, 3, n_rows).astype(np.uint16), weight)
    for array in rows:  # rows may lie where nobody may write
        if array is not None:
            array.flags.writeable = False
    slot_of_node = rng.integers(-1, 3, len(guide.feature), dtype=np.int32)
    cells = subtree.zero_cells(terms, 3, weighted=weighted)
    levelwise.count_open(rows, terms, guide, slot_of_node, cells)
    expected = subtree.zero_cells(terms, 3, weighted=weighted)
    slots = slot_of_node[levelwise.descend(rows.codes, terms, guide)]
    subtree.histogram(rows, terms, 0, n_rows, expected, slots)
    np.testing.assert_array_equal(cells, expected)


@settings(max_examples=100)
@given(seeds, codings)
def test_rows_go_on_from_where_they_were(seed, dtype):
    """A tree of some of the nodes, then of all of them."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, N_CODES + 1, (200, 3)).astype(dtype)
    guide, terms = random_tests(rng), plain_terms()
    inner = np.flatnonzero(guide.feature >= 0)
    for seen in [1, *(guide.first_child[inner]).tolist(), len(guide.feature)]:
        young = CodeTree(*(array[:seen].copy() for array in guide[:5]), guide.map)
        young.feature[young.first_child >= seen] = -1
        node = levelwise.descend(codes, terms, young)
        assert node.max() < seen
        expected = levelwise.descend(codes, terms, guide)
        np.testing.assert_array_equal(levelwise.descend(codes, terms, guide, node, seen), expected)
    with pytest.raises(ValueError, match="nodes seen before expected"):
        levelwise.descend(codes, terms, guide, np.full(200, 1, np.int32), 1)


@settings(max_examples=300)
@given(st.data())
def test_offers_of_any_blocks_of_features_give_the_split_of_all(data):
    """Near ties too: the declared order is not one that the winners of blocks could settle among themselves."""
    table = data.draw(training_tables(max_rows=60))
    grower = data.draw(growers(table, missing=[Missing.OWN, Missing.LEARNED]))
    bins = bins_of(table)
    total = table.n_rows if table.weight is None else int(table.weight.sum())
    terms = grower._terms(table.schema, bins, grower._rules(grower.missing, table.unit, total, table.n_rows))
    rows = Rows(bins.encode(table), table.target.astype(np.uint16), table.weight)
    cells = subtree.empty_cells(rows, terms)
    subtree.histogram(rows, terms, 0, table.n_rows, cells)
    counts = np.zeros(terms.n_classes, np.int64)
    np.add.at(counts, rows.label, 1 if rows.weight is None else rows.weight)
    whole = subtree.best_split(cells, terms, counts, table.n_rows)

    n_features = len(terms.nominal)
    cuts = sorted(data.draw(st.sets(st.integers(1, n_features), max_size=n_features)) | {0, n_features})
    numbers, likely = [], {}
    for first, last in pairwise(cuts):
        part = cells.reshape(terms.n_cells, -1)[terms.offsets[first] : terms.offsets[last]].reshape(-1)
        offers = levelwise.best_per_feature(
            part.copy(), terms.some(first, last), counts, table.n_rows, 0.0, 1.0
        )
        numbers.append(offers.numbers)
        likely |= {split.feature + first: split for split in offers.splits}
    winner = levelwise.choose_split(np.concatenate(numbers), terms, counts, table.n_rows)
    if whole is None:
        assert winner == -1
        return
    assert winner == whole.feature
    np.testing.assert_array_equal(likely[winner].slot_of, whole.slot_of)
    assert likely[winner][1:-1] == whole[1:-1]


def test_a_chain_of_near_ties_is_settled_in_the_order_of_all_features():
    """The second is no better than the first, the third no better than the second, but than the first."""
    terms, counts = plain_terms(), np.array([500, 500])
    tie = 2.0**-36
    gain = np.array([0.5, 0.5 + 0.7 * tie, 0.5 + 1.4 * tie])
    assert levelwise.choose_split(offers_of(gain), terms, counts, 1000) == 2
    assert levelwise.choose_split(offers_of(gain[[1, 0, 2]]), terms, counts, 1000) == 0


def offers_of(gain):
    """Offers of ordered features that are compared by their gain."""
    return np.column_stack([gain, gain, np.zeros(len(gain)), np.zeros(len(gain))]).reshape(-1)


def test_nobody_wins_where_nothing_is_offered():
    nothing = offers_of(np.full(3, np.nan))
    assert levelwise.choose_split(nothing, plain_terms(), np.array([5, 5]), 10) == -1


@pytest.mark.parametrize("criterion", OF_CLASSES)
def test_terms_travel(criterion):
    """Kernels at the other end choose the same split."""
    table = random_table(3, n_rows=80)
    bins = bins_of(table)
    grower = Grower(criterion, min_samples_leaf=2, monotone=(1, 0, 0))
    terms = grower._terms(table.schema, bins, grower._rules(Missing.OWN, 1.0, 80, 80))
    there = pickle.loads(pickle.dumps(terms))
    for name in GrowthSpec._fields[3:]:
        np.testing.assert_array_equal(getattr(there, name), getattr(terms, name))
    for name in ("nominal", "missing", "gain_ratio", "min_rows_leaf", "unit", "total_weight", "max_depth"):
        assert getattr(there.rules, name) == getattr(terms.rules, name)
    rows = Rows(bins.encode(table), table.target.astype(np.uint16), None)
    cells, counts = subtree.empty_cells(rows, terms), np.bincount(rows.label)
    subtree.histogram(rows, there, 0, 80, cells)
    here, far = (subtree.best_split(cells, each, counts, 80) for each in (terms, there))
    assert here is not None
    assert here[:-1] == far[:-1]


def stump(**changed):
    arrays = {
        "feature": [0, -1, -1],
        "first_child": [1, -1, -1],
        "left": [1, -1, -1],
        "missing_slot": [-1, -1, -1],
        "map_start": [-1, -1, -1],
        "map": [],
    } | changed
    return CodeTree(
        **{name: np.array(a, np.int64 if name == "map_start" else np.int32) for name, a in arrays.items()}
    )


@pytest.mark.parametrize(
    "changed",
    [
        {"feature": [7, -1, -1]},
        {"first_child": [0, -1, -1]},
        {"first_child": [2, -1, -1]},
        {"left": [4, -1, -1]},
        {"left": [-1, -1, -1]},
        {"missing_slot": [2, -1, -1]},
        {"missing_slot": [-2, -1, -1]},
        {"feature": [2, -1, -1], "map_start": [1, -1, -1], "map": [0, 1, 0, 1]},
        {"feature": [2, -1, -1], "map_start": [0, -1, -1], "map": [0, 1, 2, 1]},
        {"left": [1, -1]},
        {"feature": [], "first_child": [], "left": [], "missing_slot": [], "map_start": []},
    ],
    ids=lambda changed: " ".join(f"{name}={array}" for name, array in changed.items()),
)
def test_a_tree_that_leads_nowhere_is_refused(changed):
    codes = np.zeros((2, 3), np.uint8)
    assert levelwise.descend(codes, plain_terms(), stump()).tolist() == [1, 1]
    with pytest.raises(ValueError, match="a tree over these codes expected"):
        levelwise.descend(codes, plain_terms(), stump(**changed))


def test_slots_outside_the_cells_are_refused():
    terms = plain_terms()
    rows = Rows(np.zeros((2, 3), np.uint8), np.zeros(2, np.uint16), None)
    cells = subtree.zero_cells(terms, 1, weighted=False)
    with pytest.raises(ValueError, match="slots within the cells expected"):
        levelwise.count_open(rows, terms, stump(), np.array([-1, 0, 1], np.int32), cells)
    with pytest.raises(ValueError, match="one slot a node expected"):
        levelwise.count_open(rows, terms, stump(), np.array([0, 0], np.int32), cells)
    with pytest.raises(ValueError, match="four numbers a feature expected"):
        levelwise.choose_split(np.zeros(8), terms, np.array([1, 1]), 2)
