"""Candidate splits equal an exhaustive slow twin, and the split of a grown tree is the first of them."""

import re
from dataclasses import replace
from math import log2, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import hornbeam
from golden.test_worked_examples import (
    GOLF,
    GOLF_FEATURES,
    PIZZA,
    PIZZA_FEATURES,
    RESTAURANT,
    RESTAURANT_FEATURES,
)
from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.table import Table
from hornbeam.errors import DataError, ParameterError, SchemaError
from hornbeam.explain.candidates.list_splits import candidate_splits
from hornbeam.growing.criterion import Criterion, Missing, Nominal
from hornbeam.growing.grower import Grower
from support.examples import examples
from support.reference_candidates import check_chosen, check_scan, children
from support.strategies_growing import bins_of, growers, random_table, regression_tables, training_tables


@given(st.data(), training_tables(max_rows=16))
@examples(120)
def test_splits_of_classes_equal_the_slow_twin(data, table):
    check_scan(table, data.draw(growers(table)))


@given(st.data(), regression_tables(max_rows=16))
@examples(60)
def test_splits_of_numbers_equal_the_slow_twin(data, table):
    """By the squared error; deviances have a reference of their own (`tests/growing/test_deviances.py`)."""
    check_scan(table, replace(data.draw(growers(table)), criterion=Criterion.SQUARED_ERROR))


def test_a_rejected_split_is_the_first_of_its_feature_by_the_gain_after_the_penalty():
    # Of n0, known against missing values has the least gain and no penalty; each cut has a penalty above its gain.
    features = Feature("n0"), Feature("c0", Kind.NOMINAL, ("a", "b"))
    columns = (
        np.array([105.0, 1.5, 424.0, nan, 335.5, 369.0, 154.0, 28.0, 207.0]),
        np.array([-1, 1, 1, 0, 0, 0, -1, 1, 0], np.int32),
    )
    target = np.array([1, 1, 0, 1, 1, 1, 1, 0, 1], np.int32)
    table = Table(Schema(features, (0, 1)), columns, target, None, 1.0, None)
    grower = Grower(
        criterion=Criterion.GAIN_RATIO,
        nominal_split=Nominal.MULTIWAY,
        missing=Missing.OWN,
        min_weight_leaf=2.0,
    )
    check_scan(table, grower)
    tree = replace(grower, max_depth=1).grow(table, bins_of(table))
    (mine,) = (split for split in candidate_splits(tree, table, None) if split.feature == "n0")
    assert mine.missing == "own"
    assert mine.rejected is not None
    assert mine.gain == pytest.approx(0.0431, abs=1e-4)


# ---- the split that the tree took


@given(st.data(), training_tables(max_rows=40))
@examples(60)
def test_the_split_of_a_grown_tree_ranks_first(data, table):
    tree = data.draw(growers(table)).grow(table, bins_of(table))
    check_chosen(tree, tree, table)


@given(st.data(), regression_tables(max_rows=40))
@examples(40)
def test_the_split_of_a_grown_regression_tree_ranks_first(data, table):
    tree = data.draw(growers(table)).grow(table, bins_of(table))
    check_chosen(tree, tree, table)


def frame(table: Table):
    """The columns of a table as rows of values, None where missing."""
    columns = []
    for feature, column in zip(table.schema.features, table.columns, strict=True):
        nominal = feature.kind is Kind.NOMINAL
        columns.append(
            [
                None if value == -1 and nominal else feature.categories[int(value)] if nominal else value
                for value in column.tolist()
            ]
        )
    return np.array(columns, dtype=object).T


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("preset", ["default", "cart", "c4.5", "c4.4", "id3"])
def test_the_split_of_every_preset_ranks_first(preset, weighted):
    table = random_table(7, n_rows=300, n_nominal=2)
    X, rng = frame(table), np.random.default_rng(1)
    code = (table.columns[0] > 1).astype(int) + (table.columns[2] < 2)
    y = [f"class {k}" for k in np.where(rng.random(300) < 0.2, rng.integers(0, 3, 300), code)]
    weight = np.random.default_rng(0).integers(1, 4, len(y)) if weighted else None
    class_weight = {"class 0": 3.0, "class 1": 1.0, "class 2": 0.5} if weighted else None
    model = TreeClassifier(preset, max_depth=4, min_samples_leaf=0.02, class_weight=class_weight)
    model.fit(X, y, sample_weight=weight)
    inner = np.flatnonzero(model.tree_.skeleton.feature >= 0)
    assert len(inner) >= 2
    for node in inner.tolist():
        splits = candidate_splits(model, X, y, node, sample_weight=weight)
        assert splits[0] is splits.chosen is splits.best
        assert splits[0].penalised_gain == pytest.approx(model.tree_.gain[node], rel=1e-12)
        if weighted and model.tree_.skeleton.is_fractional:
            continue  # the search divides rows by weights with class weights, the evidence by weights without
        counts = np.array([child.counts for child in splits[0].children])
        evidence = model.tree_.evidence * model.tree_.unit
        assert counts == pytest.approx(evidence[children(model.tree_, node)], abs=1e-9)
        assert splits.weight == pytest.approx(evidence[node].sum())


