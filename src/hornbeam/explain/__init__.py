"""Numbers about a tree, for people: how sure it is, and why, and whether it is still right."""

from hornbeam.explain.borrowed_rows import BorrowedRows, borrowed_rows
from hornbeam.explain.counterfactual import Counterfactual, Counterfactuals, counterfactuals
from hornbeam.explain.drift import Drift, drift
from hornbeam.explain.explanation import Explanation, Explanations, explain
from hornbeam.explain.intervals import interval, predict_interval
from hornbeam.explain.leaves import Leaves, leaves
from hornbeam.explain.path import DecisionPath, PathStep
from hornbeam.explain.reasons import Reason
from hornbeam.explain.shapley import ShapValues, shap_values
from hornbeam.explain.unseen import Unseen, unseen
from hornbeam.tree.importance import importance

__all__ = [
    "BorrowedRows",
    "Counterfactual",
    "Counterfactuals",
    "DecisionPath",
    "Drift",
    "Explanation",
    "Explanations",
    "Leaves",
    "PathStep",
    "Reason",
    "ShapValues",
    "Unseen",
    "borrowed_rows",
    "counterfactuals",
    "drift",
    "explain",
    "importance",
    "interval",
    "leaves",
    "predict_interval",
    "shap_values",
    "unseen",
]
