"""Section on the scores of the test rows."""

from __future__ import annotations

import numpy as np

from hornbeam.evaluation.score_intervals import LEVEL, Score, class_scores, regression_scores
from hornbeam.reporting.markup import Markup, element
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.reporting.scored_rows import ScoredRows
from hornbeam.reporting.sections.tree import ABSENT, section
from hornbeam.tree.evidence.base_rate import base_rate
from hornbeam.tree.tree import unsmoothed
from hornbeam.tree.words import pluralise

_NOTE = (
    "Base rate is a model that always predicts the class frequencies of the training rows. In brackets are "
    f"{100 * LEVEL:g} % intervals; they hold for this tree and for rows like these. The report cannot check that the "
    "test rows were not used for training."
)
_REGRESSION_NOTE = (
    "The column Mean is a model that always predicts the mean of the training rows. In brackets are "
    f"{100 * LEVEL:g} % intervals, of roots and ratios by the delta method. They hold for this tree and for rows like "
    "these. The report cannot check that the test rows were not used for training."
)


def scores_of(reported: ReportedModel, scored: ScoredRows) -> list[Score]:
    """Score a classification or regression model on its test rows."""
    tree = reported.tree
    if tree.is_regression:
        return regression_scores(scored, unsmoothed(tree).item(0))
    return class_scores(scored, base_rate(tree), reported.costs, reported.positive)


def score_section(reported: ReportedModel, scored: ScoredRows | None, scores: list[Score]) -> Markup:
    """The scores beside those of the base rate, or of the training mean, with a note."""
    if scored is None:
        return section("scores", "How good it is", element("p", ABSENT, class_="absent"))
    base, note = ("Mean", _REGRESSION_NOTE) if reported.tree.is_regression else ("Base rate", _NOTE)
    heads = ("Score", "This tree", base, "Better by")
    head = element("tr", *(element("th", words, scope="col") for words in heads))
    table = element(
        "table",
        element("caption", f"Scores on {pluralise(scored.n_rows, 'test row')}", class_="visually-hidden"),
        element("thead", head),
        element("tbody", *(_score(score, heads) for score in scores)),
        class_="scores",
    )
    notes = [note] if scored.note is None else [note, scored.note]
    return section(
        "scores",
        "How good it is",
        element("div", table, class_="scroll"),
        *(element("p", words, class_="note") for words in notes),
    )


def _score(score: Score, heads: tuple[str, ...]) -> Markup:
    if np.isnan(score.value):
        return element(
            "tr",
            _named(score),
            element("td", "not defined: all test rows have the same class", colspan=3, class_="soft"),
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
    return element("th", score.title, element("small", score.meaning), scope="row")


def _cell(score: Score, numbers: tuple[float, float, float], kind: str, head: str) -> Markup:
    value, low, high = numbers
    bounds = f"({score.words(low)} to {score.words(high)})"
    predicted = element("b", score.words(value))
    around = element("span", bounds if np.isfinite(high) else "", class_="soft")
    return element("td", predicted, " ", around, class_=kind, data_head=head)
