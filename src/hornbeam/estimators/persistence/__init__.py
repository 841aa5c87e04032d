"""Saving and loading of estimators.

Reading order:

- `files`: `save`, `load`, `diff`.
- `codec`: the registry of estimators; estimators to models, and back.
- `rules`, `distribution`: codecs of rules, and of the distribution of a numeric target.
- `parameters`: codec of parameters, smoothers and pruners.
- `labels`: codec of class labels and class weights.
- `state`: the state of pickles and skops files.
"""
