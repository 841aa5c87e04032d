"""Distillation of any model into one tree.

1. `synthetic_rows`: new rows near the training rows.
2. `search_rows`: rows with soft labels, encoded for the search; a tree of any size, grown on them.
3. `small_tree`: a tree of a few leaves, found by lookahead.
4. `leaf_slopes`: the slopes of its leaves.
5. `distillation`: parameters and procedure.
6. `teacher`: the default teacher, a forest mixed with boosted trees.
7. `taught`: teacher and distillation as one fitter.
"""
