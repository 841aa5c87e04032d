"""Explanations of a tree and its predictions.

1. `path`: decision paths of a row; `row_terms`: the terms of its leaf.
2. `borrowed_rows`: sources of the rows that a node borrowed.
3. `reasons`: how far each feature moved a prediction.
4. `explanation`: all of these for each row.
5. `shapley`: SHAP values.
6. `counterfactual`: changes that lead to another prediction; `term_moves`: those within a leaf.
7. `intervals`: intervals of probabilities and means.
8. `leaves`: table of leaves.
9. `candidates`: candidate splits of a node.
10. `leaf_sums`: exact sums of new rows; `drift`: new rows compared with the training rows; `unseen`: unseen
    categories in new rows.
11. `scorecard`: points per segment.
"""

from hornbeam.explain.borrowed_rows import BorrowedRows, borrowed_rows
from hornbeam.explain.candidates.list_splits import candidate_splits
from hornbeam.explain.candidates.table import CandidateChild, CandidateSplit, CandidateSplits
from hornbeam.explain.counterfactual import Counterfactual, Counterfactuals, counterfactuals
from hornbeam.explain.drift import Drift, drift
from hornbeam.explain.explanation import Explanation, Explanations, explain
from hornbeam.explain.intervals import interval, predict_interval
from hornbeam.explain.leaves import Leaves, leaves
from hornbeam.explain.path import DecisionPath, PathStep
from hornbeam.explain.reasons import Reason
from hornbeam.explain.row_terms import RowTerm
from hornbeam.explain.scorecard import Scorecard, ScoreTerm, Segment, scorecard
from hornbeam.explain.shapley import ShapValues, shap_values
from hornbeam.explain.unseen import Unseen, unseen
from hornbeam.tree.importance import importance

__all__ = [
    "BorrowedRows",
    "CandidateChild",
    "CandidateSplit",
    "CandidateSplits",
    "Counterfactual",
    "Counterfactuals",
    "DecisionPath",
    "Drift",
    "Explanation",
    "Explanations",
    "Leaves",
    "PathStep",
    "Reason",
    "RowTerm",
    "ScoreTerm",
    "Scorecard",
    "Segment",
    "ShapValues",
    "Unseen",
    "borrowed_rows",
    "candidate_splits",
    "counterfactuals",
    "drift",
    "explain",
    "importance",
    "interval",
    "leaves",
    "predict_interval",
    "scorecard",
    "shap_values",
    "unseen",
]
