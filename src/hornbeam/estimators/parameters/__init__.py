"""Parameters of estimators: checked, and translated into growers, smoothers, pruners and trainers.

Reading order:

- `fields`: names, types and defaults, which estimators inherit.
- `validators`: one function per kind of parameter.
- `path_constraints`: features that may occur together on a path, and splits that a tree begins with.
- `recipes`: fitters of one tree, from rows and with a teacher.
- `forest`: trainers of forests.
- `boosting`: trainers of boosted trees.
"""
