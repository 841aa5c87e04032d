"""Parameters of estimators: checked, and translated into growers, smoothers, pruners and trainers.

Reading order:

- `validators`: one function per kind of parameter.
- `threads`: `n_jobs`.
- `recipes`: recipes and fitters of one tree.
- `forest`: trainers of forests.
- `boosting`: trainers of boosted trees.
"""
