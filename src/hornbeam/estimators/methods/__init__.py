"""Base classes and mixins of the estimators.

Reading order:

- `estimator`: base classes of all estimators and of all classifiers.
- `column_names`: select columns by name.
- `reads_rows`: read rows by the schema of the fitted model.
- `predict_to`: predictions of files written to files.
- `tree_methods`: methods of one tree, such as `apply`, `update` and `forget`.
- `explain_methods`: explanations, SHAP values, counterfactuals, leaves, drift.
- `update`: the work of `update` and `forget`.
- `ensemble_methods`: training of forests and boosted trees.
- `initial_scores`, `teacher`: other estimators in a fit, the parameters `init` and `teacher`.
- `progress`: scikit-learn's callbacks.
- `locks`: one thread at a time fits or updates an estimator.
"""
