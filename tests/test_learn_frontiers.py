"""The numbers of the page "Pruning by frontiers", computed once more and in another way."""

import re
from ast import literal_eval
from html import unescape
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "learn" / "frontiers.md").read_text(encoding="utf-8")
CHILDREN = literal_eval(re.search(r">>> children = (.*)", PAGE)[1])
LEAVES = literal_eval(re.search(r">>> counts = (.*)", PAGE)[1])
COMPARED = re.compile(r"^(\d+): ([\d.]+) (<|>=) ([\d.]+) of leaves (\[.*\])$", re.MULTILINE)


def counts(node):
    return np.sum([LEAVES[leaf] for leaf in below(node, set())], axis=0)


def below(node, cut):
    """The leaves of the pruned tree below a node, or the node itself."""
    if node in LEAVES or node in cut:
        return [node]
    return [leaf for child in CHILDREN[node] for leaf in below(child, cut)]


def risk(node, added):
    """Pairs of a row and a class drawn for it that differ: rows minus the sum of n_i (n_i + a) / (n + a K)."""
    n = counts(node)
    return n.sum() - (n * (n + added)).sum() / (n + added).sum()


def height(node):
    return 0 if node in LEAVES else 1 + max(height(child) for child in CHILDREN[node])


def test_the_tree_is_that_of_the_note():
    assert CHILDREN == {1: (2, 9), 2: (3, 6), 3: (4, 5), 6: (7, 8), 9: (10, 11)}
    assert set(LEAVES) == {4, 5, 7, 8, 10, 11}


def test_yes_no_no():
    """For each of three rows, the share of the rows of the other class."""
    rows = ["yes", "no", "no"]
    assert sum(rows.count("no" if row == "yes" else "yes") / 3 for row in rows) == pytest.approx(4 / 3)
    assert "the node has 4/3" in PAGE
    assert "\nFraction(4, 3)\n" in PAGE


def comparisons(added):
    """Every comparison as the page prints it, and the nodes that are cut; 0: frequencies, 1: Laplace's estimate."""
    cut, lines = set(), []
    for node in (3, 6, 9, 2, 1):
        here = below(node, cut)
        own, others = risk(node, added), sum(risk(leaf, added) for leaf in here)
        is_cut = own < others - 1e-9
        lines.append(f"{node}: {own:.2f} {'<' if is_cut else '>='} {others:.2f} of leaves {here}")
        if is_cut:
            cut.add(node)
    return "\n".join(lines), cut


@pytest.mark.parametrize(("added", "expected"), [(0, set()), (1, {3, 6})])
def test_every_comparison(added, expected):
    text, cut = comparisons(added)
    assert text in PAGE
    assert cut == expected


def test_frontiers_work_and_span():
    layers = [literal_eval(line) for line in re.findall(r"^\[[\d, ]+\]$", PAGE, re.MULTILINE)]
    start = layers.index(sorted(LEAVES))
    nodes = [*CHILDREN, *LEAVES]
    expected = [sorted(node for node in nodes if height(node) == h) for h in range(4)]
    assert layers[start : start + 4] == expected
    for before, after in pairwise(expected):  # every node has a child in the frontier before
        assert all(set(CHILDREN[node]) & set(before) for node in after)
    sizes = list(map(len, expected))
    assert f"({sizes}, {sum(sizes)}, {len(sizes)})" in PAGE
    assert f"\n{sum(sizes) / len(sizes)}\n" in PAGE
    assert "11/4 here" in PAGE


def test_the_chain_of_the_exercise():
    """Five splits, each a frontier of its own above six leaves."""
    assert "([6, 1, 1, 1, 1, 1], 11, 6)" in PAGE
    assert "speed-up at most 11/6" in PAGE


def test_the_figures_have_the_numbers_of_the_page():
    shown = {
        node: f"{own} {'<' if sign == '<' else '>'} {others}"
        for node, own, sign, others, _ in COMPARED.findall(PAGE)[5:]
    }
    pictures = {
        name: unescape((DOCS / "pictures" / f"learn-frontiers-{name}.svg").read_text(encoding="utf-8"))
        for name in "abc"
    }
    for node, picture in {"3": "b", "6": "b", "9": "b", "2": "c", "1": "c"}.items():
        verdict = "cut" if "<" in shown[node] else "kept"
        assert f">{node}: {verdict}<" in pictures[picture]
        assert f">{shown[node]}<" in pictures[picture]
    for node, (yes, no) in LEAVES.items():
        assert f">{node}<" in pictures["a"]
        assert f">{yes} : {no}<" in pictures["a"]
        assert (f">{node}<" in pictures["c"]) == (node in (10, 11))
