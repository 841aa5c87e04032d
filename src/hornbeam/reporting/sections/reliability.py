"""Sections on test rows: calibration and decisions."""

from __future__ import annotations

from typing import Any

import numpy as np

from hornbeam.evaluation.calibration import ReliabilityCurve, curve_of_entries
from hornbeam.evaluation.score_intervals import mean_curve
from hornbeam.evaluation.scores import ScoreSums
from hornbeam.reporting.markup import Markup, element, joined
from hornbeam.reporting.pictures import reliability
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.reporting.scored_rows import ScoredRows
from hornbeam.reporting.sections.tree import ABSENT, section
from hornbeam.reporting.summary import shown
from hornbeam.tree.decision import Costs
from hornbeam.tree.tree import Tree
from hornbeam.tree.words import label_text, pluralise

_MOST_CURVES, _MOST_CLASSES, _FEW_CLASSES, _MOST_POINTS = 4, 40, 8, 1000


def calibration_section(reported: ReportedModel, scored: ScoredRows | None) -> Markup:
    """The reliability diagrams, or means for a numeric target, and the drift of rows between leaves."""
    if reported.tree.is_regression:
        return _means_section(scored)
    title = "Calibration: does 0.8 mean 0.8?"
    if scored is None:
        return section("calibration", title, element("p", ABSENT, class_="absent"))
    classes = reported.tree.schema.classes
    sums = ScoreSums.of(
        scored.target, scored.predicted, labels=range(len(classes)), sample_weight=scored.count
    )
    error = sums.calibration_error
    stability = scored.drift.stability_index
    custom = "small" if stability < 0.1 else "moderate" if stability < 0.25 else "large"
    moved = _drift_text(scored, f", which is usually called a {custom} change")
    text = (
        "Test rows are grouped by their predicted probability. On the dotted line, the observed share equals the "
        "prediction. The band is a 90 % interval of the share: for an exact tree about one point in ten lies off "
        "the line by chance. The bars below count the rows of each group."
    )
    error_said = f"The expected calibration error, of the most probable class, is {error:.3f}."
    figures = [
        element("figure", reliability(curve, label), element("figcaption", label))
        for label, curve in _curves(reported, scored)
    ]
    beside = element("div", element("p", error_said), element("p", moved), class_="note")
    kind, wide = ("figures one", False) if len(figures) == 1 else ("figures", True)
    return section(
        "calibration", title, element("p", text), element("div", *figures, beside, class_=kind), wide=wide
    )


def _curves(reported: ReportedModel, scored: ScoredRows) -> list[tuple[str, ReliabilityCurve]]:
    """The class of interest, or each of a few, or the most probable one of many."""
    classes = reported.tree.schema.classes
    count = scored.count.astype(np.float64)
    shown_classes = list(range(len(classes))) if reported.positive is None else [reported.positive]
    if len(shown_classes) > _MOST_CURVES:
        best = scored.predicted.argmax(axis=1)
        predicted = scored.predicted[np.arange(len(best)), best]
        curve = curve_of_entries(best == scored.target, predicted, count, count)
        return [("Most probable class", curve)]
    return [
        (
            f"Probability of {shown(label_text(classes[k]))}",
            curve_of_entries(scored.target == k, scored.predicted[:, k], count, count),
        )
        for k in shown_classes
    ]


def decision_section(reported: ReportedModel, scored: ScoredRows | None) -> Markup | None:
    """The decision rule; thresholds to try for two classes, the table of decisions for more; None for regression."""
    if reported.tree.is_regression:
        return None
    title = "Decisions"
    if scored is None:
        return section("decisions", title, _rule(reported), element("p", ABSENT, class_="absent"))
    if reported.tree.n_classes == 2:
        return section("decisions", title, _rule(reported), _costs(reported), element("div", id="threshold"))
    return section(
        "decisions",
        title,
        _rule(reported),
        _costs(reported),
        _confusion(reported, scored),
        wide=reported.tree.n_classes > _FEW_CLASSES,
    )


def rule_sentence(reported: ReportedModel) -> str:
    """Describe how the model turns probabilities into a decision."""
    rule = reported.tree.decision
    if rule.is_default:
        return "The model decides for the most probable class."
    by = [
        words
        for words, there in (("costs", rule.costs), ("class weights", rule.class_weight))
        if there is not None
    ]
    return (
        f"The model decides for the class with the lowest expected cost, by the {' and '.join(by)} that it was given; "
        "this need not be the most probable class. Costs and class weights change decisions, not probabilities."
    )


def _rule(reported: ReportedModel) -> Markup:
    return element("p", rule_sentence(reported))


def _costs(reported: ReportedModel) -> Markup:
    """The cost matrix, if there is one and it is small enough to read."""
    if reported.costs is None or reported.tree.n_classes > _MOST_CLASSES:
        return Markup("")
    matrix = Costs.of(reported.costs, reported.tree.schema.classes).matrix
    cells = [[f"{cost:g}" for cost in row] for row in matrix.tolist()]
    return _square(reported, "Costs: rows are the true class, columns the decision", cells)


def _confusion(reported: ReportedModel, scored: ScoredRows) -> Markup:
    counts = scored.confusion
    if len(counts) > _MOST_CLASSES:
        note = f"The table of {len(counts)} by {len(counts)} classes is too large to print here."
        return element("p", note, class_="note")
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    cells = [[f"{n:,}" if n else "" for n in row] for row in counts.tolist()]
    title = f"True class (rows) and decision (columns), {pluralise(scored.n_rows, 'test row')}"
    return _square(reported, title, cells, share)


