"""Row weights in fixed point: integers that add up exactly in any order."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hornbeam.data.fixed_point import WHOLE_LIMIT, are_normalised, fixed_point_weights
from hornbeam.data.labels import Labels
from hornbeam.data.reading.library_errors import reading
from hornbeam.errors import DataError, ParameterError, shown
from hornbeam.typing import Bools, Counts, Floats, Indices, Label

__all__ = [
    "Weights",
    "apply_class_weight",
    "class_factors",
    "fixed_point_weights",
    "no_weight_error",
    "products",
    "read_sample_weight",
    "read_weights",
    "to_steps",
]


class Weights(NamedTuple):
    """Fixed-point weights of the rows that count, and what their classes weigh in the search for tests.

    `steps` is None when every row counts 1, `kept` is None when no row was dropped, `of_class` is None when
    all classes weigh the same.

    Examples
    --------
    >>> Weights(None, 1.0, None, None).unit
    1.0
    """

    steps: Counts | None
    unit: float
    kept: Bools | None
    of_class: Floats | None


def read_weights(
    sample_weight: Any, n_rows: int, *, class_weight: Any = None, labels: Labels | None = None
) -> Weights:
    """Hold sample weights in fixed point, and find the factor of every class.

    Parameters
    ----------
    sample_weight : array-like of shape (n_rows,), number or None
        Zero or more; rows of weight zero are dropped.
    n_rows : int
        The number of rows.
    class_weight : mapping, "balanced" or None
        A factor per class label, 1 for classes that are not named; or factors that give every class the
        same total, n / (n_classes * n_of_class) with weighted counts. Rows of a class of factor zero are
        dropped.
    labels : Labels, optional
        The classes and codes of the rows; needed with `class_weight`.

    Returns
    -------
    Weights
        Sample weights in fixed point, their unit, which rows are kept, and the factor of every class.

    Notes
    -----
    The two are not multiplied: sample weights are evidence, class weights only steer (`apply_class_weight`).

    Sample weights that add up to 1 at most are shares, as boosting hands them out: they count as if they
    added up to the number of rows. Taken at their word, all rows together would be worth a single one: too
    little for any minimum weight of a leaf, and next to nothing beside the pseudo-rows of a smoother.

    Examples
    --------
    >>> read_weights([2, 0, 1], 3)
    Weights(steps=array([2, 1]), unit=1.0, kept=array([ True, False,  True]), of_class=None)
    >>> steps, unit, _, _ = read_weights([0.5, 0.25, 0.25], 3)
    >>> (steps * unit).tolist()
    [1.5, 0.75, 0.75]
    """
    if sample_weight is None and class_weight is None:
        return Weights(None, 1.0, None, None)
    weight = np.ones(n_rows) if sample_weight is None else read_sample_weight(sample_weight, n_rows)
    counts, of_class = weight > 0, None
    if class_weight is not None:
        if labels is None:
            raise ParameterError(
                "class_weight was given without y. Pass the labels too, or leave class_weight out."
            )
        of_class = class_factors(class_weight, labels.classes.tolist(), lambda: _class_totals(labels, weight))
        counts &= of_class[labels.codes] > 0
        of_class = None if (of_class == 1).all() else of_class
    if not counts.any():
        raise no_weight_error()
    kept = None if counts.all() else counts
    steps, unit = fixed_point_weights(weight[counts])
    if steps is not None and are_normalised(int(steps.sum()), unit):
        even = steps.min() == steps.max()
        steps, unit = (None, 1.0) if even else (steps, len(steps) / int(steps.sum()))
    return Weights(steps, unit, kept, of_class)


def to_steps(sample_weight: Any, n_rows: int, unit: float) -> Counts | None:
    """Hold weights in steps of a unit that is settled: that of a tree which is to count them.

    Parameters
    ----------
    sample_weight : array-like of shape (n_rows,), number or None
        Zero or more, taken at their word: also weights that add up to less than 1 are no shares.
    n_rows : int
        The number of rows.
    unit : float
        What one step is worth.

    Returns
    -------
    int64 array of shape (n_rows,) or None
        The nearest number of steps, at least one but for a weight of zero; None when each row is one step.

    Raises
    ------
    DataError
        If the unit is 1, so that whole rows are counted, and a weight is not whole.

    Examples
    --------
    >>> to_steps([0.5, 0.3, 0], 3, 0.125).tolist()
    [4, 2, 0]
    >>> to_steps(None, 3, 1.0) is None
    True
    """
    if sample_weight is None and unit == 1.0:
        return None
    weight = np.ones(n_rows) if sample_weight is None else read_sample_weight(sample_weight, n_rows)
    exact = weight / unit
    steps = np.where(weight > 0, np.maximum(np.rint(exact), 1), 0)
    if unit == 1.0 and (steps != exact).any():
        row = int((steps != exact).argmax())
        raise DataError(
            f"sample_weight has {weight[row]} in row {row}, but the tree counts whole rows: expected whole "
            "numbers. Round them, or fit the tree with weights like these."
        )
    if steps.max() >= WHOLE_LIMIT:
        raise DataError(
            f"sample_weight has {weight.max():g}, which is {steps.max():.3g} steps of {unit:.3g}: expected below "
            "2**50. Rows of such weight ask for a tree of their own."
        )
    return steps.astype(np.int64)


def apply_class_weight(
    steps: Counts | None, unit: float, factors: Floats, codes: Indices
) -> tuple[Counts | None, float]:
    """Multiply weights by the factors of their classes, for the search alone.

    Parameters
    ----------
    steps : int64 array of shape (n_rows,) or None
        The weights in steps of `unit`; None when every row counts 1.
    unit : float
        What one step is worth.
    factors : float64 array of shape (n_classes,)
        Above zero for every class that has rows.
    codes : int array of shape (n_rows,)
        The class of every row.

    Returns
    -------
    steps : int64 array of shape (n_rows,) or None
    unit : float

    Examples
    --------
    >>> apply_class_weight(None, 1.0, np.array([5.0, 1.0]), np.array([0, 1, 0]))
    (array([5, 1, 5]), 1.0)
    """
    if unit != 1.0:
        assert steps is not None  # rows that count 1 each have the unit 1
        return fixed_point_weights(products(steps, unit, factors, codes))
    # A class's factor is rounded once, for a row of weight 1, so that weight 2 is exactly a row given twice.
    present = np.bincount(codes, minlength=len(factors)) > 0
    of_class = np.zeros(len(factors), dtype=np.int64)
    total = len(codes) if steps is None else int(steps.sum())
    rounded, unit = fixed_point_weights(factors[present], total)
    of_class[present] = 1 if rounded is None else rounded
    steered = of_class[codes] if steps is None else steps * of_class[codes]
    return (None if unit == 1.0 and steered.max() == 1 else steered), unit


def products(steps: Counts, unit: float, factors: Floats, codes: Indices) -> Floats:
    """Weights times the factors of their classes, as floats.

    Examples
    --------
    >>> products(np.array([2, 1]), 0.25, np.array([3.0, 1.0]), np.array([0, 1]))
    array([1.5 , 0.25])
    """
    with np.errstate(over="ignore"):  # an overflow is told below, in words
        product: Floats = steps * unit * factors[codes]
    if not np.isfinite(product).all():
        raise DataError(
            "sample_weight times class_weight is too large for a float. Divide both by their maximum."
        )
    return product


def read_sample_weight(sample_weight: Any, n_rows: int) -> Floats:
    """Read one weight a row, refusing all but finite numbers of zero or more.

    Examples
    --------
    >>> read_sample_weight(2, 3)
    array([2., 2., 2.])
    """
    with reading("sample_weight"):
        try:
            weight = np.asarray(sample_weight, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise DataError(
                f"sample_weight must hold numbers, none of them missing; it is a {type(sample_weight).__name__} with "
                "other values. Pass one number a row."
            ) from None
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.ndim != 1:
        raise DataError(
            f"Sample weights must be 1D array or scalar, got {weight.ndim}D array. Pass one number a row."
        )
    if weight.shape != (n_rows,):
        raise DataError(
            f"sample_weight.shape == {weight.shape}, expected {(n_rows,)}! Pass one number a row."
        )
    wrong = ~((weight >= 0) & np.isfinite(weight))
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(
            f"sample_weight has {weight[row]} in row {row}; expected finite numbers of zero or more. "
            "Give rows that should not count the weight 0."
        )
    return weight


def no_weight_error() -> DataError:
    """Return the error of weights that are all zero.

    Examples
    --------
    >>> print(no_weight_error())
    Every row has weight 0. Sample weights must contain at least one non-zero number.
    """
    return DataError("Every row has weight 0. Sample weights must contain at least one non-zero number.")


def class_factors(class_weight: Any, classes: Sequence[Label], totals: Callable[[], Counts]) -> Floats:
    """Find the factor of every class.

    Parameters
    ----------
    class_weight : mapping or "balanced"
        As for `read_weights`.
    classes : sequence of labels
        In the order of their codes.
    totals : callable
        Gives the weight of every class in steps; asked for "balanced" alone.

    Returns
    -------
    float64 array of shape (n_classes,)

    Examples
    --------
    >>> class_factors({"ill": 5}, ["ill", "well"], lambda: np.array([10, 30]))
    array([5., 1.])
    >>> class_factors("balanced", ["ill", "well"], lambda: np.array([10, 30]))
    array([2.        , 0.66666667])
    """
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ParameterError(
                f"class_weight is {class_weight!r}; expected 'balanced', a mapping or None. "
                "Pass a mapping of class labels to numbers, e.g. {'ill': 5}."
            )
        return _balanced(totals())
    if not isinstance(class_weight, Mapping):
        raise ParameterError(
            f"class_weight is a {type(class_weight).__name__}; expected 'balanced', a mapping of class "
            "labels to numbers, or None. Lists of mappings are for several targets; pass one mapping."
        )
    return _named(class_weight, classes)


def _class_totals(labels: Labels, weight: Floats) -> Counts:
    """What each class weighs, in fixed point: a sum of floats would depend on the order of the rows."""
    codes, steps = labels.codes, None
    if (counted := weight > 0).any():
        codes, steps = codes[counted], fixed_point_weights(weight[counted])[0]
    return np.bincount(codes, weights=steps, minlength=len(labels.classes)).astype(np.int64)


def _balanced(totals: Counts) -> Floats:
    """Factors that give every class the same total weight and leave the sum of all as it is."""
    counts = totals.astype(np.float64)
    present = counts > 0
    factors = np.ones(len(counts))
    factors[present] = counts.sum() / (present.sum() * counts[present])
    return factors


def _named(class_weight: Mapping[Any, Any], classes: Sequence[Label]) -> Floats:
    unnamed = [label for label in classes if label not in class_weight]
    if unnamed and len(classes) - len(unnamed) != len(class_weight):
        raise ParameterError(
            f"The classes, {unnamed}, are not in class_weight, and it names classes that are not in y: "
            f"{[label for label in class_weight if label not in classes]}. Name classes of y: {classes}."
        )
    given = [class_weight.get(label, 1.0) for label in classes]
    try:
        factors = np.array(given, dtype=np.float64)
    except Exception:  # noqa: BLE001 (whatever the code of a value raises)
        factors = np.array([np.nan])
    if not ((factors >= 0) & np.isfinite(factors)).all():
        raise ParameterError(
            f"class_weight has {shown(given)} for the classes {classes}; expected finite numbers of zero or more. "
            "Give a class that should not count the weight 0."
        )
    return factors
