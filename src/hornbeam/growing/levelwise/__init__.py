"""Growing level by level through an engine, for rows that are not in memory.

Read in this order:

- `phase`: the loop over levels, from the first pass to the finished tree
- `first_pass`: totals of the target, checks of codes, and the rules and weights of the search for splits
- `open_node`: an unfinished node, and whether it may be split
- `frontier`: the unfinished nodes, and which of them one pass counts
- `task_context`: what every task of a pass needs
- `node_of_row`: cache of the node that each row has reached
- `counting`: one pass that finds the splits of many nodes
- `gather`: one pass that brings the rows of small nodes together and finishes their subtrees
- `squares`: the last pass for a numeric target
- `nodes`: the nodes of the tree so far
- `checkpoint`: the file from which growing continues after a crash
- `same_rows`: the error for rows that changed between passes
"""
