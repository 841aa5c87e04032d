"""Parameters of estimators: checked, and translated into growers, smoothers, pruners and trainers.

Reading order:

- `validators`: one function per kind of parameter.
- `threads`: `n_jobs`.
- `path_constraints`: features that may occur together on a path.
- `forced`: splits that a tree begins with.
- `recipes`: recipes and fitters of one tree.
- `forest`: trainers of forests.
- `boosting`: trainers of boosted trees.
"""
