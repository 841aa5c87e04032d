"""The headline scores of a model, whatever its target."""

from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.reporting.sections.regression import headline_of_numbers
from hornbeam.reporting.sections.scores import Score, headline
from hornbeam.reporting.test_results import TestResults
from hornbeam.tree.decision.base_rate import base_rate
from hornbeam.tree.tree import unsmoothed

__all__ = ["scores_of"]


def scores_of(subject: ReportedModel, trial: TestResults) -> list[Score]:
    """Score a model of classes or of numbers on its test rows."""
    tree = subject.tree
    if tree.is_regression:
        return headline_of_numbers(trial, unsmoothed(tree).item(0))
    return headline(trial, base_rate(tree), subject.costs, subject.positive)
