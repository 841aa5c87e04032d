"""A tree as an element of a web page: well formed, escaped, of bounded length, without external resources."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hostile import hostile_trees
from hypothesis import given

from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.errors import ExportError, ParameterError
from hornbeam.export import to_html
from hornbeam.smoothing.interval_calibration import interval
from hornbeam.tree import Skeleton
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import pull_up
from hornbeam.tree.words import feature_name
from support.examples import examples
from support.strategies import trees

nan = np.nan


class Reader(HTMLParser):
    """Reads a page, and checks that elements are closed in order."""

    def __init__(self, page):
        super().__init__()
        self.stack, self.tags, self.texts, self.attributes = [], [], [], []
        self.feed(page)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag, attrs):
        self.stack.append(tag)
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag

    def handle_data(self, data):
        self.texts.append(data.strip())


def tree_of(names, classes):
    features = tuple(Feature(name) for name in names)
    n = len(names)
    skeleton = Skeleton.of([2] * n + [0] * (n + 1), [*range(n), *[-1] * (n + 1)], [0.5] * n + [nan] * (n + 1))
    own = np.where(skeleton.is_leaf[:, None], np.arange(1, skeleton.n_nodes + 1)[:, None] % 5 + 1, 0)
    return Tree.raw(
        Schema(features, tuple(classes)), skeleton, pull_up(skeleton, np.repeat(own, len(classes), 1))
    )


@examples(40)
@given(trees())
def test_every_tree_is_well_formed_and_has_every_leaf(tree):
    page = Reader(to_html(tree, max_leaves=tree.n_leaves, max_bytes=10**7))
    assert page.tags.count("details") == (~tree.skeleton.is_leaf).sum()
    assert sum(pair == ("class", "leaf") for pair in page.attributes) == tree.n_leaves
    assert tree.digest[:12] in page.texts


def test_the_text_of_a_leaf():
    features = (Feature("dose"), Feature("colour", Kind.NOMINAL, ("blue", "red")))
    skeleton = Skeleton.of(
        [2, 0, 2, 0, 0], [0, -1, 1, -1, -1], [2.449999988079071, nan, nan, nan, nan],
        slot_start=[0, 0, 0, 2, 2, 2], slot_of=[0, 1],
    )  # fmt: skip
    tree = Tree.raw(
        Schema(features, ("ill", "well")), skeleton, np.array([[5, 6], [4, 1], [1, 5], [1, 0], [0, 5]])
    )
    texts = Reader(to_html(tree, title="Mine", level=0.9)).texts
    low, high = (bound[1, 0] for bound in interval(tree))
    assert ["dose ≤ 2.45", "ill", "0.80", f"{low:.2f} to {high:.2f}, 5 rows"] == [
        text for text in texts[texts.index("dose ≤ 2.45") :] if text
    ][:4]
    assert {"Mine", ": 11 rows, 3 leaves, depth 2", "digest", "colour = red"} <= set(texts)


@pytest.mark.parametrize("tree", [tree for tree, _ in hostile_trees()])
def test_hostile_names_stay_text(tree):
    page = to_html(tree, max_leaves=None, max_bytes=10**9)
    read = Reader(page)
    assert set(read.tags) == {"div", "style", "b", "small", "code", "details", "summary", "i"}
    assert {name for name, _ in read.attributes} == {"class", "title", "style", "open"}
    names = [feature_name(tree.schema.names[f]) for f in tree.skeleton.feature if f >= 0]
    text = " ".join(read.texts)
    assert all(name[:60] in text for name in names)


def test_a_page_fetches_nothing_and_runs_nothing():
    page = to_html(tree_of(["a", "b", "c"], ["no", "yes"]))
    assert not re.search(r"https?:|url\(|src=|<script|@import|on\w+=", page)


def test_a_long_page_is_folded_until_it_fits():
    tree = tree_of([f"{i} {'x' * 100}" for i in range(2000)], ["no", "yes"])
    page = to_html(tree, max_leaves=None)
    assert 30_000 < len(page.encode()) <= 60_000
    hidden = sum(int(n.replace(",", "")) for n in re.findall(r"\+([\d,]+) leaves", page))
    shown = page.count('class="leaf"') - len(re.findall(r"\+[\d,]+ leaves", page))
    assert shown + hidden == tree.n_leaves == 2001


def test_small_trees_are_open_and_large_ones_open_to_a_depth():
    assert to_html(tree_of("abc", "yn")).count("<details open>") == 3
    large = tree_of([str(i) for i in range(31)], "yn")
    assert to_html(large).count("<details open>") == 7
    assert to_html(large, max_depth=0).count("<details open>") == 0
    with pytest.raises(ParameterError, match="max_leaves=0"):
        to_html(large, max_leaves=0)


def test_a_title_that_is_not_valid_unicode_raises():
    with pytest.raises(ExportError, match="not valid Unicode"):
        to_html(hostile_trees()[0][0], title="a\ud800")