def _square(
    reported: ReportedModel, title: str, cells: list[list[str]], shade: np.ndarray | None = None
) -> Markup:
    """A table of classes by classes; shades are in tenths, because the page forbids inline styles."""
    names = [shown(label_text(label)) for label in reported.tree.schema.classes]
    head = element("tr", element("td"), *(element("th", element("span", n), scope="col") for n in names))
    body = []
    for i, (name, row) in enumerate(zip(names, cells, strict=True)):
        tints = [None] * len(row) if shade is None else [f"tint{np.ceil(9 * s):.0f}" for s in shade[i]]
        tds = [
            element("td", cell, class_=" ".join(filter(None, [tint, "own" if i == j else None])) or None)
            for j, (cell, tint) in enumerate(zip(row, tints, strict=True))
        ]
        body.append(element("tr", element("th", name, scope="row"), *tds))
    table = element(
        "table",
        element("caption", title),
        element("thead", head),
        element("tbody", *body),
        class_="square many" if len(names) > _FEW_CLASSES else "square",
    )
    return joined([element("div", table, class_="scroll", tabindex=0, role="region", aria_label=title)])


def thresholds(reported: ReportedModel, scored: ScoredRows | None) -> dict[str, Any] | None:
    """Count, for a tree of two classes, the test rows of each class at each probability of the class of interest.

    With these counts the page can try any threshold without the rows. With fractional missing values there may be
    nearly as many probabilities as rows; then they are rounded. ``said``, ``no`` and ``yes`` are the probabilities in
    order, and rows of the other class and of the class of interest; ``in_use``: the class of interest is decided above
    it; ``costs`` in use and ``counts`` of the decisions, true class by decided class, the class of interest second.
    None for more classes.
    """
    yes = reported.positive
    if reported.tree.n_classes != 2 or yes is None:
        return None
    order = [1 - yes, yes]
    costs = Costs.of(reported.costs, reported.tree.schema.classes).matrix[np.ix_(order, order)]
    found: dict[str, Any] = {"costs": costs.tolist(), "in_use": _in_use(reported.tree, order)}
    if scored is not None:
        predicted = scored.predicted[:, yes]
        if len(np.unique(predicted)) > _MOST_POINTS:
            predicted = np.round(predicted * _MOST_POINTS) / _MOST_POINTS
        points, place = np.unique(predicted, return_inverse=True)
        rows = (
            np.bincount(place, scored.count * (scored.target == k), len(points)).astype(int).tolist()
            for k in order
        )
        counts = scored.confusion[np.ix_(order, order)].tolist()
        found |= {"said": points.tolist(), **dict(zip(("no", "yes"), rows, strict=True)), "counts": counts}
    return found


def _in_use(tree: Tree, order: list[int]) -> float:
    """The probability above which the class of interest is decided."""
    loss = tree.decision.loss
    matrix = 1.0 - np.eye(2) if loss is None else loss.matrix[np.ix_(order, order)]
    false_alarm, miss = matrix[0, 1] - matrix[0, 0], matrix[1, 0] - matrix[1, 1]
    if false_alarm + miss <= 0 or miss <= 0:
        return 1.0
    return float(max(false_alarm / (false_alarm + miss), 0.0))


def round_scale(low: float, high: float) -> tuple[float, float]:
    """Choose the ends of an axis with five round ticks that covers some numbers."""
    largest = max(abs(low), abs(high))
    if high - low <= 1e-9 * largest:  # too little for ticks that differ
        low, high = low - max(1.0, 1e-9 * largest), high + max(1.0, 1e-9 * largest)
    power = 10.0 ** np.floor(np.log10((high - low) / 4))
    steps = [power * times for times in (1, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10, 20)]
    step = next(step for step in steps if np.floor(low / step) * step + 4 * step >= high)
    begin = float(np.floor(low / step) * step)
    return begin, begin + 4 * float(step)


def _means_section(scored: ScoredRows | None) -> Markup:
    """Predicted against observed means, and the drift of rows between leaves."""
    title = "Predicted and seen"
    if scored is None:
        return section("calibration", title, element("p", ABSENT, class_="absent"))
    curve = mean_curve(scored)
    ends = np.concatenate([curve.predicted, curve.low, curve.high])
    scale = round_scale(float(ends.min()), float(ends.max()))
    picture = reliability(curve, title, scale, ("predicted mean", "mean of the rows seen"))
    text = (
        "Test rows are grouped by the predicted mean. On the dotted line, the mean of the rows equals the prediction. "
        "The band is a 90 % interval of the mean: for an exact tree about one point in ten lies off the line by "
        "chance. The bars below count the rows of each group."
    )
    beside = element("div", element("p", _drift_text(scored)), class_="note")
    figure = element("figure", picture, element("figcaption", "Means of groups of test rows"))
    return section(
        "calibration", title, element("p", text), element("div", figure, beside, class_="figures one")
    )


def _drift_text(scored: ScoredRows, usually: str = "") -> str:
    chance = f"{scored.drift.psi_p_value:.2f}" if scored.drift.psi_p_value >= 0.01 else "less than 0.01"
    return (
        "The population stability index compares how the test rows and the training rows spread over the leaves. It is "
        f"{scored.drift.stability_index:.3f}{usually}; by chance alone it would be as large with probability {chance}."
    )
