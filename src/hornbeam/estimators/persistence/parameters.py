"""Codec of the parameters of estimators; a smoother or a pruner becomes its name and its own parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from hornbeam import pruning, smoothing
from hornbeam.checks import is_number
from hornbeam.data.threads import n_threads
from hornbeam.errors import StorageError
from hornbeam.estimators.parameters.fields import PathConstraints, TreeParameters
from hornbeam.estimators.parameters.validators import teacher_name
from hornbeam.storage.earlier import present_parameters, present_step
from hornbeam.tree import Step
from hornbeam.tree.decision import Costs
from hornbeam.tree.tree import Tree
from hornbeam.typing import Label

_ROWS = ("X", "held_out", "table")  # parameters of pruners
_UNSET = frozenset(["distribution", *(field.name for field in fields(PathConstraints))])  # not written


def encode_parameters(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Convert parameters into plain values, without newer ones that are not set; a teacher becomes its class name.

    Examples
    --------
    >>> print(encode_parameters({"smoothing": smoothing.HGS(2.0)})["smoothing"])
    HGS(alpha=2.0, prior=1.0)
    """
    kept = without_unset(settings)
    if not isinstance(kept.get("teacher"), (str, type(None))):
        kept["teacher"] = teacher_name(kept["teacher"])
    return {name: encode_step(_lists(value) if name in _UNSET else value) for name, value in kept.items()}


def _lists(value: Any) -> Any:
    """Return groups of features with lists instead of sets, which a file cannot hold."""
    match value:
        case set() | frozenset():
            return sorted(value, key=lambda feature: (isinstance(feature, str), feature))
        case dict():
            return {name: _lists(one) for name, one in value.items()}
        case list() | tuple():
            return type(value)(_lists(one) for one in value)
        case _:
            return value


def without_unset(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out newer parameters that are not set: files of models without them are as before they existed.

    Examples
    --------
    >>> without_unset({"max_depth": None, "once_per_path": False})
    {'max_depth': None}
    """
    return {name: value for name, value in settings.items() if not _is_unset(name, value)}


def _is_unset(name: str, value: Any) -> bool:
    if name in ("fidelity", "feature_cost_weight"):
        return is_number(value) and value == getattr(TreeParameters, name)
    return name in _UNSET and (value is None or value is False)


def build_estimator(cls: type[Any], settings: Mapping[str, Any]) -> Any:
    """Build an estimator with the parameters of a file.

    Raises
    ------
    StorageError
        If a parameter is unknown, or a smoother or pruner cannot be built.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> build_estimator(TreeClassifier, {"max_depth": 1})
    TreeClassifier(max_depth=1)
    """
    settings = present_parameters(settings)
    unknown = settings.keys() - cls().get_params(deep=False).keys()
    if unknown:
        raise StorageError(f"{cls.__name__} has no parameter {min(unknown)!r}: a newer Hornbeam may know it")
    return cls(**{name: decode_step(value) for name, value in settings.items()})


def check_predict_parameters(estimator: Any, classes: tuple[Label, ...] = ()) -> None:
    """Raise `StorageError` for wrong parameters that `predict` uses.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> check_predict_parameters(TreeClassifier(n_jobs=2))
    """
    try:
        n_threads(estimator.n_jobs)
        if getattr(estimator, "costs", None) is not None:
            Costs.of(estimator.costs, classes)
    except (TypeError, ValueError) as error:
        raise StorageError(str(error)) from error


def _step_class(name: str) -> Any:
    """Return the class of a smoother, a pruner or a loss of Hornbeam, or `Costs`; None for another name."""
    if name == "Costs":  # encoded like a step
        return Costs
    for family in (pruning, smoothing):
        if name in family.__all__:
            step = getattr(family, name)
            return step if is_dataclass(step) else None
    from hornbeam import ensembles  # slow to import

    loss = getattr(ensembles, name) if name in ensembles.__all__ else None
    return loss if is_dataclass(loss) and hasattr(loss, "negative_gradients") else None


def encode_step(value: Any) -> Any:
    """Convert a smoother, a pruner or a loss into its name and parameters; a tree into forced splits.

    Examples
    --------
    >>> print(encode_step(smoothing.HGS(2.0)))
    HGS(alpha=2.0, prior=1.0)
    """
    if isinstance(value, Tree):
        from hornbeam.growing.forced_splits import forced_splits  # loading a model imports no grower

        return forced_splits(value.skeleton)
    name = type(value).__name__
    if not type(value).__module__.startswith("hornbeam.") or _step_class(name) is not type(value):
        return value
    parameters = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    if any(parameters.get(rows) is not None for rows in _ROWS):
        raise StorageError(
            f"{name} holds rows, which a model file does not: save the tree alone, estimator.tree_"
        )
    parameters = {name: setting for name, setting in parameters.items() if name not in _ROWS}
    if isinstance(parameters.get("costs"), Costs):
        parameters["costs"] = parameters["costs"].matrix
    return Step.of(name, **parameters)


def decode_step(value: Any) -> Any:
    """Build the smoother, pruner or loss of a name and parameters; return other values unchanged.

    Examples
    --------
    >>> decode_step(Step.of("HGS", alpha=2.0))
    HGS(alpha=2.0, prior=1.0)
    """
    if not isinstance(value, Step):
        return value
    value = present_step(value)
    kind = _step_class(value.name)
    if kind is None:
        steps = [name for name in (*pruning.__all__, *smoothing.__all__) if _step_class(name)]
        raise StorageError(
            f"there is no step {value.name!r}; expected one of {', '.join(steps)}, Costs, or a loss"
        )
    try:
        return kind(**dict(value.parameters))
    except (TypeError, ValueError) as error:
        raise StorageError(f"{value} cannot be made: {error}") from error
