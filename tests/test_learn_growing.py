"""The learn pages on growing and overfitting: what their text says, computed another way."""

import importlib
import re
import sys
from itertools import product
from math import log2
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.pruning import ReducedError
from hornbeam.tree import Table

DOCS = Path(__file__).parents[1] / "docs"
GROWING = (DOCS / "learn/growing.md").read_text(encoding="utf-8")
OVERFITTING = (DOCS / "learn/overfitting.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def pictures():
    """Import a module of the pictures."""
    sys.path.insert(0, str(DOCS / "pictures"))
    yield importlib.import_module
    sys.path.remove(str(DOCS / "pictures"))


def inline(page, name):
    """The cells of an inline table: rows divided by commas."""
    found = re.search(rf'>>> {name} = .*?"(.*?)"+\)?$', page, re.DOTALL | re.MULTILINE)
    return [row.split() for row in found[1].replace('""', "").replace("\n...", " ").split(",")]


def numbers(page, sentence):
    """The numbers in the sentence that matches; `#` stands for a number."""
    pattern = re.escape(sentence).replace(r"\#", r"([\d,]*\.?\d+(?:e-\d+)?)").replace(r"\ ", r"\s+")
    return [float(text.replace(",", "")) for text in re.search(pattern, page).groups()]


# ---- growing


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_parity_of_n_inputs_needs_every_path(n):
    rows = pd.DataFrame(product("FT", repeat=n))
    assert TreeClassifier("id3").fit(rows, (rows == "T").sum(axis=1) % 2).tree_.n_leaves == 2**n


def test_the_squared_errors_of_the_regression_example():
    mean, total = numbers(GROWING, "the mean is # and the SSE #.")
    left, right, *parts, least = numbers(GROWING, "means # and #, SSE # + # = #.")
    values = np.array(
        [float(text) for text in re.search(r"For the targets ([\d, ]+) the mean", GROWING)[1].split(",")]
    )
    assert (mean, total) == (values.mean(), ((values - mean) ** 2).sum())
    tree = TreeRegressor("cart", max_depth=1).fit(np.arange(6)[:, None], values).tree_
    assert tree.belief[:, 0].tolist() == [mean, left, right]
    assert parts == [((values[:3] - left) ** 2).sum(), ((values[3:] - right) ** 2).sum()]
    assert least == sum(parts) == pytest.approx(total - 6 * tree.gain[0])


@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from("abc")), min_size=2, max_size=30))
def test_the_best_threshold_is_at_a_boundary_point(rows):
    x, y = np.array([x for x, _ in rows]), np.array([label for _, label in rows])
    if len(set(y)) == 1:
        return
    tree = TreeClassifier("id3", max_depth=1).fit(x[:, None], y).tree_
    if tree.n_nodes == 1 or tree.gain[0] < 1e-9:
        return
    cut = tree.skeleton.threshold[0]
    below, above = x[x < cut].max(), x[x > cut].min()
    assert len({*y[x == below], *y[x == above]}) > 1


def test_the_cost_of_an_identifier_in_bits():
    n, bits = numbers(GROWING, "log2(#) = # bits")
    assert round(log2(n), 1) == bits


def test_the_people_on_the_titanic():
    """Dawson, The unusual episode data revisited, 1995: totals of his table."""
    cells = pd.DataFrame(inline(GROWING, "cells"), columns=["class", "sex", "age", "died", "survived"])
    counts = cells.set_index(["class", "sex", "age"]).astype(int)
    assert counts.sum().to_dict() == {"died": 1490, "survived": 711}
    assert numbers(GROWING, "# people were on board") == [counts.to_numpy().sum()]
    assert counts.sum(axis=1).groupby("class").sum().to_dict() == {
        "1st": 325,
        "2nd": 285,
        "3rd": 706,
        "crew": 885,
    }
    assert counts.sum(axis=1).groupby(["sex", "age"]).sum().to_dict() == {
        ("female", "adult"): 425,
        ("female", "child"): 45,
        ("male", "adult"): 1667,
        ("male", "child"): 64,
    }


