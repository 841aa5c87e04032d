"""The layout in a real browser: the tree fits the window, nothing is cut, and paper has no hints for the mouse."""

import re

import numpy as np
import pytest
from credit import lending
from models import letters
from sklearn.datasets import load_diabetes

import hornbeam
from hornbeam import TreeClassifier, TreeRegressor
from support.browser import axe_source

ROOM = """(() => {
  const [view, node] = [document.getElementById("tree-view"), document.getElementById("tree-node")];
  return [view.scrollWidth - view.clientWidth, view.scrollHeight - view.clientHeight,
          node.scrollWidth - node.clientWidth, document.documentElement.scrollWidth - innerWidth];
})()"""


def lending_report():
    clf, X, y, then = lending()
    return hornbeam.report(clf, X, y, positive="default", groups="region", earlier=then).text


def large_report():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.random((3000, 3)), rng.integers(0, 40, 3000)])
    clf = TreeClassifier(smoothing="hgs", pruning=None, max_leaf_nodes=301).fit(X, rng.integers(0, 2, 3000))
    assert clf.tree_.n_leaves == 301
    return hornbeam.report(clf, X[:50], rng.integers(0, 2, 50)).text


def regression_report():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    now, then = (TreeRegressor(max_depth=depth).fit(X[::2], y[::2]) for depth in (5, 2))
    return hornbeam.report(now, X[1::2], y[1::2], groups=X[1::2].sex > 0, earlier=then).text


REPORTS = {
    "lending": lending_report,
    "301 leaves": large_report,
    "letters": lambda: hornbeam.report(*letters()).text,
    "numbers": regression_report,
}


@pytest.mark.parametrize("width", [1400, 1000, 390])
@pytest.mark.parametrize("kind", REPORTS)
def test_it_opens_whole(kind, width, browser, tmp_path):
    with browser.page(REPORTS[kind](), tmp_path, width=width, height=844 if width == 390 else 900) as page:
        assert all(over <= 0 for over in page.evaluate(ROOM))
        sizes = page.evaluate(
            "[...document.querySelectorAll('.node .branch')].map((e) => e.getBoundingClientRect().height)"
        )
        assert min(sizes) >= 8  # pixels: small, but to be read
        assert len(sizes) > 3


@pytest.mark.parametrize("width", [1400, 390])
def test_fit_shows_all_that_is_open(width, browser, tmp_path):
    with browser.page(large_report(), tmp_path, width=width) as page:
        page.click("#tree-open")
        page.click("#tree-fit")
        across, down, *_ = page.evaluate(ROOM)
        assert across <= 0
        assert down <= 0
        page.click("#tree-close")
        assert all(over <= 0 for over in page.evaluate(ROOM))


def test_a_window_that_changes_its_size_is_fitted_again(browser, tmp_path):
    with browser.page(lending_report(), tmp_path, width=1400) as page:
        for width in (390, 1200):
            page.set_viewport_size({"width": width, "height": 800})
            page.wait_for_timeout(100)
            assert page.evaluate(ROOM)[0] <= 0
            assert page.locator(".stem").count() == (lending()[0].tree_.n_nodes - 1 if width == 390 else 0)


def test_wide_tables_say_that_they_scroll(browser, tmp_path):
    wide = "[...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth + 1)"
    with browser.page(lending_report(), tmp_path, width=390) as page:
        page.wait_for_timeout(100)
        assert page.evaluate(f"{wide}.length") >= 3
        predicted = page.evaluate(f"{wide}.map((e) => getComputedStyle(e, '::before').content)")
        assert all("Scroll sideways" in words for words in predicted)
    with browser.page(lending_report(), tmp_path, width=1400) as page:
        page.wait_for_timeout(100)
        assert page.evaluate(f"{wide}.length") == 0
        assert page.locator(".scroll.more").count() == 0


def test_on_paper_the_tree_is_lines_without_hints(browser, tmp_path):
    clf, *_ = lending()
    with browser.page(lending_report(), tmp_path) as page:
        page.pdf()
        page.emulate_media(media="print")
        text = page.inner_text("body")
        for hint in (
            "Open and close nodes",
            "Open all",
            "Find",
            "Scroll sideways",
            "Light or dark",
            "Try a row",
        ):
            assert hint not in text
        lines = page.locator("#tree-print div")
        assert lines.count() == clf.tree_.n_nodes
        assert page.locator("#tree-print div b").count() == clf.tree_.n_leaves
        assert not page.is_visible("#tree-view")


def test_rules_name_every_category(browser, tmp_path):
    rng = np.random.default_rng(0)
    town = np.array([f"town {i}" for i in range(30)])[rng.integers(0, 30, 2000)]
    rich = np.isin([name[-1] for name in town], ["1", "3", "7"])
    y = np.where(rng.random(2000) < np.where(rich, 0.9, 0.1), "yes", "no")
    clf = TreeClassifier(nominal_split="subset", max_depth=1, smoothing="hgs").fit(town[:, None], y)
    with browser.page(hornbeam.report(clf, town[:, None], y).text, tmp_path) as page:
        rules = page.inner_text("#rule-list")
        assert "…" not in rules
        assert set(re.findall(r"town \d+", rules)) == set(town[rich])
        assert "in {town" in rules
        assert "not in {town" in rules


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("kind", ["lending", "numbers"])
def test_everybody_can_use_the_comparisons(kind, width, scheme, browser, tmp_path):
    axe = axe_source()
    if axe is None:
        pytest.skip("no axe.min.js: `npm install axe-core`, or say in HORNBEAM_AXE where it is")
    with browser.page(REPORTS[kind](), tmp_path, width=width, scheme=scheme) as page:
        page.evaluate(axe)
        found = page.evaluate("axe.run()")["violations"]
    assert [(v["id"], [n["html"][:200] for n in v["nodes"]][:3]) for v in found] == []
