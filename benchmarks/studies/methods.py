"""What a method is: a name in a group, and a group that answers for many methods at once.

A group fits what its methods share (a tree, a forest) once a fold and yields an `Outcome` for each of them. To add
methods, write a group and put it into the list of a study in ``study.py``; a name is ``group/method``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.sets import Fold


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a method said of the test rows, or why it said nothing.

    ``seconds`` are CPU seconds of training, shared parts included; ``size`` is the number of nodes, if there are
    any to count.
    """

    method: str
    probabilities: NDArray[np.float64] | None
    seconds: float = 0.0
    size: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Methods that share work. ``run`` gets a fold and the names that are wanted, cheapest first."""

    name: str
    methods: tuple[str, ...]
    run: Callable[[Fold, frozenset[str]], Iterator[Outcome]]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.name}/{method}" for method in self.methods)


def settings_group(name: str, settings: dict[str, Callable[[], Any]]) -> Group:
    """Classifiers in scikit-learn's manners that are fitted on the frame as it is, one method each."""

    def run(fold: Fold, wanted: frozenset[str]) -> Iterator[Outcome]:
        train, test = fold.frames()
        for method, make in settings.items():
            if method in wanted:
                classifier, seconds = timed(lambda make=make: make().fit(train, fold.y_train))
                tree = getattr(classifier, "tree_", None)
                answer = fold.spread(classifier.predict_proba(test))
                yield Outcome(method, answer, seconds, getattr(tree, "n_nodes", None))

    return Group(name, tuple(settings), run)


def timed[T](work: Callable[[], T]) -> tuple[T, float]:
    """What some work gave, and its CPU seconds: the cores are shared with others."""
    begin = time.process_time()
    result = work()
    return result, time.process_time() - begin
