"""Translation of the parameters of a forest into a `ForestTrainer`, and of AdaBoost into an `AdaBoost` trainer."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hornbeam.checks import is_number, is_whole
from hornbeam.data.sources import Source
from hornbeam.data.table import Table
from hornbeam.ensembles.adaboost import AdaBoost
from hornbeam.ensembles.forest.trainer import BINS, SMOOTHING_CANDIDATES, ForestTrainer, default_grower
from hornbeam.ensembles.prediction import vote
from hornbeam.estimators.parameters.recipes import make_grower, smoothing_options
from hornbeam.estimators.parameters.validators import (
    boolean,
    is_named,
    lookup,
    number,
    parameter_error,
    resolve_bins,
    resolve_features,
    resolve_seed,
    resolve_trees,
    smoother_or_pruner,
)
from hornbeam.recipe import PRESETS, Recipe
from hornbeam.smoothing.smoother import Smoother


def adaboost_trainer(estimator: Any, table: Table) -> AdaBoost:
    """Make the trainer of an `AdaBoostClassifier`: the recipe of a preset, with its parameters of growing."""
    preset = lookup("preset", estimator.preset, PRESETS)
    seed = resolve_seed(estimator.random_state)
    # Cross-fitting is missing, as in forests.
    smoother = smoother_or_pruner(
        "smoothing", estimator.smoothing, lambda: smoothing_options(seed=seed), None
    )
    recipe = Recipe(
        resolve_bins(estimator.max_bins, preset.max_bins),
        make_grower(estimator, preset.grower, table, table.n_rows),
        preset.pruner,
        smoother,
    )
    rate = number("learning_rate", estimator.learning_rate, 1.0)
    resample = boolean("resample", estimator.resample)
    return AdaBoost(recipe, resolve_trees(estimator.n_estimators), rate, resample, seed)


def forest_trainer(estimator: Any, table: Table | Source, n_rows: int | None = None) -> ForestTrainer:
    """Make the trainer of a `ForestClassifier` or a `ForestRegressor`.

    Parameters that are shares of all rows are shares of `n_rows`, the rows that are grown on.
    """
    regression = table.schema.is_regression
    n_rows = table.n_rows if n_rows is None else n_rows
    grower = make_grower(estimator, default_grower(regression=regression), table, n_rows)
    seed = resolve_seed(estimator.random_state)
    # Cross-fitting is missing: it would have to be done for each tree.
    known = smoothing_options(regression=regression, seed=seed)
    bootstrap = boolean("bootstrap", estimator.bootstrap)
    smoother, smoothers = _smoothing(estimator.smoothing, known, bootstrap)
    if not regression and lookup("voting", estimator.voting, {"soft": False, "hard": True}):
        if not (estimator.smoothing is None or is_named(estimator.smoothing, "auto")):
            raise parameter_error(
                "smoothing",
                estimator.smoothing,
                "'auto' or None with voting='hard', whose votes use no probabilities",
                "Pass voting='soft', or leave smoothing out.",
            )
        smoother, smoothers = vote, ()
    features = resolve_features(estimator.max_features, table.schema.n_features)
    return ForestTrainer(
        Recipe(
            resolve_bins(estimator.max_bins, BINS), replace(grower, max_features=features), smoother=smoother
        ),
        n_trees=resolve_trees(estimator.n_estimators),
        bootstrap=bootstrap,
        max_samples=_samples(estimator.max_samples),
        smoothers=smoothers,
        out_of_bag=boolean("oob_score", estimator.oob_score),
        seed=seed,
        distribution=regression and boolean("distribution", estimator.distribution),
    )


def _smoothing(
    value: Any, known: dict[str, Callable[[], Smoother]], bootstrap: bool
) -> tuple[Smoother | None, tuple[Smoother | None, ...]]:
    """Return one smoother for all trees, or the candidates to choose from out of bag."""
    smoother = smoother_or_pruner("smoothing", value, lambda: {"out-of-bag": lambda: None, **known}, None)
    chosen = isinstance(value, str) and (value == "out-of-bag" or (value == "auto" and bootstrap))
    return (None, SMOOTHING_CANDIDATES) if chosen else (smoother, ())


def _samples(value: Any) -> float | None:
    if value is None:
        return None
    if is_number(value):
        return int(value) if is_whole(value) else float(value)
    expected = "a whole number of rows, a share of all rows up to 1.0, or None for as many as there are"
    raise parameter_error("max_samples", value, expected, "Pass max_samples=0.5, say.")
