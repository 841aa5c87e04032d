"""Headline scores of a classification or regression model."""

from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.reporting.scored_rows import ScoredRows
from hornbeam.reporting.sections.regression import regression_headline
from hornbeam.reporting.sections.scores import Score, headline
from hornbeam.tree.decision.base_rate import base_rate
from hornbeam.tree.tree import unsmoothed

__all__ = ["scores_of"]


def scores_of(reported: ReportedModel, scored: ScoredRows) -> list[Score]:
    """Score a classification or regression model on its test rows."""
    tree = reported.tree
    if tree.is_regression:
        return regression_headline(scored, unsmoothed(tree).item(0))
    return headline(scored, base_rate(tree), reported.costs, reported.positive)
