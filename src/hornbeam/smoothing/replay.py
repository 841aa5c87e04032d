"""Smoothing again, as a tree was smoothed before: by the steps in its history, strengths and all."""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from functools import reduce
from typing import Any

from hornbeam.data.schema import Schema
from hornbeam.errors import ParameterError, TreeError
from hornbeam.smoothing.borrowing import Borrowing
from hornbeam.smoothing.estimates import Laplace, MEstimate, Raw
from hornbeam.smoothing.hdp import HDP
from hornbeam.smoothing.hgs import HGS, GradientHGS, LeaveOneOutHGS
from hornbeam.smoothing.interval_calibration import IntervalCalibration
from hornbeam.smoothing.m_branch import MBranch
from hornbeam.smoothing.monotone import Monotone
from hornbeam.smoothing.shrinkage import HierarchicalShrinkage
from hornbeam.smoothing.smoother import Smoother
from hornbeam.tree.tree import Step, Tree

__all__ = ["check_history", "known_part", "replay", "smoothers_of"]

# By the names they sign with. Each of these speaks alone: nothing that was believed before it counts.
_SMOOTHERS: dict[str, Any] = {
    "borrowing": Borrowing,
    "hdp": HDP,
    "hgs": HGS,
    "hgs-gradient": GradientHGS,
    "hgs-loo": LeaveOneOutHGS,
    "laplace": Laplace,
    "m-branch": MBranch,
    "m-estimate": MEstimate,
    "raw": Raw,
    "shrinkage": HierarchicalShrinkage,
}

_KINDS = _SMOOTHERS | {"appraisal": IntervalCalibration, "monotone": Monotone}
_OF_NUMBERS = (
    IntervalCalibration,
    Borrowing,
    HierarchicalShrinkage,
    MBranch,
    Monotone,
    Raw,
)  # and of classes


def smoothers_of(history: Sequence[Step]) -> tuple[Smoother, ...]:
    """Find the steps that made what a tree believes, in its history.

    Parameters
    ----------
    history : sequence of Step
        Of the tree.

    Returns
    -------
    tuple of Smoother
        The last smoother of the house with the strengths it had, fitted ones too; `Monotone` if it was
        brought in order; `IntervalCalibration` if its rows were appraised in the end. Empty for raw frequencies.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> X, y = [[0], [1], [2], [3]], [0, 0, 1, 1]
    >>> smoothers_of(TreeClassifier(smoothing=HGS(2.0)).fit(X, y).tree_.history)
    (HGS(alpha=2.0, prior=1.0),)
    >>> [type(smoother).__name__ for smoother in smoothers_of(TreeClassifier().fit(X, y).tree_.history)]
    ['Borrowing', 'IntervalCalibration']
    """
    found: list[Smoother] = []
    last = next((at for at in reversed(range(len(history))) if history[at].name in _SMOOTHERS), None)
    if last is not None:
        found.append(_made(_SMOOTHERS[history[last].name], history[last]))
    found += [_made(Monotone, step) for step in history[last or 0 :] if step.name == "monotone"][-1:]
    found += [_made(IntervalCalibration, step) for step in history[-1:] if step.name == "appraisal"]
    return tuple(found)


def check_history(history: Sequence[Step], schema: Schema) -> None:
    """Raise `TreeError` if a history has a smoother that cannot be made, or not for such a tree.

    Parameters
    ----------
    history : sequence of Step
        Steps of other names than the smoothers of Hornbeam are not looked at: nothing is computed from them.
    schema : Schema
        That of the tree.

    Examples
    --------
    >>> from hornbeam import Schema
    >>> check_history([Step.of("hgs", alpha=-1.0)], Schema((), ("no", "yes")))
    Traceback (most recent call last):
        ...
    hornbeam.errors.TreeError: the history has the step hgs(alpha=-1.0), which cannot be made: alpha=-1.0: ...
    """
    for step in history:
        kind = _KINDS.get(step.name)
        if kind is None:
            continue
        if schema.is_regression and kind not in _OF_NUMBERS:
            raise TreeError(f"the history has the step {step.name!r}, which is for trees of classes alone")
        unknown = dict(step.parameters).keys() - _names(kind)
        if unknown:
            raise TreeError(
                f"the history has the step {step.name!r} with {min(unknown)!r}, a parameter that this "
                "step does not have"
            )
        smoother = _made(kind, step)
        try:
            if isinstance(smoother, Monotone):
                smoother.check_fits(schema)
            if isinstance(smoother, MEstimate):
                smoother.check_fits(schema.n_classes)
        except ParameterError as error:
            raise TreeError(f"the history has the step {step.name!r}: {error}") from error


def known_part(step: Step) -> Step:
    """Return a step of a newer Hornbeam without the parameters that its smoother does not have here.

    Examples
    --------
    >>> print(known_part(Step.of("hgs", alpha=2.0, colour="blue")))
    hgs(alpha=2.0)
    """
    kind = _KINDS.get(step.name)
    if kind is None:
        return step
    names = _names(kind)
    return Step(step.name, tuple((name, value) for name, value in step.parameters if name in names))


def replay(smoothers: Iterable[Smoother], tree: Tree) -> Tree:
    """Smooth a tree by several steps, one after the other.

    Examples
    --------
    Evidence has grown, and the tree borrows as before:

    >>> from hornbeam import Table, TreeClassifier
    >>> from hornbeam.tree import add_rows
    >>> tree = TreeClassifier("cart", smoothing="hgs").fit([[0], [1], [2]], [0, 1, 1]).tree_
    >>> more = add_rows(tree, Table.read([[0], [0]], [0, 0], schema=tree.schema))
    >>> replay(smoothers_of(tree.history), more).belief[1].round(3).tolist()
    [0.82, 0.18]
    """
    return reduce(lambda smoothed, smoother: smoother(smoothed), smoothers, tree)


def _names(kind: Any) -> set[str]:
    """Return the names that a step of a smoother may have: its parameters, and how many steps it took."""
    return {field.name for field in fields(kind)} | {"steps"}


def _made(kind: Any, step: Step) -> Smoother:
    """Make a smoother from the line it wrote, which may tell more than its parameters."""
    names = {field.name for field in fields(kind)}
    try:
        smoother: Smoother = kind(**{name: value for name, value in step.parameters if name in names})
    except (TypeError, ValueError, OverflowError) as error:
        raise TreeError(f"the history has the step {step!s:.200}, which cannot be made: {error}") from error
    return smoother
