"""Translation of the parameters of a forest into a `ForestTrainer`."""

from dataclasses import replace
from typing import Any

from hornbeam.data.table import Table
from hornbeam.ensembles import SMOOTHING_CANDIDATES, ForestTrainer
from hornbeam.estimators.parameters.recipes import CLASSIFICATION_ONLY, SMOOTHERS, make_grower
from hornbeam.estimators.parameters.validators import (
    boolean,
    choice,
    is_number,
    is_whole,
    parameter_error,
    resolve_bins,
    resolve_features,
    seed_of,
    step,
    trees,
)
from hornbeam.growing import Criterion, Grower
from hornbeam.recipe import Recipe
from hornbeam.smoothing import Smoother

__all__ = ["forest_trainer"]

_BINS = 255  # a forest averages over many thresholds: more bins cost time and do not help
# Without "cross-fitted", which would have to grow trees without a fold for each tree of the forest.
_OF_CLASSES = {name: smoother for name, smoother in SMOOTHERS.items() if name != "cross-fitted"}
_OF_NUMBERS = {name: SMOOTHERS[name] for name in ("raw", "m-branch", "shrinkage")}
_CLASSES = Grower(Criterion.ENTROPY, corrected=True)
_NUMBERS = Grower(Criterion.SQUARED_ERROR, corrected=True)


def forest_trainer(estimator: Any, table: Table) -> ForestTrainer:
    """Return the trainer for the parameters of a `ForestClassifier` or a `ForestRegressor`."""
    measured = table.schema.is_regression
    grower = make_grower(estimator, _NUMBERS if measured else _CLASSES, table, table.n_rows)
    if not measured:
        criterion = choice("criterion", estimator.criterion, CLASSIFICATION_ONLY, grower.criterion)
        grower = replace(grower, criterion=criterion)
    known = _OF_NUMBERS if measured else _OF_CLASSES
    bootstrap = boolean("bootstrap", estimator.bootstrap)
    smoother, smoothers = _smoothing(estimator.smoothing, known, bootstrap)
    features = resolve_features(estimator.max_features, table.schema.n_features)
    return ForestTrainer(
        Recipe(
            resolve_bins(estimator.max_bins, _BINS), replace(grower, max_features=features), smoother=smoother
        ),
        n_trees=trees(estimator.n_estimators),
        bootstrap=bootstrap,
        max_samples=_samples(estimator.max_samples),
        smoothers=smoothers,
        out_of_bag=boolean("oob_score", estimator.oob_score),
        seed=seed_of(estimator.random_state),
    )


def _smoothing(
    value: Any, known: dict[str, Smoother], bootstrap: bool
) -> tuple[Smoother | None, tuple[Smoother | None, ...]]:
    """Return one smoother for all trees, or the candidates to choose from out of bag."""
    smoother = step("smoothing", value, {"out-of-bag": None, **known}, None)
    chosen = isinstance(value, str) and (value == "out-of-bag" or (value == "auto" and bootstrap))
    return (None, SMOOTHING_CANDIDATES) if chosen else (smoother, ())


def _samples(value: Any) -> float | None:
    if value is None:
        return None
    if is_number(value):
        return int(value) if is_whole(value) else float(value)
    expected = "a whole number of rows, a share of all rows up to 1.0, or None for as many as there are"
    raise parameter_error("max_samples", value, expected, "Pass max_samples=0.5, say.")
