"""Counterfactuals: all values that meet them have the stated prediction, and none needs fewer changes."""

import json
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

from hornbeam import TreeClassifier
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.errors import ParameterError
from hornbeam.explain.counterfactual import Distance, counterfactuals
from hornbeam.tree import Costs, DecisionRule, Skeleton, Table
from hornbeam.tree.edit import with_decision
from hornbeam.tree.route import predict_rows, route
from hornbeam.tree.tree import Tree
from support.examples import examples
from support.strategies import schemas, tables, trees

inf, nan = np.inf, np.nan


def with_values(table, i, changes):
    """Return row i with other values, as in the columns of a table."""
    one = table.take(np.array([i]))
    columns = list(one.columns)
    for feature, value in changes.items():
        columns[feature] = np.array([value], columns[feature].dtype)
    return replace(one, columns=tuple(columns), matrix=None)


def some_that_meet(condition, near):
    """List known values that meet a condition: all categories, or the bounds and some numbers between."""
    feature = condition.feature
    if feature.kind is not Kind.NUMERIC:
        return [code for code in range(len(feature.categories)) if condition.holds(code)]
    tried = [near, -1e308, -1.0, 0.0, 0.3, 1.0, 1e300, condition.at_most]
    return [value for value in tried if value is not None and condition.holds(value)]


def code(feature, value):
    return value if feature.kind is Kind.NUMERIC else feature.categories.index(value)


@st.composite
def trees_and_tables(draw):
    schema = draw(schemas(max_features=3, max_classes=3))
    k = schema.n_classes
    costs = draw(st.none() | st.lists(st.integers(0, 5), min_size=k * k, max_size=k * k))
    rule = DecisionRule(None if costs is None else Costs(np.reshape(costs, (k, k))))
    tree = with_decision(draw(trees(st.just(schema), max_inner=8)), rule)
    return tree, draw(tables(schema, max_rows=6))


@examples(120)
@given(trees_and_tables(), st.data())
def test_all_values_that_meet_the_conditions_have_the_stated_prediction(both, data):
    """All kinds of features; missing, unseen and distributed values; costs, fixed features, wanted classes."""
    tree, table = both
    names, classes = list(tree.schema.names), tree.schema.classes
    fixed = data.draw(st.sets(st.sampled_from(names)))
    wanted = data.draw(st.none() | st.sampled_from(classes))
    found = counterfactuals(tree, table, fixed=fixed, wanted=wanted, n=4)
    now = tree.decision(predict_rows(tree, table)).tolist()
    event(f"counterfactuals found: {any(found)}")
    for i, found_for_row in enumerate(found):
        order = [(len(one.needed), one.distance) for one in found_for_row]
        assert order == sorted(order)
        for one in found_for_row:
            assert one.prediction != classes[now[i]]
            assert wanted in (None, one.prediction)
            assert one.needed
            assert not fixed & set(one.needed)
            assert one.needed.keys() == one.values.keys() == one.present.keys()
            for name, condition in one.needed.items():
                assert not condition.holds(table.columns[names.index(name)][i].item())
            near = {names.index(n): code(c.feature, one.values[n]) for n, c in one.needed.items()}
            choices = [some_that_meet(c, near[names.index(n)])[:4] for n, c in one.needed.items()]
            for values in [list(near.values()), *product(*choices)][:12]:
                then = predict_rows(tree, with_values(table, i, dict(zip(near, values, strict=True))))
                assert classes[tree.decision(then)[0]] == one.prediction
                assert then[0, classes.index(one.prediction)] == one.probability
            json.dumps(one.to_dict(), allow_nan=False)
            assert str(one)


def values_per_branch(tree):
    """Yield, per feature, values that take every branch that a known value can take."""
    skeleton = tree.skeleton
    for f, feature in enumerate(tree.schema.features):
        cuts = np.unique(skeleton.threshold[skeleton.feature == f])
        numbers = np.concatenate([[0.0], cuts, np.nextafter(cuts, inf)])
        yield np.arange(len(feature.categories)) if feature.categories else numbers


def every_change(table, i, features, grid):
    """Return row i with every choice of values in some features."""
    choices = np.meshgrid(*(grid[feature] for feature in features))
    rows = table.take(np.full(choices[0].size, i))
    columns = list(rows.columns)
    for feature, values in zip(features, choices, strict=True):
        columns[feature] = values.ravel().astype(columns[feature].dtype)
    return replace(rows, columns=tuple(columns), matrix=None)


@examples(60)
@given(trees_and_tables())
def test_no_other_prediction_needs_fewer_changes(both):
    """The reference tries every value that takes another branch, in every one and every two features."""
    tree, table = both
    assume(not (tree.skeleton.missing_slot == -2).any())
    grid = list(values_per_branch(tree))
    now = tree.decision(predict_rows(tree, table)).tolist()
    for i, found_for_row in enumerate(counterfactuals(tree, table)):
        least = len(found_for_row[0].needed) if found_for_row else inf
        others = set()
        for size in (1, 2):
            for features in combinations(range(tree.schema.n_features), size):
                rows = every_change(table, i, features, grid)
                known = ~np.isin(tree.skeleton.feature[route(tree.skeleton, rows)], features)
                others |= set(tree.decision(predict_rows(tree, rows))[known].tolist())
            assert (len(others - {now[i]}) > 0) == (least <= size)


