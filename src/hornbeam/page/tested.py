"""The sections that need test rows: scores, calibration, decisions. They are about classes."""

from __future__ import annotations

import numpy as np

from hornbeam.evaluation import ReliabilityCurve, Tally, reliability_curve
from hornbeam.export.words import several, word
from hornbeam.page.markup import Markup, element, joined
from hornbeam.page.pictures import reliability
from hornbeam.page.prose import shown
from hornbeam.page.scores import LEVEL, Score
from hornbeam.page.sections import section
from hornbeam.page.subject import Subject
from hornbeam.page.trial import Trial
from hornbeam.tree.costs import Costs

__all__ = ["ABSENT", "calibration_section", "decision_section", "score_section"]

_MOST_CURVES, _MOST_CLASSES, _FEW_CLASSES = 4, 40, 8
ABSENT = "No test rows were given to this report, so this section is empty."
_NOTE = (
    "Base rate: one who always says how common the classes are in training. In brackets "
    f"{100 * LEVEL:g} % intervals: of means over rows, gains row by row; accuracy by Wilson, area under the curve "
    "by DeLong. They are about these rows and this tree. "
    "Whether the tree has never seen the rows, only who made this report can know."
)


def score_section(
    trial: Trial | None, scores: list[Score], note: str = _NOTE, base: str = "Base rate"
) -> Markup:
    """The headline scores beside those of one who knows nothing of a row, with a note on what they are."""
    if trial is None:
        return section("scores", "How good it is", element("p", ABSENT, class_="absent"))
    heads = ("Score", "This tree", base, "Better by")
    head = element("tr", *(element("th", words, scope="col") for words in heads))
    table = element(
        "table",
        element("caption", f"Scores on {several(trial.n_rows, 'test row')}", class_="visually-hidden"),
        element("thead", head),
        element("tbody", *(_score(score, heads) for score in scores)),
        class_="scores",
    )
    return section(
        "scores", "How good it is", element("div", table, class_="scroll"), element("p", note, class_="note")
    )


def _score(score: Score, heads: tuple[str, ...]) -> Markup:
    if np.isnan(score.value):
        return element(
            "tr", _named(score), element("td", "of one class alone there is none", colspan=3, class_="soft")
        )
    return element(
        "tr",
        _named(score),
        _cell(score, (score.value, score.low, score.high), "value", heads[1]),
        element("td", score.words(score.base), data_head=heads[2]),
        _cell(
            score,
            (score.gain, score.gain_low, score.gain_high),
            "sure" if score.convincing else "unsure",
            heads[3],
        ),
    )


def _named(score: Score) -> Markup:
    return element(
        "th", score.name[:1].upper() + score.name[1:], element("small", score.meaning), scope="row"
    )


def _cell(score: Score, numbers: tuple[float, float, float], kind: str, head: str) -> Markup:
    value, low, high = numbers
    bounds = f"({score.words(low)} to {score.words(high)})"
    said = element("b", score.words(value))
    around = element("span", bounds if np.isfinite(high) else "", class_="soft")
    return element("td", said, " ", around, class_=kind, data_head=head)


def calibration_section(subject: Subject, trial: Trial | None) -> Markup:
    """The reliability diagrams, and whether rows still fall into the leaves as they did."""
    title = "Does 0.8 mean 0.8?"
    if trial is None:
        return section("calibration", title, element("p", ABSENT, class_="absent"))
    classes = subject.tree.schema.classes
    error = Tally.of(trial.target, trial.said, labels=range(len(classes))).calibration_error
    stability = trial.drift.stability_index
    custom = "little" if stability < 0.1 else "some" if stability < 0.25 else "much"
    text = (
        "Test rows are put together by what the tree says of them. On the dotted line what is said is what is seen; "
        "the band is a 95 % interval of the share seen, so a true tree leaves the line with one point in twenty. "
        "Below, the rows at each point."
    )
    error_said = f"The expected calibration error of the class held most probable is {error:.3f}."
    chance = f"{trial.drift.psi_p_value:.2f}" if trial.drift.psi_p_value >= 0.01 else "less than 0.01"
    moved = (
        f"The test rows spread over the leaves as the training rows did but for a population stability index of "
        f"{stability:.3f}, which by custom is {custom}; chance alone makes as much with probability "
        f"{chance}."
    )
    figures = [
        element("figure", reliability(curve, label), element("figcaption", label))
        for label, curve in _curves(subject, trial)
    ]
    beside = element("div", element("p", error_said), element("p", moved), class_="note")
    kind, wide = ("figures one", False) if len(figures) == 1 else ("figures", True)
    return section(
        "calibration", title, element("p", text), element("div", *figures, beside, class_=kind), wide=wide
    )


def _curves(subject: Subject, trial: Trial) -> list[tuple[str, ReliabilityCurve]]:
    """The second of two classes, each of a few, of many the one held most probable."""
    classes = subject.tree.schema.classes
    asked = [1] if len(classes) == 2 else list(range(len(classes)))
    if len(asked) > _MOST_CURVES:
        best = trial.said.argmax(axis=1)
        said = trial.said[np.arange(trial.n_rows), best]
        return [("The class held most probable", reliability_curve(best == trial.target, said))]
    return [
        (f"Probability of {shown(word(classes[k]))}", reliability_curve(trial.target == k, trial.said[:, k]))
        for k in asked
    ]


def decision_section(subject: Subject, trial: Trial | None) -> Markup:
    """What follows from the probabilities: thresholds for two classes, the decisions made for more."""
    title = "Decisions and what they cost"
    if trial is None:
        return section("decisions", title, _rule(subject), element("p", ABSENT, class_="absent"))
    if subject.tree.n_classes == 2:
        return section("decisions", title, _rule(subject), element("div", id="threshold"))
    return section(
        "decisions",
        title,
        _rule(subject),
        _costs(subject),
        _confusion(subject, trial),
        wide=subject.tree.n_classes > _FEW_CLASSES,
    )


def _rule(subject: Subject) -> Markup:
    weighted = (subject.class_weight != 1).any()
    how = (
        "names the most probable class: every mistake costs the same"
        if subject.costs is None and not weighted
        else "names the class whose prediction is expected to cost least, by the costs it was given"
        if not weighted
        else "names a class by its probability, its weight and its costs"
    )
    return element("p", f"The model {how}. Costs and thresholds change decisions, never probabilities.")


def _costs(subject: Subject) -> Markup:
    """The cost matrix in use, if there is one and it can be read."""
    if subject.costs is None or subject.tree.n_classes > _MOST_CLASSES:
        return Markup("")
    matrix = Costs.of(subject.costs, subject.tree.schema.classes).matrix
    cells = [[f"{cost:g}" for cost in row] for row in matrix.tolist()]
    return _square(subject, "Costs in use: rows are what is true, columns what is predicted", cells)


def _confusion(subject: Subject, trial: Trial) -> Markup:
    counts = trial.confusion
    if len(counts) > _MOST_CLASSES:
        note = (
            f"The table of {len(counts)} by {len(counts)} classes is left out: it would be too large to read."
        )
        return element("p", note, class_="note")
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    cells = [[f"{n:,}" if n else "" for n in row] for row in counts.tolist()]
    title = f"What came (rows) and what was predicted (columns), {several(trial.n_rows, 'test row')}"
    return _square(subject, title, cells, share)


def _square(subject: Subject, title: str, cells: list[list[str]], shade: np.ndarray | None = None) -> Markup:
    """A table of classes by classes; shades are tenths, because the page allows no style of its own."""
    names = [shown(word(label)) for label in subject.tree.schema.classes]
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
