"""From the parameters of a forest to how it is planted."""

from dataclasses import replace
from typing import Any

from hornbeam.data.table import Table
from hornbeam.ensembles import STRENGTHS, Planting
from hornbeam.estimators.parameters import (
    bins_of,
    choice,
    features_of,
    flag,
    is_number,
    is_whole,
    refuse,
    seed_of,
    step,
    trees,
)
from hornbeam.estimators.settings import OF_CLASSES, SMOOTHERS, grower_of
from hornbeam.growing import Criterion, Grower
from hornbeam.recipe import Recipe
from hornbeam.smoothing import Smoother

__all__ = ["planting_of"]

_BINS = 255  # a forest averages over many cuts: finer ones cost time and bring nothing
# "honest" is a promise to fit the borrowing on regrown trees, and each tree would need its own.
_OF_CLASSES = {name: smoother for name, smoother in SMOOTHERS.items() if name != "honest"}
_OF_NUMBERS = {name: SMOOTHERS[name] for name in ("raw", "m-branch", "shrinkage")}
_CLASSES = Grower(Criterion.ENTROPY, corrected=True)
_NUMBERS = Grower(Criterion.SQUARED_ERROR, corrected=True)


def planting_of(estimator: Any, table: Table) -> Planting:
    """Translate the parameters of a `ForestClassifier` or a `ForestRegressor`."""
    measured = table.schema.is_measured
    grower = grower_of(estimator, _NUMBERS if measured else _CLASSES, table, table.n_rows)
    if not measured:
        criterion = choice("criterion", estimator.criterion, OF_CLASSES, grower.criterion)
        grower = replace(grower, criterion=criterion)
    known = _OF_NUMBERS if measured else _OF_CLASSES
    bootstrap = flag("bootstrap", estimator.bootstrap)
    smoother, smoothers = _smoothing(estimator.smoothing, known, bootstrap)
    features = features_of(estimator.max_features, table.schema.n_features)
    return Planting(
        Recipe(bins_of(estimator.max_bins, _BINS), replace(grower, max_features=features), smoother=smoother),
        n_trees=trees(estimator.n_estimators),
        bootstrap=bootstrap,
        max_samples=_samples(estimator.max_samples),
        smoothers=smoothers,
        out_of_bag=flag("oob_score", estimator.oob_score),
        seed=seed_of(estimator.random_state),
    )


def _smoothing(
    value: Any, known: dict[str, Smoother], bootstrap: bool
) -> tuple[Smoother | None, tuple[Smoother | None, ...]]:
    """One smoother for all trees, or those to choose from."""
    smoother = step("smoothing", value, {"out-of-bag": None, **known}, None)
    chosen = isinstance(value, str) and (value == "out-of-bag" or (value == "auto" and bootstrap))
    return (None, STRENGTHS) if chosen else (smoother, ())


def _samples(value: Any) -> float | None:
    if value is None:
        return None
    if is_number(value):
        return int(value) if is_whole(value) else float(value)
    expected = "a whole number of rows, a share of all rows up to 1.0, or None for as many as there are"
    raise refuse("max_samples", value, expected, "Pass max_samples=0.5, say.")
