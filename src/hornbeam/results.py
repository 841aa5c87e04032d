"""What methods and functions return: for annotations and ``isinstance``, never to construct.

Each name is imported on first use.
"""

from typing import TYPE_CHECKING, Any

from hornbeam.lazy import lazy_attribute

if TYPE_CHECKING:
    from hornbeam.editing.approval_log import Edit
    from hornbeam.editing.editor import TreeEditor
    from hornbeam.evaluation.calibration import ReliabilityCurve
    from hornbeam.evaluation.discrimination import KSStatistic, LiftTable
    from hornbeam.evaluation.model_comparison import ModelComparison
    from hornbeam.evaluation.model_scores import Scores
    from hornbeam.evaluation.score_change import ScoreChanges
    from hornbeam.evaluation.stability import Stability
    from hornbeam.explain.candidates.table import CandidateSplit, CandidateSplits
    from hornbeam.explain.counterfactual import Counterfactual, Counterfactuals
    from hornbeam.explain.drift import Drift
    from hornbeam.explain.explanation import Explanation, Explanations
    from hornbeam.explain.leaves import Leaves
    from hornbeam.explain.reasons import Reason
    from hornbeam.explain.scorecard import Scorecard, Segment
    from hornbeam.explain.shapley import ShapValues
    from hornbeam.explain.unseen import Unseen
    from hornbeam.out_of_core.predict import Predictions
    from hornbeam.pruning.cost_complexity import CostComplexityPath
    from hornbeam.reporting.document import Report
    from hornbeam.rules.fired import FiredRules
    from hornbeam.rules.rule import Rule
    from hornbeam.rules.rule_set import RuleSet
    from hornbeam.smoothing.row_distributions import RowDistributions
    from hornbeam.storage.difference import Difference
    from hornbeam.tuning.size_path import SizePath
    from hornbeam.web_editor.server import Workbench

__all__ = [
    "CandidateSplit",
    "CandidateSplits",
    "CostComplexityPath",
    "Counterfactual",
    "Counterfactuals",
    "Difference",
    "Drift",
    "Edit",
    "Explanation",
    "Explanations",
    "FiredRules",
    "KSStatistic",
    "Leaves",
    "LiftTable",
    "ModelComparison",
    "Predictions",
    "Reason",
    "ReliabilityCurve",
    "Report",
    "RowDistributions",
    "Rule",
    "RuleSet",
    "ScoreChanges",
    "Scorecard",
    "Scores",
    "Segment",
    "ShapValues",
    "SizePath",
    "Stability",
    "TreeEditor",
    "Unseen",
    "Workbench",
]

_MODULES = {
    "CandidateSplit": "hornbeam.explain.candidates.table",
    "CandidateSplits": "hornbeam.explain.candidates.table",
    "CostComplexityPath": "hornbeam.pruning.cost_complexity",
    "Counterfactual": "hornbeam.explain.counterfactual",
    "Counterfactuals": "hornbeam.explain.counterfactual",
    "Difference": "hornbeam.storage.difference",
    "Drift": "hornbeam.explain.drift",
    "Edit": "hornbeam.editing.approval_log",
    "Explanation": "hornbeam.explain.explanation",
    "Explanations": "hornbeam.explain.explanation",
    "FiredRules": "hornbeam.rules.fired",
    "KSStatistic": "hornbeam.evaluation.discrimination",
    "Leaves": "hornbeam.explain.leaves",
    "LiftTable": "hornbeam.evaluation.discrimination",
    "ModelComparison": "hornbeam.evaluation.model_comparison",
    "Predictions": "hornbeam.out_of_core.predict",
    "Reason": "hornbeam.explain.reasons",
    "ReliabilityCurve": "hornbeam.evaluation.calibration",
    "Report": "hornbeam.reporting.document",
    "RowDistributions": "hornbeam.smoothing.row_distributions",
    "Rule": "hornbeam.rules.rule",
    "RuleSet": "hornbeam.rules.rule_set",
    "ScoreChanges": "hornbeam.evaluation.score_change",
    "Scorecard": "hornbeam.explain.scorecard",
    "Scores": "hornbeam.evaluation.model_scores",
    "Segment": "hornbeam.explain.scorecard",
    "ShapValues": "hornbeam.explain.shapley",
    "SizePath": "hornbeam.tuning.size_path",
    "Stability": "hornbeam.evaluation.stability",
    "TreeEditor": "hornbeam.editing.editor",
    "Unseen": "hornbeam.explain.unseen",
    "Workbench": "hornbeam.web_editor.server",
}


def __getattr__(name: str) -> Any:
    return lazy_attribute(globals(), _MODULES, name)


def __dir__() -> list[str]:
    return __all__
