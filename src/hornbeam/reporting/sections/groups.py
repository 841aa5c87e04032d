"""Groups of test rows compared: decisions, errors, calibration and cost, with intervals."""

from __future__ import annotations

import numpy as np

from hornbeam.evaluation.calibration import wilson
from hornbeam.evaluation.score_intervals import LEVEL, half_width, mean
from hornbeam.evaluation.scores import LEAST_PROBABILITY
from hornbeam.grid import Grid
from hornbeam.reporting.group_column import Groups
from hornbeam.reporting.markup import Markup, element, framed
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.reporting.scored_rows import ScoredRows
from hornbeam.reporting.sections.tree import section
from hornbeam.reporting.summary import shown
from hornbeam.tree.words import label_text
from hornbeam.typing import Bools, Counts, Floats

_FEW_ROWS = 30


def group_section(reported: ReportedModel, scored: ScoredRows | None) -> Markup | None:
    """Write the table of groups, and a sentence on how to read it; None without groups."""
    if scored is None or (groups := scored.groups) is None:
        return None
    return section(
        "groups",
        f"By group: {shown(groups.name)}",
        *(element("p", words) for words in group_text(reported, scored, groups)),
        framed(group_grid(reported, scored, groups)),
        wide=True,
    )


def group_text(reported: ReportedModel, scored: ScoredRows, groups: Groups) -> list[str]:
    """Describe the columns, and where the groups differ most."""
    first = (
        f"The test rows are divided by {shown(groups.name)}. In brackets are {100 * LEVEL:g} % intervals; a difference "
        "between two groups whose intervals overlap may be chance."
    )
    rows = np.bincount(groups.code, scored.count)
    small = [shown(label) for label, n in zip(groups.labels, rows, strict=True) if n < _FEW_ROWS]
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
    masks = [groups.code == k for k in range(len(groups.labels))]
    rates = [mean(decided[mask], scored.count[mask]) for mask in masks]
    low, high = int(np.argmin(rates)), int(np.argmax(rates))
    ratio = f"{rates[low] / rates[high]:.2f}" if rates[high] else "not defined"
    return (
        f"The model decides for {positive} most often in the group {shown(groups.labels[high])} "
        f"({100 * rates[high]:.1f} %) and least often in {shown(groups.labels[low])} ({100 * rates[low]:.1f} %); the "
        f"ratio of the two is {ratio}. Groups that differ in their true rates differ in decisions too, so compare "
        "the true and false positive rates and the calibration as well."
    )


def group_grid(reported: ReportedModel, scored: ScoredRows, groups: Groups) -> Grid:
    """Tabulate the groups."""
    columns = (
        _regression
        if reported.tree.is_regression
        else _of_many_classes
        if reported.positive is None
        else _of_one_class
    )
    every = [("all", np.ones(len(scored.count), bool))]
    parts = [(shown(label), groups.code == k) for k, label in enumerate(groups.labels)]
    rows = [(label, mask, columns(reported, scored, mask)) for label, mask in [*parts, *every]]
    heads = ["Group", "Rows", *rows[0][2]]
    cells = [[label, f"{scored.count[mask].sum():,}", *found.values()] for label, mask, found in rows]
    return Grid(f"Test rows by {shown(groups.name)}", heads, cells)


def _of_one_class(reported: ReportedModel, scored: ScoredRows, mask: Bools) -> dict[str, str]:
    assert reported.positive is not None
    observed, decided = scored.target[mask] == reported.positive, scored.decided[mask] == reported.positive
    predicted, count = scored.predicted[mask, reported.positive], scored.count[mask]
    right = observed == decided if scored.predicted.shape[1] == 2 else _right(scored, mask)
    return {
        "True rate": f"{mean(observed, count):.3f}",
        "Mean probability": f"{mean(predicted, count):.3f}",
        "True rate − probability": _mean(observed - predicted, count),
        "Decision rate": _share(decided, count),
        "True positive rate": _share(decided[observed], count[observed]),
        "False positive rate": _share(decided[~observed], count[~observed]),
        "Accuracy": _share(right, count),
        **_cost(reported, scored, mask),
    }


def _of_many_classes(reported: ReportedModel, scored: ScoredRows, mask: Bools) -> dict[str, str]:
    predicted, target, count = scored.predicted[mask], scored.target[mask].astype(np.intp), scored.count[mask]
    best = predicted.argmax(axis=1)
    loss = -np.log(np.maximum(predicted[np.arange(len(predicted)), target], LEAST_PROBABILITY))
    return {
        "Accuracy": _share(_right(scored, mask), count),
        "Log loss": _mean(loss, count),
        "Most probable class: seen − predicted": _mean((best == target) - predicted.max(axis=1), count),
        **_cost(reported, scored, mask),
    }


def _regression(_: ReportedModel, scored: ScoredRows, mask: Bools) -> dict[str, str]:
    target: Floats = scored.target[mask].astype(np.float64)
    predicted, count = scored.predicted[mask, 0], scored.count[mask]
    error = target - predicted
    return {
        "Mean seen": f"{mean(target, count):.4g}",
        "Mean predicted": f"{mean(predicted, count):.4g}",
        "Seen − predicted": _mean(error, count),
        "Mean absolute error": _mean(np.abs(error), count),
        "Root mean squared error": f"{np.sqrt(mean(error**2, count)):.4g}",
    }


def _right(scored: ScoredRows, mask: Bools) -> Bools:
    right: Bools = scored.target[mask] == scored.decided[mask]
    return right


def _cost(reported: ReportedModel, scored: ScoredRows, mask: Bools) -> dict[str, str]:
    if reported.costs is None:
        return {}
    paid = reported.costs.matrix[scored.target[mask], scored.decided[mask]]
    return {"Cost per row": _mean(paid, scored.count[mask])}


def _share(hits: Bools, count: Counts) -> str:
    if not len(hits):
        return "–"
    share = mean(hits, count)
    return _around(share, *map(float, wilson(share, int(count.sum()), LEVEL)))


def _mean(values: Floats, count: Counts) -> str:
    if not len(values):
        return "–"
    middle, half = mean(values, count), half_width(values, count)
    return _around(middle, middle - half, middle + half)


def _around(value: float, low: float, high: float) -> str:
    """Format a number with its interval; a dash for a missing one."""
    if value != value:
        return "–"
    interval = f" ({low:.3f} to {high:.3f})" if high - low < float("inf") else ""
    return f"{value:.3f}{interval}".replace("-", "−")
