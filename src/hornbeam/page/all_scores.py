"""The headline scores of a model, whatever its target."""

from hornbeam.page.numbers import headline_of_numbers
from hornbeam.page.scores import Score, headline
from hornbeam.page.subject import Subject
from hornbeam.page.trial import Trial
from hornbeam.tree.base_rate import base_rate
from hornbeam.tree.tree import unsmoothed

__all__ = ["scores_of"]


def scores_of(subject: Subject, trial: Trial) -> list[Score]:
    """Score a model of classes or of numbers on its test rows."""
    tree = subject.tree
    if tree.is_measured:
        return headline_of_numbers(trial, unsmoothed(tree).item(0))
    return headline(trial, base_rate(tree), subject.costs, subject.positive)
