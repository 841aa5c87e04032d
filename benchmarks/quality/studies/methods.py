"""What a method is: a name in a group, and a group that predicts for many methods at once.

A group fits what its methods share (a tree, a forest) once a fold and yields an `Outcome` for each of them. To add
methods, write a group and put it into the list of a study in ``study.py``; a name is ``group/method``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.studies.sets import Fold
from hornbeam.tree.tree import Tree


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a method said of the test rows, or why it said nothing.

    ``seconds`` are CPU seconds of training, shared parts included; ``size`` is the number of nodes, if there are
    any to count, as with ``leaves`` and ``depth``; ``numbers`` are those that a reader of the model meets; ``steps``
    are those of a gradient descent. ``costs`` are sums over the test rows by name, in studies that have any
    (`studies.costs`).
    """

    method: str
    probabilities: NDArray[np.float64] | None
    seconds: float = 0.0
    size: int | None = None
    reason: str | None = None
    leaves: int | None = None
    depth: int | None = None
    steps: int | None = None
    numbers: int | None = None
    costs: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of_tree(cls, method: str, tree: Tree, probabilities: NDArray[np.float64], seconds: float) -> Self:
        """The predictions of a tree of ours, its size, and the steps of its last change."""
        steps = dict(tree.history[-1].parameters).get("steps") if tree.history else None
        sizes = {"leaves": tree.n_leaves, "depth": tree.depth, "steps": steps}
        return cls(method, probabilities, seconds, tree.n_nodes, **sizes)


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
    """Tree classifiers that are fitted on the frame as it is, one method each."""
    return Group(name, tuple(settings), partial(fit_settings, settings))


def fit_settings(
    settings: Mapping[str, Callable[[], Any]], fold: Fold, wanted: frozenset[str]
) -> Iterator[Outcome]:
    """Fit the wanted ones of some tree classifiers, one after the other."""
    train, test = fold.frames()
    for method, make in settings.items():
        if method in wanted:
            classifier, seconds = timed(lambda make=make: make().fit(train, fold.y_train))
            answer = fold.spread(classifier.predict_proba(test))
            yield Outcome.of_tree(method, classifier.tree_, answer, seconds)


def timed[T](work: Callable[[], T]) -> tuple[T, float]:
    """What some work gave, and its CPU seconds: the cores are shared with others."""
    begin = time.process_time()
    result = work()
    return result, time.process_time() - begin
