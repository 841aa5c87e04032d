"""The interactive figures of the learn pages, in a real browser and by keyboard."""

import re
from itertools import pairwise

import pytest

from support.docs_module import DOCS, docs_module

pytest.importorskip("pandas", reason="the tables are data frames")
SCREENS = [(1280, "light"), (390, "dark")]
MOST = 40  # steps


def page_text(name):
    return (DOCS / "learn" / f"{name}.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One page with all four figures, as in the documentation but without its theme."""
    here = tmp_path_factory.mktemp("figures")
    docs_module("figures.py").write(here / "tables.js")
    (here / "figures.js").write_text(
        (DOCS / "_static/learn/figures.js").read_text(encoding="utf-8"), encoding="utf-8"
    )
    (here / "hornbeam.css").write_text(
        (DOCS / "_static/hornbeam.css").read_text(encoding="utf-8"), encoding="utf-8"
    )
    names = ("threshold", "growing", "adaboost", "frontiers")
    figures = "".join(f'<figure class="try" data-figure="{name}"></figure>' for name in names)
    (here / "page.html").write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Figures</title><link rel="icon" href="data:,">'
        f'<link rel="stylesheet" href="hornbeam.css">{figures}'
        '<script src="tables.js"></script><script src="figures.js"></script></html>',
        encoding="utf-8",
    )
    return here


@pytest.fixture(params=SCREENS, ids=lambda screen: f"{screen[0]} {screen[1]}")
def page(request, browser, folder):
    width, scheme = request.param
    with browser.visit(folder / "page.html", width=width, scheme=scheme) as opened:
        yield opened
        assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth"), "wider than the screen"


def texts(figure, selector):
    return figure.locator(selector).all_inner_texts()


def steps(figure):
    """Press "Next" by keyboard until the last step; yields at each."""
    button = figure.get_by_role("button", name="Next")
    button.focus()
    for _ in range(MOST):
        yield
        if button.get_attribute("aria-disabled") == "true":
            return
        button.press("Enter")
    raise AssertionError("no last step")


def figure_of(page, name):
    return page.locator(f"figure[data-figure={name}]")


def test_thresholds(page):
    figure = figure_of(page, "threshold")
    shown = {
        float(cut): gain for gain, cut in re.findall(r"(0\.\d{4})  hours ≤ ([\d.]+)", page_text("growing"))
    }
    assert len(shown) == 11
    slider = figure.get_by_role("slider")
    slider.press("Home")
    seen = {}
    for _ in range(11):
        words = figure.locator("p").inner_text()
        seen[float(re.match(r"hours ≤ ([\d.]+):", words)[1])] = figure.locator("p b").inner_text()
        slider.press("ArrowRight")
    assert seen == shown


@pytest.mark.parametrize(
    ("table", "name"), [("restaurant", "impurity"), ("things", "growing"), ("tennis", "growing")]
)
def test_growing(page, table, name):
    """The last tree has the nodes of the printed tree, with their numbers; the gains at the root are those printed."""
    figure = figure_of(page, "growing")
    figure.get_by_role("combobox").select_option(table)
    gains = [
        dict(zip(texts(figure, "tbody th"), texts(figure, "tbody td"), strict=True)) for _ in steps(figure)
    ]
    text = page_text(name)
    last = {"restaurant": "Patrons = Full", "things": "size = L", "tennis": "outlook = overcast"}[table]
    tree = re.search(rf"^0\) every row\n├─ 1\) {last}.*?\n\n", text, re.DOTALL | re.MULTILINE)[0]
    nodes = dict(re.findall(r"(\d+)\) (\S+ = \S+)", tree.replace("'", "")))
    drawn = [re.match(r"(\d+)\) ([^:]+):", item).groups() for item in texts(figure, "li")]
    assert dict(drawn[1:]) == nodes
    if table == "restaurant":
        rows = re.findall(r"^ +\d+\*? +(\d\.\d{4})  (\w+) = ", text, re.MULTILINE)
        printed = {feature: gain for gain, feature in rows}
        assert len(printed) == 10
        assert gains[1] == printed


def test_adaboost(page):
    figure = figure_of(page, "adaboost")
    rounds = re.findall(
        r"^(\d): ([xy]) <= ([\d.]+) +error ([\d.]+)  alpha ([\d.]+)  Z ([\d.]+)\n   D ([\d. ]+)$",
        page_text("ensembles"),
        re.MULTILINE,
    )
    bounds = re.findall(
        r"^\| \d \| 0\.\d{4} \| (0\.\d{4}) \| 0\.(\d) \|$", page_text("ensembles"), re.MULTILINE
    )
    weights = []
    for _ in steps(figure):
        words = " ".join(texts(figure, "p"))
        weights.append([float(w) for w in re.findall(r"\d\.\d{4}", words.partition("after the round")[2])])
    rows = [row.split("\t") for row in texts(figure, "tbody tr")]
    assert len(rows) == 8
    for row, (number, feature, cut, error, alpha, z, after), (bound, wrong), drawn in zip(
        rows[:3], rounds, bounds, weights[1:4], strict=True
    ):
        assert row == [number, f"{feature} ≤ {cut}", error, alpha, z, bound, f"{wrong} of 10"]
        assert drawn == pytest.approx([float(w) for w in after.split()], abs=5.1e-5)
    products = [float(row[5]) for row in rows]
    assert all(later < earlier for earlier, later in pairwise(products))


@pytest.mark.parametrize("layers", ["height", "depth"])
@pytest.mark.parametrize(("estimate", "first"), [("0", 0), ("1", 5)])
def test_frontiers(page, estimate, first, layers):
    compared = re.findall(
        r"^(\d+): ([\d.]+) (<|>=) ([\d.]+) of leaves \[(.*)\]$", page_text("frontiers"), re.MULTILINE
    )
    figure = figure_of(page, "frontiers")
    figure.get_by_role("combobox").nth(0).select_option(estimate)
    figure.get_by_role("combobox").nth(1).select_option(layers)
    seen = []
    for _ in steps(figure):
        seen += [row.split("\t") for row in texts(figure, "tbody tr")]
    expected = [
        [node, own, "<" if sign == "<" else "≥", below, leaves, "cut" if sign == "<" else "kept"]
        for node, own, sign, below, leaves in compared[first : first + 5]
    ]
    assert sorted(seen) == sorted(expected)
    left = "3, 6, 10, 11" if estimate == "1" else "4, 5, 7, 8, 10, 11"
    assert f"Leaves of the tree that is left: {left}." in figure.inner_text()


def test_back_and_start(page):
    figure = figure_of(page, "growing")
    seen = [figure.inner_text() for _ in steps(figure)]
    back = figure.get_by_role("button", name="Back")
    for text in seen[-2::-1]:
        back.press("Space")
        assert figure.inner_text() == text
    figure.get_by_role("button", name="Start").press("Enter")
    assert figure.inner_text() == seen[0]
