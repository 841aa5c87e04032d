"""The kernels of terms at any node against a general optimiser and a slow twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from hornbeam.kernels.terms import CodedColumns, EndedRows, Fitting, Selecting, fit_base
from support.examples import examples

PARENT = np.array(
    [-1, 0, 0, 2, 2], np.int32
)  # a root with a leaf (1) and a split (2) into the leaves 3 and 4
ENDS = np.array([1, 3, 4], np.int32)
BELOW = {0: [0, 1, 2], 1: [0], 2: [1, 2], 3: [1], 4: [2]}  # ends at each node and below it


def random_rows(seed, n=120, n_outputs=2):
    rng = np.random.default_rng(seed)
    end = np.sort(rng.integers(0, 3, n))
    label = rng.normal(size=(n, 1)) if n_outputs == 1 else softmax(rng.normal(size=(n, n_outputs)), axis=1)
    weight = rng.uniform(0.5, 2.0, n)
    start = np.searchsorted(end, np.arange(4))
    return rng, end, EndedRows(label, weight / weight.sum(), PARENT, ENDS, start)


def loss_of(score, rows):
    """The mean loss of each row's scores: cross-entropy, or half of the squared error."""
    if rows.label.shape[1] == 1:
        return 0.5 * (rows.weight * ((score - rows.label) ** 2)[:, 0]).sum()
    return -(rows.weight[:, None] * rows.label * log_softmax(score, axis=1)).sum()


@examples(25)
@given(
    st.integers(0, 10**6), st.integers(1, 4), st.lists(st.sampled_from(list(BELOW)), min_size=1, max_size=4)
)
def test_slopes_are_those_of_a_general_optimiser(seed, n_outputs, nodes):
    rng, end, rows = random_rows(seed, n_outputs=n_outputs)
    inside = np.column_stack([np.isin(end, BELOW[node]) for node in nodes])
    values = np.where(inside, rng.normal(size=inside.shape), 0.0)
    ridge = 0.01
    share = np.array([rows.weight[column].sum() for column in inside.T])

    def loss(x):
        base, slope = x[: 3 * n_outputs].reshape(3, n_outputs), x[3 * n_outputs :].reshape(-1, n_outputs)
        return loss_of(base[end] + values @ slope, rows) + ridge * (share[:, None] * slope**2).sum()

    slope = rows.slopes(values, np.array(nodes, np.int32), np.zeros(len(nodes), np.int8), Fitting(ridge, 400))
    best = minimize(loss, np.zeros((3 + len(nodes)) * n_outputs), options={"maxiter": 2000})

    def with_slopes(base):
        return loss(np.append(base, slope))

    assert minimize(with_slopes, best.x[: 3 * n_outputs]).fun <= best.fun + 1e-5


@examples(25)
@given(st.integers(0, 10**6), st.integers(1, 4))
def test_with_its_base_the_mean_prediction_is_the_mean_label(seed, n_outputs):
    rng, _, rows = random_rows(seed, n_outputs=n_outputs)
    score = rng.normal(size=rows.label.shape)
    base = fit_base(score, rows.label, rows.weight)
    predicted = score + base if n_outputs == 1 else softmax(score + base, axis=1)
    np.testing.assert_allclose(rows.weight @ predicted, rows.weight @ rows.label, atol=2e-5)


def anything(n_features):
    """No sign, and every feature at every node."""
    return np.zeros(n_features, np.int8), np.ones((len(PARENT), n_features), np.uint8)


def slow_gain(value, known, inside, predicted, rows):
    """The decrease of the loss by one Newton step of the slopes of a term, computed row by row."""
    used = known & inside
    weight = rows.weight * used
    if weight.sum() == 0:
        return 0.0
    centred = value - (weight @ value) / weight.sum()
    if (weight @ centred**2) / weight.sum() <= 1e-9:
        return 0.0
    curvature = np.ones_like(predicted) if predicted.shape[1] == 1 else predicted * (1 - predicted)
    moved = (weight * centred) @ (rows.label - predicted)
    damping = 1e-3 * (weight @ curvature) * (weight @ centred**2) / weight.sum()
    return float((0.5 * moved**2 / ((weight * centred**2) @ curvature + damping)).sum())


@examples(40)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_the_first_term_is_the_best_of_all_nodes_and_features(seed, n_outputs):
    rng, end, rows = random_rows(seed, n=200, n_outputs=n_outputs)
    n_codes = 6
    codes = rng.integers(0, n_codes + 1, (200, 3)).astype(np.uint8)  # the last code is a missing value
    number = np.sort(rng.normal(size=n_codes))
    shift = 1.5 * np.isin(end, BELOW[2]) * (codes[:, 0] > 2)
    label = rows.label.copy()
    label[:, 0] += shift
    rows = rows._replace(label=label if n_outputs == 1 else label / label.sum(axis=1, keepdims=True))
    columns = CodedColumns(
        codes,
        np.full(3, n_codes, np.int32),
        np.array([False, False, True]),
        np.concatenate([number, number, np.ones(n_codes)]),
        *anything(3),
    )
    means = np.array(
        [np.average(rows.label[end == e], axis=0, weights=rows.weight[end == e]) for e in range(3)]
    )
    gains = {}
    for node, ends in BELOW.items():
        inside = np.isin(end, ends)
        for feature in range(3):
            code = codes[:, feature].astype(int)
            known = code < n_codes
            ranges = [(low, high) for low in range(n_codes) for high in range(low + 1, n_codes)]
            for low, high in ranges if feature < 2 else ():
                value = number[np.clip(code, low, high)]
                gain = slow_gain(value, known, inside, means[end], rows)
                gains[node, feature, -1, number[low], number[high]] = gain
            for category in range(n_codes) if feature == 2 else ():
                value = (code == category).astype(float)
                gains[node, feature, category, 0.0, 1.0] = slow_gain(value, known, inside, means[end], rows)
    found = rows.select(columns, Selecting(1, rounds=1, least_share=0.0), 0.001)
    term = tuple(array.item() for array in found)
    # Knots are quantiles, so a range between other codes may explain a little more. A step counts four fifths.
    steps = [
        gain if f == 2 else 0.8 * gain
        for (_, f, _, low, high), gain in gains.items()
        if f == 2 or high == next_number(number, low)
    ]
    assert gains[term] >= max(steps) * (1 - 1e-6) or gains[term] == pytest.approx(max(gains.values()))


