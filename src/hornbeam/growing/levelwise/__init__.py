"""Growing level by level through an engine, for rows that are not in memory.

Read in this order:

- `phase`: the loop over levels, from the first pass to the finished tree
- `first_pass`: totals of the target, checks of codes, and the rules and weights of the search for splits
- `nodes`: unfinished nodes, and the nodes of the tree so far
- `frontier`: the unfinished nodes, and which of them one pass counts
- `task_context`: what every task of a pass needs, and the node that each row has reached
- `counting`: one pass that finds the splits of many nodes
- `gather`: one pass that brings the rows of small nodes together and finishes their subtrees
- `checkpoint`: the file from which growing continues after a crash
"""
