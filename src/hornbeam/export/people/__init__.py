"""A tree as text, tables and pictures for people.

In reading order:

- `text`: indented text
- `markdown`: a table of the leaves
- `palette`: colours of the classes, and bars of probabilities
- `display_subset`: the part of a large tree that is shown
- `html`: an element of a web page that opens branch by branch
- `tree_layout`: horizontal positions of the nodes
- `svg`: a picture
- `dot`: a graph for Graphviz
"""
