"""Names in files of earlier minor versions, and the present ones."""

from collections.abc import Mapping
from typing import Any

from hornbeam.tree.tree import Step

__all__ = ["KINDS", "present_estimator", "present_settings", "present_step"]

KINDS = ("measured tree", "measured trees")  # of regression: now "regression tree" and "regression trees"
_ESTIMATORS = {"LambdaMARTRanker": "BoostedTreesRanker"}
_STEPS = {"appraisal": "interval-calibration"}
_SETTINGS = {
    ("preset", "pet"): "default",
    ("preset", "honest"): "default",
    ("smoothing", "honest"): "cross-fitted",
}


def present_estimator(name: str) -> str:
    """Return the present name of an estimator."""
    return _ESTIMATORS.get(name, name)


def present_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with the present names of presets and smoothers.

    Examples
    --------
    >>> present_settings({"preset": "pet", "max_depth": 3})
    {'preset': 'default', 'max_depth': 3}
    """
    return {
        key: _SETTINGS.get((key, value), value) if type(value) is str else value
        for key, value in settings.items()
    }


def present_step(step: Step) -> Step:
    """Return a step with its present name."""
    return step if step.name not in _STEPS else Step(_STEPS[step.name], step.parameters)
