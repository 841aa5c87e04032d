"""A tree in DOT, the language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from hornbeam.checks import check_whole
from hornbeam.export.slope_text import terms_text
from hornbeam.export.wording import conditions_within, evidence_text, prediction_line
from hornbeam.tree.decision import class_code
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import HasTree, single_tree
from hornbeam.tree.words import feature_name, label_text, shortened
from hornbeam.typing import Label


def to_dot(model: Tree | HasTree, *, max_width: int = 48, positive: Label | None = None) -> str:
    r"""Write a tree as a DOT graph: inner nodes with their feature, edges with conditions, leaves with predictions.

    Parameters
    ----------
    model : Tree, or fitted TreeClassifier or TreeRegressor
    max_width : int, default 48
        Largest number of letters in a line. Longer lines are cut, lists of categories with the number left out. Terms
        of nodes have twice as many.
    positive : label, optional
        The class of interest: every leaf has its probability, beside the class it decides for.

    Returns
    -------
    str
        A graph whose nodes are ``n0``, ``n1``, ...: the numbers of the tree's nodes.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart").fit([[0]] * 5 + [[1]] * 5, ["ill"] * 4 + ["well"] * 5 + ["ill"])
    >>> print(to_dot(clf))
    digraph tree {
      node [shape=box, style=rounded, fontname="Helvetica"];
      edge [fontname="Helvetica"];
      n0 [label="x0"];
      n0 -> n1 [label="≤ 0.5"];
      n0 -> n2 [label="> 0.5"];
      n1 [label="ill 0.800\n4 ill, 1 well", style="rounded,bold"];
      n2 [label="well 0.800\n4 well, 1 ill", style="rounded,bold"];
    }
    """
    tree = single_tree(model)
    check_whole("max_width", max_width, 1)
    skeleton = tree.skeleton
    classes = [label_text(label) for label in tree.schema.classes]
    code = None if positive is None else class_code(tree.schema.classes, positive)

    def quoted(*lines: str, terms: Iterable[str] = ()) -> str:
        cut = [
            *(shortened(line, max_width) for line in lines),
            *(shortened(term, 2 * max_width) for term in terms),
        ]
        return '"' + "\\n".join(map(_escaped, cut)) + '"'

    out = [
        "digraph tree {",
        '  node [shape=box, style=rounded, fontname="Helvetica"];',
        '  edge [fontname="Helvetica"];',
    ]
    for node in range(tree.n_nodes):
        if skeleton.n_children[node] == 0:
            prediction = prediction_line(tree, node, code=code)
            label = quoted(prediction, evidence_text(tree, node, classes), terms=terms_text(tree, node, code))
            out.append(f'  n{node} [label={label}, style="rounded,bold"];')
            continue
        name = feature_name(tree.schema.features[skeleton.feature[node]].name)
        out.append(f"  n{node} [label={quoted(name, terms=terms_text(tree, node, code))}];")
        children = np.arange(skeleton.n_children[node]) + skeleton.first_child[node]
        for child, test in zip(children, conditions_within(tree, node, max_width), strict=True):
            out.append(f"  n{node} -> n{child} [label={quoted(test)}];")
    return "\n".join([*out, "}"])


def _escaped(text: str) -> str:
    r"""Escape what is special in a quoted label of DOT: quotes, escapes like \N, and entities like &amp;."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
