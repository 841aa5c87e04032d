"""The parts of a drawn tree, measured first and then drawn by `hornbeam.plots.TreeDisplay`.

In reading order:

- `page`: sizes of letters, lines and bars, and the text at each node
- `node_positions`: the position of each node
- `leaf_table`: the table beside the tree
- `figure_layout`: all of these, fitted to a page
- `drawing`: branches, nodes, text and legend on axes
"""
