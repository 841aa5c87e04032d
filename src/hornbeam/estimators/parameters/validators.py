"""Validators: each checks one kind of parameter, and returns its value or raises `ParameterError`."""

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from enum import StrEnum
from math import ceil, isqrt
from numbers import Integral, Real
from typing import Any

from hornbeam.checks import MOST, check_flags, is_number, is_whole
from hornbeam.data.binning.bins import MOST_BINS
from hornbeam.errors import ParameterError, shown

FROM_TREE = "from_tree"  #: the preset of an estimator that was made of a tree, and not fitted
_MOST_TREES = 1_000_000


def parameter_error(name: str, value: Any, expected: str, advice: str) -> ParameterError:
    """Return the error for a wrong parameter: found, expected, advice."""
    if isinstance(value, Integral) and abs(int(value)) > MOST:
        expected += ", of at most 64 bits"
    return ParameterError(f"{name}={shown(value)}: expected {expected}. {advice}")


def unknown_name_error(name: str, value: Any, known: Iterable[str], others: str = "") -> ParameterError:
    """Return the error for an unknown name, with the closest known name as a suggestion."""
    known = list(map(str, known))
    close = get_close_matches(value.lower(), known, n=1) if isinstance(value, str) else []
    advice = f"Did you mean {close[0]!r}?" if close else f"Pass {name}={known[0]!r}, say."
    return parameter_error(name, value, f"one of {', '.join(map(repr, known))}{others}", advice)


def is_named(value: Any, name: str) -> bool:
    """Whether a parameter is this string; arrays and objects are not.

    Examples
    --------
    >>> is_named("auto", "auto"), is_named(None, "auto")
    (True, False)
    """
    return isinstance(value, str) and str(value) == name


def has_own_teacher(estimator: Any) -> bool:
    """Whether the teacher of a tree is an estimator, and not one of Hornbeam by name."""
    teacher = estimator.teacher
    return not isinstance(teacher, type) and (
        hasattr(teacher, "predict") or hasattr(teacher, "predict_proba")
    )


def teacher_name(teacher: Any) -> str:
    """Return the class name of an estimator that teaches a tree, for its history and its file.

    Examples
    --------
    >>> from sklearn.frozen import FrozenEstimator
    >>> from hornbeam import ForestClassifier
    >>> teacher_name(ForestClassifier()), teacher_name(FrozenEstimator(ForestClassifier()))
    ('ForestClassifier', 'ForestClassifier')
    """
    name = type(teacher).__name__
    return type(teacher.estimator).__name__ if name == "FrozenEstimator" else name


def lookup[T](name: str, value: Any, known: Mapping[str, T], others: str = "") -> T:
    """Return the value of a known name; `others` are other values to name in the error."""
    if not isinstance(value, str) or str(value) not in known:
        raise unknown_name_error(name, value, known, others)
    return known[str(value)]


def choice[E: StrEnum](name: str, value: Any, choices: Iterable[E], default: E) -> E:
    """Return one of the choices; "auto" is the default."""
    if isinstance(value, str):
        if value == "auto":
            return default
        for choice in choices:
            if choice == value:
                return choice
    raise unknown_name_error(name, value, ["auto", *choices])


def smoother_or_pruner(
    name: str, value: Any, known: Callable[[], Mapping[str, Callable[[], Any]]], default: Any
) -> Any:
    """Return a smoother or pruner, passed by name or as an object, or None; "auto" is the default.

    `known` returns the makers by name.
    """
    if isinstance(value, str):
        if value == "auto":
            return default
        makers = known()
        if str(value) in makers:  # str() because a subclass may have another hash
            return makers[str(value)]()
    elif value is None or (callable(value) and not isinstance(value, type)):
        return value
    raise unknown_name_error(name, value, ["auto", *known()], ", None for none, or a step from tree to tree")


def boolean(name: str, value: Any) -> bool:
    """Return True or False."""
    check_flags(**{name: value})
    return bool(value)


def limit(name: str, value: Any, example: str = "5") -> int | None:
    """Return an integer, or None for no limit."""
    if value is None or is_whole(value):
        return value
    hint = f"Pass {name}=None or {name}={example}, say."
    raise parameter_error(name, value, "a whole number, or None for no limit", hint)


