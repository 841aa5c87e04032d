"""A tree as text, for people."""

from __future__ import annotations

from collections.abc import Iterator
from math import floor, inf, isnan

import numpy as np

from hornbeam.data.schema import Feature, Kind
from hornbeam.errors import ParameterError
from hornbeam.tree import Tree
from hornbeam.tree.walk import leaves_below
from hornbeam.typing import Counts

__all__ = ["text"]

_DEEPEST = 32  # levels drawn by indentation; deeper lines say how many levels they leave out
_WIDEST = 64  # answers stand in a column unless the tests before them are wider than this
_MOST_CLASSES = 4  # listed of a leaf's evidence


def text(tree: Tree, max_depth: int | None = None, *, max_categories: int = 8) -> str:
    """Write a tree as indented text: a test a line, and for each leaf its class, probability and evidence.

    Parameters
    ----------
    tree : Tree
    max_depth : int, optional
        Nodes at this depth are written as if they were leaves, with the number of leaves they hide.
    max_categories : int, default 8
        Longer sets of categories are cut, with the number of those left out.

    Returns
    -------
    str
        Lines of text, without a newline at the end. Thresholds are the shortest decimals that mean the same
        number; names that hold control characters, or that could be mistaken, are quoted and escaped.

    Notes
    -----
    A missing value takes the branch that says so. Where none does, it stops, as does a category that no
    branch names, and the answer is that of the node it stopped at.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.data.schema import Feature, Kind, Schema
    >>> from hornbeam.tree import Skeleton, Tree
    >>> features = (Feature("age"), Feature("colour", Kind.NOMINAL, ("blue", "green", "red")))
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
    >>> print(text(tree))
    every row
    ├─ age ≤ 30.5
    │  ├─ colour in {blue, red} or missing ·· no     1.000  58 no
    │  └─ colour = green ···················· yes    0.833  10 yes, 2 no
    ├─ age > 30.5 ··························· yes    0.800  36 yes, 9 no
    └─ age missing ·························· maybe  0.600  3 maybe, 1 no, 1 yes
    >>> print(text(tree, max_depth=1))
    every row
    ├─ age ≤ 30.5 ··· no     0.857  60 no, 10 yes (2 leaves below)
    ├─ age > 30.5 ··· yes    0.800  36 yes, 9 no
    └─ age missing ·· maybe  0.600  3 maybe, 1 no, 1 yes
    """
    if max_depth is not None and max_depth < 0:
        raise ParameterError(f"max_depth is {max_depth}, expected 0 or more, or None for the whole tree")
    if max_categories < 1:
        raise ParameterError(f"max_categories is {max_categories}, expected 1 or more")
    lines = list(_outline(tree, inf if max_depth is None else max_depth, max_categories))
    answering = [(left, node) for left, node in lines if node >= 0]
    classes = [_word(label) for label in tree.schema.classes]
    best = tree.belief.argmax(axis=1)
    class_width = max(len(classes[best[node]]) for _, node in answering)
    width = max((len(left) for left, _ in answering if len(left) <= _WIDEST), default=0)
    hidden = leaves_below(tree.skeleton)

    def line(left: str, node: int) -> str:
        if node < 0:
            return left
        leader = "·" * max(2, width + 2 - len(left))
        answer = f"{classes[best[node]]:<{class_width}}  {_probability(tree.belief[node].max())}"
        counts = _evidence(tree.evidence[node], float(tree.unit[0]), classes)
        below = f" ({hidden[node]} leaves below)" if tree.skeleton.n_children[node] else ""
        return f"{left} {leader} {answer}  {counts}{below}"

    return "\n".join(line(left, node) for left, node in lines)


