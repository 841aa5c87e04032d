"""Sample weights and class weights as the user passes them, read and checked."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.fixed_point import (
    WHOLE_LIMIT,
    WeightSummary,
    are_normalised,
    choose_unit,
    fixed_point_weights,
    to_fixed_point,
)
from hornbeam.data.labels import Labels
from hornbeam.data.reading.columns import as_data_error
from hornbeam.errors import DataError, ParameterError, shown
from hornbeam.typing import Bools, Counts, Floats, Label


class Weights(NamedTuple):
    """Fixed-point weights of the rows that are kept, and the factor of each class in the search for splits.

    `steps` is None when every row counts 1, `kept` is None when no row is dropped, `class_factors` is None when
    all factors are 1.
    """

    steps: Counts | None
    unit: float
    kept: Bools | None
    class_factors: Floats | None


def read_weights(
    sample_weight: Any, n_rows: int, *, class_weight: Any = None, labels: Labels | None = None
) -> Weights:
    """Convert sample weights to fixed point, and find the factor of every class.

    Rows of weight zero are dropped, and rows of a class with factor zero. A mapping has a factor per class
    label, 1 for classes that it lacks; "balanced" gives every class the same total, n / (n_classes *
    n_of_class) with weighted counts. `labels` are required with `class_weight`. The two are not multiplied:
    sample weights are evidence, class weights only change the search for splits (`ClassFactors`).

    Sample weights that add up to 1 at most are normalised, as boosting libraries do: they are scaled to add
    up to the number of rows. Unscaled, all rows together would count as one row: less than any minimum weight
    of a leaf, and little beside the pseudo-counts of a smoother.
    """
    if sample_weight is None and class_weight is None:
        return Weights(None, 1.0, None, None)
    weight = np.ones(n_rows) if sample_weight is None else read_sample_weight(sample_weight, n_rows)
    keep, factors = weight > 0, None
    if class_weight is not None:
        if labels is None:
            raise ParameterError(
                "class_weight was given without y. Pass the labels too, or leave class_weight out."
            )
        factors = class_factors(class_weight, labels.classes.tolist(), lambda: _class_totals(labels, weight))
        keep &= factors[labels.codes] > 0
        factors = None if (factors == 1).all() else factors
    if not keep.any():
        raise no_weight_error()
    steps, unit = fixed_point_weights(weight[keep])
    if steps is not None and are_normalised(int(steps.sum()), unit):
        all_equal = steps.min() == steps.max()
        steps, unit = (None, 1.0) if all_equal else (steps, len(steps) / int(steps.sum()))
    return Weights(steps, unit, None if keep.all() else keep, factors)


def to_steps(sample_weight: Any, n_rows: int, unit: float) -> Counts | None:
    """Convert sample weights to steps of a given unit: that of the tree that will count the rows.

    The nearest number of steps, at least one except for a weight of zero; None when each row is one step.
    Weights are never scaled, also if they add up to less than 1. Raises a `DataError` if the unit is 1, so
    that whole rows are counted, and a weight is not whole.
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
            "2**50. Fit a new tree to rows of such weight."
        )
    return steps.astype(np.int64)


