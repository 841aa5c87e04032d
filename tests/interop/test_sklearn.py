"""Trees from and for scikit-learn: the same leaves, the same probabilities."""

import re

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

from hornbeam import Tree, TreeClassifier, TreeRegressor
from hornbeam.errors import InteropError, ParameterError
from hornbeam.export import to_svg, to_text
from hornbeam.interop import from_lightgbm, from_sklearn, from_xgboost, from_ydf, to_sklearn
from hornbeam.interop.sklearn import import_sklearn
from hornbeam.smoothing import HGS, HierarchicalShrinkage
from hornbeam.tree import Skeleton, Table
from hornbeam.tree.route import predict_rows, route
from support.imported_models import LARGEST, N_MODELS, labels, numbers, probes


def model(seed):
    """A random tree, its rows and its labels."""
    rng = np.random.default_rng(seed)
    X = numbers(rng, int(rng.integers(5, 300)), int(rng.integers(1, 6)))
    y = np.array(list("abcd"))[labels(rng, X, int(rng.integers(2, 5)))]
    kind = DecisionTreeClassifier if rng.random() < 0.7 else ExtraTreeClassifier
    clf = kind(
        criterion=str(rng.choice(["gini", "entropy"])),
        max_depth=rng.choice([None, 1, 3, 8]),
        min_samples_leaf=int(rng.integers(1, 5)),
        random_state=seed,
    )
    weight = rng.choice([None, "whole", "any"])
    if weight is not None:
        weight = rng.integers(1, 4, len(X)) if weight == "whole" else rng.random(len(X)) + 0.1
    return rng, clf.fit(X, y, sample_weight=weight), X, y, weight


@pytest.mark.parametrize("seed", range(N_MODELS))
def test_every_row_ends_in_the_same_leaf_with_the_same_probabilities(seed):
    rng, clf, X, _, _ = model(seed)
    imported = import_sklearn(clf)
    rows = probes(rng, X, imported.skeleton, specials=[np.nan, 0.0, -0.0, 3e38], largest=LARGEST)
    assert (imported.apply(rows) == clf.apply(rows)).all()
    assert (imported.apply(rows.astype(np.float32)) == clf.apply(rows.astype(np.float32))).all()
    predicted = predict_rows(imported.tree, imported.read(rows))
    if imported.tree.unit[0] == 1.0:
        assert (predicted == clf.predict_proba(rows)).all()
    else:  # weights are stored in fixed point
        np.testing.assert_allclose(predicted, clf.predict_proba(rows), rtol=0, atol=1e-11)
    assert (imported.tree.rows == clf.tree_.n_node_samples[imported.nodes]).all()


