"""Smoothing a tree again with the smoothers in its history, with their fitted parameters."""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from functools import reduce
from typing import Any

import numpy as np

from hornbeam.data.schema import Schema
from hornbeam.errors import ParameterError, TreeError
from hornbeam.smoothing.estimates import Raw
from hornbeam.smoothing.interval_calibration import IntervalCalibration
from hornbeam.smoothing.monotone import Monotone
from hornbeam.smoothing.registry import SMOOTHERS
from hornbeam.smoothing.smoother import NamedSmoother, Smoother
from hornbeam.tree.tree import Step, Tree

# Differences of a probability between machines, by their logarithms and optimisers.
_TOLERANCE = 1e-6
# Steps after a smoother that change its predictions or intervals.
_ADJUSTMENTS: dict[str, type[NamedSmoother]] = {kind.name: kind for kind in (Monotone, IntervalCalibration)}


def smoothers_of(history: Sequence[Step]) -> tuple[NamedSmoother, ...]:
    """Find the smoothers in the history of a tree that made its present predictions."""
    last = next((at for at in reversed(range(len(history))) if history[at].name in SMOOTHERS), None)
    steps = [] if last is None else [history[last]]
    steps += [step for step in history[last or 0 :] if step.name == Monotone.name][-1:]
    steps += [step for step in history[-1:] if step.name == IntervalCalibration.name]
    return tuple(_smoother(step) for step in steps)


def smoothers_that_give(tree: Tree, own: Any = None) -> tuple[Smoother, ...]:
    """Find the smoothers that turn the evidence of a tree into its predictions; `TreeError` if none are found.

    `own` is a smoother of the user, which is not in the history. Anything that is not callable is ignored.
    """
    recorded = smoothers_of(tree.history)
    scale = np.abs(tree.belief).max() if tree.is_regression else 1.0
    for smoothers in [recorded, *([(own, *recorded)] if callable(own) else [])]:
        replayed = replay((Raw(), *smoothers), tree)
        same_nodes = replayed.belief.shape == tree.belief.shape  # `own` may also be a pruner
        if same_nodes and np.allclose(replayed.belief, tree.belief, rtol=0, atol=_TOLERANCE * scale):
            return smoothers
    raise TreeError(
        f"the smoothers in the history of the tree ({', '.join(map(str, recorded)) or 'raw'}) do not give its "
        "probabilities, so these cannot be updated: expected a smoother of hornbeam.smoothing, or the one it was "
        "fitted with as `smoothing`. Smooth the tree again, and make an estimator of it with from_tree."
    )


def check_history(history: Sequence[Step], schema: Schema) -> None:
    """Raise `TreeError` if a smoother in a history has invalid parameters, or does not fit the schema.

    Steps that are not smoothers of the registry are not checked: nothing is computed from them.
    """
    for step in history:
        kind = _class(step)
        if kind is None:
            continue
        if schema.is_regression and not kind.for_regression:
            raise TreeError(
                f"the history has the step {step.name!r}, which is for classification trees alone"
            )
        unknown = dict(step.parameters).keys() - _parameter_names(kind)
        if unknown:
            raise TreeError(
                f"the history has the step {step.name!r} with {min(unknown)!r}, a parameter that this "
                "step does not have"
            )
        smoother = _smoother(step)
        try:
            smoother.check_schema(schema)
        except ParameterError as error:
            raise TreeError(f"the history has the step {step.name!r}: {error}") from error


def known_part(step: Step) -> Step:
    """Return a step of a newer Hornbeam without the parameters that its smoother lacks in this version."""
    kind = _class(step)
    if kind is None:
        return step
    names = _parameter_names(kind)
    return Step(step.name, tuple((name, value) for name, value in step.parameters if name in names))


def replay(smoothers: Iterable[Smoother], tree: Tree) -> Tree:
    """Apply several smoothers to a tree, one after the other."""
    return reduce(lambda smoothed, smoother: smoother(smoothed), smoothers, tree)


def _class(step: Step) -> type[NamedSmoother] | None:
    """Return the class of a step, if it is a smoother or an adjustment."""
    return SMOOTHERS.get(step.name) or _ADJUSTMENTS.get(step.name)


def _parameter_names(kind: type[NamedSmoother]) -> set[str]:
    """Return the parameters that a step of a smoother may have: its fields, and its number of iterations."""
    return {field.name for field in fields(kind)} | {"steps"}  # type: ignore[arg-type]


def _smoother(step: Step) -> NamedSmoother:
    """Make the smoother of a step from those parameters that are its fields."""
    kind = (SMOOTHERS | _ADJUSTMENTS)[step.name]
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    try:
        smoother = kind(**{name: value for name, value in step.parameters if name in names})
    except (TypeError, ValueError, OverflowError) as error:
        raise TreeError(f"the history has the step {step!s:.200}, which cannot be made: {error}") from error
    return smoother