class ClassFactors(NamedTuple):
    """Class weights in the search for splits, which rows of any number and place apply in the same way.

    For whole weights, with a `step` of 1, `factors` are whole numbers of steps of `unit`, so that weight 2 is exactly a
    row given twice. Otherwise they are real, and each product with a weight is rounded to steps of `unit`.
    """

    factors: Counts | Floats
    step: float
    unit: float

    @classmethod
    def of(cls, factors: Floats, weight: Counts | None, step: float, codes: NDArray[Any]) -> Self:
        """Choose the unit from all rows: their weights in steps, None when each counts 1, and their classes."""
        if step == 1.0:
            present = np.bincount(codes, minlength=len(factors)) > 0
            return cls.of_whole(factors, present, len(codes) if weight is None else int(weight.sum()))
        real = cls(factors, step, 1.0)
        return real.with_unit(WeightSummary.of(real.products(weight, codes)))

    @classmethod
    def of_whole(cls, factors: Floats, present: Bools, total: int) -> Self:
        """Choose the unit for rows of whole weights, whose sum is `total`: a factor is rounded once, for weight 1."""
        steps = np.zeros(len(factors), dtype=np.int64)
        rounded, unit = fixed_point_weights(factors[present], total)
        steps[present] = 1 if rounded is None else rounded
        return cls(steps, 1.0, unit)

    def with_unit(self, products: WeightSummary) -> Self:
        """Choose the unit from a summary of the products of all rows."""
        return self._replace(unit=choose_unit(products))

    @property
    def row_steps(self) -> Floats:
        """Steps of `unit` of a row of weight 1 in each class."""
        return self.factors / (1.0 if self.factors.dtype == np.int64 else self.unit)

    def weigh(self, weight: Counts | None, codes: NDArray[Any]) -> Counts:
        """Apply the factors to the weights of rows of these classes; return steps of `unit`."""
        if self.factors.dtype == np.int64:
            times: Counts = self.factors[codes].astype(np.int64, copy=False)
            return times if weight is None else weight * times
        return to_fixed_point(self.products(weight, codes), self.unit)

    def products(self, weight: Counts | None, codes: NDArray[Any]) -> Floats:
        """Return weights times factors, before they are rounded to steps."""
        assert weight is not None  # without weights the step is 1
        with np.errstate(over="ignore"):  # an overflow raises an error below
            product: Floats = weight * self.step * self.factors[codes]
        if not np.isfinite(product).all():
            raise DataError(
                "sample_weight times class_weight is too large for a float. Divide both by their maximum."
            )
        return product


def read_sample_weight(sample_weight: Any, n_rows: int) -> Floats:
    """Read the weight of every row; raise a `DataError` unless all are finite numbers of zero or more."""
    with as_data_error("sample_weight"):
        try:
            weight = np.asarray(sample_weight, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise DataError(
                f"sample_weight must hold numbers, none of them missing; it is a {type(sample_weight).__name__} with "
                "other values. Pass one number per row."
            ) from None
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.ndim != 1:
        raise DataError(
            f"Sample weights must be 1D array or scalar, got {weight.ndim}D array. Pass one number per row."
        )
    if weight.shape != (n_rows,):
        raise DataError(
            f"sample_weight.shape == {weight.shape}, expected {(n_rows,)}! Pass one number per row."
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
    """Return the error for weights that are all zero."""
    return DataError("Every row has weight 0. Sample weights must contain at least one non-zero number.")


def class_factors(class_weight: Any, classes: Sequence[Label], totals: Callable[[], Counts]) -> Floats:
    """Find the factor of every class, in the order of their codes; `class_weight` is that of `read_weights`.

    `totals` returns the weight of every class in steps; it is called for "balanced" only.
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
    return _factors_by_label(class_weight, classes)


def _class_totals(labels: Labels, weight: Floats) -> Counts:
    """Return the weight of each class in steps; a sum of floats would depend on the order of rows."""
    codes, steps = labels.codes, None
    if (positive := weight > 0).any():
        codes, steps = codes[positive], fixed_point_weights(weight[positive])[0]
    return np.bincount(codes, weights=steps, minlength=len(labels.classes)).astype(np.int64)


def _balanced(totals: Counts) -> Floats:
    """Return factors that give every class the same total weight and keep the sum of all weights."""
    counts = totals.astype(np.float64)
    present = counts > 0
    factors = np.ones(len(counts))
    factors[present] = counts.sum() / (present.sum() * counts[present])
    return factors


def _factors_by_label(class_weight: Mapping[Any, Any], classes: Sequence[Label]) -> Floats:
    unnamed = [label for label in classes if label not in class_weight]
    if unnamed and len(classes) - len(unnamed) != len(class_weight):
        raise ParameterError(
            f"The classes, {unnamed}, are not in class_weight, and it names classes that are not in y: "
            f"{[label for label in class_weight if label not in classes]}. Name classes of y: {classes}."
        )
    values = [class_weight.get(label, 1.0) for label in classes]
    try:
        factors = np.array(values, dtype=np.float64)
    except Exception:  # noqa: BLE001 (conversion runs foreign code, which may raise anything)
        factors = np.array([np.nan])
    if not ((factors >= 0) & np.isfinite(factors)).all():
        raise ParameterError(
            f"class_weight has {shown(values)} for the classes {classes}; expected finite numbers of zero or more. "
            "Give a class that should not count the weight 0."
        )
    return factors
