"""Text and HTML representation of estimators."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hornbeam import TreeClassifier
from hornbeam.smoothing import HGS

LINK = "https://hornbeam.readthedocs.io/en/latest/api/generated/hornbeam.TreeClassifier.html"
FITTED = TreeClassifier(max_depth=2).fit(*load_iris(return_X_y=True))


def test_the_repr_shows_changed_parameters():
    assert repr(TreeClassifier()) == "TreeClassifier()"
    assert repr(TreeClassifier("c4.5", smoothing=HGS())) == (
        "TreeClassifier(preset='c4.5', smoothing=HGS(alpha=1.0, prior=1.0))"
    )


@pytest.mark.parametrize("estimator", [TreeClassifier(), FITTED])
def test_the_html_links_to_the_documentation(estimator):
    page = estimator._repr_html_()
    assert f'href="{LINK}"' in page.replace("&#x27;", "'")
    assert "TreeClassifier" in page


def test_the_html_says_whether_it_is_fitted():
    assert "<span>Fitted</span>" in FITTED._repr_html_()
    assert "<span>Not fitted</span>" in TreeClassifier()._repr_html_()


def test_the_html_of_a_pipeline_contains_it():
    assert LINK in make_pipeline(StandardScaler(), TreeClassifier())._repr_html_()


def test_the_link_matches_the_pages_of_the_documentation():
    names = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
    folder, _, name = LINK.rpartition("/")
    assert folder.endswith("api/generated")
    assert ".. currentmodule:: hornbeam\n" in names
    assert "   :toctree: api/generated\n   :nosignatures:\n\n   TreeClassifier\n" in names
    assert name == "hornbeam.TreeClassifier.html"


def test_the_html_of_a_fitted_tree_contains_its_digest():
    page = FITTED._repr_html_()
    tree = FITTED.tree_
    assert f"<b>TreeClassifier</b>: 150 rows, {tree.n_leaves} leaves, depth 2" in page
    assert tree.digest in page
    assert page.count('class="leaf"') == tree.n_leaves
    leaf = FITTED.leaves()
    best = leaf.probability[0].argmax()
    assert f"{leaf.low[0, best]:.2f} to " in page
    assert "hornbeam-tree" not in TreeClassifier()._repr_html_()


def test_the_mime_bundle_has_html_or_only_text():
    bundle = FITTED._repr_mimebundle_()
    strip = re.compile(r"sk-\w+-id-\d+|container-id-\d+")  # scikit-learn counts its pages
    assert strip.sub("", bundle["text/html"]) == strip.sub("", FITTED._repr_html_())
    assert bundle["text/plain"] == repr(FITTED)
    with config_context(display="text"):
        assert FITTED._repr_mimebundle_() == {"text/plain": repr(FITTED)}
        assert not hasattr(FITTED, "_repr_html_")


def test_the_html_of_a_large_tree_is_small():
    rng = np.random.default_rng(0)
    large = TreeClassifier("cart").fit(rng.random((4000, 3)), rng.integers(0, 2, 4000))
    small = TreeClassifier("cart", max_leaf_nodes=2).fit(rng.random((10, 3)), np.arange(10) % 2)
    assert large.tree_.n_leaves > 1000
    assert len(large._repr_html_()) - len(small._repr_html_()) < 60_000