def stairs():
    """Build splits of x at 1, 2 and 3, and of a colour between 2 and 3; red has no child."""
    skeleton = Skeleton.of(
        [2, 2, 2, 0, 0, 2, 0, 0, 0],
        [0, 0, 0, -1, -1, 1, -1, -1, -1],
        [2.0, 1.0, 3.0, nan, nan, nan, nan, nan, nan],
        slot_start=[0, 0, 0, 0, 0, 0, 3, 3, 3, 3],
        slot_of=[0, 1, -1],
    )
    features = (Feature("x"), Feature("colour", Kind.NOMINAL, ("blue", "green", "red")))
    own = {3: [9, 1], 4: [1, 9], 6: [1, 9], 7: [7, 3], 8: [2, 8]}
    evidence = np.zeros((9, 2), np.int64)
    for node in range(8, -1, -1):
        children = np.flatnonzero(skeleton.parent == node)
        evidence[node] = own[node] if node in own else evidence[children].sum(axis=0)
    return Tree.raw(Schema(features, ("no", "yes")), skeleton, evidence)


def texts(rows, **options):
    tree = stairs()
    return [
        [str(one) for one in found_for_row]
        for found_for_row in counterfactuals(tree, Table.read(rows, schema=tree.schema), **options)
    ]


def test_an_example_worked_by_hand():
    """From x = 0.5 the step between 1 and 2 is one threshold away, that above 3 all three."""
    assert texts([[0.5, "blue"]], n=9) == [
        [
            "1 < x ≤ 2 (is 0.5): yes 0.900",
            "x > 3 (is 0.5): yes 0.900",
            "2 < x ≤ 3 (is 0.5) and colour = green (is blue): yes 0.800",
        ]
    ]
    tree = stairs()
    found = counterfactuals(tree, Table.read([[0.5, "blue"]], schema=tree.schema), n=9)[0]
    assert [one.distance for one in found] == pytest.approx([1 / 3, 1.0, 2 / 3 + 1])
    assert [one.node for one in found] == [4, 6, 8]
    assert found[0].values == {"x": np.nextafter(1.0, inf)}
    assert found[2].values == {"x": np.nextafter(2.0, inf), "colour": "green"}


def test_spread_sets_the_unit_of_the_distance():
    tree = stairs()
    rows = Table.read([[0.5, "blue"]], schema=tree.schema)
    (one,) = counterfactuals(tree, rows, spread={"x": 0.25})[0]
    assert one.distance == pytest.approx(2.0)


def test_fixed_features_do_not_change():
    assert texts([[0.5, "blue"]], fixed="x") == [[]]
    assert texts([[2.5, "blue"]], fixed=["x"]) == [["colour = green (is blue): yes 0.800"]]


def test_rows_of_the_wanted_class_have_none():
    tree = stairs()
    rows = Table.read([[0.5, "blue"], [1.5, "blue"]], schema=tree.schema)
    found = counterfactuals(tree, rows, wanted="yes")
    assert [len(found_for_row) for found_for_row in found] == [1, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"wanted": "maybe"}, r"wanted='maybe': expected one of the classes, \['no', 'yes'\]"),
        ({"fixed": ["hue"]}, r"fixed names the feature 'hue': expected some of \['x', 'colour'\]"),
        ({"n": 0}, "n=0: expected a whole number, 1 or more"),
        ({"spread": {"x": 0.0}}, r"spread\['x'\] is 0.0: expected a finite number above 0"),
        ({"spread": {"x": nan}}, r"spread\['x'\] is nan"),
    ],
)
def test_wrong_parameters_are_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        texts([[0.5, "blue"]], **options)


def test_a_missing_value_can_become_known():
    (found_for_row,) = texts([[None, "blue"]], wanted="no")
    assert found_for_row == ["x ≤ 1 (is missing): no 0.900"]


def test_predict_agrees_on_frames_with_costs():
    rng = np.random.default_rng(0)
    n = 400
    X = pd.DataFrame(
        {
            "income": rng.lognormal(3, 0.5, n).round(1),
            "home": rng.choice(["owns", "rents", "parents"], n),
            "late": rng.poisson(1.0, n).astype(float),
        }
    )
    X.loc[rng.random(n) < 0.1, "late"] = nan
    risk = X["late"].fillna(1) - 0.05 * X["income"] + (X["home"] == "rents")
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-risk)), "bad", "good")
    for preset in ("default", "c4.5", "cart"):
        costs = {("bad", "good"): 3}
        clf = TreeClassifier(preset, costs=costs, smoothing="hgs", max_depth=5).fit(X, y)
        rows = X[:60]
        before = clf.predict(rows)
        moved = 0
        for i, found_for_row in enumerate(clf.counterfactuals(rows, fixed=["home"], n=2)):
            for one in found_for_row:
                then = rows.iloc[[i]].assign(**one.values)
                assert clf.predict(then).tolist() == [one.prediction]
                assert one.prediction != before[i]
                assert "home" not in one.needed
                moved += 1
        assert moved > 50


def test_the_distance_is_the_share_of_thresholds_or_of_the_spread():
    tree = TreeClassifier("cart").fit([[0], [1], [2], [9]], ["a", "b", "a", "b"]).tree_
    assert [Distance(tree)(0, 0.0, to) for to in (1.0, 9.0)] == [1 / 3, 1.0]
    assert Distance(tree, {"x0": 5.0})(0, 0.0, 1.0) == 0.2
