"""Scores of probabilities and rankings, and comparisons of methods over data sets.

Read in this order:

- `scores`: Brier score, log loss, error rate and calibration error, as sums over rows
- `calibration`: the reliability curve
- `discrimination`: ROC curve, Gini, Kolmogorov-Smirnov and lift
- `ranking`: NDCG, mean average precision and mean reciprocal rank
- `tree_scores`: scores of a tree on the rows of a source
- `score_intervals`: means of scores of rows with intervals, beside those of the base rate
- `score_change`: scores of a tree before and after a change, with standard errors
- `row_counts`: what scores of rows in files are computed from, in one pass
- `refits`: an estimator fitted to halves of its rows; `stability`: what changes between these fits
- `comparison`: several methods on several data sets, with significance tests
"""

from hornbeam.evaluation.calibration import ReliabilityCurve, reliability_curve
from hornbeam.evaluation.comparison import Comparison, nemenyi_distance, sign_test
from hornbeam.evaluation.discrimination import (
    KS,
    LiftTable,
    gini,
    ks_statistic,
    lift_table,
    roc_auc,
    roc_curve,
)
from hornbeam.evaluation.ranking import mean_average_precision, mean_reciprocal_rank, ndcg
from hornbeam.evaluation.score_change import ScoreChanges, score_changes
from hornbeam.evaluation.scores import (
    ScoreSums,
    brier_score,
    calibration_error,
    log_loss,
    rmse,
    zero_one_loss,
)
from hornbeam.evaluation.stability import LeafSpread, RootSplit, Stability, stability
from hornbeam.evaluation.tree_scores import score_tree, tree_reliability

__all__ = [
    "KS",
    "Comparison",
    "LeafSpread",
    "LiftTable",
    "ReliabilityCurve",
    "RootSplit",
    "ScoreChanges",
    "ScoreSums",
    "Stability",
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
    "score_changes",
    "score_tree",
    "sign_test",
    "stability",
    "tree_reliability",
    "zero_one_loss",
]
