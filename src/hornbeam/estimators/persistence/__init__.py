"""Saving and loading of estimators.

Reading order:

- `files`: `save`, `load`, `diff`, and the registry of estimators.
- `trees`, `forests`, `boosted`, `rules`: one codec per family, with `pack` and `unpack`.
- `parameters`: codec of parameters, smoothers and pruners.
- `labels`: codec of class labels and class weights.
- `state`: the state of pickles and skops files.
"""
