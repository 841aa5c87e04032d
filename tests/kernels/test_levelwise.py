"""The kernels of the level phase against a walk in Python, NumPy and the kernels of one node."""

import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.growing.criterion import Missing
from hornbeam.growing.grower import Grower
from hornbeam.kernels import levelwise, subtree
from hornbeam.kernels.levelwise import CodeTree
from hornbeam.kernels.subtree import CRITERIA, GrowthSpec, Rows, Rules
from support.examples import examples
from support.strategies_growing import OF_CLASSES, bins_of, growers, random_table, spec_of, training_tables

N_CODES, NOMINAL = 4, np.array([0, 0, 1], np.uint8)
seeds = st.integers(0, 2**32 - 1)
codings = st.sampled_from([np.uint8, np.uint16])


def plain_spec(n_classes=2):
    n_codes, rules = np.full(3, N_CODES, np.int32), Rules()
    rules.total_weight = 1000
    return GrowthSpec.of(n_codes, NOMINAL, None, None, n_classes, CRITERIA["entropy"], rules)


def random_code_tree(rng):
    """A random tree over codes; some slots are -1, where a row stops."""
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


def stop_of(row, tree):
    node = 0
    while (feature := tree.feature[node]) >= 0:
        code = row[feature]
        if code == N_CODES:
            slot = tree.missing_slot[node]
        elif NOMINAL[feature]:
            slot = tree.map[tree.map_start[node] + code]
        else:
            slot = int(code > tree.left[node])
        if slot < 0:
            return node
        node = tree.first_child[node] + slot
    return node


