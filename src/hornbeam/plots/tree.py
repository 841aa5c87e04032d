"""A tree drawn: ten leaves with all their words, a hundred on a page, thousands at a glance."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np

from hornbeam.data.table import Table
from hornbeam.errors import DataError, ParameterError
from hornbeam.explain.intervals import interval
from hornbeam.export.prediction_text import prediction_text
from hornbeam.export.wording import pluralise
from hornbeam.plots.canvas import AS_IT_IS, GREY, PALE, axes
from hornbeam.plots.estimator_access import fitted_tree
from hornbeam.plots.tree_figure.drawing import draw_branches, draw_legend, draw_nodes, draw_words
from hornbeam.plots.tree_figure.figure_layout import Sketch, sketch
from hornbeam.tree import Tree
from hornbeam.tree.decision.positive import class_code
from hornbeam.tree.route import route
from hornbeam.tree.walk import path
from hornbeam.typing import Floats, Label

__all__ = ["TreeDisplay"]

_WHOLE, _PARTS = 100, 40  # leaves of a tree that is drawn whole, and parts of one that is not
_LINE, _FEWEST = (
    15.0,
    6,
)  # in axes that are given: points that a leaf takes at least, and leaves to be drawn at least


class TreeDisplay:
    """A tree, its root at the left and its leaves one below the other, each with what it answers.

    Branches are as wide as many rows take them, and say the test. Every node has a bar of its class
    probabilities; the table at the right has those of the leaves, with the class, its probability, its interval
    and the rows. In a tree that is too large to be read, parts where few rows come are folded into a triangle
    that says how many leaves and rows are in it. Of a numeric target bars are as long as the mean lies from the
    lowest to the highest of the tree.

    Parameters
    ----------
    tree : Tree
    level : float, default 0.9
        Of the intervals.
    positive : label, optional
        The class of interest: the table has the probability of this class for every leaf, instead of its own.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where `plot` drew.
    edges_, bars_ : matplotlib collections
        Branches, and the bars on the nodes.
    words_, table_ : lists of matplotlib texts
        What is said on branches, and of leaves.
    caption_ : matplotlib text
        How much of the tree there is, and how much of it is folded.
    folded_ : Folded
        What is shown of the tree.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hornbeam import TreeClassifier
    >>> iris = load_iris(as_frame=True)
    >>> clf = TreeClassifier().fit(iris.data, iris.target_names[iris.target])
    >>> display = TreeDisplay.from_estimator(clf, highlight=iris.data[:1])
    >>> [text.get_text() for text in display.words_[:4]]
    ['150 rows', 'petal width (cm)', '≤ 0.8', '> 0.8']
    """

    def __init__(self, tree: Tree, *, level: float = 0.9, positive: Label | None = None) -> None:
        self.tree = tree
        self.level = level
        self.positive = positive

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        level: float = 0.9,
        positive: Label | None = None,
        ax: Any = None,
        **settings: Any,
    ) -> Self:
        """Draw the tree of a fitted estimator.

        Parameters
        ----------
        estimator : TreeClassifier, TreeRegressor or Tree
            Fitted.
        level : float, default 0.9
            Of the intervals.
        positive : label, optional
            The class of interest: the table has the probability of this class for every leaf.
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.
        **settings : max_leaves, highlight, intervals
            As of `plot`.

        Returns
        -------
        TreeDisplay
        """
        return cls(fitted_tree(estimator), level=level, positive=positive).plot(ax, **settings)

    def plot(
        self,
        ax: Any = None,
        *,
        max_leaves: int | Literal["auto"] | None = "auto",
        highlight: Any = None,
        intervals: bool = True,
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure, as large as it takes, if not given.
        max_leaves : int, "auto" or None, default "auto"
            Leaves and folded parts at most. "auto": a tree of up to 100 leaves is drawn whole, of a larger one
            the 40 heaviest parts; in axes that are given, as many as can be read there. None: all leaves, and
            words where there is room.
        highlight : array-like or data frame of one row, optional
            A row whose path is drawn dark; no part of it is folded.
        intervals : bool, default True
            Say the interval of each leaf.

        Returns
        -------
        TreeDisplay
            Itself.
        """
        if not (max_leaves is None or max_leaves == "auto" or max_leaves >= 1):
            raise ParameterError(
                f"max_leaves={max_leaves!r}: expected 1 or more, 'auto', or None for all leaves."
            )
        passed = [] if highlight is None else _path(self.tree, highlight)
        bounds = interval(self.tree, self.level) if intervals else None
        size = None if ax is None else _points(ax)
        drawn = self._sketch(max_leaves, passed, bounds, size)
        ax = axes(ax, size=((drawn.width + 12) / 72, (drawn.height + 12) / 72))
        ax.set(xlim=(0, drawn.width), ylim=(drawn.height, 0))
        ax.set_axis_off()
        self.folded_ = drawn.folded
        passing = np.isin(drawn.folded.node, passed)
        self.edges_ = draw_branches(ax, drawn, passing)
        self.bars_ = draw_nodes(ax, drawn, passing)
        self.words_ = draw_words(ax, drawn, passing)
        self.legend_ = draw_legend(ax, drawn)
        leaves = np.flatnonzero(drawn.folded.tree.skeleton.is_leaf)
        y = {leaf: drawn.y.item(leaf) for leaf in leaves[np.argsort(drawn.y[leaves])].tolist()}
        head = drawn.top - 0.8 * drawn.page.font
        self.table_ = drawn.table.draw(ax, drawn.table_left, y, drawn.said, head, drawn.page.thickness)
        for leaf in passing.nonzero()[0][drawn.folded.tree.skeleton.is_leaf[passing]]:  # one, or none
            ends, line = (drawn.table_left - 4, drawn.width), drawn.page.pitch * np.array([-0.5, 0.5])
            ax.fill_between(ends, *(drawn.y[leaf] + line), color=PALE, alpha=0.5, linewidth=0, zorder=0)
        caption = _caption(self.tree, drawn, passed)
        style = {"va": "bottom", "fontsize": drawn.page.font, "color": GREY, **AS_IT_IS}
        self.caption_ = ax.text(0, drawn.height, caption, **style)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _sketch(
        self,
        max_leaves: int | Literal["auto"] | None,
        passed: list[int],
        bounds: tuple[Floats, Floats] | None,
        size: tuple[float, float] | None,
    ) -> Sketch:
        """Measure the tree for its page; in given axes, of fewer leaves until their words have room."""
        code = None if self.positive is None else class_code(self.tree.schema.classes, self.positive)

        def of(n: int | None) -> Sketch:
            return sketch(self.tree, n, passed, bounds, self.level, size, code)

        if max_leaves != "auto":
            return of(max_leaves)
        if size is None:
            return of(_WHOLE if self.tree.n_leaves <= _WHOLE else _PARTS)
        n = min(self.tree.n_leaves, max(_FEWEST, int(size[1] / _LINE)))
        drawn = of(n)
        while not drawn.complete and n > _FEWEST:
            n = max(_FEWEST, 3 * n // 4)
            drawn = of(n)
        return drawn


def _path(tree: Tree, row: Any) -> list[int]:
    """The nodes that a row passes."""
    table = Table.read(row, schema=tree.schema)
    if table.n_rows != 1:
        raise DataError(
            f"highlight has {table.n_rows} rows, expected one. Pass X[:1], or X.iloc[[0]] of a frame."
        )
    return path(tree.skeleton, int(route(tree.skeleton, table)[0]))


def _points(ax: Any) -> tuple[float, float]:
    """Width and height that axes have when all is laid out."""
    figure = ax.figure.figure  # of a part of a figure the whole
    ax.set_axis_off()
    if figure.get_layout_engine() is not None:
        figure.get_layout_engine().execute(figure)
    extent = ax.get_window_extent()
    return extent.width * 72 / figure.dpi, extent.height * 72 / figure.dpi


def _caption(tree: Tree, drawn: Sketch, passed: list[int]) -> str:
    """How much of the tree is shown, and where a row went."""
    said = f"{pluralise(tree.n_leaves, 'leaf', 'leaves')}, depth {tree.depth}"
    n_parts, n_hidden = int((drawn.folded.hidden > 0).sum()), int(drawn.folded.hidden.sum())
    if n_parts:
        said += f"; {n_hidden:,} leaves are folded into {pluralise(n_parts, 'part')} (triangles, pale bars)"
    if passed:
        answer = " ".join(filter(None, prediction_text(tree, passed[-1], 2)))
        said += f"; dark: the path of a row to node {passed[-1]}, which answers {answer}"
    return said
