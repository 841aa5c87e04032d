"""Estimators with the scikit-learn interface.

Reading order:

- `tree_classifier`, `tree_regressor`: one tree; the others follow the same pattern.
- `forest_classifier`, `forest_regressor`: random forests.
- `boosted_classifier`, `boosted_regressor`, `ranker`: gradient boosted trees.
- `adaboost_classifier`: trees that vote with weights.
- `rule_classifier`: an ordered list of rules, made from a tree.
- `smoothed_classifier`: trees of other libraries with smoothed probabilities.
- `fit_tree`, `fit_forest`: parameters and rows to a fitted tree or forest, without scikit-learn.
- `parameters/`: from strings and numbers to growers, smoothers, pruners and trainers.
- `inputs/`: targets, files and dask collections, warnings about the data.
- `methods/`: base classes and mixins with the methods that estimators share.
- `persistence/`: `save`, `load`, `diff`, and the state of pickles.
"""
