"""The section of other splits: the numbers of `candidate_splits`, from rows in memory or in files."""

import re
from html import escape

import numpy as np
import pytest
from models import halves_of_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import hornbeam
from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.errors import ParameterError
from hornbeam.explain.candidates.list_splits import candidate_splits


def section_of(html: str) -> str:
    [found] = re.findall(r'<section id="competitors".*?</section>', html, re.DOTALL)
    return found


def test_each_split_has_its_competitors():
    X, y, X_test, y_test = halves_of_iris()
    clf = TreeClassifier("cart").fit(X, y)
    html = section_of(hornbeam.report(clf, X_test, y_test, training=(X, y)).text)
    inner = np.flatnonzero(clf.tree_.skeleton.feature >= 0).tolist()
    assert html.count("<details") == len(inner)
    for node in inner:
        found = candidate_splits(clf, X, y, node, held_out=(X_test, y_test))
        for split in found[:5]:
            assert escape(split.condition) in html
            assert f"{split.gain:.4f}" in html
            assert f"{split.held_out_error:.4f}" in html


def test_without_training_rows_there_is_no_such_section():
    X, y, X_test, y_test = halves_of_iris()
    clf = TreeClassifier().fit(X, y)
    assert 'id="competitors"' not in hornbeam.report(clf, X_test, y_test).text
    assert "Gain on test rows" not in hornbeam.report(clf, training=(X, y)).text
    with pytest.raises(ParameterError, match="training=3: expected a tuple of X and y"):
        hornbeam.report(clf, training=3)


def test_files_give_the_same_page(tmp_path):
    X, y, *_ = halves_of_iris()
    rows = X.assign(kind=y.to_numpy(), size=X.sum(axis=1))
    rows.to_parquet(tmp_path / "rows.parquet", row_group_size=20)
    for model, target in ((TreeClassifier("c4.5"), "kind"), (TreeRegressor(max_depth=2), "size")):
        model.fit(X, rows[target])
        in_memory = hornbeam.report(model, training=(X, rows[target])).text
        assert hornbeam.report(model, training=(tmp_path, target)).text == in_memory


def test_names_are_escaped_and_pipelines_transform():
    X, y, *_ = halves_of_iris()
    named = X.rename(columns={X.columns[3]: "<b>petal"})
    html = section_of(hornbeam.report(TreeClassifier("cart").fit(named, y), training=(named, y)).text)
    assert "&lt;b&gt;petal" in html
    assert "<b>" not in html
    pipeline = make_pipeline(StandardScaler(), TreeClassifier("cart")).fit(X, y)
    assert section_of(hornbeam.report(pipeline, training=(X, y)).text).count("<details") > 1


def test_a_split_that_was_edited_is_said_not_to_be_listed():
    X, y, *_ = halves_of_iris()
    clf = TreeClassifier("cart").fit(X, y)
    words = "so it is not listed; agreement is with it"
    assert words not in hornbeam.report(clf, training=(X, y)).text
    editor = clf.edit(X, y)
    editor.set_threshold(0, 3.0)
    clf = editor.finish()
    assert section_of(hornbeam.report(clf, training=(X, y)).text).count(words) == 1
