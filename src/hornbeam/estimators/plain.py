"""What a TreeClassifier and a TreeRegressor do, without scikit-learn, whose import takes longer than most fits.

For those who start anew for every answer, the command line above all. Models go from file to file, and are the same
to the last byte as those of the estimators and `hornbeam.save`.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from hornbeam.data.labels import Labels, read_labels
from hornbeam.data.schema import Kind
from hornbeam.data.table import Table
from hornbeam.estimators.refresh import shares_of
from hornbeam.estimators.settings import recipe_of, regression_recipe_of
from hornbeam.estimators.shelf_tree import model_of
from hornbeam.estimators.threads import n_threads
from hornbeam.storage import Model
from hornbeam.tree.decision import DecisionRule
from hornbeam.tree.edit import decide_by
from hornbeam.typing import Floats, Label

__all__ = ["RegressionSettings", "Settings", "decide", "fit", "fit_numbers"]


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """The parameters of a `TreeClassifier`, of which it says more.

    Examples
    --------
    >>> Settings(max_depth=3).smoothing
    'auto'
    """

    preset: str = "pet"
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
    simplicity: float = 0.0
    costs: Any = None
    class_weight: Any = None
    monotonic_cst: Any = None
    random_state: Any = None
    n_jobs: int | None = None


def fit(
    settings: Settings,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    n_jobs: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Model:
    """Fit a tree as `TreeClassifier.fit` does.

    Parameters
    ----------
    settings : Settings
    X : array-like or data frame of shape (n_rows, n_features)
    y : array-like of shape (n_rows,) or Labels
    sample_weight : array-like of shape (n_rows,), optional
    n_jobs : int, optional
        Threads of this fit alone: they belong to the machine, and those of the settings to the model.
    on_progress : callable, optional
        Hears how many rows are settled.

    Returns
    -------
    Model
        What `hornbeam.storage.write` takes.

    Examples
    --------
    >>> fit(Settings(smoothing="laplace"), [[0.0], [1.0]], ["no", "yes"]).tree.n_leaves
    2
    """
    labels = y if isinstance(y, Labels) else read_labels(y)
    table = Table.read(X, labels, sample_weight=sample_weight, class_weight=settings.class_weight)
    tree = recipe_of(settings, table).fit(table, n_jobs=n_threads(n_jobs), on_progress=on_progress)
    tree = decide_by(tree, DecisionRule.of(settings.costs, table.class_weight, labels.classes.tolist()))
    named, shares = table.names is not None, shares_of(tree, table)
    return model_of(
        "TreeClassifier", _said(settings), tree, labels.classes, named, table.class_weight, shares
    )


@dataclass(frozen=True, slots=True, eq=False)
class RegressionSettings:
    """The parameters of a `TreeRegressor`, of which it says more.

    Examples
    --------
    >>> RegressionSettings(max_depth=3).preset
    'honest'
    """

    preset: str = "honest"
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
    simplicity: float = 0.0
    monotonic_cst: Any = None
    random_state: Any = None
    n_jobs: int | None = None


def fit_numbers(
    settings: RegressionSettings,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    n_jobs: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Model:
    """Fit a tree as `TreeRegressor.fit` does.

    Parameters
    ----------
    settings : RegressionSettings
    X, y, sample_weight, n_jobs, on_progress
        As of `fit`; y holds numbers.

    Returns
    -------
    Model
        What `hornbeam.storage.write` takes.

    Examples
    --------
    >>> fit_numbers(RegressionSettings("cart"), [[0.0], [1.0]], [2.0, 4.0]).tree.n_leaves
    2
    """
    table = Table.read(X, y, sample_weight=sample_weight, target=Kind.NUMERIC)
    recipe = regression_recipe_of(settings, table)
    tree = recipe.fit(table, n_jobs=n_threads(n_jobs), on_progress=on_progress)
    return Model(tree, "TreeRegressor", _said(settings), {"named": table.names is not None})


def _said(settings: Settings | RegressionSettings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in sorted(field.name for field in fields(settings))}


def decide(model: Model, belief: Floats) -> list[Label]:
    """Name the class each row is best taken for, as `TreeClassifier.predict` does.

    Parameters
    ----------
    model : Model
    belief : float64 array of shape (n_rows, n_classes)
        What the model's tree answers.

    Returns
    -------
    list of labels

    Examples
    --------
    >>> import numpy as np
    >>> model = fit(Settings(costs={("ill", "well"): 20}), [[0.0], [1.0]], ["ill", "well"])
    >>> decide(model, np.array([[0.01, 0.99], [0.1, 0.9]]))
    ['well', 'ill']
    """
    classes = model.tree.schema.classes
    return [classes[code] for code in model.tree.decision(belief).tolist()]
