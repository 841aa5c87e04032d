"""Growing: from encoded rows to a tree.

Read in this order:

- `criterion`: the choices of a grower: gain measure, nominal splits, missing values
- `impurity`: entropy and Gini of class counts
- `settings`: the parameters of a grower, their checks, and constraints in the form of the kernels
- `forced_splits`: the splits that a tree begins with
- `category_order`: one order of many categories for the whole tree
- `search`: settings and rows to rules for the kernels, and the weights of rows in the search for splits
- `grower`: the two ways to grow, and growth from rows in memory
- `samples`: trees of several samples of the same rows, side by side
- `parallel`: growth from rows in memory with several threads
- `levelwise`: growth level by level through an engine, for rows that are not in memory
- `leafwise`: growth best first on gradients, for boosting
- `tree_builder`: from nodes of the kernels to a tree
- `count_encoded`: evidence of a given tree from encoded rows
- `split_gains`: the histogram of a node, and the gains of its splits
- `watch`: progress reports and interruption
"""
