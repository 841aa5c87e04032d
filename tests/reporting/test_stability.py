"""The section on stability: the numbers of `hornbeam.evaluation.stability`, as given or computed."""

import re
from html import escape

import pytest
from models import halves_of_iris

import hornbeam
from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.errors import ParameterError
from hornbeam.evaluation import stability


def section_of(html: str) -> str:
    [found] = re.findall(r'<section id="stability".*?</section>', html, re.DOTALL)
    return found


def test_the_section_has_the_numbers_of_the_result():
    X, y, _, _ = halves_of_iris()
    clf = TreeClassifier("cart").fit(X, y)
    found = stability(clf, X, y, n_refits=4)
    html = section_of(hornbeam.report(clf, stability=found).text)
    for words in found._sentences():
        assert words in html
    for cells in (*found._root_cells(), *found._leaf_cells()):
        assert all(escape(cell) in html for cell in cells)


def test_the_class_of_interest_is_shown():
    X, y, _, _ = halves_of_iris()
    clf = TreeClassifier("cart").fit(X, y)
    found = stability(clf, X, y, n_refits=2)
    first = clf.classes_[0]
    html = section_of(hornbeam.report(clf, stability=found, positive=first).text)
    assert html.count(f">{first}</td>") == len(found.leaves.node)


def test_true_computes_it_from_the_training_rows():
    X, y, _, _ = halves_of_iris()
    clf = TreeClassifier("cart").fit(X, y)
    computed = hornbeam.report(clf, training=(X, y), stability=True).text
    assert computed == hornbeam.report(clf, training=(X, y), stability=stability(clf, X, y)).text
    for nothing in (None, False):
        assert 'id="stability"' not in hornbeam.report(clf, training=(X, y), stability=nothing).text


def test_numbers_and_seeds():
    X, _, _, _ = halves_of_iris()
    regressor = TreeRegressor("cart", max_depth=2).fit(X, range(len(X)))
    found = stability(regressor, X, range(len(X)), n_refits=2, only_seeds=True)
    html = section_of(hornbeam.report(regressor, stability=found).text)
    assert "only the seeds of its random steps differ" in html
    assert "decision" not in html


def test_the_card_has_the_sentences():
    X, y, _, _ = halves_of_iris()
    clf = TreeClassifier("cart").fit(X, y)
    found = stability(clf, X, y, n_refits=2)
    assert " ".join(found._sentences()) in str(hornbeam.model_card(clf, stability=found))


def test_what_is_no_result_is_refused():
    X, y, _, _ = halves_of_iris()
    clf = TreeClassifier("cart").fit(X, y)
    with pytest.raises(ParameterError, match=r"stability=20: expected the result"):
        hornbeam.report(clf, stability=20)
    with pytest.raises(ParameterError, match=r"expected training=\(X, y\)"):
        hornbeam.report(clf, stability=True)
    with pytest.raises(ParameterError, match="rows in memory"):
        hornbeam.report(clf, training=("rows.parquet", "y"), stability=True)
