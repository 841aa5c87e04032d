"""Explanations of leaves with slopes: worked numbers, and agreement with predictions."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from hornbeam.errors import ParameterError
from hornbeam.explain.counterfactual import counterfactuals
from hornbeam.explain.drift import drift
from hornbeam.explain.explanation import explain
from hornbeam.explain.intervals import predict_interval
from hornbeam.explain.leaves import leaves
from hornbeam.explain.shapley import shap_values
from hornbeam.explain.term_moves import term_moves
from hornbeam.smoothing.interval_calibration import interval
from hornbeam.tree import Condition, Feature, Schema, Skeleton, Slopes, Table, with_slopes
from hornbeam.tree.route import decide_rows, predict_rows, row_predictor
from hornbeam.tree.tree import Tree
from support.lending import everybody, income, lending, sizes
from support.strategies import tables, trees_with_slopes

LATE = [3, 24, "clerk", "B"]


def one(tree, row):
    return explain(tree, Table.read([row], schema=tree.schema))[0]


# --------------------------------------------------------------------------------------- paths and reasons


def test_a_row_has_its_base_its_terms_and_the_result():
    """Odds 1/4; two late payments above the reference multiply by 4, one year of age below it by exp(0.2)."""
    found = one(lending(), LATE)
    terms = found.paths[0].terms
    assert found.paths[0].steps[-1].probability == (0.8, 0.2)
    assert [term.text(1) for term in terms] == ["late is 3: odds of bad × 4", "age is 24: odds of bad × 1.22"]
    assert [term.factor(1) for term in terms] == pytest.approx([4, math.exp(0.2)])
    assert terms[0].probability == pytest.approx((0.5, 0.5))
    odds = math.exp(0.2)
    assert found.probability[1] == pytest.approx(odds / (1 + odds))
    assert found.prediction == "bad"


def test_the_lines_of_a_row():
    assert str(one(lending(), LATE)).split("\n")[2:] == [
        "    0    200       0.0  0.350     0.350  every row",
        "    1    100       0.0  0.200     0.200  age ≤ 30 (is 24)",
        "                                  0.500  late is 3: odds of bad × 4",
        "                                  0.550  age is 24: odds of bad × 1.22",
        "stops at a leaf",
    ]
    assert str(one(income(), LATE)).split("\n")[-3:] == [
        "                                      87.5     -12.5                        late is 3: mean −12.5",
        "                                      77.5       -10                        job is clerk: mean −10",
        "stops at a leaf",
    ]


def test_limits_missing_and_new_values_are_named():
    beyond = one(lending(), [9, 24, "clerk", "B"]).paths[0].terms[0]
    assert beyond.text(1) == "late is 9, taken as 4: odds of bad × 8"
    missing = one(lending(), [None, 24, "clerk", "B"]).paths[0].terms[0]
    assert missing.text(1) == "late is missing: no change"
    assert missing.probability == (0.8, 0.2)
    new = one(lending(), [3, 40, "pilot", "B"]).paths[0].terms[0]
    assert new.text(1) == "job is a category never seen: odds of bad × 0.5"


def test_reasons_include_the_terms():
    found = one(lending(), LATE)
    assert [str(reason) for reason in found.reasons()] == [
        "late = 3 moved bad from 0.200 to 0.500",
        "age ≤ 30 moved bad from 0.350 to 0.200",
        "age = 24 moved bad from 0.500 to 0.550",
    ]
    assert found.reasons()[0].feature == "late"


def test_a_row_has_the_terms_of_all_nodes_of_its_path():
    """Odds 1/4; late for all rows multiplies by 4, the job by 1/2, late above 2 in this leaf by 2: odds of 1."""
    found = one(everybody(), LATE)
    assert [term.text(1) for term in found.paths[0].terms] == [
        "late is 3: odds of bad × 4",
        "job is clerk: odds of bad × 0.5",
        "late is 3: odds of bad × 2",
    ]
    assert found.probability == pytest.approx((0.5, 0.5))
    assert [str(reason) for reason in found.reasons(positive="bad")] == [
        "late = 3 moved bad from 0.200 to 0.500",
        "job = clerk moved bad from 0.500 to 0.333",
        "late = 3 moved bad from 0.333 to 0.500",
        "age ≤ 30 moved bad from 0.350 to 0.200",
    ]
    stopped = one(everybody(), [3, None, "clerk", "B"])
    assert [term.text(1) for term in stopped.paths[0].terms] == [
        "late is 3: odds of bad × 4",
        "job is clerk: odds of bad × 0.5",
    ]
    assert stopped.probability[1] == pytest.approx(14 / 27)


def test_plain_values_have_the_terms():
    plain = json.loads(json.dumps(one(lending(), LATE).to_dict()))
    assert [term["feature"] for term in plain["paths"][0]["terms"]] == ["late", "age"]
    assert plain["paths"][0]["terms"][0]["probability"] == pytest.approx([0.5, 0.5])


def test_notebooks_show_the_terms():
    assert "late is 3: odds of bad × 4" in one(lending(), LATE)._repr_html_()
    assert "late: odds of bad × 2 per +1 (0 to 4; × 1 at 1)" in leaves(lending())._repr_html_()


@given(st.data())
def test_the_last_term_has_the_prediction_and_reasons_add_up(data):
    tree = data.draw(trees_with_slopes())
    table = data.draw(tables(tree.schema))
    predicted = predict_rows(tree, table)
    steep = np.abs(tree.slopes.slope).max(initial=0.0) > 1e3
    for row, found in enumerate(explain(tree, table)):
        assert found.probability == tuple(predicted[row].tolist())
        (path,) = found.paths
        if steep:  # the difference of two huge scores is their rounding
            continue
        if path.terms:
            assert_allclose(path.terms[-1].probability, predicted[row], atol=1e-10)
        for k, label in enumerate(tree.schema.classes or (None,)):
            total = sum(reason.change for reason in found.reasons(positive=label))
            size = max(1.0, abs(predicted[row, k]))
            assert total == pytest.approx(predicted[row, k] - tree.belief[0, k], abs=1e-9 * size)


@given(st.data())
def test_factors_are_ratios_of_odds(data):
    tree = data.draw(trees_with_slopes())
    if tree.is_regression:
        return
    for found in explain(tree, data.draw(tables(tree.schema))):
        for path in found.paths:
            before = path.steps[-1].probability
            for term in path.terms:
                for k, (p, q) in enumerate(zip(before, term.probability, strict=True)):
                    if 1e-6 < p < 1 - 1e-6 and 1e-6 < q < 1 - 1e-6:
                        ratio = q / (1 - q) / (p / (1 - p))
                        assert term.factor(k) == pytest.approx(ratio, rel=1e-6)
                before = term.probability


# ---------------------------------------------------------------------------------------------- intervals


def test_bounds_move_with_the_prediction_and_widen_with_the_distance():
    """Two late payments of a range of 4 above the centre 1, one year of a range of 12 below the centre 25."""
    table = Table.read([LATE, [1, 25, "clerk", "B"]], schema=lending().schema)
    low, high = (bound[:, 1] for bound in predict_interval(lending(), table))
    base_low, base_high = (bound[1, 1] for bound in interval(lending()))
    assert (low[1], high[1]) == pytest.approx((base_low, base_high))  # at the centres
    late = 0.5**2 / (0.25 * 0.75 * 2 / 3)
    age = (1 / 12) ** 2 / (7 / 12 * 5 / 12 * 2 / 3)
    wider = math.sqrt(1 + 100 * (late + age) / 100)
    odds = 0.25 * 4 * math.exp(0.2)
    for found, base in ((low[0], base_low), (high[0], base_high)):
        ratio = (base / (1 - base) / 0.25) ** wider
        assert found / (1 - found) == pytest.approx(odds * ratio)


def test_a_slope_of_more_rows_widens_less():
    """A category of the root, known from 200 rows: 1/2 from its centre, variance 1/4. The leaf has 100 rows."""
    tree = everybody()
    table = Table.read([[1, 24, "manager", "B"]], schema=tree.schema)
    low, _ = predict_interval(tree, table)
    base_low, _ = interval(tree)
    odds = base_low[1, 1] / (1 - base_low[1, 1]) / 0.25
    wider = math.sqrt(1 + 100 * (0.5**2 / 0.25) / 200)
    assert low[0, 1] / (1 - low[0, 1]) == pytest.approx(0.25 * 2 * odds**wider)


def test_bounds_of_a_mean_widen_by_the_same_factor():
    table = Table.read([LATE], schema=income().schema)
    low, high = predict_interval(income(), table)
    moved, (below, above) = predict_rows(income(), table), (bound[1] for bound in interval(income()))
    assert high - moved == pytest.approx(moved - low)
    assert ((high - low) > 1.2 * (above - below)).all()


@given(st.data())
def test_bounds_contain_the_prediction(data):
    tree = data.draw(trees_with_slopes())
    table = data.draw(tables(tree.schema))
    low, high = predict_interval(tree, table)
    predicted = predict_rows(tree, table)
    assert (low <= predicted).all()
    assert (predicted <= high).all()
    if not tree.is_regression:
        assert (low >= 0).all()
        assert (high <= 1).all()


# ------------------------------------------------------------------------------------------------- leaves


def test_the_leaf_table_has_terms_below_the_rule():
    lines = str(leaves(lending())).split("\n")
    assert lines[1].endswith("age ≤ 30")
    assert lines[2].strip() == "late: odds of bad × 2 per +1 (0 to 4; × 1 at 1)"
    assert lines[2].index("late") == lines[1].index("age")
    assert leaves(lending(), positive="good").terms[0][0].startswith("late: odds of good × 0.5")
    assert leaves(lending()).to_dict()["terms"][0].startswith("late: odds of bad × 2 per +1")
    assert "terms" not in leaves(sizes().__class__.raw(*_plain(sizes()))).to_dict()


def _plain(tree):
    return tree.schema, tree.skeleton, tree.evidence


def test_rules_of_leaves_have_terms():
    assert leaves(income()).as_rules().split("\n")[2:4] == [
        "        late: mean −12.5 per +1 (0 to 4; +0 at 2)",
        "        job: mean +30 if manager, −10 if another",
    ]


# ----------------------------------------------------------------------------------------- counterfactuals


def found_for(tree, row, **settings):
    return counterfactuals(tree, Table.read([row], schema=tree.schema), n=9, **settings)[0]


def test_a_feature_of_a_term_is_moved_just_far_enough():
    """Without the change of age, 2 ** (late - 1) / 4 · exp(0.2) = 1 at late = 2.711."""
    by_late = [found for found in found_for(lending(), LATE) if set(found.values) == {"late"}]
    assert [str(found) for found in by_late] == ["late ≤ 2.71 (is 3): good 0.500"]
    assert 3 - 0.2 / math.log(2) == pytest.approx(2.7115, abs=1e-4)


def test_moves_stay_in_the_leaf_and_respect_fixed_features():
    by_age = [found for found in found_for(lending(), LATE) if found.node == 1 and "age" in found.values]
    assert [str(found) for found in by_age] == ["25 < age ≤ 30 (is 24): good 0.500"]
    assert all(set(found.values) == {"age"} for found in found_for(lending(), LATE, fixed=["late"]))


def test_categories_of_terms_are_chosen():
    texts = [str(found) for found in found_for(lending(), [0, 40, "manager", "C"])]
    assert "job in {clerk, other} (is manager): good 0.500" in texts
    assert "grade = A (is C): good 0.500" in texts


def test_two_terms_of_a_feature_are_moved_together():
    """Odds 1/4 double with each late payment, above 2 twice; and double for a manager, else they are halved."""
    by_late = [
        found for found in found_for(everybody(), [4, 24, "manager", "B"]) if set(found.values) == {"late"}
    ]
    assert [str(found) for found in by_late] == ["late ≤ 2 (is 4): good 0.500"]
    by_late = [
        found for found in found_for(everybody(), [3.5, 24, "clerk", "B"]) if set(found.values) == {"late"}
    ]
    assert [str(found) for found in by_late] == ["late ≤ 3 (is 3.5): good 0.500"]


def test_a_band_between_two_terms_of_a_feature_is_found():
    """Odds of bad: 1/2 at 0 late payments, doubled with each up to 2, halved with each from 2 on: 1 at 1 and at 3."""
    tree = Tree.raw(
        everybody().schema,
        Skeleton.of([2, 0, 0], [1, -1, -1], [30.0, np.nan, np.nan]),
        np.array([[40, 20], [20, 10], [20, 10]]),
    )
    log2 = math.log(2)
    tree = with_slopes(
        tree, Slopes.of([0, 1], [0, 0], [0, 2], [2, 4], [0, 2], slope=[[0.0, log2], [0.0, -log2]])
    )
    for late, band in (
        (4.0, "1.01 < late ≤ 2.99 (is 4): bad 0.502"),
        (0.0, "1.01 < late ≤ 2.99 (is 0): bad 0.502"),
    ):
        found = [one for one in found_for(tree, [late, 24, "clerk", "B"]) if set(one.values) == {"late"}]
        assert [str(one) for one in found if one.node == 1] == [band]


def test_a_row_that_stops_at_an_inner_node_is_moved_there():
    """The odds of the root, 7/13, double for a manager and with each late payment: 1 at late = 1 - log2(14/13)."""
    found = found_for(everybody(), [3, None, "manager", "B"], fixed=["age"])
    assert [str(one) for one in found if set(one.values) == {"late"}] == ["late ≤ 0.89 (is 3): good 0.501"]
    assert 1 - math.log2(14 / 13) == pytest.approx(0.893, abs=1e-3)


def test_a_mean_is_reached_by_terms():
    """Leaf 1: 100 - 12.5 (late - 2) + 40 (manager - 0.25); 100 is reached from 77.5 by late 1.2, or as a manager."""
    texts = [str(found) for found in found_for(income(), LATE, wanted=(100, 150))]
    assert texts == ["late ≤ 1.2 (is 3): 100", "job = manager (is clerk): 117.5"]


@settings(deadline=None)
@given(st.data())
def test_every_counterfactual_is_predicted_as_it_says(data):
    tree = data.draw(trees_with_slopes(max_inner=4))
    table = data.draw(tables(tree.schema))
    if tree.is_regression or not table.n_rows:
        return
    for row, several in enumerate(counterfactuals(tree, table, n=3)):
        before = table.take(np.array([row]))
        for found in several:
            changed = []
            for at, feature in enumerate(tree.schema.features):
                value = before.columns[at][0].item()
                if feature.name in found.values:
                    new = found.values[feature.name]
                    value = feature.categories.index(new) if feature.categories else new
                changed.append(np.array([value], before.columns[at].dtype))
            after = Table(tree.schema, tuple(changed))
            code = tree.schema.classes.index(found.prediction)
            assert predict_rows(tree, after)[0, code] == found.probability
            assert code != decide_rows(tree, before)[0]


# ------------------------------------------------------------------------------------------------- shapley


def test_shap_values_are_refused():
    with pytest.raises(ParameterError, match=r"2 of 3 nodes have slopes.*reasons"):
        shap_values(lending(), Table.read([LATE], schema=lending().schema))


# --------------------------------------------------------------------------------------------------- drift


def test_drift_compares_with_the_mean_prediction_of_the_new_rows():
    """Rows of leaf 1 with 3 late payments have 50 % bad by the terms, not the 20 % of the leaf."""
    X = [[3, 25, "clerk", "B"]] * 40
    table = Table.read(X, ["bad", "good"] * 20, schema=lending().schema)
    found = drift(lending(), table)
    assert found.probability[found.node == 1] == pytest.approx(np.array([[0.5, 0.5]]))
    assert found.p_value[found.node == 1] == pytest.approx([1.0])
    assert found.probability[found.node == 2] == pytest.approx(
        lending().belief[[2]]
    )  # without rows: the leaf


@pytest.mark.parametrize("above", [None, -1e308, -math.inf, 0.5, 2.0**61, 1e308, math.inf])
def test_moves_within_a_leaf_whose_path_has_huge_or_infinite_bounds(above):
    """Odds of 1/4 double with each unit: bad from 3.01 on. A bound beyond the range of the term leaves no move."""
    late = Feature("late")
    leaf = Tree.raw(Schema((late,), ("good", "bad")), Skeleton.leaf(), np.array([[4, 1]]))
    tree = with_slopes(leaf, Slopes.of([0], [0], low=[0], high=[4], centre=[1], slope=[[0, np.log(2)]]))
    predict, given_ = row_predictor(tree), {0: Condition(0, late, above=above)}
    found = [move.above for move in term_moves(tree, 0, [0.0], given_, lambda row: predict(row)[1] > 0.5)]
    assert found == ([3.01] if above is None or above < 4 else [])


def test_moves_above_a_bound_without_room_for_decimals():
    """Neighbours of 2**61 are 512 apart, more than the unit of rounding: the next number is the nearest bound."""
    low, high = 2.0**61, 2.0**61 + 4096
    amount = Feature("amount")
    leaf = Tree.raw(Schema((amount,), ("good", "bad")), Skeleton.leaf(), np.array([[1, 1]]))
    slopes = Slopes.of([0], [0], low=[low], high=[high], centre=[low + 2048], slope=[[0, 0.01]])
    tree = with_slopes(leaf, slopes)
    predict, given_ = row_predictor(tree), {0: Condition(0, amount, above=low)}
    [move] = term_moves(tree, 0, [high], given_, lambda row: predict(row)[1] < 0.5)
    assert (move.above, move.at_most) == (low, low + 1536)
