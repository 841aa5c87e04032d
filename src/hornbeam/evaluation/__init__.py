"""How good probabilities are, and whether one method beats another."""

from hornbeam.evaluation.calibration import ReliabilityCurve, reliability_curve
from hornbeam.evaluation.compare import Comparison, Friedman, Record, nemenyi_distance, sign_test
from hornbeam.evaluation.counted import tree_reliability, tree_tally
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
    Tally,
    brier_score,
    calibration_error,
    log_loss,
    rmse,
    zero_one_loss,
)

__all__ = [
    "KS",
    "Comparison",
    "Friedman",
    "LiftTable",
    "Record",
    "ReliabilityCurve",
    "RocCurve",
    "Tally",
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
    "sign_test",
    "tree_reliability",
    "tree_tally",
    "zero_one_loss",
]
