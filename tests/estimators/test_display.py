"""What an estimator shows of itself."""

from pathlib import Path

import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hornbeam import TreeClassifier
from hornbeam.smoothing import HGS

LINK = "https://hornbeam.readthedocs.io/en/stable/api/generated/hornbeam.TreeClassifier.html"
FITTED = TreeClassifier(max_depth=2).fit(*load_iris(return_X_y=True))


def test_the_representation_shows_what_was_chosen():
    assert repr(TreeClassifier()) == "TreeClassifier()"
    assert repr(TreeClassifier("c4.5", smoothing=HGS())) == (
        "TreeClassifier(preset='c4.5', smoothing=HGS(alpha=1.0, prior=1.0))"
    )


@pytest.mark.parametrize("estimator", [TreeClassifier(), FITTED])
def test_the_page_links_to_the_documentation(estimator):
    page = estimator._repr_html_()
    assert f'href="{LINK}"' in page.replace("&#x27;", "'")
    assert "TreeClassifier" in page


def test_the_page_says_whether_there_is_a_tree():
    assert "<span>Fitted</span>" in FITTED._repr_html_()
    assert "<span>Not fitted</span>" in TreeClassifier()._repr_html_()


def test_a_pipeline_shows_it_too():
    assert LINK in make_pipeline(StandardScaler(), TreeClassifier())._repr_html_()


def test_the_link_leads_where_the_documentation_is_built():
    names = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
    folder, _, name = LINK.rpartition("/")
    assert folder.endswith("api/generated")
    assert ".. currentmodule:: hornbeam\n" in names
    assert "   :toctree: api/generated\n   :nosignatures:\n\n   TreeClassifier\n" in names
    assert name == "hornbeam.TreeClassifier.html"
