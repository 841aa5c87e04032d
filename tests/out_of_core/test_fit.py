"""Fits to a source."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, make_classification

from hornbeam.data.engine import LocalEngine
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.ensembles.distillation.distillation import Distillation
from hornbeam.ensembles.distillation.taught import Taught
from hornbeam.errors import ParameterError
from hornbeam.evaluation import probability_rmse
from hornbeam.growing.criterion import Missing
from hornbeam.out_of_core import plan as planning
from hornbeam.out_of_core.fit import fit as fit_source
from hornbeam.out_of_core.plan import Plan
from hornbeam.out_of_core.sample import draw_sample
from hornbeam.pruning import CostComplexity, ErrorBased
from hornbeam.recipe import PRESETS, Recipe
from hornbeam.tree.evidence.count import count_on_all
from hornbeam.tree.route import predict_rows
from hornbeam.tuning.cross_fitted import CrossFitted
from hornbeam.tuning.cross_validated import CrossValidated
from support.examples import examples
from support.strategies_growing import growers, random_table, training_tables

DEFAULT, CART = PRESETS["default"], PRESETS["cart"]
CANCER = Table.read(*load_breast_cancer(return_X_y=True))
LITTLE = 5_000  # bytes: too few for the rows


def noisy(n, seed=0):
    X, y = make_classification(n, 8, n_informative=3, flip_y=0.3, random_state=seed)
    return Table.read(X, y)


def loss(tree, table):
    return probability_rmse(table.target, predict_rows(tree, table))


def fit(source, fitter, engine=None, *, grow_rows=None, memory=None, **options):
    plan = Plan.of(source, fitter, grow_rows, memory)
    return fit_source(source, fitter, engine, plan=plan, **options)


# ---- on all rows ---------------------------------------------------------------------------------------


@examples(60)
@given(st.data())
def test_level_wise_growth_gives_the_tree_of_growth_in_memory(data):
    table = data.draw(training_tables(max_rows=60))
    grower = data.draw(growers(table, missing=(Missing.OWN, Missing.LEARNED)))
    recipe = Recipe(
        data.draw(st.sampled_from(["auto", None, 3])), grower, CostComplexity(0.01), DEFAULT.smoother
    )
    source = MemorySource(table, data.draw(st.sampled_from([1, 9, 100])))
    engine = LocalEngine(data.draw(st.integers(1, 2)), data.draw(st.integers(1, 5)), data.draw(st.booleans()))
    tree = fit(source, recipe, engine, memory=data.draw(st.sampled_from([LITTLE, 300, 2**20])), cache=False)
    assert tree.digest == recipe.fit(table).digest


@pytest.mark.parametrize(
    "recipe",
    [CART, CrossFitted(DEFAULT), CrossValidated(CART), CrossFitted(CrossValidated(DEFAULT)), PRESETS["c4.5"]],
)
def test_without_a_plan_rows_that_fit_memory_are_read_into_it(recipe):
    assert fit_source(MemorySource(CANCER, 50), recipe).digest == recipe.fit(CANCER).digest


def test_the_tree_does_not_depend_on_the_cache(tmp_path):
    expected = CART.fit(CANCER).digest
    for cache in (None, False, tmp_path, str(tmp_path)):
        assert fit(MemorySource(CANCER, 50), CART, memory=LITTLE, cache=cache).digest == expected


def test_with_few_rows_cross_fitting_finds_the_same_level_wise_as_in_memory():
    """Up to `CrossFitted.rows` rows the sample is all of them."""
    cross_fitted = CrossFitted(DEFAULT, tolerance=0.05)
    tree, expected = fit(MemorySource(CANCER, 50), cross_fitted, memory=LITTLE), cross_fitted.fit(CANCER)
    assert tree.digest == expected.digest
    assert tree.history == expected.history


def test_strengths_of_a_sample_are_good_for_a_tree_of_all_rows():
    table = noisy(6000)
    train, test = table.slice(0, 4000), table.slice(4000, 6000)
    cross_fitted = CrossFitted(replace(DEFAULT, max_bins=32), rows=1500)
    tree = fit(MemorySource(train, 512), cross_fitted, memory=10_000)
    assert tree.rows[0] == 4000
    assert loss(tree, test) == pytest.approx(loss(cross_fitted.fit(train), test), abs=0.01)
    other = fit(MemorySource(train, 100), cross_fitted, LocalEngine(2, 7, reverse=True), memory=10_000)
    assert other.digest == tree.digest
    assert other.history == tree.history


# ---- on a sample ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "recipe",
    [CART, PRESETS["c4.5"], CrossFitted(DEFAULT), CrossValidated(CART, simplicity=1.0)],
    ids=lambda r: type(r).__name__,
)
def test_a_tree_is_grown_on_a_sample_and_counted_on_every_row(recipe):
    table = noisy(3000)
    source = MemorySource(table, 200)
    tree = fit(source, recipe, grow_rows=1000)
    assert tree.rows[0] == tree.evidence[0].sum() * tree.unit[0] == 3000
    names = [step.name for step in tree.history]
    assert names[:2] == ["grow", "count-on-all"]
    for engine in (LocalEngine(2), LocalEngine(1, 5, reverse=True)):
        assert fit(MemorySource(table, 77), recipe, engine, grow_rows=1000).digest == tree.digest


def test_a_sampled_fit_is_grow_then_count_then_finish():
    table = noisy(2000)
    source, engine = MemorySource(table), LocalEngine()
    grown = replace(CART, smoother=None).fit(draw_sample(source, engine, 700))
    recipe = replace(CART, pruner=CostComplexity(0.002), smoother=DEFAULT.smoother)
    expected = recipe.finish(count_on_all(grown, source, engine))
    tree = fit(source, recipe, grow_rows=700)
    assert tree.digest == expected.digest
    assert tree.n_leaves < grown.n_leaves


def test_a_tree_with_a_teacher_is_counted_on_every_row():
    table = noisy(2500)
    fitter = Taught(Distillation(max_leaf_nodes=4, max_depth=3, slopes=1))
    tree = fit(MemorySource(table, 200), fitter, grow_rows=500)
    assert tree.rows[0] == tree.evidence[0].sum() == 2500
    assert [step.name for step in tree.history] == ["count-on-all", "distill", "interval-calibration"]
    for engine in (LocalEngine(2), LocalEngine(1, 5, reverse=True)):
        assert fit(MemorySource(table, 77), fitter, engine, grow_rows=500).digest == tree.digest


def test_counting_all_rows_improves_a_sampled_tree():
    """The splits are those of 1,000 rows; the probabilities those of 20,000."""
    table = noisy(24_000)
    train, test = table.slice(0, 20_000), table.slice(20_000, 24_000)
    source, cross_fitted = MemorySource(train), CrossFitted(DEFAULT)
    sampled = cross_fitted.fit(draw_sample(source, LocalEngine(), 1000))
    counted = fit(source, cross_fitted, grow_rows=1000)
    assert loss(counted, test) < loss(sampled, test) - 0.005


def test_a_sample_of_more_rows_than_there_are_is_the_fit_in_memory():
    tree = fit(MemorySource(CANCER), CrossFitted(DEFAULT), grow_rows=10_000)
    assert tree.digest == CrossFitted(DEFAULT).fit(CANCER).digest


def test_fractional_rows_are_counted_too():
    table = random_table(5, n_rows=400, missing=0.2)
    tree = fit(MemorySource(table, 99), PRESETS["c4.4"], grow_rows=100)
    assert tree.rows[0] == 400
    assert tree.evidence[0].sum() * tree.unit[0] == pytest.approx(400)


def test_progress_counts_all_rows():
    reported: list[int] = []
    table = noisy(30_000)
    wide = Table.read(np.tile(np.column_stack(table.columns), 5), table.target)  # slow enough for reports
    fit(MemorySource(wide), replace(CART, max_bins=255), grow_rows=29_999, on_progress=reported.append)
    assert reported == sorted(reported)
    assert all(0 <= n <= 30_000 for n in reported)


# ---- the plan ------------------------------------------------------------------------------------------


def test_the_plan_depends_on_the_size(monkeypatch):
    source = MemorySource(noisy(1000))  # 76 bytes per row
    assert Plan.of(source, CART).mode == "in-memory"
    assert Plan.of(source, CART, memory=75_999).mode == "level-wise"
    monkeypatch.setattr(planning, "_MANY_ROWS", 999)
    assert Plan.of(source, CART, memory=7600) == Plan("sample", 100, 7600)
    assert Plan.of(source, CART, 1000, memory=7600).mode == "level-wise"
    monkeypatch.setattr(planning, "_MOST_SAMPLED", 50)
    assert Plan.of(source, CART, memory=7600).rows == 50
    assert Plan.of(source, Taught(), memory=75_999) == Plan(
        "sample", 999, 75_999
    )  # 20,000 if there were as many


@pytest.mark.parametrize(
    ("recipe", "what"),
    [
        (CrossValidated(CART), "choosing a pruner"),
        (CrossFitted(CrossValidated(DEFAULT)), "choosing a pruner"),
        (PRESETS["c4.5"], "fractional"),
        (Taught(), "a teacher"),
        (replace(CART, pruner=ErrorBased(0.1)), r"ErrorBased\(confidence=0\.1"),
    ],
)
def test_a_fit_that_needs_memory_uses_a_sample_or_raises_with_the_reason(recipe, what):
    source = MemorySource(CANCER)
    assert Plan.of(source, recipe, memory=25_200) == Plan("sample", 100, 25_200)
    with pytest.raises(ParameterError, match=f"{what}.* Pass grow_rows=100"):
        fit(source, recipe, grow_rows=569, memory=25_200)


def test_branches_are_raised_where_the_rows_are_in_memory():
    """A raised branch needs the training rows, so other fits prune without raising, and their history records it."""
    recipe = replace(CART, pruner=ErrorBased())
    source = MemorySource(noisy(1000))
    for plan, raised in ({"grow_rows": None}, True), ({"grow_rows": 500}, False), ({"memory": LITTLE}, False):
        step = fit(source, recipe, **plan).history[-1]
        assert (step.name, dict(step.parameters)["raising"]) == ("error-based", raised)
    never = replace(CART, pruner=ErrorBased(raising=False))
    assert Plan.of(source, never, memory=LITTLE).mode == "level-wise"
    assert fit(source, never, memory=LITTLE).digest == never.fit(source.table).digest


def test_a_sample_of_0_rows_is_an_error():
    with pytest.raises(ParameterError, match="grow_rows=0: expected at least 1 row"):
        fit(MemorySource(CANCER), CART, grow_rows=0)
