"""Distillation of any model into one tree.

1. `synthetic_rows`: new rows near the training rows.
2. `soft_growth`: a tree of any size, grown on probabilities.
3. `search_rows`: rows with soft labels, encoded for the search.
4. `small_tree`: a tree of a few leaves, found by lookahead.
5. `leaf_slopes`: the slopes of its leaves.
6. `distillation`: parameters and procedure.
7. `teacher`: the default teacher, a forest mixed with boosted trees.
8. `taught`: teacher and distillation as one fitter.
"""
