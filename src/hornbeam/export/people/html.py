"""A tree as an element of a web page that opens branch by branch, for notebooks and reports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from hornbeam.checks import check_whole
from hornbeam.errors import ParameterError
from hornbeam.export.checks import check_text
from hornbeam.export.people.display_subset import DisplaySubset, display_subset
from hornbeam.export.people.palette import CLASS_COLOURS, bar, bars
from hornbeam.export.slope_text import scope_text, terms_text
from hornbeam.export.wording import (
    conditions_within,
    evidence_text,
    interval_text,
    prediction_text,
    scale_text,
    threshold_digits,
)
from hornbeam.smoothing.interval_calibration import interval
from hornbeam.tree.decision import class_code
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import HasTree, single_tree
from hornbeam.tree.walk import depths
from hornbeam.tree.words import feature_name, label_text, pluralise, probability_head, shortened
from hornbeam.typing import Floats, Label

_MAX_TEST = 72  # letters
_MAX_CLASS = 32
_MAX_TERM = 120
_SMALL = 12  # leaves of a tree that is shown open
# Text and lines inherit their colours, so the page may be light or dark; class colours are visible on both.
_STYLE = """
.hornbeam-tree{font:13px/1.7 system-ui,sans-serif;overflow-x:auto;white-space:nowrap}
.hornbeam-tree details>:not(summary){margin-left:.45em;padding-left:.9em;border-left:1px solid rgba(128,128,128,.4)}
.hornbeam-tree summary{cursor:pointer}
.hornbeam-tree .leaf::before{content:"•";display:inline-block;width:1.1em;opacity:.6}
.hornbeam-tree i{display:inline-block;width:4.5em;height:.75em;margin:0 .6em;border-radius:2px;vertical-align:-.05em}
.hornbeam-tree .leaf div{margin-left:2.4em;line-height:1.4}
.hornbeam-tree small{opacity:.7;font-size:12px}
.hornbeam-tree .key{width:.75em;margin:0 .3em 0 1em}
.hornbeam-tree code{font-size:12px;background:none;color:inherit}
"""


def to_html(
    model: Tree | HasTree,
    *,
    title: str = "Decision tree",
    max_leaves: int | None = 60,
    max_depth: int | None = None,
    level: float | None = 0.9,
    max_bytes: int = 60_000,
    positive: Label | None = None,
) -> str:
    """Write a tree as nested ``<details>``: every split can be opened and closed, without a script or network.

    Parameters
    ----------
    model : Tree, or fitted TreeClassifier or TreeRegressor
    title : str, default "Decision tree"
        Beginning of the headline.
    max_leaves : int or None, default 60
        Largest number of leaves and folded subtrees. The subtrees with the fewest rows are folded, and show how many
        leaves and rows they have.
    max_depth : int, optional
        Splits above this depth are open at first; if not given, all of them in a small tree, else 3.
    level : float or None, default 0.9
        Of the intervals of probabilities, or means, at the leaves; None writes none.
    max_bytes : int, default 60,000
        More subtrees are folded until the page is no longer than this, or two leaves are left.
    positive : label, optional
        The class of interest: every leaf has its probability and interval, beside the class it decides for.

    Returns
    -------
    str
        An element to put into a page. It inherits the colours of text and background. Names from the data are escaped.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam import Tree
    >>> from hornbeam.tree import Feature, Schema, Skeleton
    >>> stump = Skeleton.of([2, 0, 0], feature=[0, -1, -1], threshold=[0.5, np.nan, np.nan])
    >>> tree = Tree.raw(Schema((Feature("a<b"),), ("ill", "well")), stump, np.array([[5, 5], [4, 1], [1, 4]]))
    >>> page = to_html(tree)
    >>> page[:27], "a&lt;b ≤ 0.5" in page, "a<b" in page
    ('<div class="hornbeam-tree">', True, False)
    """
    tree = single_tree(model)
    if not isinstance(title, str):
        raise ParameterError(f"title is {title!r}; expected text.")
    check_text(title)
    check_whole("max_depth", max_depth, 0, none="all open in a small tree")
    check_whole("max_leaves", max_leaves, 1, none="all leaves")
    check_whole("max_bytes", max_bytes, 1)
    n_leaves = tree.n_leaves if max_leaves is None else min(max_leaves, tree.n_leaves)
    code = None if positive is None else class_code(tree.schema.classes, positive)
    if max_depth is None:
        max_depth = tree.depth if n_leaves <= _SMALL else 3
    while True:
        shown = display_subset(tree, n_leaves)
        bounds = None if level is None else interval(tree, level, shown.node)
        page = _HtmlTree(shown, bounds, code).write(title, tree, max_depth)
        if len(page.encode()) <= max_bytes or n_leaves <= 2:
            return page
        n_leaves = max(2, 3 * n_leaves // 4)


@dataclass(frozen=True, slots=True, eq=False)
class _HtmlTree:
    shown: DisplaySubset
    bounds: tuple[Floats, Floats] | None
    code: int | None

    def write(self, title: str, tree: Tree, max_depth: int) -> str:
        parts = [
            '<div class="hornbeam-tree">',
            f"<style>{_STYLE}</style>",
            *self._head(title, tree),
            *self._nodes(max_depth),
            "</div>",
        ]
        return "\n".join(parts)

    def _head(self, title: str, tree: Tree) -> Iterator[str]:
        """Write the headline with rows, leaves, depth and digest, and the legend of class colours."""
        leaves = pluralise(tree.n_leaves, "leaf", "leaves")
        size = f"{pluralise(tree.rows.item(0), 'row')}, {leaves}, depth {tree.depth}"
        yield (
            f"<div><b>{escape(title)}</b>: {size} "
            f'<small title="{tree.digest}">digest <code>{tree.digest[:12]}</code></small></div>'
        )
        if tree.is_regression:
            yield f"<div>{_key(CLASS_COLOURS[0])}{scale_text(tree)}</div>"
        elif tree.n_classes <= len(CLASS_COLOURS):
            keys = zip(CLASS_COLOURS, tree.schema.classes, strict=False)
            yield "<div>" + "".join(f"{_key(colour)}{_class(label)}" for colour, label in keys) + "</div>"

    def _nodes(self, max_depth: int) -> Iterator[str]:
        """Write the nodes depth first, each inner one as an element that contains its descendants."""
        tree = self.shown.tree
        skeleton, depth, digits = tree.skeleton, depths(tree.skeleton), threshold_digits(tree)
        belief = bars(tree)
        todo: list[tuple[int, str]] = [(0, "every row")]
        while todo:
            node, test = todo.pop()
            if node < 0:
                yield "</details>"
            elif skeleton.n_children[node] == 0:
                yield self._leaf(node, test, _bar(belief[node]))
            else:
                is_open = " open" if depth[node] < max_depth else ""
                rows = f"<small>{pluralise(tree.rows.item(node), 'row')}</small>"
                yield f"<details{is_open}><summary>{_test(test)}{_bar(belief[node])}{rows}</summary>{self._terms(node)}"
                tests = _tests(tree, node, digits[skeleton.feature[node]])
                first = skeleton.first_child.item(node)
                todo.append((-1, ""))
                todo += [(first + slot, tests[slot]) for slot in range(len(tests) - 1, -1, -1)]

    def _leaf(self, node: int, test: str, drawn_bar: str) -> str:
        tree = self.shown.tree
        name, value = prediction_text(tree, node, 2, _MAX_CLASS, self.code)
        if self.code is not None:
            value = f"{escape(probability_head(tree.schema.classes[self.code], _MAX_CLASS))} {value}"
        prediction = f"<b>{escape(name)}</b> {value}" if name else f"<b>{value}</b>"
        note = self.shown.summary(node)
        if not note:
            note = pluralise(tree.rows.item(node), "row")
            if self.bounds is not None:
                low, high = (bound[node] for bound in self.bounds)
                note = f"{interval_text(tree, low, high, node, 2, self.code)}, {note}"
        classes = [shortened(label_text(label), _MAX_CLASS) for label in tree.schema.classes]
        hint = escape(evidence_text(tree, node, classes))
        line = f"{_test(test)}{drawn_bar}{prediction} <small>{note}</small>"
        return f'<div class="leaf" title="{hint}">{line}{self._terms(node)}</div>'

    def _terms(self, node: int) -> str:
        return "".join(
            f"<div><small>{escape(shortened(term, _MAX_TERM))}</small></div>"
            for term in scope_text(self.shown.tree, node) + terms_text(self.shown.tree, node, self.code)
        )


def _tests(tree: Tree, node: int, digits: int) -> list[str]:
    """Write the test of each child, with as many categories as fit."""
    name = feature_name(tree.schema.features[tree.skeleton.feature[node]].name)
    room = max(_MAX_TEST - len(name) - 1, _MAX_TEST // 2)
    return [f"{name} {test}" for test in conditions_within(tree, node, room, digits)]


def _test(text: str) -> str:
    return escape(shortened(text, _MAX_TEST))


def _class(label: object) -> str:
    return escape(shortened(label_text(label), _MAX_CLASS))


def _key(colour: str) -> str:
    return f'<i class="key" style="background:{colour}"></i>'


def _bar(belief: Floats) -> str:
    """Write a bar of probabilities as the hard stops of a gradient."""
    stops = ",".join(f"{colour} {100 * begin:.0f}% {100 * end:.0f}%" for colour, begin, end in bar(belief))
    return f'<i style="background:linear-gradient(90deg,{stops})"></i>'
