"""The study of surrogate splits: its plain tree on tables whose classes are known, and its recorded report."""

import numpy as np
import pytest
from benchmarks.quality import surrogates
from benchmarks.quality.missing_branch import OUT
from benchmarks.quality.surrogates import TREATMENTS, best_split, grow, inner, predict


def table(missing):
    """200 rows; the class is that of column 0, which column 1 copies with a category; column 2 is noise."""
    rng = np.random.default_rng(0)
    value = rng.permutation(200).astype(float)
    X = np.column_stack([value, value >= 120, rng.random(200)])
    y = (value >= 120).astype(int)
    X[rng.permutation(200)[:missing], 0] = np.nan
    return X, np.eye(2)[y], y


@pytest.mark.parametrize("treatment", TREATMENTS)
def test_without_missing_values_all_treatments_are_one(treatment):
    X, Y, y = table(0)
    tree = grow(X[:, [0, 2]], [False, False], Y, treatment)
    assert (predict(tree, X[:, [0, 2]]).argmax(axis=1) == y).all()
    assert np.array_equal(
        predict(tree, X[:, [0, 2]]), predict(grow(X[:, [0, 2]], [False, False], Y, "own"), X[:, [0, 2]])
    )


def test_a_copy_takes_the_place_of_a_missing_value():
    X, Y, y = table(0)
    root = grow(X, [False, True, False], Y, "surrogate")
    assert [test.column for test in root.tests[:2]] == [0, 1]
    lost = X.copy()
    lost[:, 0] = np.nan
    assert (predict(root, lost).argmax(axis=1) == y).all()
    lost[:, 1] = np.nan
    larger = grow(X, [False, True, False], Y, "majority")
    lost[:, 2] = np.nan
    assert (predict(larger, lost).argmax(axis=1) == 0).all()  # 120 of 200 rows


def test_missing_values_have_a_child_of_ten_rows_or_more():
    for missing, three in ((9, False), (30, True)):
        X, Y, _ = table(missing)
        root = grow(X[:, :1], [False], Y, "own")
        assert (len(root.children) == 3) == three
        assert all(len(node.rows) >= 10 for split in inner(root) for node in split.children)


def test_the_gain_worked_by_hand():
    """40 rows, 30 and 10: entropy .8113 bits each; a pure cut gains all of it."""
    X = np.arange(40.0)[:, None]
    gain, test = best_split(X, [False], np.eye(2)[(X[:, 0] >= 30).astype(int)], own=False)
    assert gain == pytest.approx(40 * 0.8112781)
    assert test.cut == 29.5


def test_the_report_is_that_of_the_recorded_figures():
    assert (OUT / "surrogates.md").read_text(encoding="utf-8") == surrogates.report(OUT / "surrogates.csv")
