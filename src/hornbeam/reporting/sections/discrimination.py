"""Separation of the classes: ROC curve and decile table; for many classes, one row per class."""

from __future__ import annotations

import numpy as np

from hornbeam.evaluation import ks_statistic, lift_table
from hornbeam.evaluation.discrimination import area_under_curve, roc_curve
from hornbeam.grid import Grid
from hornbeam.reporting.markup import Markup, element, framed
from hornbeam.reporting.pictures import roc
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.reporting.scored_rows import ScoredRows
from hornbeam.reporting.sections.tree import ABSENT, section
from hornbeam.reporting.summary import shown
from hornbeam.tree.words import label_text, pluralise

_MOST_CLASSES = 60


def discrimination_section(reported: ReportedModel, scored: ScoredRows | None) -> Markup | None:
    """The ROC curve and the deciles of the class of interest, or a table of the classes; None for a numeric target."""
    if reported.tree.is_regression:
        return None
    title = "How well it separates the classes"
    if scored is None:
        return section("ranking", title, element("p", ABSENT, class_="absent"))
    parts: list[object] = []
    if reported.positive is not None and _both_kinds(reported, scored):
        observed, predicted = scored.observed(reported.positive), scored.predicted[:, reported.positive]
        figure = element(
            "figure",
            roc(roc_curve(observed, predicted, sample_weight=scored.count), "ROC curve"),
            element("figcaption", f"ROC curve for {_name(reported)}"),
        )
        words = element(
            "div",
            *(element("p", predicted) for predicted in discrimination_text(reported, scored)),
            class_="note",
        )
        parts += [
            element("div", figure, words, class_="figures one"),
            framed(decile_grid(reported, scored)),
        ]
    elif reported.positive is not None:
        parts.append(
            element("p", "All test rows have the same class, so nothing can be said.", class_="absent")
        )
    if reported.tree.n_classes > 2:
        parts.append(framed(class_grid(reported, scored)))
        if reported.positive is None:
            parts.append(element("p", _NO_POSITIVE, class_="note"))
    return section("ranking", title, *parts, wide=True)


_NO_POSITIVE = (
    "With a class of interest (positive= in report, --positive on the command line) this section has its ROC curve "
    "and decile table too."
)


def discrimination_text(reported: ReportedModel, scored: ScoredRows) -> list[str]:
    """Describe what the curve and the deciles show."""
    assert reported.positive is not None
    observed, predicted = scored.observed(reported.positive), scored.predicted[:, reported.positive]
    area, ks, table = (
        area_under_curve(observed, predicted, scored.count.astype(np.float64))[0],
        ks_statistic(observed, predicted, sample_weight=scored.count),
        lift_table(observed, predicted, sample_weight=scored.count),
    )
    pairs = (
        f"Of a row of {_name(reported)} and another row, the first has the higher probability in {100 * area:.1f} % of "
        f"all pairs (area under the curve {area:.3f}, Gini {2 * area - 1:.3f})."
    )
    distance = (
        f"The curve is farthest from the diagonal, by {ks.value:.3f} (KS), where rows with a probability of "
        f"{ks.threshold:.3f} or more are selected."
    )
    tenth = (
        f"The tenth of the rows with the highest probabilities has {100 * table.captured[0]:.1f} % of all "
        f"{_name(reported)}, {table.lift[0]:.2f} times as many as a random tenth."
    )
    return [pairs, distance, tenth]


def decile_grid(reported: ReportedModel, scored: ScoredRows) -> Grid:
    """Tabulate tenths of the test rows, the highest probabilities first."""
    assert reported.positive is not None
    observed = scored.observed(reported.positive)
    table = lift_table(observed, scored.predicted[:, reported.positive], sample_weight=scored.count)
    passed = np.cumsum(table.rows - table.positives) / scored.count[~observed].sum()
    columns = [
        [f"{k + 1}" for k in range(len(table.rows))],
        [f"{rows:,.4g}" if rows < 1000 else f"{rows:,.0f}" for rows in table.rows],
        [f"{p:.3f}" for p in table.predicted],
        [f"{n:,.0f}" if n >= 100 else f"{n:.3g}" for n in table.positives],
        [f"{rate:.3f}" for rate in table.rate],
        [f"{lift:.2f}" for lift in table.lift],
        [f"{100 * share:.1f} %" for share in table.captured],
        [f"{lift:.2f}" for lift in table.cumulative_lift],
        [f"{distance:.3f}".replace("-", "−") for distance in table.captured - passed],
    ]
    name = _name(reported)
    heads = ["Tenth", "Rows", "Mean probability", name, f"Rate of {name}", "Lift", f"{name} so far"]
    title = f"Deciles: test rows from the highest to the lowest probability of {name}"
    rows = [list(row) for row in zip(*columns, strict=True)]
    return Grid(title, [*heads, "Lift so far", "KS distance"], rows)


def class_grid(reported: ReportedModel, scored: ScoredRows) -> Grid:
    """Tabulate the classes: rows, decisions, recall, precision and area under the curve."""
    confusion, rows = scored.confusion, []
    for k, label in enumerate(reported.tree.schema.classes[:_MOST_CLASSES]):
        observed = scored.observed(k)
        truly, named, hits = (int(n) for n in (confusion[k].sum(), confusion[:, k].sum(), confusion[k, k]))
        some = 0 < truly < scored.n_rows
        area = (
            f"{area_under_curve(observed, scored.predicted[:, k], scored.count.astype(np.float64))[0]:.3f}"
            if some
            else "–"
        )
        ratio = [f"{hits / whole:.3f}" if whole else "–" for whole in (truly, named)]
        rows.append([shown(label_text(label)), f"{truly:,}", f"{named:,}", *ratio, area])
    heads = ["Class", "Test rows", "Decided", "Recall", "Precision", "Area under the curve"]
    return Grid(f"Each class against the others, {pluralise(scored.n_rows, 'test row')}", heads, rows)


def _both_kinds(reported: ReportedModel, scored: ScoredRows) -> bool:
    observed = scored.target == reported.positive
    return bool(observed.any() and not observed.all())


def _name(reported: ReportedModel) -> str:
    return shown(label_text(reported.tree.schema.classes[reported.positive or 0]))
