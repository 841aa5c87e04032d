"""Groups of test rows compared: decisions, errors, calibration and cost, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Kind
from hornbeam.errors import DataError, ParameterError
from hornbeam.evaluation.calibration import wilson
from hornbeam.evaluation.scores import LEAST_PROBABILITY
from hornbeam.export.wording import label_text, number_text
from hornbeam.reporting.grid import Grid, around
from hornbeam.reporting.markup import Markup, element
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.reporting.scored_rows import ScoredRows
from hornbeam.reporting.sections.scores import LEVEL, half_width
from hornbeam.reporting.sections.tree import section
from hornbeam.reporting.summary import shown
from hornbeam.typing import Bools, Floats

__all__ = ["Groups", "group_grid", "group_section", "group_text"]

_MOST_GROUPS, _FEW_ROWS = 30, 30


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Test rows divided into groups.

    Parameters
    ----------
    name : str
        What they are divided by.
    labels : tuple of str
        Names of the groups.
    code : intp array of shape (n_rows,)
        The group of each row.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> reported = ReportedModel.of(TreeClassifier().fit([[0], [1]], ["no", "yes"]))
    >>> Groups.of(["b", "a", "b"], reported, ScoredRows.of(reported, [[0], [1], [1]], ["no", "no", "yes"])).labels
    ('a', 'b')
    """

    name: str
    labels: tuple[str, ...]
    code: NDArray[np.intp]

    @classmethod
    def of(cls, groups: Any, reported: ReportedModel, scored: ScoredRows | None) -> Self:
        """Read groups: the name of a feature, or one value per test row."""
        if scored is None:
            raise DataError("groups without test rows; expected both. Pass X_test and y_test too.")
        name, values = _named(groups, reported, scored)
        if values.shape != (scored.n_rows,):
            raise DataError(
                f"groups of shape {values.shape} beside {scored.n_rows} test rows; expected one value a row."
            )
        words = np.array([_label(value) for value in values.tolist()], object)
        labels, code = np.unique(words.astype(str), return_inverse=True)
        if len(labels) > _MOST_GROUPS:
            raise ParameterError(
                f"groups has {len(labels):,} different values; expected {_MOST_GROUPS} at most. "
                "Put them into fewer groups first, ages into ranges for example."
            )
        return cls(name, tuple(labels.tolist()), code)


def _named(groups: Any, reported: ReportedModel, scored: ScoredRows) -> tuple[str, NDArray[Any]]:
    if not isinstance(groups, str):
        return str(getattr(groups, "name", None) or "group"), np.asarray(groups)
    schema = reported.tree.schema
    if groups not in schema.names:
        raise ParameterError(
            f"groups={groups!r} is not a feature of the model; expected one of them, or a value for each test row. "
            f"Pass the column itself: groups=X[{groups!r}]."
        )
    at = schema.names.index(groups)
    column, feature = scored.table.columns[at], schema.features[at]
    if feature.kind is Kind.NUMERIC:
        return groups, column
    known = column >= 0
    found = np.full(len(column), None, object)
    found[known] = np.array([*feature.categories, None], object)[column[known].astype(np.intp)]
    found[column == -2] = "not in the training rows"
    return groups, found


def _label(value: Any) -> str:
    if value is None or value != value:
        return "missing"
    return (
        number_text(value)
        if isinstance(value, float)
        else shown(value if isinstance(value, str) else label_text(value))
    )


def group_section(reported: ReportedModel, scored: ScoredRows, groups: Groups) -> Markup:
    """Write the table of groups, and a sentence on how to read it."""
    return section(
        "groups",
        f"By group: {shown(groups.name)}",
        *(element("p", words) for words in group_text(reported, scored, groups)),
        group_grid(reported, scored, groups).html(),
        wide=True,
    )


def group_text(reported: ReportedModel, scored: ScoredRows, groups: Groups) -> list[str]:
    """Describe the columns, and where the groups differ most."""
    first = (
        f"The test rows are divided by {shown(groups.name)}. In brackets are 95 % intervals; a difference "
        "between two groups whose intervals overlap may be chance."
    )
    small = [label for k, label in enumerate(groups.labels) if (groups.code == k).sum() < _FEW_ROWS]
    predicted = [first]
    if reported.positive is not None:
        predicted.append(_spread(reported, scored, groups))
    if small:
        predicted.append(
            f"These groups have fewer than {_FEW_ROWS} rows, too few to judge: {', '.join(small)}."
        )
    return predicted


