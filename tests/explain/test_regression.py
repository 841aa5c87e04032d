"""Regression trees: importance, explanations, rules, drift and pictures."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from sklearn.tree import DecisionTreeRegressor

from hornbeam import TreeRegressor
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.export import to_dot, to_html, to_markdown, to_svg
from hornbeam.smoothing.interval_calibration import interval
from hornbeam.tree.importance import importance
from hornbeam.tree.tree import Tree


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def reg(diabetes):
    return TreeRegressor(max_depth=3).fit(*diabetes)


def by_hand():
    """Fit two towns: six rows of mean 2, two of mean 10.

    The variance is 12.75 in all and 1 in Bonn, where one row of the variance above is added to the two rows:
    (2 + 12.75) / 3 over 2 rows, and Student's t of 2.92 with two degrees of freedom give 10 ± 4.578.
    """
    X = pd.DataFrame({"town": ["Ayr"] * 6 + ["Bonn"] * 2})
    return TreeRegressor("cart").fit(X, [1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 9.0, 11.0])


def test_importance_matches_scikit_learn(diabetes):
    X, y = diabetes
    ours = TreeRegressor("cart", max_depth=3).fit(X, y)
    theirs = DecisionTreeRegressor(max_depth=3).fit(X, y)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-12)


def test_importance_with_unknown_gains_is_computed_from_the_evidence(reg):
    tree = reg.tree_
    without_gain = Tree.raw(tree.schema, tree.skeleton, tree.evidence, unit=tree.unit, rows=tree.rows)
    np.testing.assert_allclose(importance(without_gain), importance(tree), rtol=1e-9)
    np.testing.assert_allclose(importance(tree, "squared_error"), importance(tree), rtol=1e-9)
    with pytest.raises(ParameterError, match="the target is numeric: expected 'squared_error'"):
        importance(tree, "gini")


def test_explanations_have_the_mean_and_interval_of_each_node(diabetes, reg):
    X, _ = diabetes
    rows = reg.explain(X)
    assert [row.prediction for row in rows] == reg.predict(X).tolist()
    low, high = interval(reg.tree_)
    for row in rows[:20]:
        [path] = row.paths
        assert path.steps[0].probability == (reg.tree_.belief[0, 0],)
        assert path.steps[-1].probability == (row.prediction,)
        for step in path.steps:
            assert (step.low[0], step.high[0]) == (low[step.node, 0], high[step.node, 0])
            weight, total, squares = step.counts
            assert weight == step.rows
            assert step.raw(None) == pytest.approx(total / weight)
            assert squares * weight >= total**2
        moved = sum(reason.change for reason in row.reasons())
        assert moved == pytest.approx(row.prediction - reg.tree_.belief[0, 0])


def test_the_text_of_an_explanation():
    row = by_hand().explain(pd.DataFrame({"town": ["Bonn"]}))[0]
    assert str(row).splitlines() == [
        "10, 90 % interval 5.42173 to 14.5783",
        " node   rows  borrowed       raw  smoothed     moved  90 % interval         because",
        "    0      8       0.0         4         4            1.652 to 6.348        every row",
        "    2      2       0.0        10        10        +6  5.422 to 14.58        town = Bonn (is Bonn)",
        "stops at a leaf",
    ]
    assert [str(reason) for reason in row.reasons()] == ["town = Bonn moved the mean from 4 to 10"]
    plain = json.loads(json.dumps(row.to_dict(), allow_nan=False))
    assert plain["prediction"] == 10.0
    assert "classes" not in plain
    assert plain["reasons"][0]["change"] == 6.0
    assert plain["paths"][0]["steps"][1]["counts"] == [2.0, 20.0, 202.0]
    with pytest.raises(ParameterError, match="positive='Bonn'"):
        row.reasons(positive="Bonn")


def test_the_reason_is_given_if_a_row_stops_early():
    row = by_hand().explain(pd.DataFrame({"town": ["Cork"]}))[0]
    assert row.prediction == 4.0
    assert "town is a category never seen, and no branch is for that" in str(row)


def test_leaves_as_rules():
    assert by_hand().leaves().as_rules() == (
        "1. if town = Ayr\n   then 2 (0.772855 to 3.22714); 6 rows\n"
        "2. if town = Bonn\n   then 10 (5.42173 to 14.5783); 2 rows"
    )


def test_drift_compares_means(diabetes):
    X, y = diabetes
    reg = TreeRegressor("cart", max_depth=2).fit(X[:300], y[:300])
    same = reg.drift(X[300:], y[300:])
    assert same.observed[:, 0] == pytest.approx(
        [y[300:][reg.apply(X[300:]) == node].mean() for node in same.node]
    )
    assert same.rows.sum() == len(X) - 300
    moved = reg.drift(X[300:], y[300:] + 100)
    assert (moved.p_value < 0.01).all()
    assert (same.p_value > 0.01).all()
    assert reg.drift(X[300:]).observed is None
    assert set(moved.to_dict()) == {
        *("node", "rows", "expected", "found", "psi"),
        *("p_value", "prediction", "observed"),
    }
    assert repr(moved).splitlines()[0] == " node   rows  expected   found    psi  predicted  observed       p"


def test_drift_of_unchanged_rows_is_seldom_significant():
    rng = np.random.default_rng(0)
    significant = []
    for _ in range(60):
        X, y = rng.integers(0, 2, (400, 1)).astype(float), rng.normal(size=400)
        tree = TreeRegressor("cart", max_depth=1).fit(X[:200], y[:200] + X[:200, 0])
        significant.append((tree.drift(X[200:], y[200:] + X[200:, 0]).p_value < 0.1).any())
    assert 0.01 <= np.mean(significant) <= 0.2


# ---- pictures


def test_exports_show_means():
    tree = by_hand().tree_
    assert '[label="10\\n2 rows, deviation 1"' in to_dot(tree)
    assert to_markdown(tree).splitlines() == [
        "| leaf | if | mean | evidence |",
        "|--:|---|--:|---|",
        "| 1 | `town = Ayr` | 2 | `6 rows, deviation 0.8165` |",
        "| 2 | `town = Bonn` | 10 | `2 rows, deviation 1` |",
    ]
    svg = to_svg(tree)
    assert ">10<" in svg
    assert svg.count("#0072b2") == 3
    page = to_html(tree)
    assert "mean, from 2 to 10" in page
    assert "<b>10</b> <small>5.422 to 14.58, 2 rows</small>" in page
    assert "hornbeam-tree" in by_hand()._repr_mimebundle_()["text/html"]


def test_a_plot_of_a_regression_tree():
    pytest.importorskip("matplotlib", reason="the extra [plots] brings it")
    from hornbeam.plots import TreeDisplay

    display = TreeDisplay.from_estimator(by_hand(), highlight=pd.DataFrame({"town": ["Bonn"]}))
    texts = [text.get_text() for text in display.table_]
    assert texts == [
        "mean",
        "90 % interval",
        "rows",
        "2",
        "0.7729 to 3.227",
        "6",
        "10",
        "5.422 to 14.58",
        "2",
    ]
    assert display.caption_.get_text().endswith("to node 2, which predicts 10")
    assert [text.get_text() for text in display.legend_] == ["mean, from 2 to 10"]


def test_a_single_leaf_can_be_drawn_and_explained():
    reg = TreeRegressor("cart").fit([[0.0]] * 3, [1.0, 1.0, 1.0])
    assert reg.explain([[0.0]])[0].prediction == 1.0
    assert reg.feature_importances_.tolist() == [0.0]
    assert "<b>1</b>" in to_html(reg.tree_)
    assert ">1<" in to_svg(reg.tree_)
    assert reg.drift(Table.read([[0.0]], [1.0], schema=reg.tree_.schema)).rows.tolist() == [1.0]
