"""How good probabilities are, and whether one method beats another."""

from hornbeam.evaluation.calibration import ReliabilityCurve, reliability_curve
from hornbeam.evaluation.comparison import Comparison, Friedman, WinDrawLoss, nemenyi_distance, sign_test
from hornbeam.evaluation.discrimination import (
    KS,
    LiftTable,
    RocCurve,
    gini,
    ks_statistic,
    lift_table,
    roc_auc,
    roc_curve,
)
from hornbeam.evaluation.ranking import mean_average_precision, mean_reciprocal_rank, ndcg
from hornbeam.evaluation.scores import (
    ScoreSums,
    brier_score,
    calibration_error,
    log_loss,
    rmse,
    zero_one_loss,
)
from hornbeam.evaluation.tree_scores import score_tree, tree_reliability

__all__ = [
    "KS",
    "Comparison",
    "Friedman",
    "LiftTable",
    "ReliabilityCurve",
    "RocCurve",
    "ScoreSums",
    "WinDrawLoss",
    "brier_score",
    "calibration_error",
    "gini",
    "ks_statistic",
    "lift_table",
    "log_loss",
    "mean_average_precision",
    "mean_reciprocal_rank",
    "ndcg",
    "nemenyi_distance",
    "reliability_curve",
    "rmse",
    "roc_auc",
    "roc_curve",
    "score_tree",
    "sign_test",
    "tree_reliability",
    "zero_one_loss",
]
