"""Steps that change the shape of a tree."""

from hornbeam.pruning.bayes_risk import BayesRisk
from hornbeam.pruning.collapse import Collapse
from hornbeam.pruning.cost_complexity import (
    CostComplexity,
    CostComplexityPath,
    cost_complexity_path,
    cost_complexity_pruners,
    cut_alphas,
)
from hornbeam.pruning.error_based import ErrorBased, expected_errors
from hornbeam.pruning.frontiers import WorkSpan, frontiers, work_span
from hornbeam.pruning.leaf_budget import LeafBudget
from hornbeam.pruning.leaf_price import LeafPrice
from hornbeam.pruning.minimum_error import MinimumError
from hornbeam.pruning.pruner import Pruner
from hornbeam.pruning.reduced_error import ReducedError

__all__ = [
    "BayesRisk",
    "Collapse",
    "CostComplexity",
    "CostComplexityPath",
    "ErrorBased",
    "LeafBudget",
    "LeafPrice",
    "MinimumError",
    "Pruner",
    "ReducedError",
    "WorkSpan",
    "cost_complexity_path",
    "cost_complexity_pruners",
    "cut_alphas",
    "expected_errors",
    "frontiers",
    "work_span",
]
