"""Held-out gains of candidate splits and their association with the chosen one, against loops over the rows."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.stats import sem

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.errors import DataError, ParameterError
from hornbeam.explain.candidates.counted_node import association
from hornbeam.explain.candidates.list_splits import candidate_splits
from hornbeam.tree import Table


def rows_of(seed, n=240):
    """Two numbers, of which one may be missing, and a category."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=n).round(1), rng.normal(size=n).round(1), rng.integers(0, 4, n)])
    X[rng.random(n) < 0.15, 0] = np.nan
    frame = {"a": X[:, 0], "b": X[:, 1], "c": np.array(["k", "l", "m", "n"])[X[:, 2].astype(int)]}
    y = (np.nan_to_num(X[:, 0]) + X[:, 1] + rng.normal(size=n) > 0).astype(int) + (X[:, 2] == 3)
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(frame), y


def child_of(split, row):
    """The child of a row by its conditions, one value at a time."""
    for at, child in enumerate(split.children):
        value = row[split.column]
        code = child.condition.feature.categories.index(value) if split.categories else value
        if child.condition.holds(code):
            return at
    return None


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("criterion", ["entropy", "gini"])
def test_the_gain_is_the_mean_decrease_of_the_loss(seed, criterion):
    X, y = rows_of(seed)
    clf = TreeClassifier(criterion=criterion, max_depth=2, smoothing=None, pruning=None).fit(X[:160], y[:160])
    found = candidate_splits(clf, X[:160], y[:160], held_out=(X[160:], y[160:]))
    assert len(found) == 3
    counts = clf.tree_.evidence[0]
    node = (counts + 1 / len(counts)) / (counts.sum() + 1)
    for split in found:
        decreases = []
        for row, label in zip(X[160:].itertuples(index=False), y[160:], strict=True):
            at = child_of(split, row)
            child = node
            if at is not None:
                child = (np.array(split.children[at].counts) + node) / (split.children[at].weight + 1)
            decreases.append(loss(node, label, criterion) - loss(child, label, criterion))
        assert split.held_out_gain == pytest.approx(np.mean(decreases), abs=1e-12)
        assert split.held_out_error == pytest.approx(sem(decreases), rel=1e-9)


def loss(p, label, criterion):
    if criterion == "entropy":
        return -math.log2(p[label])
    return sum((p[k] - (k == label)) ** 2 for k in range(len(p)))


def test_the_gain_of_means_is_the_decrease_of_the_squared_error():
    X, _ = rows_of(3)
    y = np.nan_to_num(X.a.to_numpy()) + X.b.to_numpy()
    reg = TreeRegressor(max_depth=2, smoothing=None, pruning=None).fit(X[:160], y[:160])
    for split in candidate_splits(reg, X[:160], y[:160], held_out=(X[160:], y[160:])):
        decreases = []
        for row, target in zip(X[160:].itertuples(index=False), y[160:], strict=True):
            at = child_of(split, row)
            mean = y[:160].mean() if at is None else split.children[at].mean
            decreases.append((y[:160].mean() - target) ** 2 - (mean - target) ** 2)
        assert split.held_out_gain == pytest.approx(np.mean(decreases), rel=1e-9)
        assert split.held_out_error == pytest.approx(sem(decreases), rel=1e-9)


def test_only_rows_of_the_node_count():
    X, y = rows_of(5)
    clf = TreeClassifier(max_depth=2, pruning=None).fit(X[:160], y[:160])
    table = Table.read(X[160:], y[160:], schema=clf.tree_.schema)
    here = np.isin(clf.apply(X[160:]), [1, *np.flatnonzero(clf.tree_.skeleton.parent == 1)])
    assert 0 < here.sum() < len(here)
    whole = candidate_splits(clf, X[:160], y[:160], 1, held_out=table)
    part = candidate_splits(clf, X[:160], y[:160], 1, held_out=(X[160:][here], y[160:][here]))
    assert whole.to_dict()["held_out_gain"] == part.to_dict()["held_out_gain"]


@pytest.mark.parametrize("seed", range(8))
def test_the_association_is_the_share_of_errors_avoided(seed):
    X, y = rows_of(seed)
    clf = TreeClassifier(max_depth=1, pruning=None).fit(X, y)
    found = candidate_splits(clf, X, y)
    assert found.chosen.association == 1
    for split in found:
        pairs = [(child_of(found.chosen, row), child_of(split, row)) for row in X.itertuples(index=False)]
        pairs = [pair for pair in pairs if None not in pair]
        sizes = [sum(a == at for a, _ in pairs) for at in range(3)]
        best = [max(sum(pair == (a, b) for pair in pairs) for a in range(3)) for b in range(3)]
        expected = 1 - (len(pairs) - sum(best)) / (len(pairs) - max(sizes))
        assert split.association == pytest.approx(expected, abs=1e-12)
        assert 0 <= split.association <= 1


def test_a_single_child_has_no_errors_to_avoid():
    assert association(np.array([[1.0, 2.0]])) is None
    assert association(np.array([[0.0, 0.0], [0.0, 0.0]])) is None


def test_wrong_held_out_rows_are_refused():
    X, y = rows_of(0)
    clf = TreeClassifier().fit(X, y)
    for wrong in ([X, y], (X,), 3):
        with pytest.raises(ParameterError, match="expected a tuple of X and y"):
            candidate_splits(clf, X, y, held_out=wrong)
    with pytest.raises(DataError, match="y is None"):
        candidate_splits(clf, X, y, held_out=(X, None))
    with pytest.raises(ParameterError, match=r"Pass held_out=\(X, y\) to `edit`"):
        clf.edit(X, y).score_changes()


@pytest.mark.parametrize("exponent", [-400, 240, 266, 400, 460])
def test_held_out_gains_scale_with_the_square_of_the_target(exponent):
    """Powers of two change no digit, and the error is the root of a fourth power, which fits no float."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = X[:, 0] + rng.normal(size=40)

    def found(scale):
        clf = TreeRegressor("cart", max_depth=2).fit(X, y * scale)
        return candidate_splits(clf, X, y * scale, held_out=(X[::2], y[::2] * scale)).to_dict()

    scale = 2.0**exponent
    for name in ("held_out_gain", "held_out_error"):
        assert [value / scale / scale for value in found(scale)[name]] == found(1.0)[name]


def test_candidates_of_a_tree_that_sends_missing_values_to_every_child():
    """Also if it was grown without that: a file, or another program, may have changed it."""
    X, y = rows_of(0)
    clf = TreeClassifier("cart", max_depth=2).fit(X, y)
    skeleton = clf.tree_.skeleton
    every_child = np.where(skeleton.n_children > 0, -2, skeleton.missing_slot).astype(np.int32)
    tree = dataclasses.replace(clf.tree_, skeleton=dataclasses.replace(skeleton, missing_slot=every_child))
    assert candidate_splits(tree, X, y, 1).to_dict()["feature"]
