"""Codec of the parameters of estimators; a smoother or a pruner becomes its name and its own parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from hornbeam import pruning, smoothing
from hornbeam.errors import StorageError
from hornbeam.estimators.parameters.fields import PathConstraints
from hornbeam.estimators.parameters.validators import n_threads
from hornbeam.growing.forced_splits import forced_splits
from hornbeam.storage.earlier import present_parameters
from hornbeam.tree import Step, Tree
from hornbeam.tree.decision import Costs
from hornbeam.typing import Label

_UNSET = frozenset(field.name for field in fields(PathConstraints))  # not written


def encode_parameters(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Convert parameters into plain values, without constraints that are not set.

    Examples
    --------
    >>> print(encode_parameters({"smoothing": smoothing.HGS(2.0)})["smoothing"])
    HGS(alpha=2.0, prior=1.0)
    """
    kept = without_unset(settings).items()
    return {name: encode_step(_lists(value) if name in _UNSET else value) for name, value in kept}


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
    """Leave out constraints that are not set: files of models without them are as before these parameters existed.

    Examples
    --------
    >>> without_unset({"max_depth": None, "once_per_path": False})
    {'max_depth': None}
    """
    return {
        name: value
        for name, value in settings.items()
        if not (name in _UNSET and (value is None or value is False))
    }


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


def _steps() -> Iterator[tuple[str, Any]]:
    """Yield every smoother and pruner of Hornbeam with its name."""
    for family in (pruning, smoothing):
        for name in family.__all__:
            step = getattr(family, name)
            if is_dataclass(step) and "__call__" in vars(step):
                yield name, step


_STEPS = dict(_steps()) | {"Costs": Costs}  # costs are encoded like a step


def encode_step(value: Any) -> Any:
    """Convert a smoother or a pruner into its name and parameters, a tree into forced splits; keep other values.

    Examples
    --------
    >>> print(encode_step(smoothing.HGS(2.0)))
    HGS(alpha=2.0, prior=1.0)
    """
    if isinstance(value, Tree):
        return forced_splits(value.skeleton)
    name = type(value).__name__
    if _STEPS.get(name) is not type(value):
        return value
    parameters = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    if parameters.get("table") is not None:
        raise StorageError(
            f"{name} holds a table of rows, which a model file does not: save the tree alone, estimator.tree_"
        )
    parameters.pop("table", None)
    if isinstance(parameters.get("costs"), Costs):
        parameters["costs"] = parameters["costs"].matrix
    return Step.of(name, **parameters)


def decode_step(value: Any) -> Any:
    """Build the smoother or pruner of a name and parameters; return other values unchanged.

    Examples
    --------
    >>> decode_step(Step.of("HGS", alpha=2.0))
    HGS(alpha=2.0, prior=1.0)
    """
    if not isinstance(value, Step):
        return value
    if value.name not in _STEPS:
        raise StorageError(f"there is no step {value.name!r}; expected one of {', '.join(_STEPS)}")
    try:
        return _STEPS[value.name](**dict(value.parameters))
    except (TypeError, ValueError) as error:
        raise StorageError(f"{value} cannot be made: {error}") from error
