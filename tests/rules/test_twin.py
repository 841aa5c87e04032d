"""The fast way and the slow one make the same rules, of the same trees, whatever the rows."""

import os
from pathlib import Path

import numpy as np
import pytest
from golf import GOLF
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbeam import Table
from hornbeam.recipe import PRESETS
from hornbeam.rules import choose_rules, extract, simplify
from reference_rules import beliefs, chosen, shortened
from strategies_growing import random_table

PRESET = st.sampled_from(["c4.5", "cart", "default", "id3"])
UCI = Path(os.environ.get("HORNBEAM_DATA", Path(__file__).parents[3] / "shared" / "data" / "uci"))


def parts(rule):
    return [part for condition in rule.conditions for part in condition.parts]


def assert_same_as_the_twin(tree, table, seed=0, merge=False):
    leaves = extract(tree, merge=merge)
    pool = simplify(leaves, table)
    slow = shortened(table, [(parts(rule), rule.target, rule.support) for rule in leaves])
    different = {}
    for tests, k, error in slow:
        rows = frozenset(map(_key, _together(tests)))
        different.setdefault((rows, k), error)
    assert [(frozenset(map(_key, rule.conditions)), rule.target) for rule in pool] == list(different)
    assert [rule.error for rule in pool] == pytest.approx(list(different.values()), rel=1e-9)

    rules = choose_rules(pool, table, seed=seed)
    order, default = chosen(table, [(parts(rule), rule.target, rule.error) for rule in pool], seed)
    assert [rule.conditions for rule in rules] == [pool[r].conditions for r in order]
    told = [*[(parts(pool[r]), pool[r].target) for r in order], ([], default)]
    slow_belief = np.array(beliefs(table, told))
    found = np.array([rule.belief for rule in (*rules, rules.default)])
    np.testing.assert_allclose(found, slow_belief, rtol=1e-12)
    for rule, (_, target), belief in zip((*rules, rules.default), told, found, strict=True):
        assert rule.target == (target if belief[target] == belief.max() else belief.argmax())


def _together(tests):
    """One condition a feature, by hand."""
    found = {}
    for test in tests:
        found[test.column] = found[test.column] & test if test.column in found else test
    return found.values()


def _key(condition):
    return (
        condition.column,
        condition.above,
        condition.at_most,
        condition.among,
        condition.missing,
    )


@pytest.mark.parametrize("preset", ["c4.5", "cart", "default", "id3"])
@pytest.mark.parametrize("merge", [True, False])
def test_golf(preset, merge):
    assert_same_as_the_twin(PRESETS[preset].fit(GOLF), GOLF, merge=merge)


@settings(max_examples=40)
@given(
    st.integers(0, 2**31),
    st.integers(2, 60),
    st.integers(2, 4),
    st.sampled_from(["none", "whole", "real"]),
    PRESET,
    st.booleans(),
)
def test_small_tables(seed, n_rows, n_classes, weights, preset, merge):
    table = random_table(seed, n_rows=n_rows, n_classes=n_classes, weights=weights)
    assert_same_as_the_twin(PRESETS[preset].fit(table), table, merge=merge)


@pytest.mark.parametrize("seed", range(2))
def test_greedy_searches(seed):
    """Many leaves, so that a class has more than the ten rules whose subsets are all tried."""
    table = random_table(seed, n_rows=110, noise=0.1, n_values=12, missing=0.0)
    tree = PRESETS["cart"].fit(table)
    pool = simplify(extract(tree, merge=False), table)
    assert max(np.bincount([rule.target for rule in pool])) > 10
    assert_same_as_the_twin(tree, table, seed=seed)


@pytest.mark.parametrize("name", ["breast-cancer", "glass", "heart-c"])
def test_public_sets(name):
    path = UCI / f"{name}.parquet"
    if not path.exists():
        pytest.skip(f"no {path}: set HORNBEAM_DATA to the folder of the UCI collection")
    from pyarrow import parquet

    frame = parquet.read_table(path).to_pandas()
    table = Table.read(frame.drop(columns="target"), frame["target"])
    assert_same_as_the_twin(PRESETS["c4.5"].fit(table), table)
