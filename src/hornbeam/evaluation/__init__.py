"""Scores of probabilities and rankings, and comparisons of methods over data sets.

Read in this order:

- `scores`: Brier score, log loss, error rate, calibration error and costs, as sums over rows
- `model_scores`: scores of a model on rows in memory or in files
- `calibration`: the reliability curve
- `discrimination`: ROC curve, Gini, Kolmogorov-Smirnov and lift
- `ranking`: NDCG, mean average precision and mean reciprocal rank
- `score_intervals`: means of scores of rows with intervals, beside those of the base rate
- `score_change`: scores of a model before and after a change, with standard errors
- `estimates`: scores with the influence of each row; `model_comparison`: several models on the same rows
- `row_counts`: what scores of rows in files are computed from, in one pass
- `refits`: an estimator fitted to halves of its rows; `stability`: what changes between these fits
- `comparison`: several methods on several data sets, with significance tests
"""

from hornbeam.evaluation.calibration import reliability_curve
from hornbeam.evaluation.comparison import Comparison
from hornbeam.evaluation.discrimination import (
    gini_coefficient,
    ks_statistic,
    lift_table,
)
from hornbeam.evaluation.model_comparison import compare
from hornbeam.evaluation.model_scores import scores
from hornbeam.evaluation.ranking import mean_average_precision, mean_reciprocal_rank, ndcg
from hornbeam.evaluation.score_change import score_changes
from hornbeam.evaluation.scores import (
    brier_score,
    calibration_error,
    log_loss,
    mean_cost,
    probability_rmse,
    zero_one_loss,
)
from hornbeam.evaluation.stability import stability

__all__ = [
    "Comparison",
    "brier_score",
    "calibration_error",
    "compare",
    "gini_coefficient",
    "ks_statistic",
    "lift_table",
    "log_loss",
    "mean_average_precision",
    "mean_cost",
    "mean_reciprocal_rank",
    "ndcg",
    "probability_rmse",
    "reliability_curve",
    "score_changes",
    "scores",
    "stability",
    "zero_one_loss",
]