def test_the_pictures_have_the_rows_of_the_page(pictures):
    module = pictures("learn_growing")
    assert [thing.split() for thing in module.THINGS.split(",")] == inline(GROWING, "things")
    assert f'list("{module.RESULT}")' in GROWING
    gains = [float(gain) for gain in re.findall(r"(0\.\d{4})  hours ≤", GROWING)]
    assert np.round(module.gains(), 4).tolist() == gains


# ---- overfitting


def leaves_kept(counts, held):
    """Errors of every pruning of the tree over two binary features: x at the root, z below (slow twin)."""
    cells = list(product((0, 1), repeat=2))

    def wrong(group):
        seen = np.sum([counts[cell] for cell in group], axis=0)
        rows = np.sum([held[cell] for cell in group], axis=0)
        return int(rows.sum() - rows[seen.argmax()])

    sides = [[cell for cell in cells if cell[0] == x] for x in (0, 1)]
    whole = [wrong(side) for side in sides]
    split = [sum(wrong([cell]) for cell in side) for side in sides]
    kept = {(a, b): (split, whole)[a][0] + (split, whole)[b][1] for a, b in cells}
    return {"root": wrong(cells), **kept}


def counted(rows):
    """Class counts of each cell."""
    table = {cell: np.zeros(2, int) for cell in product((0, 1), repeat=2)}
    for x, z, label in rows:
        table[int(x), int(z)]["ab".index(label)] += 1
    return table


def test_the_greedy_counterexample():
    train, held = inline(OVERFITTING, "T, t"), inline(OVERFITTING, "V, v")
    errors = leaves_kept(counted(train), counted(held))
    full, first, second, root, both = numbers(
        OVERFITTING,
        "The full tree has # errors. Cutting node 1 saves # and cutting node 2 saves #, but cutting the root saves #. "
        "The greedy search takes the root, and there is nothing left to cut. To cut nodes 1 and 2 saves #.",
    )
    assert full == errors[0, 0]
    assert [first, second, root, both] == [full - errors[way] for way in ((1, 0), (0, 1), "root", (1, 1))]
    assert root > max(first, second)
    assert min(errors.values()) == errors[1, 1] < errors["root"]
    X, y = [[int(x), int(z)] for x, z, _ in train], [label for *_, label in train]
    tree = TreeClassifier("cart").fit(X, y).tree_
    table = Table.read(
        [[int(x), int(z)] for x, z, _ in held], [label for *_, label in held], schema=tree.schema
    )
    assert ReducedError(table, search="greedy")(tree).n_leaves == 1
    assert ReducedError(table)(tree).n_leaves == 2


def test_the_record_of_the_full_tree_is_that_of_the_comparison():
    page = (DOCS / "comparison.md").read_text(encoding="utf-8")
    losses, draws, wins, p = numbers(
        page, "`pruning=None` | 301 | 78 | 1.00 | 0.2314 | 0.502 | #-#-# (p = #)"
    )
    sets, better, worse, equal, said = numbers(
        OVERFITTING,
        "Measured on # data sets: the full tree, smoothed, has better probabilities (RMSE) than the smaller default "
        "tree on # sets and worse ones on #, with # draws (sign test, p = #)",
    )
    assert (better, worse, equal, said) == (wins, losses, draws, p)
    assert sets == wins + losses + draws


def test_the_picture_of_depth_has_the_rows_of_the_page(pictures):
    module, page = pictures("learn_overfitting"), {"np": np}
    code = OVERFITTING.split(">>> def sample")[1].split(">>> def error")[0]
    exec("def sample" + code.replace("\n...", "\n"), page)
    for mine, theirs in zip(module.sample(50, 3), page["sample"](50, 3), strict=True):
        assert (mine == theirs).all()


def learning_curve():
    """The errors of the picture with 100, 1,600 and 6,400 rows."""
    svg = (DOCS / "pictures/learn-overfitting-rows.svg").read_text(encoding="utf-8")
    heights = [float(point.split(",")[1]) for point in re.findall(r'points="([^"]+)"', svg)[-1].split()]
    errors = np.interp(heights, [40, 300], [0.45, 0.15])  # the axis of the picture
    return errors[[0, 4, 6]]
