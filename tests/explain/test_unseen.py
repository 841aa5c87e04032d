"""Counts of unseen categories and missing values."""

import numpy as np
import pandas as pd
import pytest

from hornbeam import BoostedTreesClassifier, ForestClassifier, RuleClassifier, TreeClassifier, TreeRegressor

DRAW = np.random.default_rng(0)
N = 90
X = pd.DataFrame(
    {
        "colour": DRAW.choice(["red", "blue", "green"], N),
        "shape": DRAW.choice(["round", "square"], N),
        "size": DRAW.normal(size=N),
    }
)
Y = ((X.colour == "red") + X["size"] > 0.5).astype(int)
NEW = pd.DataFrame(
    {
        "colour": ["red", "mauve", None, "pink", "blue"],
        "shape": ["oval", "round", "oval", None, "square"],
        "size": [1.0, np.nan, 2.0, np.nan, 1e9],
    }
)


@pytest.mark.parametrize(
    "estimator",
    [
        TreeClassifier(),
        TreeRegressor(),
        ForestClassifier(5),
        BoostedTreesClassifier(n_estimators=3),
        RuleClassifier(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_counts_by_feature(estimator):
    found = estimator.fit(X, Y).unseen(NEW)
    assert found.features == ("colour", "shape", "size")
    assert found.unseen.tolist() == [2, 2, 0]
    assert found.missing.tolist() == [1, 1, 2]
    assert found.n_rows == 5
    colour, shape, size = found.tested.tolist()
    assert colour
    assert size
    assert found.n_affected == (4 if shape else 2)


def test_training_rows_have_no_unseen_categories():
    found = TreeClassifier().fit(X, Y).unseen(X)
    assert found.unseen.tolist() == [0, 0, 0]
    assert found.n_affected == 0


def test_values_are_not_shown():
    found = TreeClassifier().fit(X, Y).unseen(NEW)
    for text in (repr(found), found._repr_html_(), str(found.to_dict())):
        assert "colour" in text
        assert not any(value in text for value in ("mauve", "pink", "oval", "red"))


def test_the_table_makes_a_frame():
    found = TreeClassifier().fit(X, Y).unseen(NEW)
    frame = pd.DataFrame(found.to_dict()).set_index("feature")
    assert frame.loc["shape", ["unseen", "missing"]].tolist() == [2, 1]
    assert len(found) == 3


def test_rows_may_be_dicts():
    clf = TreeClassifier().fit(X, Y)
    assert clf.unseen([{"colour": "mauve", "size": 1.0}]).unseen.tolist() == [1, 0, 0]