@pytest.mark.parametrize("preset", ["default", "cart"])
def test_the_split_of_every_regression_preset_ranks_first(preset):
    table = random_table(8, n_rows=300, n_classes=5, missing=0.1)
    X, y = frame(table), table.target + np.random.default_rng(1).normal(size=300)
    model = TreeRegressor(preset, max_depth=3, min_samples_leaf=5).fit(X, y)
    for node in np.flatnonzero(model.tree_.skeleton.feature >= 0).tolist():
        splits = candidate_splits(model, X, y, node)
        assert splits[0] is splits.chosen
        means = [child.mean for child in splits[0].children]
        weight, total, _ = (model.tree_.evidence * model.tree_.unit).T
        assert means == pytest.approx((total / weight)[children(model.tree_, node)])
    assert candidate_splits(model, X, y).impurity == pytest.approx(y.var())


@pytest.mark.long
@pytest.mark.parametrize("max_bins", ["auto", 16, None])
def test_bins_are_those_of_the_fit(max_bins):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(21_000, 2))
    y = (X[:, 0] + rng.normal(size=21_000) > 0).astype(int)
    model = TreeClassifier(max_depth=2, smoothing=None, max_bins=max_bins).fit(X, y)
    for node in np.flatnonzero(model.tree_.skeleton.feature >= 0).tolist():
        splits = candidate_splits(model, X, y, node)
        assert splits[0].chosen
        assert splits[0].threshold == model.tree_.skeleton.threshold[node]
        assert splits[0].gain == model.tree_.gain[node]
    cuts = candidate_splits(model, X, y, feature=1)
    assert len(cuts) == {"auto": 254, 16: 15, None: 20_999}[max_bins]
    assert cuts.best.threshold == candidate_splits(model, X, y)[1].threshold


def test_monotone_bounds_reach_deep_nodes():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 3)).round(1)
    y = (X.sum(axis=1) + rng.normal(size=500) > 0).astype(int)
    model = TreeClassifier("cart", monotonic_cst=[1, -1, 0], max_depth=5, min_samples_leaf=5).fit(X, y)
    tree = model.tree_
    seen = set()
    for node in range(tree.n_nodes):
        splits = candidate_splits(tree, X, y, node)
        seen |= {split.rejected for split in splits}
        if tree.skeleton.feature[node] >= 0:
            assert splits[0].chosen
            assert splits[0].gain == tree.gain[node]
        else:
            assert splits.limit is not None or splits.best is None
    assert "breaks a monotone constraint" in seen


# ---- worked numbers


def fitted(text: str, names: tuple[str, ...], preset: str, **options):
    rows = [line.split() for line in text.strip().splitlines()]
    X, y = [row[:-1] for row in rows], [row[-1] for row in rows]
    table = Table.read(np.array(X, dtype=object), y, feature_names=names)
    return hornbeam.recipe.PRESETS[preset].fit(table, **options), table


def gains(tree, table, node=0):
    return {split.feature: round(split.gain, 4) for split in candidate_splits(tree, table, None, node)}


def test_restaurant_gains():
    found = gains(*fitted(RESTAURANT, RESTAURANT_FEATURES, "id3"))
    assert next(iter(found)) == "Pat"
    assert found == {
        "Pat": 0.5409, "Est": 0.2075, "Price": 0.1957, "Hun": 0.1957, "Fri": 0.0207, "Res": 0.0207,
        "Alt": 0.0, "Bar": 0.0, "Rain": 0.0, "Type": 0.0,
    }  # fmt: skip


def test_pizza_gains():
    tree, table = fitted(PIZZA, PIZZA_FEATURES, "id3")
    splits = candidate_splits(tree, table, None)
    assert splits.impurity == pytest.approx(1.5305, abs=5e-5)
    assert gains(tree, table) == {"Meat": 0.5466, "Veg": 0.2405, "Crust": 0.1133}
    assert [child.counts for child in splits[0].children] == [(2, 2, 0), (0, 2, 3)]
    assert gains(tree, table, 1) == {"Veg": 1.0, "Crust": 0.5}


