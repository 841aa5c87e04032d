"""The leaf table: order, class of interest and rules."""

import numpy as np
import pytest

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.errors import ParameterError
from hornbeam.explain.leaves import leaves

X = [[0.0]] * 10 + [[1.0]] * 10 + [[2.0]] * 10
Y = ["bad"] * 3 + ["good"] * 7 + ["bad"] * 8 + ["good"] * 2 + ["good"] * 10


def fitted():
    return TreeClassifier("cart").fit(X, Y)


def test_lines_have_the_class_of_interest_highest_risk_first():
    lines = repr(fitted().leaves(positive="bad", by="risk")).splitlines()[2:]
    rates = [line.split()[:6] for line in lines]
    assert rates == [
        ["4", "10", "0.0", "bad", "0.800", "0.800"],
        ["3", "10", "0.0", "good", "0.300", "0.300"],
        ["2", "10", "0.0", "good", "0.000", "0.000"],
    ]
    assert [line.rpartition("  ")[2] for line in lines] == ["0.5 < x0 ≤ 1.5", "x0 ≤ 0.5", "x0 > 1.5"]


def test_the_order_only_permutes_the_rows():
    tree = fitted().tree_
    plain, by_risk = leaves(tree), leaves(tree, positive="good", by="risk")
    order = np.argsort(-plain.probability[:, 1], kind="stable")
    for name in ("node", "rows", "borrowed", "raw", "probability", "low", "high"):
        np.testing.assert_array_equal(getattr(by_risk, name), getattr(plain, name)[order])
    assert by_risk.rule == [plain.rule[at] for at in order]


def test_rules_of_a_class_of_interest():
    table = fitted().leaves(positive="bad", by="risk")
    bounds = f"{table.low[2, 0]:.3f} to {table.high[2, 0]:.3f}"
    assert table.as_rules().splitlines()[4:] == [
        "3. if x0 > 1.5",
        f"   then good, P(bad) 0.000 ({bounds}); 10 rows",
    ]


def test_means_are_ordered_by_risk():
    reg = TreeRegressor("cart").fit([[0], [1], [2], [3]], [1.0, 5.0, 3.0, 2.0])
    means = reg.leaves(by="risk").probability[:, 0]
    assert means.tolist() == sorted(means.tolist(), reverse=True)


def test_wrong_parameters_are_refused():
    clf = fitted()
    with pytest.raises(
        ParameterError, match=r"positive='Bad': expected one of the classes \['bad', 'good'\]"
    ):
        clf.leaves(positive="Bad")
    with pytest.raises(ParameterError, match="by='risk' needs positive="):
        clf.leaves(by="risk")
    with pytest.raises(ParameterError, match="by='rows': expected one of 'node', 'risk'"):
        clf.leaves(by="rows")
    with pytest.raises(ParameterError, match="the target is numeric"):
        leaves(TreeRegressor("cart").fit([[0], [1]], [1.0, 2.0]).tree_, positive=1)
