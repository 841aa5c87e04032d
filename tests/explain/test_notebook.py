"""HTML tables in notebooks: numbers of the text, escaped names, and no fixed colours."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import hornbeam
from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.grid import Grid

EVIL = "<script>alert('x')</script>&\""
DRAW = np.random.default_rng(0)
N = 120
X = pd.DataFrame({f"a{EVIL}": DRAW.normal(size=N), "b": DRAW.choice([f"p{EVIL}", "q", "r"], N)})
NUMBER = X.iloc[:, 0] + (X.b == "q") + 0.3 * DRAW.normal(size=N)
Y = np.where(NUMBER > 0.4, f"yes{EVIL}", "no")
CLF = TreeClassifier(max_leaf_nodes=5).fit(X, Y)
REG = TreeRegressor(max_leaf_nodes=5).fit(X, NUMBER)


def shown():
    """Yield every object with a table, by name."""
    for name, model, y in (("classes", CLF, Y), ("regression", REG, NUMBER)):
        yield f"leaves of {name}", model.leaves()
        yield f"explanation of {name}", model.explain(X[:1])[0]
        yield f"explanations of {name}", model.explain(X[:12])
        yield f"drift of {name}", model.drift(X[:50])
        yield f"drift of labelled {name}", model.drift(X[:50], y[:50])
        yield f"unseen of {name}", model.unseen(X[:50])
    yield "counterfactuals", CLF.counterfactuals(X[:8], n=2)
    yield "rules", CLF.rules()
    yield "difference", hornbeam.diff(CLF, TreeClassifier(max_leaf_nodes=3).fit(X, Y))


SHOWN = dict(shown())


class Page(HTMLParser):
    """Collects elements and text, and checks that every element is closed."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.texts = [], [], []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.mark.parametrize("name", SHOWN)
def test_tables_are_valid_escaped_and_accessible(name):
    page = SHOWN[name]._repr_html_()
    read = Page(page)
    assert not read.all("script")
    assert len(read.all("table")) == len(read.all("caption")) >= 1
    assert all(head["scope"] == "col" for head in read.all("th"))
    assert len(read.all("td")) % len(read.all("th")) == 0 or len(read.all("table")) > 1


@pytest.mark.parametrize("name", SHOWN)
def test_tables_have_no_fixed_colours(name):
    page = SHOWN[name]._repr_html_()
    assert not re.search(r"color:(?!inherit)|background|#[0-9a-f]{3}", page)


def test_names_and_categories_are_shown_unchanged():
    text = "".join(Page(CLF.leaves()._repr_html_()).texts)
    assert EVIL in text
    assert EVIL in "".join(Page(SHOWN["rules"]._repr_html_()).texts)


def test_the_table_of_leaves_has_the_numbers_of_the_text():
    cells = Page(CLF.leaves()._repr_html_()).texts
    for line in str(CLF.leaves()).splitlines()[1:]:
        assert set(re.findall(r"\b\d\.\d{3}\b", line)) <= set(re.findall(r"\b\d\.\d{3}\b", " ".join(cells)))


def test_reprs_are_readable_in_a_console():
    found = CLF.counterfactuals(X[:8], n=2)
    assert list(found) == list(found.rows)
    lines = repr(found).splitlines()
    assert len(lines) == sum(max(1, len(found_for_row)) for found_for_row in found)
    assert all(line.startswith("row ") for line in lines)
    assert repr(found[0][0]) == f"Counterfactual({found[0][0]})"
    assert repr(CLF.counterfactuals(X, n=1)).endswith("… and 100 more rows")
    changes = SHOWN["difference"]
    assert repr(changes) == str(changes)
    assert repr(CLF.explain(X[:1])[0]) == str(CLF.explain(X[:1])[0])


def test_a_row_without_counterfactuals_is_named():
    clf = TreeClassifier("cart").fit([[0.0], [1.0]], [0, 1])
    assert repr(clf.counterfactuals([[0.0]], wanted=0)) == "row 0: is as wanted already"
    unreachable = clf.counterfactuals([[0.0]], wanted=1, fixed=["x0"])
    assert repr(unreachable) == "row 0: no change leads there"
    assert unreachable.as_wanted == (False,)


def test_long_tables_are_cut_and_the_rest_is_counted():
    page = Grid("many", ["n"], [[n] for n in range(1234)]).html()
    assert page.count("<td") == 100
    assert "… and 1,134 more rows" in page
    assert "No difference" in hornbeam.diff(CLF, CLF)._repr_html_()
