"""Counterfactuals of a regression tree: changes that bring the mean within bounds."""

import numpy as np
import pandas as pd
import pytest

from hornbeam import TreeRegressor
from hornbeam.errors import ParameterError

DRAW = np.random.default_rng(0)
N = 200
X = pd.DataFrame(
    {
        "area": DRAW.uniform(20, 200, N),
        "town": DRAW.choice(["north", "south"], N),
        "rooms": DRAW.integers(1, 6, N),
    }
)
Y = 3 * X.area + 200 * (X.town == "south") + 10 * DRAW.normal(size=N)
REG = TreeRegressor("cart", max_leaf_nodes=8).fit(X, Y)


@pytest.mark.parametrize("wanted", [(400, None), (None, 300), (350, 450)])
def test_a_changed_row_has_a_mean_within_the_bounds(wanted):
    low, high = (-np.inf if wanted[0] is None else wanted[0], np.inf if wanted[1] is None else wanted[1])
    rows = X[:40]
    means = REG.predict(rows)
    found = REG.counterfactuals(rows, wanted=wanted, n=2)
    assert any(found)
    for at, found_for_row in enumerate(found):
        assert (found_for_row == ()) == (low <= means[at] <= high)
        for one in found_for_row:
            changed = rows[at : at + 1].assign(**one.values)
            assert REG.predict(changed).item() == pytest.approx(one.prediction)
            assert low <= one.prediction <= high


def test_the_fewest_changes_come_first_and_every_wanted_leaf_is_found():
    """The reference lists every leaf with a mean within the bounds."""
    leaves = REG.leaves()
    nodes = dict(zip(leaves.node.tolist(), leaves.probability[:, 0].tolist(), strict=True))
    rows = X[:20]
    for found_for_row in REG.counterfactuals(rows, wanted=(450, None), n=20):
        sizes = [len(one.needed) for one in found_for_row]
        assert sizes == sorted(sizes)
        if found_for_row:
            assert {one.node for one in found_for_row} == {
                node for node, mean in nodes.items() if mean >= 450
            }


def test_fixed_features_do_not_change():
    for found_for_row in REG.counterfactuals(X[:20], wanted=(450, None), fixed=["area"]):
        assert all("area" not in one.needed for one in found_for_row)


def test_text_and_plain_values():
    reg = TreeRegressor("cart").fit([[20.0], [30.0], [40.0]], [1.0, 1.0, 7.0])
    [[one]] = reg.counterfactuals([[50.0]], wanted=(None, 2))
    assert str(one) == "x0 ≤ 35 (is 50): 1"
    assert one.probability is None
    plain = one.to_dict()
    assert plain["prediction"] == 1.0
    assert "probability" not in plain
    assert "x0 ≤ 35" in reg.counterfactuals([[50.0]], wanted=(None, 2))._repr_html_()


@pytest.mark.parametrize("wanted", [None, 5.0, (1, 2, 3), (None, None), "much"])
def test_bounds_are_required(wanted):
    with pytest.raises(
        ParameterError, match=r"the target is numeric: expected the lowest.*wanted=\(200, None\)"
    ):
        REG.counterfactuals(X[:1], wanted=wanted)