def size(name: str, value: Any, example: str) -> int | None:
    """Return a number of bytes or rows, which may be a float such as 2e9; None for the default."""
    return limit(name, int(value) if isinstance(value, float) and value.is_integer() else value, example)


def number(name: str, value: Any, default: float = 0.0) -> float:
    """Return a float; its range is checked where it is used."""
    if is_number(value):
        return float(value)
    raise parameter_error(name, value, "a number", f"Pass {name}={default}, which is the default.")


def integer(name: str, value: Any, default: int) -> int:
    """Return an integer; its range is checked where it is used."""
    if is_whole(value):
        return int(value)
    raise parameter_error(name, value, "a whole number", f"Pass {name}={default}, which is the default.")


def resolve_trees(value: Any) -> int:
    """Return the number of trees of an ensemble."""
    if is_whole(value) and 1 <= value <= _MOST_TREES:
        return int(value)
    expected = f"a whole number of trees from 1 to {_MOST_TREES:,}"
    raise parameter_error("n_estimators", value, expected, "Pass n_estimators=100, which is the default.")


def resolve_seed(value: Any) -> int:
    """Return the seed of a `random_state`: None is 0, and a NumPy generator draws one.

    Examples
    --------
    >>> resolve_seed(None), resolve_seed(7)
    (0, 7)
    """
    if value is None:
        return 0
    if is_whole(value) and value >= 0:
        return int(value)
    if hasattr(value, "randint"):
        return int(value.randint(2**31))
    raise parameter_error(
        "random_state", value, "a whole number from 0, or None", "Pass random_state=0, say."
    )


def resolve_rows(name: str, value: Any, least: int, n_rows: int) -> int:
    """Return a number of rows, passed as an integer or as a share of all rows."""
    if is_whole(value):
        return int(value)
    if is_number(value) and 0.0 < value < 1.0:
        return max(least, ceil(float(value) * n_rows))
    expected = "a whole number of rows, or a share of all rows between 0 and 1"
    raise parameter_error(name, value, expected, f"Pass {name}={least}, say.")


def resolve_bins(value: Any, default: Any) -> Any:
    """Return the number of bins per numeric feature; None for every value, "auto" for the default."""
    if is_named(value, "auto"):
        return default
    if value is None or (is_whole(value) and 2 <= value <= MOST_BINS):
        return value
    expected = f"'auto', None for every value, or a whole number from 2 to {MOST_BINS:,}"
    raise parameter_error("max_bins", value, expected, "Pass max_bins=255, say.")


def resolve_features(value: Any, n_features: int) -> int | None:
    """Return the number of features to try at a node, from scikit-learn's `max_features`; None for all."""
    if value is None:
        return None
    if isinstance(value, str) and value in ("sqrt", "log2"):
        return max(1, isqrt(n_features) if value == "sqrt" else n_features.bit_length() - 1)
    if is_whole(value) and value >= 1:
        return min(int(value), n_features)
    if is_number(value) and not is_whole(value) and 0.0 < value <= 1.0:
        return max(1, int(value * n_features))
    expected = "'sqrt', 'log2', a whole number from 1, a share of the features above 0.0 and up to 1.0, or None for all"
    raise parameter_error("max_features", value, expected, "Pass max_features='sqrt', say.")


def monotone_signs(value: Any, names: tuple[str, ...]) -> tuple[int, ...] | None:
    """Return the sign of each feature's monotone constraint, from a sequence or a dict by name."""
    if value is None:
        return None
    expected = "for each feature 1 (rises), -1 (falls) or 0 (free), or a dict of these by feature name"
    if isinstance(value, Mapping):
        unknown = [name for name in value if name not in names]
        if unknown:
            first = ", ".join(map(repr, names[:5]))
            advice = f"Name features: {unknown[0]!r} is not one, the first ones are {first}."
            raise parameter_error("monotonic_cst", value, expected, advice)
        value = [value.get(name, 0) for name in names]
    try:
        signs = list(value)
    except Exception:  # noqa: BLE001 (the value may raise anything)
        signs = [None]
    if not all(isinstance(sign, Real) and sign in (-1, 0, 1) for sign in signs):
        raise parameter_error("monotonic_cst", value, expected, "Pass None for no constraints.")
    return tuple(map(int, signs))
