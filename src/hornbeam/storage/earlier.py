"""Names in files of earlier minor versions, and the present ones."""

from collections.abc import Mapping
from typing import Any

from hornbeam.tree.tree import Step

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
    """Return settings with the present names of presets and smoothers."""
    return {
        key: _SETTINGS.get((key, value), value) if type(value) is str else value
        for key, value in settings.items()
    }


def present_parameters(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as the present parameters of an estimator; a model that is saved again keeps its settings.

    `simplicity` was in standard errors of the held-out loss: each becomes a tolerance of 1 %.
    """
    present = dict(settings)
    if type(present.get("simplicity")) in (int, float):
        present["tolerance"] = 0.01 * present.pop("simplicity")
    return present


def present_step(step: Step) -> Step:
    """Return a step with its present name."""
    return step if step.name not in _STEPS else Step(_STEPS[step.name], step.parameters)