def _spread(reported: ReportedModel, scored: ScoredRows, groups: Groups) -> str:
    positive = shown(label_text(reported.tree.schema.classes[reported.positive or 0]))
    decided = scored.decided == reported.positive
    rates = [float(decided[groups.code == k].mean()) for k in range(len(groups.labels))]
    low, high = int(np.argmin(rates)), int(np.argmax(rates))
    ratio = f"{rates[low] / rates[high]:.2f}" if rates[high] else "not defined"
    return (
        f"The model decides for {positive} most often in the group {groups.labels[high]} "
        f"({100 * rates[high]:.1f} %) and least often in {groups.labels[low]} ({100 * rates[low]:.1f} %); the ratio of "
        f"the two is {ratio}. Groups that differ in their true rates differ in decisions too, so compare "
        "the true and false positive rates and the calibration as well."
    )


def group_grid(reported: ReportedModel, scored: ScoredRows, groups: Groups) -> Grid:
    """Tabulate the groups.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> reported = ReportedModel.of(TreeClassifier(smoothing="laplace").fit([[0], [1]] * 9, ["no", "yes"] * 9))
    >>> scored = ScoredRows.of(reported, [[0], [1], [1], [1]], ["no", "no", "yes", "yes"])
    >>> found = group_grid(reported, scored, Groups.of(["a", "a", "b", "b"], reported, scored))
    >>> found.heads[:4], found.rows[0][0], found.rows[1][:3]
    (['Group', 'Rows', 'True rate', 'Mean probability'], 'a', ['b', '2', '1.000'])
    """
    columns = (
        _regression
        if reported.tree.is_regression
        else _of_many_classes
        if reported.positive is None
        else _of_one_class
    )
    every = [("all", np.ones(scored.n_rows, bool))]
    parts = [(label, groups.code == k) for k, label in enumerate(groups.labels)]
    rows = [(label, mask, columns(reported, scored, mask)) for label, mask in [*parts, *every]]
    heads = ["Group", "Rows", *rows[0][2]]
    cells = [[label, f"{mask.sum():,}", *found.values()] for label, mask, found in rows]
    return Grid(f"Test rows by {shown(groups.name)}", heads, cells)


def _of_one_class(reported: ReportedModel, scored: ScoredRows, mask: Bools) -> dict[str, str]:
    assert reported.positive is not None
    observed, decided = scored.target[mask] == reported.positive, scored.decided[mask] == reported.positive
    predicted = scored.predicted[mask, reported.positive]
    return {
        "True rate": f"{observed.mean():.3f}",
        "Mean probability": f"{predicted.mean():.3f}",
        "True rate − probability": _mean(observed - predicted),
        "Decision rate": _share(decided),
        "True positive rate": _share(decided[observed]),
        "False positive rate": _share(decided[~observed]),
        "Accuracy": _share(observed == decided)
        if scored.predicted.shape[1] == 2
        else _share(_right(scored, mask)),
        **_cost(reported, scored, mask),
    }


def _of_many_classes(reported: ReportedModel, scored: ScoredRows, mask: Bools) -> dict[str, str]:
    predicted, target = scored.predicted[mask], scored.target[mask].astype(np.intp)
    best = predicted.argmax(axis=1)
    loss = -np.log(np.maximum(predicted[np.arange(len(predicted)), target], LEAST_PROBABILITY))
    return {
        "Accuracy": _share(_right(scored, mask)),
        "Log loss": _mean(loss),
        "Most probable class: seen − predicted": _mean((best == target) - predicted.max(axis=1)),
        **_cost(reported, scored, mask),
    }


def _regression(_: ReportedModel, scored: ScoredRows, mask: Bools) -> dict[str, str]:
    error: Floats = scored.target[mask] - scored.predicted[mask, 0]
    return {
        "Mean seen": f"{scored.target[mask].mean():.4g}",
        "Mean predicted": f"{scored.predicted[mask, 0].mean():.4g}",
        "Seen − predicted": _mean(error),
        "Mean absolute error": _mean(np.abs(error)),
        "Root mean squared error": f"{np.sqrt((error**2).mean()):.4g}",
    }


def _right(scored: ScoredRows, mask: Bools) -> Bools:
    right: Bools = scored.target[mask] == scored.decided[mask]
    return right


def _cost(reported: ReportedModel, scored: ScoredRows, mask: Bools) -> dict[str, str]:
    if reported.costs is None:
        return {}
    return {"Cost per row": _mean(reported.costs.matrix[scored.target[mask], scored.decided[mask]])}


def _share(hits: Bools) -> str:
    if not len(hits):
        return "–"
    low, high = map(float, wilson(float(hits.mean()), len(hits), LEVEL))
    return around(float(hits.mean()), low, high)


def _mean(values: Floats) -> str:
    if not len(values):
        return "–"
    middle, half = float(values.mean()), half_width(values)
    return around(middle, middle - half, middle + half)
