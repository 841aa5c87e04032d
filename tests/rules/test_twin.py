"""The rules of C4.5 agree with a slow version, for many trees and tables."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from golf import GOLF
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.recipe import PRESETS
from hornbeam.rules.extract import extract
from hornbeam.tree import Table
from support.examples import examples
from support.reference_rules import beliefs, chosen, shortened
from support.strategies_growing import random_table

GROWING = {name: replace(PRESETS[name], pruner=None) for name in ("c4.5", "cart", "default", "id3")}
UCI = Path(os.environ.get("HORNBEAM_DATA", Path(__file__).parents[3] / "shared" / "data" / "uci"))


def parts(rule):
    return [part for condition in rule.conditions for part in condition.parts]


def assert_same_as_the_slow_version(tree, table, seed=0, merge=False):
    leaves = extract(tree, merge=merge)
    candidates = leaves.simplify(table, None)
    slow = shortened(table, [(parts(rule), rule.code, rule.covers) for rule in leaves])
    different = {}
    for tests, k, error in slow:
        rows = frozenset(map(_key, _merged_by_hand(tests)))
        different.setdefault((rows, k), error)
    assert [(frozenset(map(_key, rule.conditions)), rule.code) for rule in candidates] == list(different)
    assert [rule.error for rule in candidates] == pytest.approx(list(different.values()), rel=1e-9)

    rules = candidates.choose(table, None, random_state=seed)
    order, default = chosen(table, [(parts(rule), rule.code, rule.error) for rule in candidates], seed)
    assert [rule.conditions for rule in rules] == [candidates[r].conditions for r in order]
    listed = [*[(parts(candidates[r]), candidates[r].code) for r in order], ([], default)]
    slow_belief = np.array(beliefs(table, listed))
    found = np.array([rule.probability for rule in (*rules, rules.default)])
    np.testing.assert_allclose(found, slow_belief, rtol=1e-12)
    for rule, (_, target), belief in zip((*rules, rules.default), listed, found, strict=True):
        assert rule.code == (target if belief[target] == belief.max() else belief.argmax())


def _merged_by_hand(tests):
    """Combine the conditions on each feature."""
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


@pytest.mark.parametrize("preset", GROWING)
@pytest.mark.parametrize("merge", [True, False])
def test_golf_data(preset, merge):
    assert_same_as_the_slow_version(GROWING[preset].fit(GOLF), GOLF, merge=merge)


@examples(40)
@given(
    st.integers(0, 2**31),
    st.integers(2, 60),
    st.integers(2, 4),
    st.sampled_from(["none", "whole", "real"]),
    st.sampled_from(list(GROWING)),
    st.booleans(),
)
def test_small_tables(seed, n_rows, n_classes, weights, preset, merge):
    table = random_table(seed, n_rows=n_rows, n_classes=n_classes, weights=weights)
    assert_same_as_the_slow_version(GROWING[preset].fit(table), table, merge=merge)


@pytest.mark.parametrize("seed", range(2))
def test_classes_with_more_than_ten_rules(seed):
    """Up to ten rules of a class all subsets are tried; this tree has more."""
    table = random_table(seed, n_rows=110, noise=0.1, n_values=12, missing=0.0)
    tree = PRESETS["cart"].fit(table)
    candidates = extract(tree, merge=False).simplify(table, None)
    assert max(np.bincount([rule.code for rule in candidates])) > 10
    assert_same_as_the_slow_version(tree, table, seed=seed)


@pytest.mark.parametrize("name", ["breast-cancer", "glass", "heart-c"])
def test_public_data_sets(name):
    path = UCI / f"{name}.parquet"
    if not path.exists():
        pytest.skip(f"no {path}: set HORNBEAM_DATA to the folder of the UCI collection")
    from pyarrow import parquet

    frame = parquet.read_table(path).to_pandas()
    table = Table.read(frame.drop(columns="target"), frame["target"])
    assert_same_as_the_slow_version(GROWING["c4.5"].fit(table), table)
