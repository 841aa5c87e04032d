"""An earlier model on the same test rows: scores, and changed decisions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.evaluation.score_intervals import Score, area_score, error_scores, mean, paired
from hornbeam.evaluation.scores import losses
from hornbeam.export.wording import rule_text
from hornbeam.grid import Grid
from hornbeam.reporting.markup import Markup, element, framed
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.reporting.scored_rows import Earlier, ScoredRows
from hornbeam.reporting.sections.tree import section
from hornbeam.reporting.summary import shown
from hornbeam.tree.words import label_text, mean_text, pluralise
from hornbeam.typing import Bools

_MOST_PAIRS, _MOST_NODES = 40, 10


def earlier_section(reported: ReportedModel, scored: ScoredRows | None) -> Markup | None:
    """The comparison, as sentences and tables; None without an earlier model."""
    if scored is None or (earlier := scored.earlier) is None:
        return None
    return section(
        "earlier",
        "Beside the earlier model",
        *(element("p", words) for words in earlier_text(reported, scored, earlier)),
        *map(framed, earlier_grids(reported, scored, earlier)),
        wide=True,
    )


def earlier_text(reported: ReportedModel, scored: ScoredRows, earlier: Earlier) -> list[str]:
    """Describe how many decisions change, or by how much predictions change."""
    before = earlier.reported.tree
    first = (
        f"The earlier model is a tree of {pluralise(before.n_leaves, 'leaf', 'leaves')} (digest {before.digest[:12]}). "
        f"Both models predict the same {pluralise(scored.n_rows, 'test row')}."
    )
    if reported.tree.is_regression:
        change = np.abs(scored.predicted[:, 0] - earlier.scored.predicted[:, 0])
        moved = (
            f"Predictions change by {mean_text(mean(change, scored.count))} on average, by "
            f"{mean_text(float(change.max()))} at most; "
            f"{100 * mean(change == 0, scored.count):.1f} % stay the same."
        )
        return [first, moved]
    changed = _changed(scored, earlier)
    n_changed, then, now = _right(scored, earlier, changed)
    decisions = (
        f"The decision changes for {n_changed} of them ({100 * mean(changed, scored.count):.1f} %). Of these the "
        f"earlier model was right for {then}, this one for {now}."
    )
    return [first, decisions]


def earlier_grids(reported: ReportedModel, scored: ScoredRows, earlier: Earlier) -> list[Grid]:
    """Tabulate the scores of both models, the changes of decisions, and the nodes where most change."""
    scores = Grid(
        "Scores of both models on the test rows",
        ["Score", "Earlier model", "This model", "Better by"],
        [
            [
                score.title,
                score.words(score.base),
                score.with_interval(score.value, score.low, score.high),
                score.with_interval(score.gain, score.gain_low, score.gain_high),
            ]
            for score in _scores(reported, scored, earlier)
            if not np.isnan(score.value)
        ],
    )
    if reported.tree.is_regression:
        return [scores, _regression_nodes(reported, scored, earlier)]
    return [scores, *_changes(reported, scored, earlier)]


def _scores(reported: ReportedModel, scored: ScoredRows, earlier: Earlier) -> list[Score]:
    old = earlier.scored
    if reported.tree.is_regression:
        own_error, old_error = (scored.target - part.predicted[:, 0] for part in (scored, old))
        return error_scores(own_error, old_error, scored.count)
    own, base = (losses(part.predicted, part.decided, scored.target) for part in (scored, old))
    scores = [paired(name, own[name], base[name], scored.count) for name in own]
    scores.append(area_score(scored.target, scored.predicted, old.predicted, scored.count))
    if reported.costs is not None:
        paid, before = (reported.costs.matrix[scored.target, part.decided] for part in (scored, old))
        scores.insert(0, paired("cost per row", paid, before, scored.count))
    return scores


def _changed(scored: ScoredRows, earlier: Earlier) -> Bools:
    changed: Bools = scored.decided != earlier.scored.decided
    return changed


def _changes(reported: ReportedModel, scored: ScoredRows, earlier: Earlier) -> list[Grid]:
    changed = _changed(scored, earlier)
    if not changed.any():
        return []
    k = reported.tree.n_classes
    pair = earlier.scored.decided * k + scored.decided
    counts = np.bincount(pair, scored.count * changed, k * k)
    order = [at for at in np.argsort(-counts, kind="stable").tolist() if counts[at]][:_MOST_PAIRS]
    names = [shown(label_text(label)) for label in reported.tree.schema.classes]
    rows = [[names[at // k], names[at % k], *_right(scored, earlier, changed & (pair == at))] for at in order]
    heads = ["Earlier decision", "Decision now", "Rows", "Earlier right", "Now right"]
    return [
        Grid("Decisions that change", heads, rows, "<<>"),
        _nodes(reported, scored, earlier, changed),
    ]


def _right(scored: ScoredRows, earlier: Earlier, rows: Bools) -> list[str]:
    """The number of rows, and of right decisions of each model."""
    right = (rows & (part.decided == part.target) for part in (earlier.scored, scored))
    return [f"{scored.count[some].sum():,}" for some in (rows, *right)]


def _nodes(reported: ReportedModel, scored: ScoredRows, earlier: Earlier, changed: Bools) -> Grid:
    stops = scored.stop
    counts = np.bincount(stops, scored.count * changed, reported.tree.n_nodes)
    rows = [
        [
            f"{node}",
            f"{scored.count[stops == node].sum():,}",
            *_right(scored, earlier, changed & (stops == node)),
            rule_text(reported.tree, node),
        ]
        for node in _most(counts)
    ]
    heads = ["Node", "Test rows", "Changed", "Earlier right", "Now right", "Rule"]
    return Grid("Nodes of this model where most decisions change", heads, rows, "<>>>><")


def _regression_nodes(reported: ReportedModel, scored: ScoredRows, earlier: Earlier) -> Grid:
    stops, now, then = scored.stop, scored.predicted[:, 0], earlier.scored.predicted[:, 0]
    total = np.bincount(stops, scored.count * np.abs(now - then), reported.tree.n_nodes)
    rows = []
    for node in _most(total):
        there = stops == node
        count, figures = scored.count[there], [then[there], now[there], scored.target[there]]
        rows.append(
            [
                f"{node}",
                f"{count.sum():,}",
                *(mean_text(mean(part, count)) for part in figures),
                rule_text(reported.tree, node),
            ]
        )
    heads = ["Node", "Test rows", "Earlier mean", "Mean now", "Mean seen", "Rule"]
    return Grid("Nodes of this model where predictions change most", heads, rows, "<>>>><")


def _most(counts: NDArray[Any]) -> list[int]:
    order = np.argsort(-counts, kind="stable")[:_MOST_NODES].tolist()
    return [node for node in order if counts[node]]
