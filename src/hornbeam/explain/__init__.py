"""Numbers about a tree, for people: how sure it is, and why, and whether it is still right."""

from hornbeam.explain.counterfactual import Counterfactual, counterfactuals
from hornbeam.explain.explanation import Explanation, Explanations, explain
from hornbeam.explain.importance import importance
from hornbeam.explain.intervals import interval, predict_interval
from hornbeam.explain.leaves import Leaves, leaves
from hornbeam.explain.loans import Loan, loans
from hornbeam.explain.path import Path, Visit
from hornbeam.explain.reasons import Reason
from hornbeam.explain.shapley import ShapValues, shap_values
from hornbeam.explain.stability import Drift, drift

__all__ = [
    "Counterfactual",
    "Drift",
    "Explanation",
    "Explanations",
    "Leaves",
    "Loan",
    "Path",
    "Reason",
    "ShapValues",
    "Visit",
    "counterfactuals",
    "drift",
    "explain",
    "importance",
    "interval",
    "leaves",
    "loans",
    "predict_interval",
    "shap_values",
]
