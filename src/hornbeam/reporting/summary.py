"""Summary of the model in three short paragraphs."""

from __future__ import annotations

import numpy as np

from hornbeam.evaluation.score_intervals import LEVEL, Score, paired
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.reporting.scored_rows import ScoredRows
from hornbeam.smoothing.teacher_prior import DISTILLED, is_distilled
from hornbeam.tree.decision import Costs
from hornbeam.tree.edit import recorded_edits
from hornbeam.tree.evidence.base_rate import base_rate
from hornbeam.tree.feature_costs import FeatureCosts
from hornbeam.tree.tree import Tree
from hornbeam.tree.words import feature_name, label_text, pluralise, shortened

_MOST_NAMES, _MOST_LETTERS = 5, 40


def summary_sentences(reported: ReportedModel, scored: ScoredRows | None, scores: list[Score]) -> list[str]:
    """Describe the model, the rows of its leaves, and the quality of its predictions, in three paragraphs."""
    return [_what(reported.tree), _ground(reported.tree), _quality(reported, scored, scores)]


def _what(tree: Tree) -> str:
    schema = tree.schema
    tested = np.unique(tree.skeleton.feature[tree.skeleton.feature >= 0])
    classes = listed([shown(label_text(label)) for label in schema.classes])
    what = "a number" if tree.is_regression else f"the probabilities of {tree.n_classes} classes ({classes})"
    first = ""
    if tree.depth:
        root = shown(feature_name(schema.features[tree.skeleton.feature[0]].name))
        first = f", {root} first"
    return (
        f"This decision tree has {pluralise(tree.n_leaves, 'leaf', 'leaves')}{_limit(tree)} and predicts {what}. "
        f"It was trained on {pluralise(tree.rows.item(0), 'row')} and tests "
        f"{len(tested)} of {pluralise(schema.n_features, 'feature')}{first}, with at most "
        f"{pluralise(tree.depth, 'test')} for a row.{_prices(tree)}{_terms(tree)}{_edited(tree)}"
    )


def _prices(tree: Tree) -> str:
    """Write what a prediction costs, if columns have prices."""
    costs = FeatureCosts.of(tree)
    if costs is None:
        return ""
    most = costs.of_paths(tree).max()
    return f" The columns that a row is tested on cost {costs.mean(tree):.4g} on average, and {most:.4g} at most."


def _limit(tree: Tree) -> str:
    """Name the limit of leaves of a tree that was grown on the predictions of a teacher."""
    found = [dict(step.parameters).get("max_leaf_nodes") for step in tree.history if step.name == DISTILLED]
    return f", of at most {found[0]:,}," if found and type(found[0]) is int else ""


def _edited(tree: Tree) -> str:
    n = len(recorded_edits(tree.history))
    return f" It was changed by hand after the fit: {pluralise(n, 'edit')}." if n else ""


def _terms(tree: Tree) -> str:
    """Count the leaves whose paths have terms, and the features of the terms."""
    slopes = tree.slopes
    if not len(slopes):
        return ""
    features = pluralise(len(np.unique(slopes.feature)), "feature")
    changing = np.count_nonzero(tree.skeleton.is_leaf[tree.path_slopes.nodes])
    leaves = f"{changing:,} of {pluralise(tree.n_leaves, 'leaf', 'leaves')}"
    return f" In {leaves} the prediction also changes with the values of some features; {features} in all."


def _ground(tree: Tree) -> str:
    leaf = tree.skeleton.is_leaf
    rows, borrowed = tree.rows[leaf], tree.borrowed[leaf]
    least, most = rows.min(), rows.max()
    span = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    what, are = ("mean", "is") if tree.is_regression else ("probabilities", "are")
    own = f"A leaf has {span} training rows."
    if not borrowed.any():
        return f"{own} Its {what} {are} computed from them alone."
    middle = float(np.median(borrowed))
    whose = "that" if tree.is_regression else "those"
    return (
        f"{own} Its {what} {are} smoothed: {whose} of {prior_source(tree)} count as {middle:,.1f} further rows in the "
        "median leaf."
    )


def prior_source(tree: Tree) -> str:
    """Name what the probabilities of leaves are smoothed towards."""
    return "the model it was distilled from" if is_distilled(tree) else "the nodes above"


def _quality(reported: ReportedModel, scored: ScoredRows | None, scores: list[Score]) -> str:
    if scored is None:
        return "No test rows were given, so this report has no scores."
    by_name = {score.name: score for score in scores}
    if "R²" in by_name:
        return _regression_quality(scored, by_name["root mean squared error"], by_name["R²"])
    loss, hits = by_name["log loss"], by_name["accuracy"]
    right = (
        f"decisions are right for {100 * hits.value:.1f} %; always deciding for the most frequent class would be right "
        f"for {100 * hits.base:.1f} %."
    )
    probabilities = (
        f"Its log loss of {loss.value:.3f} is {_verdict(loss)} the {loss.base:.3f} of predicting the class frequencies "
        "of the training rows."
    )
    on = f"On {pluralise(scored.n_rows, 'test row')}"
    if reported.costs is None:
        return f"{on} its {right}{_in_use(scored, None)} {probabilities}"
    cost, classes = by_name["cost per row"], reported.tree.schema.classes
    constant = shown(label_text(classes[int(reported.costs.cheapest(base_rate(reported.tree)[None])[0])]))
    return (
        f"{on} its decisions cost {cost.with_interval(cost.value, cost.low, cost.high)} per row. This is "
        f"{_verdict(cost)} the best constant decision, always {constant}, which costs {cost.words(cost.base)}; the "
        f"difference is {cost.with_interval(cost.gain, cost.gain_low, cost.gain_high)}."
        f"{_in_use(scored, reported.costs)} In brackets are {100 * LEVEL:g} % intervals. {probabilities} The costs, "
        f"not the number of right decisions, are what the model decides by: its {right}"
    )


def _in_use(scored: ScoredRows, costs: Costs | None) -> str:
    """Compare with the decisions in use today, if they are known: by what they cost, or how many are right."""
    if scored.today is None:
        return ""
    if costs is None:
        own, today = (1.0 * (part == scored.target) for part in (scored.decided, scored.today))
    else:
        own, today = (costs.matrix[scored.target, part] for part in (scored.decided, scored.today))
    score = paired("accuracy" if costs is None else "cost per row", own, today, scored.count)
    what = "have an accuracy of" if costs is None else "cost"
    return (
        f" The decisions in use today {what} {score.words(score.base)}; those of this tree are {_verdict(score)} them, "
        f"the difference is {score.with_interval(score.gain, score.gain_low, score.gain_high)}."
    )


def _verdict(score: Score) -> str:
    return "better than" if score.convincing else "not clearly better than"


def _regression_quality(scored: ScoredRows, error: Score, explained: Score) -> str:
    share = "" if np.isnan(explained.value) else f" (R² {explained.words(explained.value)})"
    return (
        f"On {pluralise(scored.n_rows, 'test row')} its root mean squared error of {error.words(error.value)} is "
        f"{_verdict(error)} the {error.words(error.base)} of always predicting the training mean{share}."
    )


def shown(name: str) -> str:
    """Shorten a name that is too long for a sentence."""
    return shortened(name, _MOST_LETTERS)


def listed(names: list[str]) -> str:
    """List some names, and how many more there are."""
    if len(names) <= _MOST_NAMES:
        return ", ".join(names)
    return f"{', '.join(names[:_MOST_NAMES])} and {len(names) - _MOST_NAMES} more"