def test_golf_ratios():
    tree, table = fitted(GOLF, GOLF_FEATURES, "c4.5")
    splits = candidate_splits(tree, table, None)
    assert splits.order == "gain ratio"
    # windy and temperature have less than average gain
    assert [split.feature for split in splits][:2] == ["outlook", "humidity"]
    outlook = splits[0]
    assert (outlook.gain, outlook.split_information, outlook.gain_ratio) == pytest.approx(
        (0.2467, 1.5774, 0.1564), abs=5e-5
    )


def test_c45_penalty_and_minimum_of_a_numeric_feature():
    X, y = np.arange(1.0, 9.0)[:, None], [0, 0, 0, 1, 0, 1, 1, 1]
    model = TreeClassifier("c4.5", max_depth=1).fit(X, y)
    cuts = candidate_splits(model, X, y, feature=0)
    allowed = [(cut.threshold, round(cut.gain, 4)) for cut in cuts if not cut.rejected]
    assert allowed == [(2, 0.3113), (3, 0.5488), (5, 0.5488), (6, 0.3113)]
    assert cuts[3].rejected == "no gain after the penalty"
    assert cuts.best.threshold == 3.0
    assert cuts.best.penalty == pytest.approx(log2(5) / 8)
    assert cuts.best.penalised_gain == pytest.approx(0.2586, abs=5e-5)
    assert cuts[0].rejected == "a child has weight 1; at least 2 needed"
    assert cuts[1].rejected is None


def test_s_values_protect_from_an_identifier():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 200)
    # Two rows per identifier: fit warns about one.
    X = np.array(
        [[f"pair {i // 2}" for i in range(200)], np.where(rng.random(200) < 0.7, y, 1 - y)], dtype=object
    ).T
    model = TreeClassifier(max_depth=1, smoothing=None).fit(X, y)
    first, identifier = candidate_splits(model, X, y)
    assert first.feature == "x1"
    assert first.s_value > 5
    assert identifier.gain > first.gain
    assert identifier.rejected == "no more gain than by chance"
    id3 = TreeClassifier("id3", max_depth=1).fit(X, y)
    assert [split.feature for split in candidate_splits(id3, X, y)] == ["x0", "x1"]


# ---- text and errors


def test_text_of_every_kind_of_split():
    X = [[20.0, "a"], [30.0, "b"], [None, "c"], [40.0, "a"], [50.0, None], [None, "b"]]
    y = ["no", "no", "yes", "yes", "yes", "yes"]
    model = TreeClassifier("cart", min_samples_leaf=2).fit(X, y)
    assert str(candidate_splits(model, X, y, feature="x0")).splitlines() == [
        "node 0: 6 rows, gini 0.4444",
        "rank    gain  split                      no yes in each child  not allowed because",
        "  3   0.1111  x0 known | missing         2 2 | 0 2",
        "  6   0.1778  x0 ≤ 25 | > 25 or missing  1 0 | 1 4             a child has 1 row; min_samples_leaf=2",
        "  1*  0.4444  x0 ≤ 35 | > 35 or missing  2 0 | 0 4",
        "  2   0.2222  x0 ≤ 45 | > 45 or missing  2 1 | 0 3",
        "  5   0.0000  x0 ≤ 25 or missing | > 25  1 2 | 1 2",
        "  4   0.1111  x0 ≤ 35 or missing | > 35  2 2 | 0 2",
        "  7   0.0444  x0 ≤ 45 or missing | > 45  2 3 | 0 1             a child has 1 row; min_samples_leaf=2",
        "* the split of the tree",
    ]


def test_pages_of_notebooks_escape_names():
    import pandas as pd

    X = pd.DataFrame({"<b>": ["<i>", "&", "<i>", "&"]})
    page = candidate_splits(TreeClassifier("id3").fit(X, [0, 1, 0, 1]), X, [0, 1, 0, 1])._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt; = &amp; | = &lt;i&gt;" in page