def next_number(number, low):
    """The code after the one with this value, if any."""
    at = int(np.searchsorted(number, low)) + 1
    return number[at] if at < len(number) else None


def test_a_term_of_a_part_of_the_tree_is_found_at_its_node():
    end = np.repeat([0, 1, 2], 100)
    code = np.tile(np.arange(10), 30)
    logit = np.where(end > 0, 0.5 * (code - 4.5), 0.0)
    label = softmax(np.column_stack([np.zeros(300), logit]), axis=1)
    rows = EndedRows(label, np.full(300, 1 / 300), PARENT, ENDS, np.array([0, 100, 200, 300]))
    columns = CodedColumns(
        code[:, None].astype(np.uint8),
        np.array([10], np.int32),
        np.array([False]),
        np.arange(10.0),
        *anything(1),
    )
    found = rows.select(columns, Selecting(1), 1e-6)
    assert (found.node.tolist(), found.feature.tolist(), found.category.tolist()) == ([2], [0], [-1])
    assert found.low.item() <= 1.0  # quantiles at 5 and 95 %
    assert found.high.item() >= 8.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parent": np.array([-1, 2, 0, 1, 0], np.int32)}, "parents before their children"),
        ({"parent": np.array([-1, 0], np.int32)}, "as many ends as nodes"),
        ({"start": np.array([0, 2, 1, 120])}, "the first row of each end"),
        ({"node_of_end": np.array([1, 3, 9], np.int32)}, "ends that are nodes"),
        ({"weight": np.ones(3)}, "a weight for each row"),
        ({"label": np.full((120, 2), 2.0)}, "probabilities"),
    ],
)
def test_wrong_arrays_are_refused(change, message):
    _, _, rows = random_rows(0)
    with pytest.raises(ValueError, match=message):
        rows._replace(**change).slopes(
            np.zeros((120, 1)), np.zeros(1, np.int32), np.zeros(1, np.int8), Fitting()
        )


@examples(25)
@given(
    st.integers(0, 10**6), st.integers(1, 2), st.lists(st.sampled_from([-1, 0, 1]), min_size=3, max_size=3)
)
def test_slopes_with_signs_are_those_of_a_general_optimiser(seed, n_outputs, signs):
    rng, end, rows = random_rows(seed, n_outputs=n_outputs)
    nodes, ridge = [0, 2, 3], 0.01
    inside = np.column_stack([np.isin(end, BELOW[node]) for node in nodes])
    values = np.where(inside, rng.normal(size=inside.shape), 0.0)
    share = np.array([rows.weight[column].sum() for column in inside.T])
    side = [-1, 1][-n_outputs:]  # of two classes the slope of the first one is the opposite

    def loss(x):
        base, slope = x[: 3 * n_outputs].reshape(3, n_outputs), x[3 * n_outputs :].reshape(-1, n_outputs)
        return loss_of(base[end] + values @ slope, rows) + ridge * (share[:, None] * slope**2).sum()

    limits = {-1: (None, 0.0), 0: (None, None), 1: (0.0, None)}
    bounds = [(None, None)] * (3 * n_outputs) + [limits[sign * one] for sign in signs for one in side]
    slope = rows.slopes(values, np.array(nodes, np.int32), np.array(signs, np.int8), Fitting(ridge, 400))
    assert (slope * side * np.array(signs)[:, None] >= 0).all()
    best = minimize(loss, np.zeros(len(bounds)), bounds=bounds, options={"maxiter": 2000})

    def with_slopes(base):
        return loss(np.append(base, slope))

    assert minimize(with_slopes, best.x[: 3 * n_outputs]).fun <= best.fun + 1e-5


def test_terms_against_their_sign_and_at_other_nodes_are_not_selected():
    end = np.repeat([0, 1, 2], 100)
    code = np.tile(np.arange(10), 30)
    label = softmax(np.column_stack([np.zeros(300), np.where(end > 0, 0.5 * (code - 4.5), 0.0)]), axis=1)
    rows = EndedRows(label, np.full(300, 1 / 300), PARENT, ENDS, np.array([0, 100, 200, 300]))
    coded = code[:, None].astype(np.uint8), np.array([10], np.int32), np.array([False]), np.arange(10.0)
    sign, allowed = anything(1)
    for own, where, nodes in ((1, allowed, [2]), (-1, allowed, []), (0, allowed * 0, [])):
        found = rows.select(CodedColumns(*coded, sign + np.int8(own), where), Selecting(1), 1e-6)
        assert found.node.tolist() == nodes
    allowed[2] = 0
    assert 2 not in rows.select(CodedColumns(*coded, sign, allowed), Selecting(3), 1e-6).node
