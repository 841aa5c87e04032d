"""The kernel of small trees against a slow twin that compares all cuts."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.kernels.lookahead import UNIT_VALUE, LeafRules, SearchRules, SoftRows
from hornbeam.kernels.subtree import PathRules
from support.examples import examples

STEPS = 64
CONSTANT = LeafRules(0)


def random_rows(seed, n=60, n_numeric=2, n_nominal=1, n_codes=5, n_channels=2, missing=0.1):
    """Rows whose shares depend on the codes, so that splits and slopes explain something."""
    rng = np.random.default_rng(seed)
    d = n_numeric + n_nominal
    codes = rng.integers(0, n_codes, (n, d)).astype(np.uint8)
    codes[rng.random((n, d)) < missing] = n_codes
    weight = rng.integers(1, 2 * STEPS, n).astype(np.int32)
    counted = np.where(rng.random(n) < 0.7, weight, 0).astype(np.int32)
    effect = rng.normal(size=(d, n_codes + 1, n_channels))
    score = sum(effect[f, codes[:, f]] for f in range(d))
    share = np.rint(weight[:, None] / (1 + np.exp(-score))).astype(np.int32)
    value = np.zeros((d, n_codes + 1), np.int16)
    value[:n_numeric, :n_codes] = np.sort(rng.integers(-UNIT_VALUE, UNIT_VALUE, (n_numeric, n_codes)), axis=1)
    nominal = np.arange(d) >= n_numeric
    return SoftRows(codes, weight, counted, share, np.full(d, n_codes, np.int32), nominal, value.ravel())


def explained(rows, mask):
    weight, share = rows.weight[mask].sum(), rows.share[mask].sum(axis=0).astype(float)
    return (share**2).sum() / weight


def all_cuts(rows, min_weight, min_counted):
    """Yield the left rows of every cut: numeric ones by threshold, categories by subset, missing on either side."""
    for feature in range(rows.codes.shape[1]):
        code, n = rows.codes[:, feature], int(rows.n_codes[feature])
        known = np.unique(code[code < n]).tolist()
        if rows.nominal[feature]:
            lefts = [set(left) for size in range(1, len(known) + 1) for left in combinations(known, size)]
        else:
            lefts = [set(known[: end + 1]) for end in range(len(known))]
        for left in lefts:
            for with_missing in (False, True):
                mask = np.isin(code, [*left, *([n] if with_missing else [])])
                weight, counted = (
                    min(array[mask].sum(), array[~mask].sum()) for array in (rows.weight, rows.counted)
                )
                if weight >= min_weight and counted >= min_counted:
                    yield mask


def leaves(rows, feature, left):
    """Route the rows through a tree in preorder."""
    found, end = np.zeros(len(rows.codes), int), [0]

    def walk(members):
        node = end[0]
        end[0] += 1
        if feature[node] < 0:
            found[members] = node
            return
        goes_left = left[node][rows.codes[members, feature[node]]]
        walk(members[goes_left])
        walk(members[~goes_left])

    walk(np.arange(len(rows.codes)))
    return found


def value_of_tree(rows, feature, left):
    leaf = leaves(rows, feature, left)
    return sum(explained(rows, leaf == node) for node in np.unique(leaf))


@examples(40)
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 400), st.integers(0, 400))
def test_a_tree_of_two_leaves_has_the_best_cut_of_all(seed, n_channels, min_weight, min_counted):
    rows = random_rows(
        seed, n_channels=n_channels, n_nominal=int(n_channels == 1)
    )  # several: subsets are a heuristic
    feature, left = rows.search(SearchRules(2, 3, min_weight, min_counted), CONSTANT)
    best = max(
        (explained(rows, m) + explained(rows, ~m) for m in all_cuts(rows, min_weight, min_counted)),
        default=0.0,
    )
    whole = explained(rows, np.ones(len(rows.codes), bool))
    assert value_of_tree(rows, feature, left) == pytest.approx(max(best, whole), rel=1e-9)


@examples(25)
@given(st.integers(0, 10**6), st.integers(3, 9), st.integers(0, 2))
def test_lookahead_explains_at_least_as_much_as_greedy_growth(seed, max_leaves, n_terms):
    rows, leaf = random_rows(seed, n=150), LeafRules(n_terms)
    rules = SearchRules(max_leaves, 5, 5 * STEPS)
    greedy = rows.search(rules._replace(n_candidates=0, overgrowth=1), CONSTANT)
    looked = rows.search(rules, CONSTANT)
    assert value_of_tree(rows, *looked) >= value_of_tree(rows, *greedy) * (1 - 1e-9)
    feature, _ = rows.search(rules, leaf)
    assert (feature < 0).sum() <= max_leaves


@examples(25)
@given(st.integers(0, 10**6), st.integers(0, 3))
def test_threads_and_the_order_of_rows_change_nothing(seed, n_terms):
    rows = random_rows(seed, n=200, n_channels=1 + seed % 3)
    rules, leaf = SearchRules(6, 4, 10 * STEPS), LeafRules(n_terms)
    order = np.random.default_rng(seed).permutation(len(rows.codes))
    for other in (rows.search(rules, leaf, n_jobs=3), rows.take(order).search(rules, leaf)):
        for one, two in zip(rows.search(rules, leaf), other, strict=True):
            np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"codes": np.full((3, 1), 9, np.uint8)}, "codes within their ranges"),
        ({"weight": np.zeros(3, np.int32)}, "weights from 1"),
        ({"counted": np.full(3, 2, np.int32)}, "counted weights and shares up to the weight"),
        ({"counted": np.ones(2, np.int32)}, "a counted weight"),
        ({"value": np.zeros(2, np.int16)}, "a value for each code"),
        ({"value": np.full(6, 300, np.int16)}, "values from -256 to 256"),
        ({"n_codes": np.array([0], np.int32)}, "from 1 to 255 codes"),
        ({"share": np.zeros((2, 1), np.int32)}, "shares for each row"),
    ],
)
def test_wrong_arrays_are_refused(change, message):
    rows = SoftRows(
        np.zeros((3, 1), np.uint8),
        np.ones(3, np.int32),
        np.ones(3, np.int32),
        np.zeros((3, 1), np.int32),
        np.array([5], np.int32),
        np.array([False]),
        np.zeros(6, np.int16),
    )._replace(**change)
    with pytest.raises(ValueError, match=message):
        rows.search(SearchRules(4, 3, 1), CONSTANT)


@examples(20)
@given(st.integers(0, 10**6), st.sampled_from([0, 2]))
def test_the_features_of_a_path_obey_the_rules(seed, n_terms):
    rows, rules = random_rows(seed, n=200), SearchRules(8, 4, 1)
    paths = PathRules(3, [[0, 2], [1, 2]], [[], [], [2]])  # column 2 once on a path
    feature, _ = rows.search(rules, LeafRules(n_terms), 2, paths)
    above = [[]]  # of the nodes in preorder that are yet to come
    for one in feature.tolist():
        path = above.pop()
        if one >= 0:
            assert paths.allowed(path)[one]
            above += [[*path, one]] * 2
    none = rows.search(rules, LeafRules(n_terms), 1, PathRules(3, [], [[], [], []]))[0]
    assert none.tolist() == [-1]
    every = PathRules(3, [[0, 1, 2]], [[], [], []])
    for found, expected in zip(
        rows.search(rules, LeafRules(n_terms), 1, every), rows.search(rules, LeafRules(n_terms)), strict=True
    ):
        np.testing.assert_array_equal(found, expected)