def _outline(tree: Tree, limit: float, most: int) -> Iterator[tuple[str, int]]:
    """Draw the branches depth first; with each line the node that answers there, or -1 if its children do."""
    n_children, first_child = tree.skeleton.n_children, tree.skeleton.first_child
    # What is still to draw: node, depth, the guides left of it, those left of its children, its test.
    todo = [(0, 0, "", "", "every row")]
    while todo:
        node, depth, guides, inner_guides, test = todo.pop()
        folded = f"⋯{depth - _DEEPEST} " if depth > _DEEPEST else ""
        answers = n_children[node] == 0 or depth >= limit
        yield folded + guides + test, node if answers else -1
        if answers:
            continue
        tests = _tests(tree, node, most)
        shown = inner_guides[-3 * (_DEEPEST - 1) :]
        for slot in range(len(tests) - 1, -1, -1):
            last = slot == len(tests) - 1
            branch, guide = ("└─ ", "   ") if last else ("├─ ", "│  ")
            child = first_child.item(node) + slot
            todo.append((child, depth + 1, shown + branch, shown + guide, tests[slot]))


def _tests(tree: Tree, node: int, most: int) -> list[str]:
    """Say in words what leads to each child of a node."""
    skeleton = tree.skeleton
    feature = tree.schema.features[skeleton.feature[node]]
    threshold, missing = skeleton.threshold.item(node), skeleton.missing_slot.item(node)
    if isnan(threshold):
        members: list[list[str]] = [[] for _ in range(skeleton.n_children[node])]
        run = skeleton.slot_of[skeleton.slot_start[node] : skeleton.slot_start[node + 1]].tolist()
        for category, slot in zip(feature.categories, run, strict=True):
            if slot >= 0:
                members[slot].append(_word(category))
        tests = [_membership(words, most) for words in members]
    else:
        cut = _cut(feature, threshold)
        tests = [f"≤ {cut}", f"> {cut}", ""][: skeleton.n_children[node]]
    name = _name(feature.name)
    if missing == -2:
        return [f"{name} {test}, or missing in part" for test in tests]
    if missing >= 0:
        tests[missing] += " or missing" if tests[missing] else "missing"
    return [f"{name} {test}" for test in tests]


def _membership(words: list[str], most: int) -> str:
    if len(words) <= 1:
        return "".join(f"= {word}" for word in words)
    cut = [*words[:most], f"… {len(words) - most} more"] if len(words) > most else words
    return f"in {{{', '.join(cut)}}}"


def _cut(feature: Feature, threshold: float) -> str:
    """Write a threshold: on an ordinal feature the last category on the left, else the shortest decimal."""
    if feature.kind is Kind.ORDINAL and 0 <= threshold < len(feature.categories):
        return _word(feature.categories[floor(threshold)])
    return repr(threshold + 0.0).removesuffix(".0")


def _probability(p: float) -> str:
    # A probability that is not 1 must not look like it.
    return f"{min(p, 0.999) if p < 1 else p:.3f}"


def _evidence(counts: Counts, unit: float, classes: list[str]) -> str:
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)].tolist()
    if not order:
        return "no evidence"
    listed = [f"{_amount(counts[k], unit)} {classes[k]}" for k in order[:_MOST_CLASSES]]
    rest = order[_MOST_CLASSES:]
    if rest:
        listed.append(f"{_amount(counts[rest].sum(), unit)} of {len(rest)} more classes")
    return ", ".join(listed)


def _amount(steps: np.int64, unit: float) -> str:
    return str(steps) if unit == 1 else f"{steps * unit:.6g}"


def _name(name: str) -> str:
    return name if name.isprintable() and name and name == name.strip() else repr(name)


def _word(value: object) -> str:
    """Write a category or label so that it cannot be taken for another, nor for a part of the drawing."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        clear = value.isprintable() and value and value == value.strip() and not set(value) & set("{},'\"\\")
        return value if clear and not _mistakable(value) else repr(value)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in repr(value))


def _mistakable(word: str) -> bool:
    if word in {"missing", "True", "False", "None"}:
        return True
    try:
        float(word)
    except ValueError:
        return False
    return True
