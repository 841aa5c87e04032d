"""Fitting without scikit-learn, for the command line: its import takes longer than most fits.

The models are the same, to the last byte, as those of `TreeClassifier`, `TreeRegressor` and `hornbeam.save`.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from hornbeam.data.labels import Labels, read_labels
from hornbeam.data.schema import Kind
from hornbeam.data.sources import Source
from hornbeam.data.table import Table
from hornbeam.estimators.methods.update import known_shares
from hornbeam.estimators.parameters.recipes import classification_fitter, regression_fitter
from hornbeam.estimators.parameters.threads import n_threads
from hornbeam.estimators.persistence.parameters import without_unset
from hornbeam.estimators.persistence.trees import classifier_model
from hornbeam.recipe import Fitter
from hornbeam.storage import Model
from hornbeam.tree.decision.rule import DecisionRule
from hornbeam.tree.edit import record_groups, with_decision
from hornbeam.tree.tree import Tree

__all__ = [
    "RegressionSettings",
    "Settings",
    "fit",
    "fit_regression",
    "fit_regression_rows",
    "fit_rows",
]


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """The parameters of a `TreeClassifier`, which documents them.

    Examples
    --------
    >>> Settings(max_depth=3).smoothing
    'auto'
    """

    preset: str = "default"
    criterion: Any = "auto"
    nominal: Any = "auto"
    missing: Any = "auto"
    max_depth: int | None = None
    min_samples_split: float = 2
    min_samples_leaf: float = 1
    min_weight_fraction_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    max_leaf_nodes: int | None = None
    max_bins: Any = "auto"
    smoothing: Any = "auto"
    pruning: Any = "auto"
    tolerance: float = 0.0
    slopes: Any = "auto"
    teacher: Any = "auto"
    costs: Any = None
    class_weight: Any = None
    monotonic_cst: Any = None
    interaction_cst: Any = None
    once_per_path: bool = False
    forbidden_below: Any = None
    forced_splits: Any = None
    random_state: Any = None
    n_jobs: int | None = None


def fit(
    settings: Settings,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    groups: Any = None,
    n_jobs: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Model:
    """Fit a classification tree, as `TreeClassifier.fit` does.

    Parameters
    ----------
    settings : Settings
    X : array-like or data frame of shape (n_rows, n_features)
    y : array-like of shape (n_rows,) or Labels
    sample_weight : array-like of shape (n_rows,), optional
    groups : array-like of shape (n_rows,) or "copies", optional
    n_jobs : int, optional
        Number of threads of this fit; the `n_jobs` of the settings is saved with the model.
    on_progress : callable, optional
        Called with the number of rows that have reached their leaf.

    Returns
    -------
    Model
        The input of `hornbeam.storage.write`.

    Examples
    --------
    >>> fit(Settings(smoothing="laplace"), [[0.0], [1.0]], ["no", "yes"]).tree.n_leaves
    2
    """
    labels = y if isinstance(y, Labels) else read_labels(y)
    table = Table.read(
        X, labels, sample_weight=sample_weight, class_weight=settings.class_weight, groups=groups
    )
    tree = classification_fitter(settings, table).fit(
        table, n_jobs=n_threads(n_jobs), on_progress=on_progress
    )
    tree = record_groups(tree, table.n_groups)
    tree = with_decision(tree, DecisionRule.of(settings.costs, table.class_weight, labels.classes.tolist()))
    named, shares = table.names is not None, known_shares(tree, table)
    return classifier_model(
        "TreeClassifier", _as_parameters(settings), tree, labels.classes, named, table.class_weight, shares
    )


def fit_rows(
    settings: Settings,
    source: Source,
    *,
    memory: int | None = None,
    n_jobs: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Model:
    """Fit a classification tree to a source, as `TreeClassifier.fit` does for files.

    Parameters
    ----------
    settings : Settings
        With the class weights that the source was opened with.
    source : Source
        Rows with a target.
    memory : int, optional
        Bytes of memory for rows; 2**29 by default.
    n_jobs, on_progress
        As in `fit`.

    Returns
    -------
    Model

    Examples
    --------
    >>> from hornbeam.data import MemorySource
    >>> source = MemorySource(Table.read([[0.0], [1.0]], ["no", "yes"]))
    >>> fit_rows(Settings(smoothing="laplace"), source).tree.n_leaves
    2
    """
    tree = _fit_source(settings, classification_fitter, source, memory, n_jobs, on_progress)
    # Strings as objects, as in columns read into memory: otherwise the bytes of the model would differ.
    text = any(isinstance(label, str) for label in source.schema.classes)
    classes = read_labels(np.array(source.schema.classes, dtype=object if text else None)).classes
    tree = with_decision(tree, DecisionRule.of(settings.costs, source.class_weight, classes.tolist()))
    return classifier_model(
        "TreeClassifier", _as_parameters(settings), tree, classes, True, source.class_weight, None
    )


def _fit_source(
    settings: "Settings | RegressionSettings",
    make_fitter: Callable[..., Fitter],
    source: Source,
    memory: int | None,
    n_jobs: int | None,
    on_progress: Callable[[int], None] | None,
) -> Tree:
    from hornbeam import out_of_core

    fitter = make_fitter(settings, source)
    plan = out_of_core.Plan.of(source, fitter, memory=memory)
    if plan.rows < source.n_rows:  # parameters that are shares of all rows are shares of the sample
        fitter = make_fitter(settings, source, plan.rows)
    return out_of_core.fit(source, fitter, plan=plan, on_progress=on_progress, n_jobs=n_threads(n_jobs))


@dataclass(frozen=True, slots=True, eq=False)
class RegressionSettings:
    """The parameters of a `TreeRegressor`, which documents them.

    Examples
    --------
    >>> RegressionSettings(max_depth=3).preset
    'default'
    """

    preset: str = "default"
    nominal: Any = "auto"
    missing: Any = "auto"
    max_depth: int | None = None
    min_samples_split: float = 2
    min_samples_leaf: float = 1
    min_weight_fraction_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    max_leaf_nodes: int | None = None
    max_bins: Any = "auto"
    smoothing: Any = "auto"
    pruning: Any = "auto"
    tolerance: float = 0.0
    slopes: Any = "auto"
    teacher: Any = "auto"
    monotonic_cst: Any = None
    interaction_cst: Any = None
    once_per_path: bool = False
    forbidden_below: Any = None
    forced_splits: Any = None
    random_state: Any = None
    n_jobs: int | None = None


def fit_regression(
    settings: RegressionSettings,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    groups: Any = None,
    n_jobs: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Model:
    """Fit a regression tree, as `TreeRegressor.fit` does.

    Parameters
    ----------
    settings : RegressionSettings
    X, y, sample_weight, groups, n_jobs, on_progress
        As in `fit`; y is numeric.

    Returns
    -------
    Model
        The input of `hornbeam.storage.write`.

    Examples
    --------
    >>> fit_regression(RegressionSettings("cart"), [[0.0], [1.0]], [2.0, 4.0]).tree.n_leaves
    2
    """
    table = Table.read(X, y, sample_weight=sample_weight, groups=groups, target=Kind.NUMERIC)
    tree = regression_fitter(settings, table).fit(table, n_jobs=n_threads(n_jobs), on_progress=on_progress)
    tree = record_groups(tree, table.n_groups)
    return Model(tree, "TreeRegressor", _as_parameters(settings), {"named": table.names is not None})


def fit_regression_rows(
    settings: RegressionSettings,
    source: Source,
    *,
    memory: int | None = None,
    n_jobs: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Model:
    """Fit a regression tree to a source, as `TreeRegressor.fit` does for files.

    Parameters
    ----------
    settings : RegressionSettings
    source : Source
        Rows with a numeric target.
    memory : int, optional
        Bytes of memory for rows; 2**29 by default.
    n_jobs, on_progress
        As in `fit`.

    Returns
    -------
    Model

    Examples
    --------
    >>> from hornbeam.data import MemorySource
    >>> source = MemorySource(Table.read([[0.0], [1.0]], [2.0, 4.0], target=Kind.NUMERIC))
    >>> fit_regression_rows(RegressionSettings("cart"), source).tree.n_leaves
    2
    """
    tree = _fit_source(settings, regression_fitter, source, memory, n_jobs, on_progress)
    return Model(tree, "TreeRegressor", _as_parameters(settings), {"named": True})


def _as_parameters(settings: Settings | RegressionSettings) -> dict[str, Any]:
    """Return the settings as `get_params` of the estimator would."""
    return without_unset(
        {name: getattr(settings, name) for name in sorted(field.name for field in fields(settings))}
    )
