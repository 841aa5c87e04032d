"""How well the probabilities separate the classes: ROC curve, decile table; for many classes, each class."""

from __future__ import annotations

import numpy as np

from hornbeam.evaluation import ks_statistic, lift_table, roc_auc, roc_curve
from hornbeam.export.wording import label_text, pluralise
from hornbeam.reporting.grid import Grid
from hornbeam.reporting.markup import Markup, element
from hornbeam.reporting.pictures import roc
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.reporting.sections.tree import ABSENT, section
from hornbeam.reporting.summary import shown
from hornbeam.reporting.test_results import TestResults

__all__ = ["class_grid", "decile_grid", "ranking_section", "ranking_words"]

_MOST_CLASSES = 60


def ranking_section(subject: ReportedModel, trial: TestResults | None) -> Markup:
    """The ROC curve and the deciles of the class of interest, or a table of the classes."""
    title = "How well it separates the classes"
    if trial is None:
        return section("ranking", title, element("p", ABSENT, class_="absent"))
    parts: list[object] = []
    if subject.positive is not None and _both_kinds(subject, trial):
        came, said = trial.came(subject.positive), trial.said[:, subject.positive]
        figure = element(
            "figure",
            roc(roc_curve(came, said), "ROC curve"),
            element("figcaption", f"ROC curve for {_name(subject)}"),
        )
        words = element("div", *(element("p", said) for said in ranking_words(subject, trial)), class_="note")
        parts += [
            element("div", figure, words, class_="figures one"),
            decile_grid(subject, trial).html(),
        ]
    elif subject.positive is not None:
        parts.append(
            element("p", "All test rows have the same class, so nothing can be said.", class_="absent")
        )
    if subject.tree.n_classes > 2:
        parts.append(class_grid(subject, trial).html())
        if subject.positive is None:
            parts.append(element("p", _NO_POSITIVE, class_="note"))
    return section("ranking", title, *parts, wide=True)


_NO_POSITIVE = (
    "With a class of interest (positive= in report, --positive on the command line) this section has its ROC curve "
    "and decile table too."
)


def ranking_words(subject: ReportedModel, trial: TestResults) -> list[str]:
    """Say what the curve and the deciles show."""
    assert subject.positive is not None
    came, said = trial.came(subject.positive), trial.said[:, subject.positive]
    area, ks, table = roc_auc(came, said), ks_statistic(came, said), lift_table(came, said)
    pairs = (
        f"Of a row of {_name(subject)} and another row, the first has the higher probability in {100 * area:.1f} % of "
        f"all pairs (area under the curve {area:.3f}, Gini {2 * area - 1:.3f})."
    )
    distance = (
        f"The curve is farthest from the diagonal, by {ks.value:.3f} (KS), where rows with a probability of "
        f"{ks.threshold:.3f} or more are selected."
    )
    tenth = (
        f"The tenth of the rows with the highest probabilities has {100 * table.captured[0]:.1f} % of all "
        f"{_name(subject)}, {table.lift[0]:.2f} times as many as a random tenth."
    )
    return [pairs, distance, tenth]


def decile_grid(subject: ReportedModel, trial: TestResults) -> Grid:
    """Tabulate tenths of the test rows, the highest probabilities first.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> subject = ReportedModel.of(TreeClassifier(smoothing=None).fit([[0], [1]], ["no", "yes"]))
    >>> trial = TestResults.of(subject, [[0]] * 8 + [[1]] * 2, ["no"] * 8 + ["yes"] * 2)
    >>> decile_grid(subject, trial).rows[0]
    ['1', '1', '1.000', '1', '1.000', '5.00', '50.0 %', '5.00', '0.500']
    """
    assert subject.positive is not None
    came = trial.came(subject.positive)
    table = lift_table(came, trial.said[:, subject.positive])
    passed = np.cumsum(table.rows - table.positives) / (~came).sum()
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
    name = _name(subject)
    heads = ["Tenth", "Rows", "Mean probability", name, f"Rate of {name}", "Lift", f"{name} so far"]
    title = f"Deciles: test rows from the highest to the lowest probability of {name}"
    rows = [list(row) for row in zip(*columns, strict=True)]
    return Grid(title, [*heads, "Lift so far", "KS distance"], rows)


def class_grid(subject: ReportedModel, trial: TestResults) -> Grid:
    """Tabulate the classes: rows, decisions, recall, precision and area under the curve.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> subject = ReportedModel.of(TreeClassifier(smoothing=None).fit([[0], [1], [2]], ["a", "b", "c"]))
    >>> class_grid(subject, TestResults.of(subject, [[0], [1], [1]], ["a", "b", "a"])).rows[0]
    ['a', '2', '1', '0.500', '1.000', '0.750']
    """
    confusion, rows = trial.confusion, []
    for k, label in enumerate(subject.tree.schema.classes[:_MOST_CLASSES]):
        came = trial.came(k)
        truly, named, hits = (int(n) for n in (came.sum(), confusion[:, k].sum(), confusion[k, k]))
        area = f"{roc_auc(came, trial.said[:, k]):.3f}" if 0 < truly < trial.n_rows else "–"
        ratio = [f"{hits / whole:.3f}" if whole else "–" for whole in (truly, named)]
        rows.append([shown(label_text(label)), f"{truly:,}", f"{named:,}", *ratio, area])
    heads = ["Class", "Test rows", "Decided", "Recall", "Precision", "Area under the curve"]
    return Grid(f"Each class against the others, {pluralise(trial.n_rows, 'test row')}", heads, rows)


def _both_kinds(subject: ReportedModel, trial: TestResults) -> bool:
    came = trial.target == subject.positive
    return bool(came.any() and not came.all())


def _name(subject: ReportedModel) -> str:
    return shown(label_text(subject.tree.schema.classes[subject.positive or 0]))
