"""A tree as indented text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from hornbeam.checks import check_whole
from hornbeam.export.slope_text import scope_text, terms_text
from hornbeam.export.wording import branches, evidence_text, prediction_text
from hornbeam.tree.decision import class_code
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import HasTree, with_quantiles
from hornbeam.tree.walk import leaves_below
from hornbeam.tree.words import label_text, probability_head
from hornbeam.typing import Label

_MAX_INDENT = 32  # levels; deeper lines have the number of levels that are not indented
_MAX_WIDTH = 64  # of the tests; predictions are aligned unless their test is wider


def to_text(
    model: Tree | HasTree,
    *,
    max_depth: int | None = None,
    max_categories: int | None = 8,
    positive: Label | None = None,
    quantiles: Sequence[float] | None = None,
) -> str:
    """Write a tree as indented text: a line for each node, with its number and the test that leads to it.

    A leaf also has its class, the probability of that class, and the evidence; for a numeric target, its mean, its rows
    and their standard deviation. Below a node with slopes stand its terms: how the prediction changes with the values
    of a row; those of an inner node begin with the line "for all rows" or "for these rows". Node numbers are those of
    `leaves`, `explain` and `apply`.

    Parameters
    ----------
    model : Tree, or fitted TreeClassifier or TreeRegressor
    max_depth : int, optional
        Nodes at this depth are written as if they were leaves, with the number of leaves they hide.
    max_categories : int or None, default 8
        Longer lists of categories are cut, with the number of those left out; None: no list is cut.
    positive : label, optional
        The class of interest: every leaf has, after the class it decides for, the probability of this class.
    quantiles : sequence of float, optional
        Levels, such as ``[0.1, 0.5, 0.9]``: every leaf also has these quantiles, of a `TreeRegressor` that was fitted
        with ``distribution=True``.

    Returns
    -------
    str
        Lines of text, without a newline at the end. Thresholds are the shortest decimals that are read back exactly;
        names with control characters, and ambiguous names, are quoted and escaped.

    Notes
    -----
    A missing value takes the branch marked "or missing". Without such a branch it stops, and the prediction is that of
    the node. A category that no branch lists, and every category that the training data did not have, also stops: it
    takes no branch, not even one marked "not in".

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam import Tree
    >>> from hornbeam.tree import Feature, Schema, Skeleton
    >>> features = (Feature("age"), Feature("colour", "nominal", ("blue", "green", "red")))
    >>> nan = np.nan
    >>> skeleton = Skeleton.of(
    ...     n_children=[3, 2, 0, 0, 0, 0],
    ...     feature=[0, 1, -1, -1, -1, -1],
    ...     threshold=[30.5, nan, nan, nan, nan, nan],
    ...     missing_slot=[2, 0, -1, -1, -1, -1],
    ...     slot_start=[0, 0, 3, 3, 3, 3, 3],
    ...     slot_of=[0, 1, 0],
    ... )
    >>> evidence = np.array([[70, 47, 3], [60, 10, 0], [9, 36, 0], [1, 1, 3], [58, 0, 0], [2, 10, 0]])
    >>> tree = Tree.raw(Schema(features, ("no", "yes", "maybe")), skeleton, evidence)
    >>> print(to_text(tree))
    0) every row
    ├─ 1) age ≤ 30.5
    │  ├─ 4) colour in {blue, red} or missing ·· no     1.000  58 no
    │  └─ 5) colour = green ···················· yes    0.833  10 yes, 2 no
    ├─ 2) age > 30.5 ··························· yes    0.800  36 yes, 9 no
    └─ 3) age missing ·························· maybe  0.600  3 maybe, 1 no, 1 yes
    >>> print(to_text(tree, max_depth=1, positive="yes"))
    0) every row
    ├─ 1) age ≤ 30.5 ··· no     P(yes) 0.143  60 no, 10 yes (2 leaves below)
    ├─ 2) age > 30.5 ··· yes    P(yes) 0.800  36 yes, 9 no
    └─ 3) age missing ·· maybe  P(yes) 0.200  3 maybe, 1 no, 1 yes
    """
    tree = with_quantiles(model, quantiles)
    check_whole("max_depth", max_depth, 0, none="the whole tree")
    check_whole("max_categories", max_categories, 1, none="whole lists")
    lines = list(_outline(tree, inf if max_depth is None else max_depth, max_categories))
    leaves = [(left, node) for left, node, is_end, _ in lines if is_end]
    classes = [label_text(label) for label in tree.schema.classes]
    code = None if positive is None else class_code(tree.schema.classes, positive)
    head = "" if code is None else f"{probability_head(tree.schema.classes[code])} "
    predictions = {
        node: (name, head + value)
        for node, (name, value) in ((node, prediction_text(tree, node, code=code)) for _, node in leaves)
    }
    class_width, value_width = (max(map(len, parts)) for parts in zip(*predictions.values(), strict=True))
    width = max((len(left) for left, _ in leaves if len(left) <= _MAX_WIDTH), default=0)
    hidden = leaves_below(tree.skeleton)

    def written(left: str, node: int, is_end: bool, guides: str) -> Iterator[str]:
        under = f"{guides}{'' if is_end else '│':<{len(str(node)) + 2}}"
        scope = scope_text(tree, node)
        terms = [f"{under}{line}" for line in scope]
        terms += [f"{under}{'  ' * len(scope)}{term}" for term in terms_text(tree, node, code)]
        if not is_end:
            yield from (left, *terms)
            return
        leader = "·" * max(2, width + 2 - len(left))
        name, value = predictions[node]
        prediction = f"{name:<{class_width}}  {value}" if name else f"{value:<{value_width}}"
        counts = evidence_text(tree, node, classes)
        below = f" ({hidden[node]} leaves below)" if tree.skeleton.n_children[node] else ""
        yield f"{left} {leader} {prediction}  {counts}{below}"
        yield from terms

    note = [] if tree.decision.is_default else ["Each line names the class of least expected cost."]
    return "\n".join([*(text for line in lines for text in written(*line)), *note])


def _outline(
    tree: Tree, max_depth: float, max_categories: int | None
) -> Iterator[tuple[str, int, bool, str]]:
    """Draw the branches depth first.

    Yields the text of each line, its node, whether its children are left out, and the guides of the lines below it.
    """
    n_children, first_child = tree.skeleton.n_children, tree.skeleton.first_child
    # Nodes to draw: node, depth, the guides left of it, those left of its children, its test.
    todo = [(0, 0, "", "", "every row")]
    while todo:
        node, depth, guides, inner_guides, test = todo.pop()
        not_indented = f"⋯{depth - _MAX_INDENT} " if depth > _MAX_INDENT else ""
        is_end = n_children[node] == 0 or depth >= max_depth
        yield (
            f"{not_indented}{guides}{node}) {test}",
            node,
            is_end,
            inner_guides[-3 * _MAX_INDENT :],
        )
        if is_end:
            continue
        tests = branches(tree, node, max_categories)
        shown = inner_guides[-3 * (_MAX_INDENT - 1) :]
        for slot in range(len(tests) - 1, -1, -1):
            last = slot == len(tests) - 1
            branch, guide = ("└─ ", "   ") if last else ("├─ ", "│  ")
            child = first_child.item(node) + slot
            todo.append((child, depth + 1, shown + branch, shown + guide, tests[slot]))
