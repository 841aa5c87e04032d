"""Candidate splits of a node.

Reading order:

- `list_splits`: the functions that list them, of one node and of several.
- `table`: what it returns.
- `training_rows`: the encoded rows in memory; `node_rows`: those that reach a node; `source_rows`: rows that stay in
  files or with an engine.
- `node_histogram`: counts either; `counted_node`: a node with these counts.
- `way`: how a split divides the codes of a feature; `scan`: all splits of a feature, and why growing does not allow
  some; `candidate_order`: the best of each feature, and the order of all.
- `counted_candidates`: from the counts to the table.
- `held_out_gain`: the gain of a split on other rows.
"""
