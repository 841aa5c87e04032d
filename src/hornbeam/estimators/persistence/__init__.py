"""Saving and loading of estimators.

Reading order:

- `files`: `save`, `load`, `diff`, and the registry of estimators.
- `codec`: estimators to models, and back.
- `rules`: codec of rule lists.
- `parameters`: codec of parameters, smoothers and pruners.
- `labels`: codec of class labels and class weights.
- `state`: the state of pickles and skops files.
"""
