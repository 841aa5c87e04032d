"""From the parameters of a forest to how it is planted."""

from dataclasses import replace
from math import log2
from typing import Any

from hornbeam.data.table import Table
from hornbeam.ensembles import STRENGTHS, Planting
from hornbeam.estimators.parameters import bins_of, choice, flag, is_number, is_whole, refuse, seed_of, step
from hornbeam.estimators.settings import OF_CLASSES, SMOOTHERS, grower_of
from hornbeam.growing import Criterion, Grower, Missing, Nominal
from hornbeam.recipe import Recipe
from hornbeam.smoothing import Smoother

__all__ = ["features_of", "planting_of"]

_BINS = 255  # a forest averages over many cuts: finer ones cost time and bring nothing
# "honest" is a promise to fit the borrowing on regrown trees, and each tree would need its own.
_OF_CLASSES = {name: smoother for name, smoother in SMOOTHERS.items() if name != "honest"}
_OF_NUMBERS = {name: SMOOTHERS[name] for name in ("raw", "m-branch", "shrinkage")}
_CLASSES = Grower(Criterion.ENTROPY, Nominal.SUBSET, Missing.OWN)
_NUMBERS = Grower(Criterion.SQUARED_ERROR, Nominal.SUBSET, Missing.OWN)


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
        n_trees=_trees(estimator.n_estimators),
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


def features_of(value: Any, n_features: int) -> int | None:
    """How many features a node looks at, in scikit-learn's words; None for all."""
    if value is None:
        return None
    if isinstance(value, str) and value in ("sqrt", "log2"):
        return max(1, int(n_features**0.5 if value == "sqrt" else log2(n_features)))
    if is_whole(value) and value >= 1:
        return min(int(value), n_features)
    if is_number(value) and not is_whole(value) and 0.0 < value <= 1.0:
        return max(1, int(value * n_features))
    expected = "'sqrt', 'log2', a whole number from 1, a share of the features above 0.0 and up to 1.0, or None for all"
    raise refuse("max_features", value, expected, "Pass max_features='sqrt', say.")


def _trees(value: Any) -> int:
    if is_whole(value) and value >= 1:
        return int(value)
    raise refuse("n_estimators", value, "a whole number of trees, 1 or more", "Pass n_estimators=100, say.")


def _samples(value: Any) -> float | None:
    if value is None or is_whole(value):
        return value if value is None else int(value)
    if is_number(value):
        return float(value)
    expected = "a whole number of rows, a share of all rows up to 1.0, or None for as many as there are"
    raise refuse("max_samples", value, expected, "Pass max_samples=0.5, say.")
