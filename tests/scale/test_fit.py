"""Whole fits on a source."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, make_classification

from hornbeam.data import LocalEngine, MemorySource, Table
from hornbeam.errors import ParameterError
from hornbeam.evaluation import rmse
from hornbeam.growing import Missing
from hornbeam.out_of_core import Plan, count_on_all, draw_sample, fit
from hornbeam.out_of_core import plan as planning
from hornbeam.pruning import CostComplexity
from hornbeam.recipe import PRESETS, Recipe
from hornbeam.tree.route import predict_rows
from hornbeam.tuning import CrossFitted, CrossValidated
from strategies_growing import growers, random_table, training_tables

PET, CART = PRESETS["default"], PRESETS["cart"]
CANCER = Table.read(*load_breast_cancer(return_X_y=True))
NOWHERE = 5_000  # bytes: so few that hardly a row comes home


def noisy(n, seed=0):
    X, y = make_classification(n, 8, n_informative=3, flip_y=0.3, random_state=seed)
    return Table.read(X, y)


def loss(tree, table):
    return rmse(table.target, predict_rows(tree, table))


# ---- on all rows ---------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(st.data())
def test_all_rows_give_the_tree_of_memory(data):
    table = data.draw(training_tables(max_rows=60))
    grower = data.draw(growers(table, missing=(Missing.OWN, Missing.LEARNED)))
    recipe = Recipe(data.draw(st.sampled_from(["auto", None, 3])), grower, CostComplexity(0.01), PET.smoother)
    source = MemorySource(table, data.draw(st.sampled_from([1, 9, 100])))
    engine = LocalEngine(data.draw(st.integers(1, 2)), data.draw(st.integers(1, 5)), data.draw(st.booleans()))
    tree = fit(source, recipe, engine, memory=data.draw(st.sampled_from([NOWHERE, 300, 2**20])), cache=False)
    assert tree.digest == recipe.fit(table).digest


@pytest.mark.parametrize(
    "recipe",
    [CART, CrossFitted(PET), CrossValidated(CART), CrossFitted(CrossValidated(PET)), PRESETS["c4.5"]],
)
def test_rows_that_fit_memory_come_home(recipe):
    assert fit(MemorySource(CANCER, 50), recipe).digest == recipe.fit(CANCER).digest


def test_a_cache_changes_nothing(tmp_path):
    expected = CART.fit(CANCER).digest
    for cache in (None, False, tmp_path, str(tmp_path)):
        assert fit(MemorySource(CANCER, 50), CART, memory=NOWHERE, cache=cache).digest == expected


def test_few_rows_teach_the_same_lesson_wherever_they_are():
    """Up to `CrossFitted.rows` rows the sample is all of them."""
    honest = CrossFitted(PET, simplicity=0.5)
    tree, expected = fit(MemorySource(CANCER, 50), honest, memory=NOWHERE), honest.fit(CANCER)
    assert tree.digest == expected.digest
    assert tree.history == expected.history


def test_a_lesson_of_some_rows_serves_a_tree_of_all():
    table = noisy(6000)
    train, test = table.slice(0, 4000), table.slice(4000, 6000)
    honest = CrossFitted(replace(PET, max_bins=32), rows=1500)
    tree = fit(MemorySource(train, 512), honest, memory=10_000)
    assert tree.rows[0] == 4000
    assert loss(tree, test) == pytest.approx(loss(honest.fit(train), test), abs=0.01)
    other = fit(MemorySource(train, 100), honest, LocalEngine(2, 7, reverse=True), memory=10_000)
    assert other.digest == tree.digest
    assert other.history == tree.history


# ---- on a sample ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "recipe",
    [CART, PRESETS["c4.5"], CrossFitted(PET), CrossValidated(CART, simplicity=1.0)],
    ids=lambda r: type(r).__name__,
)
def test_a_sample_is_grown_on_and_every_row_counted(recipe):
    table = noisy(3000)
    source = MemorySource(table, 200)
    tree = fit(source, recipe, grow_rows=1000)
    assert tree.rows[0] == tree.evidence[0].sum() * tree.unit[0] == 3000
    names = [step.name for step in tree.history]
    assert names[:2] == ["grow", "count-on-all"]
    for engine in (LocalEngine(2), LocalEngine(1, 5, reverse=True)):
        assert fit(MemorySource(table, 77), recipe, engine, grow_rows=1000).digest == tree.digest


def test_what_is_done_to_a_sample_step_by_step():
    table = noisy(2000)
    source, engine = MemorySource(table), LocalEngine()
    grown = replace(CART, smoother=None).fit(draw_sample(source, engine, 700))
    recipe = replace(CART, pruner=CostComplexity(0.002), smoother=PET.smoother)
    expected = recipe.finish(count_on_all(grown, source, engine))
    tree = fit(source, recipe, grow_rows=700)
    assert tree.digest == expected.digest
    assert tree.n_leaves < grown.n_leaves


def test_counting_all_rows_makes_a_sample_better():
    """The tests are those of 1,000 rows; the probabilities know 20,000."""
    table = noisy(24_000)
    train, test = table.slice(0, 20_000), table.slice(20_000, 24_000)
    source, honest = MemorySource(train), CrossFitted(PET)
    sampled = honest.fit(draw_sample(source, LocalEngine(), 1000))
    counted = fit(source, honest, grow_rows=1000)
    assert loss(counted, test) < loss(sampled, test) - 0.005


def test_a_sample_of_all_rows_is_all_rows():
    tree = fit(MemorySource(CANCER), CrossFitted(PET), grow_rows=10_000)
    assert tree.digest == CrossFitted(PET).fit(CANCER).digest


def test_rows_shared_out_are_counted_too():
    table = random_table(5, n_rows=400, missing=0.2)
    tree = fit(MemorySource(table, 99), PRESETS["c4.4"], grow_rows=100)
    assert tree.rows[0] == 400
    assert tree.evidence[0].sum() * tree.unit[0] == pytest.approx(400)


def test_progress_speaks_of_all_rows():
    heard: list[int] = []
    table = noisy(30_000)
    stretched = Table.read(
        np.tile(np.column_stack(table.columns), 5), table.target
    )  # slow enough to be heard
    fit(MemorySource(stretched), replace(CART, max_bins=255), grow_rows=29_999, on_progress=heard.append)
    assert heard == sorted(heard)
    assert all(0 <= n <= 30_000 for n in heard)


# ---- the plan ------------------------------------------------------------------------------------------


def test_the_plan_goes_by_size(monkeypatch):
    source = MemorySource(noisy(1000))  # 76 bytes a row
    assert Plan.of(source, CART).way == "home"
    assert Plan.of(source, CART, memory=75_999).way == "level"
    monkeypatch.setattr(planning, "_MANY_ROWS", 999)
    assert Plan.of(source, CART, memory=7600) == Plan("sample", 100, 7600)
    assert Plan.of(source, CART, 1000, memory=7600).way == "level"
    monkeypatch.setattr(planning, "_MOST_SAMPLED", 50)
    assert Plan.of(source, CART, memory=7600).rows == 50


@pytest.mark.parametrize(
    ("recipe", "what"),
    [
        (CrossValidated(CART), "choosing a pruner"),
        (CrossFitted(CrossValidated(PET)), "choosing a pruner"),
        (PRESETS["c4.5"], "fractional"),
    ],
)
def test_what_needs_its_rows_at_home_takes_a_sample_or_says_why_not(recipe, what):
    source = MemorySource(CANCER)
    assert Plan.of(source, recipe, memory=25_200) == Plan("sample", 100, 25_200)
    with pytest.raises(ParameterError, match=f"{what}.* Pass grow_rows=100"):
        fit(source, recipe, grow_rows=569, memory=25_200)


def test_a_sample_of_nothing():
    with pytest.raises(ParameterError, match="grow_rows=0: expected at least 1 row"):
        fit(MemorySource(CANCER), CART, grow_rows=0)
