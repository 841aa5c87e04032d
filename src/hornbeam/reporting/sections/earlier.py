"""An earlier model beside the one of the report on the same test rows: scores, and decisions that change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.reading.frame import select_columns
from hornbeam.errors import DataError
from hornbeam.estimators.methods.column_names import required_columns
from hornbeam.explain.wording import rule_text
from hornbeam.export.prediction_text import mean_text
from hornbeam.export.wording import label_text, pluralise
from hornbeam.reporting.grid import Grid
from hornbeam.reporting.markup import Markup, element
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.reporting.sections.regression import error_scores
from hornbeam.reporting.sections.scores import Score, area_score, losses, paired
from hornbeam.reporting.sections.tree import section
from hornbeam.reporting.summary import shown
from hornbeam.reporting.test_results import TestResults
from hornbeam.tree.route import route
from hornbeam.tree.unwrap import unwrap
from hornbeam.typing import Bools

__all__ = ["Earlier", "earlier_grids", "earlier_section", "earlier_words"]

_MOST_PAIRS, _MOST_NODES = 40, 10


@dataclass(frozen=True, slots=True, eq=False)
class Earlier:
    """An earlier model, asked about the test rows of the report.

    Parameters
    ----------
    subject : ReportedModel
    trial : TestResults
    """

    subject: ReportedModel
    trial: TestResults

    @classmethod
    def of(cls, model: Any, subject: ReportedModel, X: Any, y: Any) -> Self:
        """Ask an earlier model of the same target about the test rows."""
        if X is None or y is None:
            raise DataError("earlier without test rows; expected both. Pass X_test and y_test too.")
        found = ReportedModel.of(model)
        ours, theirs = subject.tree.schema, found.tree.schema
        if ours.classes != theirs.classes or ours.is_regression != theirs.is_regression:
            raise DataError(
                f"the earlier model has {_target(found)}, this one {_target(subject)}; expected the same target."
            )
        if unwrap(model).before is None:
            X = select_columns(X, theirs.names, required_columns(found.tree))
        return cls(found, TestResults.of(found, X, y))


def _target(subject: ReportedModel) -> str:
    schema = subject.tree.schema
    return "a numeric target" if schema.is_regression else f"the classes {list(schema.classes)}"


def earlier_section(subject: ReportedModel, trial: TestResults, earlier: Earlier) -> Markup:
    """The comparison, as sentences and tables."""
    return section(
        "earlier",
        "Beside the earlier model",
        *(element("p", words) for words in earlier_words(subject, trial, earlier)),
        *(grid.html() for grid in earlier_grids(subject, trial, earlier)),
        wide=True,
    )


def earlier_words(subject: ReportedModel, trial: TestResults, earlier: Earlier) -> list[str]:
    """Say how many decisions, or by how much predictions, change."""
    before = earlier.subject.tree
    first = (
        f"The earlier model is a tree of {pluralise(before.n_leaves, 'leaf', 'leaves')} (digest {before.digest[:12]}). "
        f"Both models were asked about the same {pluralise(trial.n_rows, 'test row')}."
    )
    if subject.tree.is_regression:
        change = np.abs(trial.said[:, 0] - earlier.trial.said[:, 0])
        moved = (
            f"Predictions change by {mean_text(float(change.mean()))} on average, by {mean_text(float(change.max()))} at most; "
            f"{100 * (change == 0).mean():.1f} % stay the same."
        )
        return [first, moved]
    changed = _changed(trial, earlier)
    then, now = (int((part.named == part.target)[changed].sum()) for part in (earlier.trial, trial))
    decisions = (
        f"The decision changes for {changed.sum():,} of them ({100 * changed.mean():.1f} %). Of these the earlier "
        f"model was right for {then:,}, this one for {now:,}."
    )
    return [first, decisions]


def earlier_grids(subject: ReportedModel, trial: TestResults, earlier: Earlier) -> list[Grid]:
    """Tabulate the scores of both models, the changes of decisions, and the nodes where most change.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> X, y = [[0, 0], [1, 0], [0, 1], [1, 1]] * 5, list("aabb") * 5
    >>> subject, old = (ReportedModel.of(TreeClassifier("cart").fit(X, part)) for part in (y, list("abab") * 5))
    >>> trial = TestResults.of(subject, X, y)
    >>> grids = earlier_grids(subject, trial, Earlier(old, TestResults.of(old, X, y)))
    >>> print(grids[1].markdown())
    | Earlier decision | Decision now | Rows | Earlier right | Now right |
    |---|---|--:|--:|--:|
    | a | b | 5 | 0 | 5 |
    | b | a | 5 | 0 | 5 |
    """
    scores = Grid(
        "Scores of both models on the test rows",
        ["Score", "Earlier model", "This model", "Better by"],
        [
            [
                score.name[:1].upper() + score.name[1:],
                score.words(score.base),
                _with_interval(score, score.value, score.low, score.high),
                _with_interval(score, score.gain, score.gain_low, score.gain_high),
            ]
            for score in _scores(subject, trial, earlier)
            if not np.isnan(score.value)
        ],
    )
    if subject.tree.is_regression:
        return [scores, _nodes_of_numbers(subject, trial, earlier)]
    return [scores, *_changes(subject, trial, earlier)]


def _scores(subject: ReportedModel, trial: TestResults, earlier: Earlier) -> list[Score]:
    old = earlier.trial
    if subject.tree.is_regression:
        return error_scores(trial.target - trial.said[:, 0], trial.target - old.said[:, 0])
    own, base = (losses(part.said, part.named, trial.target) for part in (trial, old))
    scores = [paired(name, own[name], base[name]) for name in own]
    scores.append(area_score(trial.target, trial.said, old.said))
    if subject.costs is not None:
        paid = (subject.costs.matrix[trial.target, part.named] for part in (trial, old))
        scores.append(paired("cost per row", *paid))
    return scores


def _with_interval(score: Score, value: float, low: float, high: float) -> str:
    said = score.words(value)
    return f"{said} ({score.words(low)} to {score.words(high)})" if np.isfinite(high) else said


def _changed(trial: TestResults, earlier: Earlier) -> Bools:
    changed: Bools = trial.named != earlier.trial.named
    return changed


def _changes(subject: ReportedModel, trial: TestResults, earlier: Earlier) -> list[Grid]:
    changed = _changed(trial, earlier)
    if not changed.any():
        return []
    k = subject.tree.n_classes
    pair = earlier.trial.named * k + trial.named
    counts = np.bincount(pair[changed], minlength=k * k)
    order = [at for at in np.argsort(-counts, kind="stable").tolist() if counts[at]][:_MOST_PAIRS]
    names = [shown(label_text(label)) for label in subject.tree.schema.classes]
    rows = [[names[at // k], names[at % k], *_right(trial, earlier, changed & (pair == at))] for at in order]
    heads = ["Earlier decision", "Decision now", "Rows", "Earlier right", "Now right"]
    return [
        Grid("Decisions that change", heads, rows, text=(1,)),
        _nodes(subject, trial, earlier, changed),
    ]


def _right(trial: TestResults, earlier: Earlier, rows: Bools) -> list[str]:
    """How many rows, and for how many each model is right."""
    right = ((part.named == part.target)[rows].sum() for part in (earlier.trial, trial))
    return [f"{rows.sum():,}", *(f"{n:,}" for n in right)]


def _nodes(subject: ReportedModel, trial: TestResults, earlier: Earlier, changed: Bools) -> Grid:
    stops = route(subject.tree.skeleton, trial.table)
    counts = np.bincount(stops[changed], minlength=subject.tree.n_nodes)
    rows = [
        [
            f"{node}",
            f"{(stops == node).sum():,}",
            *_right(trial, earlier, changed & (stops == node)),
            rule_text(subject.tree, node),
        ]
        for node in _most(counts)
    ]
    heads = ["Node", "Test rows", "Changed", "Earlier right", "Now right", "Rule"]
    return Grid("Nodes of this model where most decisions change", heads, rows, text=(5,))


def _nodes_of_numbers(subject: ReportedModel, trial: TestResults, earlier: Earlier) -> Grid:
    stops = route(subject.tree.skeleton, trial.table)
    now, then = trial.said[:, 0], earlier.trial.said[:, 0]
    total = np.bincount(stops, np.abs(now - then), minlength=subject.tree.n_nodes)
    rows = []
    for node in _most(total):
        there = stops == node
        figures = [then[there], now[there], trial.target[there]]
        rows.append(
            [
                f"{node}",
                f"{there.sum():,}",
                *(mean_text(float(part.mean())) for part in figures),
                rule_text(subject.tree, node),
            ]
        )
    heads = ["Node", "Test rows", "Earlier mean", "Mean now", "Mean seen", "Rule"]
    return Grid("Nodes of this model where predictions change most", heads, rows, text=(5,))


def _most(counts: NDArray[Any]) -> list[int]:
    order = np.argsort(-counts, kind="stable")[:_MOST_NODES].tolist()
    return [node for node in order if counts[node]]