@pytest.mark.parametrize("seed", range(N_MODELS // 5))
def test_infinities_end_in_the_same_leaf(seed):
    rng, clf, X, _, _ = model(seed)
    imported = import_sklearn(clf)
    rows = probes(rng, X, imported.skeleton, specials=[np.inf, -np.inf])
    with np.errstate(over="ignore"):
        assert (imported.apply(rows) == clf.tree_.apply(rows.astype(np.float32))).all()


@pytest.mark.parametrize("seed", range(N_MODELS))
def test_a_tree_converted_back_is_the_same(seed):
    rng, clf, X, _, _ = model(seed)
    imported = import_sklearn(clf)
    back = to_sklearn(HGS()(imported.tree))
    rows = probes(rng, X, imported.skeleton, specials=[np.nan], largest=LARGEST)
    assert (imported.nodes[back.apply(rows)] == clf.apply(rows)).all()
    table = imported.read(rows)
    assert (back.predict_proba(rows) == predict_rows(HGS()(imported.tree), table)).all()
    assert (back.apply(rows) == route(imported.skeleton, table)).all()
    assert back.get_depth() == clf.get_depth()
    assert back.get_n_leaves() == clf.get_n_leaves()


@pytest.mark.parametrize("seed", range(N_MODELS // 5))
def test_the_counts_equal_those_of_counting_the_rows(seed):
    _, clf, X, y, weight = model(seed)
    imported = import_sklearn(clf)
    counted = imported.count(X, y, sample_weight=weight)
    assert (counted.rows == imported.tree.rows).all()
    np.testing.assert_allclose(
        counted.evidence * counted.unit, imported.tree.evidence * imported.tree.unit, rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize(
    "forest",
    [
        RandomForestClassifier(5, random_state=0),
        ExtraTreesClassifier(5, random_state=0),
        BaggingClassifier(DecisionTreeClassifier(), 5, random_state=0),
    ],
)
def test_the_prediction_of_a_forest_is_the_mean_of_its_trees(forest):
    rng = np.random.default_rng(0)
    X = numbers(rng, 200, 4)
    y = np.array(["x", "y", "z"])[labels(rng, X, 3)]
    forest.fit(X, y)
    trees = [from_sklearn(forest, index=at) for at in range(5)]
    table = Table.read(X, schema=trees[0].schema)
    mean = np.mean([predict_rows(tree, table) for tree in trees], axis=0)
    np.testing.assert_allclose(mean, forest.predict_proba(X), rtol=0, atol=1e-12)


def test_shrinkage_of_a_scikit_learn_tree_by_hand():
    """A step out of a parent of n rows is divided by 1 + 1 / n."""
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 0]
    tree = from_sklearn(DecisionTreeClassifier().fit(X, y))
    shrunk = HierarchicalShrinkage(strength=1.0)(tree)
    left = 1 / 4 + (0 - 1 / 4) / (1 + 1 / 4)
    right = 1 / 4 + (1 / 2 - 1 / 4) / (1 + 1 / 4)
    sure = right + (1 - 1 / 2) / (1 + 1 / 2)
    np.testing.assert_allclose(shrunk.belief[:4, 1], [1 / 4, left, right, sure], rtol=1e-12)


def test_names_and_labels_are_converted():
    import pandas as pd

    frame = pd.DataFrame({"age": [1.0, 2.0], "dose": [0.0, 0.0]})
    tree = from_sklearn(DecisionTreeClassifier().fit(frame, [False, True]))
    assert tree.schema.names == ("age", "dose")
    assert tree.schema.classes == (False, True)
    back = to_sklearn(tree)
    assert list(back.feature_names_in_) == ["age", "dose"]
    assert back.predict(frame).tolist() == [False, True]


def test_a_split_that_stops_missing_values_sends_them_to_the_larger_child_or_is_refused():
    tree = TreeClassifier(smoothing="hgs").fit([[0.0], [1.0], [2.0]], ["no", "no", "yes"]).tree_
    with pytest.raises(InteropError, match=r"Node 0 stops missing values.*on_missing='majority'"):
        to_sklearn(tree, on_missing="error")
    assert to_sklearn(tree).apply([[np.nan], [5.0]]).tolist() == [1, 2]
    with pytest.raises(ParameterError, match="one of 'error', 'majority'"):
        to_sklearn(tree, on_missing="left")


@pytest.mark.parametrize(
    ("rows", "preset", "what"),
    [
        ([["a"], ["b"], ["b"]], "default", "splits on categories"),
        ([[0.0], [1.0], [np.nan], [0.0], [1.0]] * 4, "c4.5", "to every child"),
    ],
)
def test_splits_that_scikit_learn_does_not_have_are_refused(rows, preset, what):
    y = {3: ["no", "yes", "no"], 20: ["no", "yes", "no", "no", "yes"] * 4}[len(rows)]
    tree = TreeClassifier(preset, smoothing="hgs", pruning=None).fit(rows, y).tree_
    with pytest.raises(InteropError, match=what):
        to_sklearn(tree)


@pytest.mark.parametrize("seed", range(N_MODELS // 10))
@pytest.mark.parametrize("kind", [TreeClassifier, TreeRegressor])
def test_a_child_for_missing_values_is_a_split_of_its_own(kind, seed):
    rng = np.random.default_rng(seed)
    X, rows = (rng.normal(size=(n, 3)).astype(np.float32).astype(np.float64) for n in (200, 300))
    X[rng.random(X.shape) < 0.25] = rows[rng.random(rows.shape) < 0.25] = np.nan
    y = (np.nan_to_num(X[:, 0]) + np.isnan(X[:, 1]) > 0.3).astype(int)
    own = kind("cart", missing="own", pruning=None).fit(X, y)
    back, skeleton = to_sklearn(own), own.tree_.skeleton
    assert (skeleton.n_children == 3).any()
    node = own.apply(rows)
    leaf = skeleton.is_leaf[node]  # others stop, where training had no missing value
    assert (back.apply(rows)[leaf] == node[leaf]).all()
    assert (back.predict(rows)[leaf] == own.predict(rows)[leaf]).all()
    assert back.get_n_leaves() == own.get_n_leaves()
    left, right, n = back.tree_.children_left, back.tree_.children_right, back.tree_.n_node_samples
    inner = left >= 0
    assert (n[inner] == n[left[inner]] + n[right[inner]]).all()
    depth, todo = 0, [(0, 0)]
    while todo:
        at, length = todo.pop()
        depth = max(depth, length)
        todo += [(child, length + 1) for child in (left[at], right[at]) if child >= 0]
    assert back.get_depth() == depth


def test_other_estimators_than_classification_trees_are_refused():
    X = [[0.0], [1.0]]
    with pytest.raises(InteropError, match="not a fitted classification tree"):
        from_sklearn(DecisionTreeClassifier())
    with pytest.raises(InteropError, match="not a fitted classification tree"):
        from_sklearn(DecisionTreeRegressor().fit(X, [0.0, 1.0]))
    with pytest.raises(InteropError, match="one output"):
        from_sklearn(DecisionTreeClassifier().fit(X, [[0, 1], [1, 0]]))
    bag = BaggingClassifier(DecisionTreeClassifier(), 2, max_features=1, random_state=0)
    bag.fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    with pytest.raises(InteropError, match="max_features"):
        from_sklearn(bag, index=0)


def test_one_tree_of_a_forest_is_chosen_by_its_index():
    X, y = [[0.0], [1.0], [2.0]], [0, 0, 1]
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    with pytest.raises(InteropError, match=r"RandomForestClassifier has 3 trees; .* index=0"):
        from_sklearn(forest)
    for index in (3, -1, 0.5, "first"):
        with pytest.raises(InteropError, match="expected the index of one of its 3"):
            from_sklearn(forest, index=index)
    grown = DecisionTreeClassifier().fit(X, y)
    assert from_sklearn(grown, index=0).digest == from_sklearn(grown).digest


def test_what_is_no_model_of_the_library_is_refused():
    for convert in (from_sklearn, from_lightgbm, from_xgboost, from_ydf):
        for model in (
            None,
            3,
            [[0.0]],
            DecisionTreeClassifier(),
            TreeClassifier().fit([[0], [1]] * 9, [0, 1] * 9),
        ):
            with pytest.raises(InteropError, match=r"expected|Pass|Fit"):
                convert(model)


def test_smoothed_probabilities_are_refused_as_counts():
    tree = from_sklearn(DecisionTreeClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 0]))
    smoothed = to_sklearn(HierarchicalShrinkage(2.0)(tree))
    with pytest.raises(InteropError, match="class frequencies"):
        from_sklearn(smoothed)


def test_a_single_leaf_converted_back_is_the_same():
    leaf = Tree.raw(Table.read([[1.0]], ["a"]).schema, Skeleton.leaf(), np.array([[3]]))
    assert from_sklearn(to_sklearn(leaf)).evidence.tolist() == [[3]]


@pytest.mark.parametrize("between", [(48.25, 48.75), (0.1, 0.2), (1e-3, 3e-3), (-7.5, 1e9)])
def test_thresholds_are_printed_as_the_shortest_text_of_the_same_float32(between):
    """The exact float64 limit, 48.50000190734863 say, is of no use to a reader."""
    X = np.array(between)[:, None]
    clf = DecisionTreeClassifier().fit(X, [0, 1])
    tree = from_sklearn(clf)
    [written] = re.findall(r"x0 ≤ (\S+)", to_text(tree))
    single = np.float32(tree.skeleton.threshold[0])
    assert np.float32(float(written)) == single
    assert written.replace("+", "") == repr(float(str(single))).removesuffix(".0").replace("+", "")
    assert f">≤ {written}<" in to_svg(tree)
    grown = TreeClassifier("cart").fit(X, [0, 1]).tree_  # compares float64 values: exact, as always
    assert float(re.findall(r"x0 ≤ (\S+)", to_text(grown))[0]) == grown.skeleton.threshold[0]
