"""Names in files of earlier minor versions, and the present ones."""

from collections.abc import Mapping
from typing import Any

from hornbeam.tree.tree import Step

KINDS = ("measured tree", "measured trees")  # of regression: now "regression tree" and "regression trees"
_ESTIMATORS = {"LambdaMARTRanker": "BoostedTreesRanker"}
_PARAMETERS = {"nominal": "nominal_split"}
_VALUES = {
    ("preset", "pet"): "default",
    ("preset", "honest"): "default",
    ("smoothing", "honest"): "cross-fitted",
    ("smoothing", "hgs-gradient"): "gradient-hgs",
    ("smoothing", "hgs-loo"): "leave-one-out-hgs",
    ("smoothing", "shrinkage"): "hierarchical-shrinkage",
}
_STEPS = {
    "appraisal": "interval-calibration",
    "hgs-gradient": "gradient-hgs",
    "hgs-loo": "leave-one-out-hgs",
    "shrinkage": "hierarchical-shrinkage",
}
# Parameters of steps, by the present name of a step of a history, or by the class of a smoother or pruner; None: gone.
_OF_STEPS: dict[str, dict[str, str | None]] = {
    "grow": {
        "nominal": "nominal_split",
        "monotone": "monotonic_cst",
        "interactions": "interaction_cst",
        "forced": "forced_splits",
    },
    "hdp": {"seed": "random_state"},
    "HDP": {"seed": "random_state"},
    "gradient-hgs": {"tolerance": "tol"},
    "GradientHGS": {"tolerance": "tol"},
    "leave-one-out-hgs": {"tolerance": "tol"},
    "LeaveOneOutHGS": {"tolerance": "tol"},
    "collapse": {"tolerance": None},
    "Collapse": {"tolerance": None},
    "BayesRisk": {"n_jobs": None},
    "LeafBudget": {"n": "n_leaves"},
}


def present_estimator(name: str) -> str:
    """Return the present name of an estimator."""
    return _ESTIMATORS.get(name, name)


def present_parameters(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of an estimator with their present names and values.

    `simplicity` was in standard errors of the held-out loss: each becomes a tolerance of 1 %.

    Examples
    --------
    >>> present_parameters({"preset": "pet", "nominal": "subset"})
    {'preset': 'default', 'nominal_split': 'subset'}
    """
    present = {_PARAMETERS.get(name, name): value for name, value in settings.items()}
    if type(present.get("simplicity")) in (int, float):
        present["tolerance"] = 0.01 * present.pop("simplicity")
    return {
        name: _VALUES.get((name, value), value) if type(value) is str else value
        for name, value in present.items()
    }


def present_step(step: Step) -> Step:
    """Return a step with its present name and parameters.

    Examples
    --------
    >>> print(present_step(Step.of("grow", monotone=(1, 0))))
    grow(monotonic_cst=(1, 0))
    """
    name = _STEPS.get(step.name, step.name)
    renamed = _OF_STEPS.get(name, {})
    return Step(
        name,
        tuple((now, value) for one, value in step.parameters if (now := renamed.get(one, one)) is not None),
    )
