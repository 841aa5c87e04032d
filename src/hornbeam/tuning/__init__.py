"""Fitters that choose settings on held-out rows.

Reading order:

- `folds`: rows to folds, a tree grown without each fold, and limits with many classes
- `candidate_losses`, `cross_validated`: the choice of a pruner
- `cross_fitted`: the default fit; strengths of smoothing and the size of the tree, applied to it
- `size_path`, `size_choice`: sizes with their held-out losses, and the choice of one
- `simulation`: intervals calibrated on simulated targets, where rows of a group depend on each other
- `calibrate`: the calibration of a tree of any recipe
- `distribution`: strengths and ranges of the distribution of a numeric target
"""
