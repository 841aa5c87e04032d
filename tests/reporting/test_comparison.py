"""The section on other models: the numbers of `hornbeam.evaluation.compare`, and pictures of its curves."""

import re
from html import escape

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB

import hornbeam
from hornbeam import TreeClassifier
from hornbeam.errors import ParameterError
from hornbeam.evaluation import compare


@pytest.fixture(scope="module")
def compared():
    """A tree, and its comparison with another model and one of a hostile name, with subgroups."""
    X, y = load_breast_cancer(return_X_y=True)
    clf = TreeClassifier().fit(X[::2, :4], y[::2])
    p = {
        "tree": clf.predict_proba(X[1::2, :4]),
        "<b>&": GaussianNB().fit(X[::2], y[::2]).predict_proba(X[1::2]),
    }
    parts = np.where(X[1::2, 4] > 0.1, "rough", "smooth")
    return clf, compare(y[1::2], p, thresholds=0.2, costs=[[0, 1], [5, 0]], subgroups=parts)


def section_of(html: str) -> str:
    [found] = re.findall(r'<section id="comparison".*?</section>', html, re.DOTALL)
    return found


def test_the_section_has_the_numbers_of_the_result(compared):
    clf, found = compared
    html = section_of(hornbeam.report(clf, comparison=found).text)
    whole = [one for one in found if one.subgroup == "all rows"]
    for one in whole:
        assert all(escape(text) in html for text in (one.name, one.model, *one.texts))
    assert html.count("<tr>") == len(whole) + 1 + 4 + 1  # two subgroups of two models, and two lines of names
    for one in found:
        if one.subgroup != "all rows" and one.score == "log loss":
            assert "{} ({})".format(*one.texts[:2]) in html
    assert "<b>&" not in html


def test_pictures_have_the_net_benefit(compared):
    clf, found = compared
    html = section_of(hornbeam.report(clf, comparison=found).text)
    [picture] = re.findall(r'<svg[^>]*aria-label="Decision curve".*?</svg>', html, re.DOTALL)
    lines = re.findall(r'<path class="line" d="M([^"]*)"', picture)
    assert len(lines) == 2
    dashes = [part.count("stroke-dasharray") for part in re.findall(r'<path class="line"[^>]*>', picture)]
    assert dashes == [0, 1]
    heights = {}
    for line, name in zip(lines, found.models, strict=True):
        points = np.array(line.replace("M", " ").split(), float).reshape(-1, 2)
        at = np.abs(points[:, 0] - (44 + 0.2 * 300)).argmin()
        heights[name] = points[at, 1]
    none = float(re.findall(r'class="ideal" d="M44 ([\d.]+)H', picture)[0])
    benefit = {
        one.model: one.value for one in found if one.score == "net benefit" and one.subgroup == "all rows"
    }
    ratio = (none - heights["tree"]) / (none - heights["<b>&"])
    assert ratio == pytest.approx(benefit["tree"] / benefit["<b>&"], rel=0.01)
    assert html.count('class="reliability"') == 3


def test_the_card_has_the_tables(compared):
    clf, found = compared
    card = hornbeam.model_card(clf, comparison=found).text
    assert "## Beside other models" in card
    one = next(one for one in found if one.model == "<b>&")
    assert f"| log loss | &lt;b>&amp; | {' | '.join(one.texts)} |" in card


def test_many_classes_have_the_table_alone():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    clf = TreeClassifier("cart", max_depth=1).fit(rng.random((60, 2)), y)
    html = section_of(hornbeam.report(clf, comparison=compare(y, {"a": rng.dirichlet([1, 1, 1], 60)})).text)
    assert "<svg" not in html
    assert html.count("<tr>") == 3


def test_anything_else_is_refused(compared):
    clf, _ = compared
    for make in (hornbeam.report, hornbeam.model_card):
        with pytest.raises(ParameterError, match=r"expected the result of hornbeam\.evaluation\.compare"):
            make(clf, comparison=True)
    assert 'id="comparison"' not in hornbeam.report(clf).text