@examples(200)
@given(seeds, codings, st.integers(0, 1200))
def test_descend_routes_as_a_walk_in_python(seed, dtype, n_rows):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, N_CODES + 1, (n_rows, 3)).astype(dtype)
    tree = random_code_tree(rng)
    found = levelwise.descend(codes, plain_spec(), tree)
    checked = slice(None, None, max(1, n_rows // 40))
    assert found[checked].tolist() == [stop_of(row, tree) for row in codes[checked].tolist()]


@examples(100)
@given(seeds, codings, st.booleans())
def test_count_open_equals_histogram_of_descended_rows(seed, dtype, weighted):
    rng = np.random.default_rng(seed)
    n_rows, spec, tree = 700, plain_spec(3), random_code_tree(rng)
    weight = rng.integers(1, 9, n_rows) if weighted else None
    codes = rng.integers(0, N_CODES + 1, (n_rows, 3)).astype(dtype)
    rows = Rows(codes, rng.integers(0, 3, n_rows).astype(np.uint16), weight)
    for array in rows:  # read-only memory is accepted
        if array is not None:
            array.flags.writeable = False
    slot_of_node = rng.integers(-1, 3, len(tree.feature), dtype=np.int32)
    cells = subtree.zero_cells(spec, 3, weighted=weighted)
    levelwise.count_open(rows, spec, tree, slot_of_node, cells)
    expected = subtree.zero_cells(spec, 3, weighted=weighted)
    slots = slot_of_node[levelwise.descend(rows.codes, spec, tree)]
    subtree.histogram(rows, spec, 0, n_rows, expected, slots)
    np.testing.assert_array_equal(cells, expected)


@examples(50)
@given(seeds, st.booleans())
def test_count_open_adds_the_squares_of_the_counted_rows(seed, weighted):
    rng = np.random.default_rng(seed)
    n_rows, tree = 9_000, random_code_tree(rng)  # codes are checked 8,192 rows at a time
    spec = plain_spec(1)._replace(criterion=CRITERIA["squared_error"])
    weight = rng.integers(1, 9, n_rows) if weighted else None
    codes = rng.integers(0, N_CODES + 1, (n_rows, 3)).astype(np.uint8)
    rows = Rows(codes, np.empty(0, np.uint16), weight, rng.integers(-(2**40), 2**40, n_rows))
    slot_of_node = rng.integers(-1, 3, len(tree.feature), dtype=np.int32)
    slot_of_node[0] = 2
    cells = subtree.zero_cells(spec, 3, weighted=weighted)
    squares, expected = np.ones((2, 3 * levelwise.SQUARE_PARTS), np.int64)
    node = levelwise.count_open(rows, spec, tree, slot_of_node, cells, squares=squares)
    levelwise.add_squares(rows, node, slot_of_node, expected)
    np.testing.assert_array_equal(squares, expected)
    codes[-1] = 200
    with pytest.raises(ValueError, match="codes and labels within their ranges"):
        levelwise.count_open(rows, spec, tree, slot_of_node, cells)


@examples(100)
@given(seeds, codings)
def test_descend_continues_from_earlier_nodes(seed, dtype):
    """First a tree of some of the nodes, then of all of them."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, N_CODES + 1, (200, 3)).astype(dtype)
    tree, spec = random_code_tree(rng), plain_spec()
    inner = np.flatnonzero(tree.feature >= 0)
    for seen in [1, *(tree.first_child[inner]).tolist(), len(tree.feature)]:
        smaller = CodeTree(*(array[:seen].copy() for array in tree[:5]), tree.map)
        smaller.feature[smaller.first_child >= seen] = -1
        node = levelwise.descend(codes, spec, smaller)
        assert node.max() < seen
        expected = levelwise.descend(codes, spec, tree)
        np.testing.assert_array_equal(levelwise.descend(codes, spec, tree, node, seen), expected)
    with pytest.raises(ValueError, match="nodes seen before expected"):
        levelwise.descend(codes, spec, tree, np.full(200, 1, np.int32), 1)


@examples(300)
@given(st.data())
def test_best_per_feature_of_any_blocks_gives_the_best_split_of_all(data):
    """Also with near ties, where the winners of blocks alone do not determine the winner of all."""
    table = data.draw(training_tables(max_rows=60))
    grower = data.draw(growers(table, missing=[Missing.OWN, Missing.LEARNED]))
    bins = bins_of(table)
    spec = spec_of(replace(grower, feature_costs=None), table, bins)
    rows = Rows(bins.encode(table), table.target.astype(np.uint16), table.weight)
    cells = subtree.empty_cells(rows, spec)
    subtree.histogram(rows, spec, 0, table.n_rows, cells)
    counts = np.zeros(spec.n_classes, np.int64)
    np.add.at(counts, rows.label, 1 if rows.weight is None else rows.weight)
    whole = subtree.best_split(cells, spec, counts, table.n_rows)

    n_features = len(spec.nominal)
    cuts = sorted(data.draw(st.sets(st.integers(1, n_features), max_size=n_features)) | {0, n_features})
    numbers, likely = [], {}
    for first, last in pairwise(cuts):
        part = cells.reshape(spec.n_cells, -1)[spec.offsets[first] : spec.offsets[last]].reshape(-1)
        found = levelwise.best_per_feature(
            part.copy(), spec.some(first, last), counts, table.n_rows, 0.0, 1.0
        )
        numbers.append(found.numbers)
        likely |= {split.feature + first: split for split in found.splits}
    winner = levelwise.choose_split(np.concatenate(numbers), spec, counts, table.n_rows)
    if whole is None:
        assert winner == -1
        return
    assert winner == whole.feature
    np.testing.assert_array_equal(likely[winner].slot_of, whole.slot_of)
    assert likely[winner][1:-1] == whole[1:-1]


def test_a_chain_of_near_ties_is_resolved_in_the_order_of_all_features():
    """The second ties with the first, the third ties with the second but beats the first."""
    spec, counts = plain_spec(), np.array([500, 500])
    tie = 2.0**-36
    gain = np.array([0.5, 0.5 + 0.7 * tie, 0.5 + 1.4 * tie])
    assert levelwise.choose_split(numbers_of(gain), spec, counts, 1000) == 2
    assert levelwise.choose_split(numbers_of(gain[[1, 0, 2]]), spec, counts, 1000) == 0


def numbers_of(gain):
    """Numbers of ordered features that are compared by their gain."""
    return np.column_stack([gain, gain, np.zeros(len(gain)), np.zeros(len(gain))]).reshape(-1)


def test_no_feature_wins_without_a_split():
    no_splits = numbers_of(np.full(3, np.nan))
    assert levelwise.choose_split(no_splits, plain_spec(), np.array([5, 5]), 10) == -1


@pytest.mark.parametrize("criterion", OF_CLASSES)
def test_a_pickled_spec_gives_the_same_split(criterion):
    table = random_table(3, n_rows=80)
    bins = bins_of(table)
    grower = Grower(criterion, min_samples_leaf=2, monotonic_cst=(1, 0, 0))
    spec = spec_of(grower, table, bins)
    loaded = pickle.loads(pickle.dumps(spec))
    for name in GrowthSpec._fields[3:]:
        np.testing.assert_array_equal(getattr(loaded, name), getattr(spec, name))
    for name in ("nominal", "missing", "gain_ratio", "min_rows_leaf", "unit", "total_weight", "max_depth"):
        assert getattr(loaded.rules, name) == getattr(spec.rules, name)
    rows = Rows(bins.encode(table), table.target.astype(np.uint16), None)
    cells, counts = subtree.empty_cells(rows, spec), np.bincount(rows.label)
    subtree.histogram(rows, loaded, 0, 80, cells)
    here, far = (subtree.best_split(cells, each, counts, 80) for each in (spec, loaded))
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
def test_invalid_code_trees_are_rejected(changed):
    codes = np.zeros((2, 3), np.uint8)
    assert levelwise.descend(codes, plain_spec(), stump()).tolist() == [1, 1]
    with pytest.raises(ValueError, match="a tree over these codes expected"):
        levelwise.descend(codes, plain_spec(), stump(**changed))


def test_slots_outside_the_cells_are_rejected():
    spec = plain_spec()
    rows = Rows(np.zeros((2, 3), np.uint8), np.zeros(2, np.uint16), None)
    cells = subtree.zero_cells(spec, 1, weighted=False)
    with pytest.raises(ValueError, match="slots within the cells expected"):
        levelwise.count_open(rows, spec, stump(), np.array([-1, 0, 1], np.int32), cells)
    with pytest.raises(ValueError, match="one slot per node expected"):
        levelwise.count_open(rows, spec, stump(), np.array([0, 0], np.int32), cells)
    with pytest.raises(ValueError, match="numerators, and four parts per slot, expected for squares"):
        levelwise.count_open(
            rows, spec, stump(), np.array([-1, 0, 0], np.int32), cells, squares=np.zeros(4, np.int64)
        )
    with pytest.raises(ValueError, match="four numbers per feature expected"):
        levelwise.choose_split(np.zeros(8), spec, np.array([1, 1]), 2)
