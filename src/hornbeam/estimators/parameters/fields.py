"""Names, types and defaults of the parameters of estimators.

Each estimator inherits its class here, and with it `__init__`; its docstring documents the parameters. A fit without
scikit-learn takes an instance of the class itself. A new parameter is a line here, its documentation and its use.
"""

from dataclasses import KW_ONLY, dataclass
from typing import Any


@dataclass(eq=False, repr=False, kw_only=True)
class _GrowingParameters:
    """Parameters of one tree and of forests."""

    nominal_split: Any = "auto"
    missing: Any = "auto"
    max_depth: int | None = None
    min_samples_split: float = 2
    min_samples_leaf: float = 1
    min_weight_fraction_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    max_leaf_nodes: int | None = None
    max_bins: Any = "auto"
    smoothing: Any = "auto"
    monotonic_cst: Any = None
    random_state: Any = None
    n_jobs: int | None = None


@dataclass(eq=False, repr=False, kw_only=True)
class PathConstraints:
    """Constraints on the paths of one tree, and what its paths pay."""

    interaction_cst: Any = None
    once_per_path: bool = False
    forbidden_below: Any = None
    forced_splits: Any = None
    feature_costs: Any = None
    feature_cost_weight: float = 1.0


@dataclass(eq=False, repr=False)
class TreeParameters(PathConstraints, _GrowingParameters):
    """Parameters of one tree.

    Examples
    --------
    >>> TreeParameters("cart", max_depth=3).smoothing
    'auto'
    """

    preset: str = "default"
    _: KW_ONLY
    pruning: Any = "auto"
    tolerance: float = 0.0
    slopes: Any = "auto"
    teacher: Any = "auto"
    fidelity: float = 0.98


@dataclass(eq=False, repr=False, kw_only=True)
class TreeClassifierParameters(TreeParameters):
    """Parameters of one classification tree."""

    criterion: Any = "auto"
    costs: Any = None
    class_weight: Any = None


@dataclass(eq=False, repr=False, kw_only=True)
class TreeRegressorParameters(TreeParameters):
    """Parameters of one regression tree."""

    criterion: Any = "auto"
    distribution: bool = False


@dataclass(eq=False, repr=False)
class ForestParameters(_GrowingParameters):
    """Parameters of a forest."""

    n_estimators: int = 100
    _: KW_ONLY
    max_features: Any = 1.0
    bootstrap: bool = True
    max_samples: float | None = None
    oob_score: bool = False


@dataclass(eq=False, repr=False, kw_only=True)
class ForestRegressorParameters(ForestParameters):
    """Parameters of a forest of regression trees."""

    distribution: bool = False


@dataclass(eq=False, repr=False, kw_only=True)
class ForestClassifierParameters(ForestParameters):
    """Parameters of a forest of classification trees."""

    voting: Any = "soft"
    criterion: Any = "auto"
    max_features: Any = "sqrt"
    costs: Any = None
    class_weight: Any = None


@dataclass(eq=False, repr=False)
class AdaBoostParameters(_GrowingParameters):
    """Parameters of trees that vote, grown by AdaBoost."""

    n_estimators: int = 50
    _: KW_ONLY
    preset: str = "cart"
    max_depth: int | None = 1
    criterion: Any = "auto"
    learning_rate: float = 1.0
    resample: bool = False
    costs: Any = None


@dataclass(eq=False, repr=False)
class _RoundParameters:
    """Parameters of all boosted trees."""

    n_estimators: int = 100
    _: KW_ONLY
    learning_rate: float = 0.1
    max_leaf_nodes: int | None = 31
    max_depth: int | None = None
    min_samples_leaf: int = 20
    l2_regularization: float = 0.0
    max_features: Any = None
    subsample: float = 1.0
    max_bins: int = 255
    monotonic_cst: Any = None
    random_state: Any = None
    n_jobs: int | None = None


@dataclass(eq=False, repr=False, kw_only=True)
class BoostingParameters(_RoundParameters):
    """Parameters of boosted trees that may stop early."""

    early_stopping: Any = "auto"
    validation_fraction: float = 0.1
    n_iter_no_change: int = 10
    tol: float = 1e-7
    init: Any = None


@dataclass(eq=False, repr=False, kw_only=True)
class BoostingClassifierParameters(BoostingParameters):
    """Parameters of boosted trees for classes."""

    costs: Any = None


@dataclass(eq=False, repr=False, kw_only=True)
class BoostingRegressorParameters(BoostingParameters):
    """Parameters of boosted regression trees."""

    loss: Any = "squared_error"
    quantile: float | None = None


@dataclass(eq=False, repr=False, kw_only=True)
class RankerParameters(_RoundParameters):
    """Parameters of boosted trees that rank."""

    sigma: float = 1.0
    truncation: int | None = None
    normalize: bool = True
