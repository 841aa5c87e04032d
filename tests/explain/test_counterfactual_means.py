"""What would have to change for a mean to be as wanted."""

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
def test_a_changed_row_gets_a_mean_as_wanted(wanted):
    low, high = (-np.inf if wanted[0] is None else wanted[0], np.inf if wanted[1] is None else wanted[1])
    rows = X[:40]
    means = REG.predict(rows)
    found = REG.counterfactuals(rows, wanted=wanted, n=2)
    assert any(found)
    for at, ways in enumerate(found):
        assert (ways == ()) == (low <= means[at] <= high)
        for way in ways:
            changed = rows[at : at + 1].assign(**way.values)
            assert REG.predict(changed).item() == pytest.approx(way.probability)
            assert low <= way.probability <= high


def test_the_fewest_changes_come_first_and_no_place_is_nearer():
    """A slow twin: every leaf that is as wanted, and how many features must change to come there."""
    leaves = REG.leaves()
    nodes = dict(zip(leaves.node.tolist(), leaves.smoothed[:, 0].tolist(), strict=True))
    rows = X[:20]
    for ways in REG.counterfactuals(rows, wanted=(450, None), n=20):
        sizes = [len(way.needed) for way in ways]
        assert sizes == sorted(sizes)
        if ways:
            assert {way.node for way in ways} == {node for node, mean in nodes.items() if mean >= 450}


def test_what_is_fixed_stays():
    for ways in REG.counterfactuals(X[:20], wanted=(450, None), fixed=["area"]):
        assert all("area" not in way.needed for way in ways)


def test_words_and_plain_values():
    reg = TreeRegressor("cart").fit([[20.0], [30.0], [40.0]], [1.0, 1.0, 7.0])
    [[way]] = reg.counterfactuals([[50.0]], wanted=(None, 2))
    assert str(way) == "x0 ≤ 35 (is 50): 1"
    assert way.label is None
    told = way.to_dict()
    assert told["mean"] == 1.0
    assert "class" not in told
    assert "x0 ≤ 35" in reg.counterfactuals([[50.0]], wanted=(None, 2))._repr_html_()


@pytest.mark.parametrize("wanted", [None, 5.0, (1, 2, 3), (None, None), "much"])
def test_bounds_are_needed(wanted):
    with pytest.raises(
        ParameterError, match=r"the target is numeric: expected the lowest.*wanted=\(200, None\)"
    ):
        REG.counterfactuals(X[:1], wanted=wanted)
