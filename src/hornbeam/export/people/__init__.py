"""A tree as text, tables and pictures for people.

In reading order:

- `text`: indented text
- `markdown`: a table of the leaves
- `palette`: colours of the classes, and bars of probabilities
- `display_subset`: the part of a large tree that is shown
- `html`: an element of a web page that opens branch by branch
- `svg`: a picture, and the horizontal positions of its nodes
- `dot`: a graph for Graphviz
"""
