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