X_SMALL, Y_SMALL = [[1.0, "a"], [2.0, "b"], [3.0, "a"]], ["no", "yes", "yes"]


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"node": 9}, ParameterError, "node=9: expected a node of the tree, from 0 to"),
        ({"node": -1}, ParameterError, "node=-1"),
        (
            {"feature": "age"},
            ParameterError,
            "feature='age': expected one of 'x0', 'x1', or an index from 0 to 1",
        ),
        ({"node": 0.5}, ParameterError, "node=0.5: expected a node of the tree"),
        ({"node": "root"}, ParameterError, "node='root': expected a node of the tree"),
        ({"feature": 2}, ParameterError, "feature=2"),
        ({"feature": 0.5}, ParameterError, "feature=0.5: expected one of 'x0'"),
        ({"feature": True}, ParameterError, "feature=True: expected one of 'x0'"),
        ({"feature": ["x0"]}, ParameterError, "feature=['x0']: expected one of 'x0'"),
        ({"y": None}, DataError, "y is None"),
        ({"y": ["no", "yes", "perhaps"]}, SchemaError, "'perhaps'"),
        ({"X": Table.read(X_SMALL, Y_SMALL)}, ParameterError, "Pass y=None"),
        ({"X": Table.read(X_SMALL), "y": None}, DataError, "a Table without a target"),
        ({"X": Table.read(X_SMALL, ["in", "out", "in"]), "y": None}, SchemaError, "schema=tree.schema"),
        ({"X": Table.read([[1.0]] * 3, Y_SMALL), "y": None}, SchemaError, "schema=tree.schema"),
        ({"grower": "gini"}, ParameterError, "grower='gini': expected a Grower"),
        ({"model": "oak"}, ParameterError, "This is a str; expected a fitted TreeClassifier"),
        ({"model": TreeClassifier()}, ParameterError, "call fit first"),
        ({"X": [[1.0, "green"]] * 3}, DataError, "3 rows have a category of 'x1'"),
        ({"X": [[9.0, "a"]] * 3, "node": 1}, DataError, "none of the 3 rows reaches node 1"),
        ({"grower": Grower("squared_error")}, ParameterError, "the target is categorical"),
    ],
)
def test_errors_say_what_to_do(changes, error, words):
    model = TreeClassifier("id3").fit(X_SMALL, Y_SMALL)
    arguments = {"model": model, "X": X_SMALL, "y": Y_SMALL} | changes
    with pytest.raises(error, match=re.escape(words)):
        candidate_splits(**arguments)


def test_a_table_without_a_target_is_refused():
    model = TreeClassifier("id3").fit(X_SMALL, Y_SMALL)
    table = Table.read(X_SMALL, schema=model.tree_.schema)
    with pytest.raises(DataError, match="a Table without a target"):
        candidate_splits(model, table, None)


def test_pipelines_are_refused():
    X = [[1.0], [2.0], [3.0]]
    pipeline = make_pipeline(StandardScaler(), TreeClassifier("id3")).fit(X, Y_SMALL)
    with pytest.raises(ParameterError, match="Pass pipeline"):
        candidate_splits(pipeline, X, Y_SMALL)


def test_a_tree_of_another_library_has_candidates():
    from sklearn.datasets import load_iris
    from sklearn.tree import DecisionTreeClassifier

    from hornbeam.interop import from_sklearn

    X, y = load_iris(return_X_y=True)
    theirs = DecisionTreeClassifier(random_state=0, max_depth=2).fit(X, y)
    tree = from_sklearn(theirs)
    clf = TreeClassifier.from_tree(tree)
    assert "entropy" in str(clf.candidate_splits(X, y))
    with pytest.raises(ParameterError, match="criterion='squared_error': expected one of 'auto', 'entropy'"):
        clf.candidate_splits(X, y, criterion="squared_error")
    chosen = clf.candidate_splits(X, y, criterion="gini").chosen
    impurities, weight = theirs.tree_.impurity, theirs.tree_.n_node_samples
    decrease = impurities[0] - (weight[1] * impurities[1] + weight[2] * impurities[2]) / weight[0]
    if chosen is not None:  # equal splits: scikit-learn draws one of them
        assert chosen.gain == pytest.approx(decrease)


def test_a_split_with_thousands_of_children_is_found_in_the_list(monkeypatch):
    """Its histogram would be too large if it was divided by children, so there is no association."""
    rng = np.random.default_rng(0)
    X = np.array([rng.choice(list("abcdefgh"), 200), rng.choice(list("xyz"), 200)], dtype=object).T
    X[rng.random(200) < 0.1, 0] = None
    y = np.isin(X[:, 0], ["a", "c"]).astype(int)
    for preset in ("id3", "c4.5"):
        model = TreeClassifier(preset, max_depth=1).fit(X, y)
        expected = candidate_splits(model, X, y)
        assert expected.chosen.association == 1
        with monkeypatch.context() as small:
            small.setattr("hornbeam.explain.candidates.node_histogram._MOST_CELLS", 10)
            found = candidate_splits(model, X, y)
        assert [replace(split, association=None) for split in expected] == list(found)
