"""A tree as a Markdown table, for reviews and model cards."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from hornbeam.checks import check_whole
from hornbeam.export.checks import check_path_tests
from hornbeam.export.slope_text import terms_text
from hornbeam.export.wording import branches, evidence_text, prediction_text
from hornbeam.grid import Grid, code_span
from hornbeam.tree.decision import class_code
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import HasTree, single_tree
from hornbeam.tree.walk import path, slots
from hornbeam.tree.words import label_text, probability_head
from hornbeam.typing import Label


def to_markdown(
    model: Tree | HasTree, *, max_categories: int | None = None, positive: Label | None = None
) -> str:
    """Write a tree as a Markdown table of its leaves: the tests of the path, the prediction, the evidence.

    Parameters
    ----------
    model : Tree, or fitted TreeClassifier or TreeRegressor
    max_categories : int, optional
        Longer lists of categories are cut, with the number of those left out; no list is cut if not given.
    positive : label, optional
        The class of interest: every leaf has the probability of this class, beside the class it decides for.

    Returns
    -------
    str
        A table as GitHub and MyST read it, leaves from left to right, each with its class and the probability of that,
        or its mean, and with its terms if the tree has slopes. Inner nodes with terms have a line too, above the leaves
        below them. Names from the data stand in code spans, where no markup or link can begin.

    Raises
    ------
    ExportError
        If the paths to the leaves have more than 2,000,000 tests together: each line repeats all tests of its path.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart").fit([[0]] * 5 + [[1]] * 5, ["ill"] * 4 + ["well"] * 5 + ["ill"])
    >>> print(to_markdown(clf))
    | leaf | if | class | probability | evidence |
    |--:|---|---|--:|---|
    | 1 | `x0 ≤ 0.5` | `ill` | 0.800 | `4 ill, 1 well` |
    | 2 | `x0 > 0.5` | `well` | 0.800 | `4 well, 1 ill` |
    """
    tree = single_tree(model)
    check_whole("max_categories", max_categories, 1, none="whole lists")
    check_path_tests(tree, "a table")
    skeleton = tree.skeleton
    slot = slots(skeleton).tolist()
    inner = np.flatnonzero(skeleton.n_children).tolist()
    tests = {node: [code_span(test) for test in branches(tree, node, max_categories)] for node in inner}
    classes = [label_text(label) for label in tree.schema.classes]
    code = None if positive is None else class_code(tree.schema.classes, positive)
    own = {node: terms_text(tree, node, code) for node in tree.slopes.nodes.tolist()}
    shared = any(not skeleton.is_leaf[node] for node in own)
    rows = []
    for node in _left_to_right(tree):
        if not skeleton.is_leaf[node] and node not in own:
            continue
        steps = pairwise(path(skeleton, node))
        condition = " and ".join(tests[above][slot[below]] for above, below in steps) or "every row"
        name, value = prediction_text(tree, node, code=code)
        cells = [*([code_span(name)] if name else []), value]
        evidence = code_span(evidence_text(tree, node, classes))
        if not skeleton.is_leaf[node]:  # no row ends here but those with a missing value
            cells, evidence = [""] * len(cells), ""
        terms = ["; ".join(map(code_span, own.get(node, ())))] * (len(own) > 0)
        rows.append([node, condition, *cells, *terms, evidence])
    decided = (
        ["class", "probability"]
        if code is None
        else ["decision", code_span(probability_head(tree.schema.classes[code]))]
    )
    head, align = (["mean"], "><><") if tree.is_regression else (decided, "><<><")
    changes = ["changes for these rows" if shared else "changes within the leaf"] * (len(own) > 0)
    header = ["node" if shared else "leaf", "if", *head, *changes, "evidence"]
    return Grid("", header, rows, align).markdown(escaped=True)


def _left_to_right(tree: Tree) -> list[int]:
    """List the nodes depth first, as in a drawing."""
    first, n_children = tree.skeleton.first_child, tree.skeleton.n_children
    nodes, todo = [], [0]
    while todo:
        node = todo.pop()
        nodes.append(node)
        todo += range(first.item(node) + n_children.item(node) - 1, first.item(node) - 1, -1)
    return nodes
