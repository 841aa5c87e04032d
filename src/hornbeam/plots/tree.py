"""A drawn tree: small trees with all their text, large ones with subtrees folded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from hornbeam.checks import check_flags, check_whole
from hornbeam.data.table import Table
from hornbeam.errors import DataError
from hornbeam.export.people.display_subset import DisplaySubset
from hornbeam.export.people.palette import bars
from hornbeam.export.wording import prediction_line
from hornbeam.plots.canvas import DARK, GREY, PALE, VERBATIM, axes, fitted_tree, text_width
from hornbeam.plots.figure_layout import FigureLayout, fit_to_page
from hornbeam.plots.leaf_table import Densities, draw_bars
from hornbeam.plots.outline import OutlineLayout, fit_outline
from hornbeam.tree.decision import class_code
from hornbeam.tree.route import decide_rows, predict_rows, route
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import unwrap
from hornbeam.tree.walk import path
from hornbeam.tree.words import label_text, mean_text, pluralise, probability_head, probability_text
from hornbeam.typing import Bools, Floats, Label

if TYPE_CHECKING:
    from hornbeam.smoothing.distribution import Distribution

_MAX_WHOLE, _PARTS = 100, 40  # leaves of a tree that is drawn whole, and of a larger one after folding
_MIN_PITCH, _MIN_LEAVES = 15.0, 6  # in given axes: points per leaf, and number of leaves
_OUTLINE_WIDTH = 400.0  # points; given axes that are narrower may have an outline
_STEPS = np.linspace(0, 1, 15)
_QUANTILES, _BARS = 200, 20  # of the density of a leaf
_LEADER_PITCH = 4.0  # from this pitch on, dots lead from a leaf to the table
_CURVE = _STEPS**2 * (3 - 2 * _STEPS)  # horizontal at both ends


class TreeDisplay:
    """A drawn tree, with its root at the left and its leaves, one per line, at the right.

    The width of a branch is the number of its rows, and its text is its condition. Every node has a bar of its class
    probabilities. The table at the right has a bar for each leaf, with its class, probability, interval and rows, and
    the terms of nodes where there is room for them. In a tree that is too large to read, subtrees with few
    rows are folded into a triangle, with their number of leaves and rows. For a numeric target the length of a bar is
    the position of the mean between the lowest and the highest mean. With the distribution of the target, each leaf has
    the density of its rows in the place of the bar, with a line at its mean; terms are not part of it.

    Parameters
    ----------
    tree : Tree
    level : float, default 0.9
        Level of the intervals.
    positive : label, optional
        The class of interest: the table has the probability of this class for every leaf, beside the class that the
        leaf decides for.
    distribution : Distribution, optional
        The distribution of a numeric target, for densities; that of the estimator in `from_estimator`.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        The axes and figure of `plot`.
    edges_, bars_ : matplotlib collections
        Branches, and the bars on the nodes.
    texts_, table_ : lists of matplotlib texts
        Text of branches and nodes, and of the table.
    caption_ : matplotlib text
        The size of the tree, and the part of it that is folded.
    shown_ : DisplaySubset
        The part of the tree that is shown.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hornbeam import TreeClassifier
    >>> iris = load_iris(as_frame=True)
    >>> clf = TreeClassifier().fit(iris.data, iris.target_names[iris.target])
    >>> display = TreeDisplay.from_estimator(clf, highlight=iris.data[:1])
    >>> [text.get_text() for text in display.texts_[:4]]
    ['150 rows', 'petal width (cm)', '≤ 0.8', '> 0.8']
    """

    def __init__(
        self,
        tree: Tree,
        *,
        level: float = 0.9,
        positive: Label | None = None,
        distribution: Distribution | None = None,
    ) -> None:
        self.tree = tree
        self.level = level
        self.positive = positive
        self.distribution = distribution

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
            Level of the intervals.
        positive : label, optional
            The class of interest: the table has the probability of this class for every leaf.
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.
        **settings : max_leaves, highlight, intervals
            As in `plot`.

        Returns
        -------
        TreeDisplay
        """
        tree, counted = fitted_tree(estimator), getattr(unwrap(estimator).model, "_distribution", None)
        return cls(tree, level=level, positive=positive, distribution=counted).plot(ax, **settings)

    def plot(
        self,
        ax: Any = None,
        *,
        max_leaves: int | Literal["auto"] | None = "auto",
        highlight: Any = None,
        intervals: bool = True,
    ) -> Self:
        """Draw the tree.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; if not given, a new figure that is large enough. Axes that are too narrow for branches with
            text have an outline, a line for each node.
        max_leaves : int, "auto" or None, default "auto"
            Largest number of leaves and folded subtrees. "auto": up to 100 leaves are all drawn, of a larger tree the
            40 leaves and subtrees with most rows; in given axes, as many as are readable. None: all leaves, with text
            where there is room.
        highlight : array-like or data frame of one row, optional
            A row whose path is drawn dark and never folded.
        intervals : bool, default True
            Write the interval of each leaf.

        Returns
        -------
        TreeDisplay
            Itself.
        """
        check_flags(intervals=intervals)
        if max_leaves != "auto":
            check_whole("max_leaves", max_leaves, 1, none="all leaves")
        row = None if highlight is None else _row(self.tree, highlight)
        row_path = [] if row is None else path(self.tree.skeleton, int(route(self.tree.skeleton, row)[0]))
        size = None if ax is None else _points(axes(ax))
        densities = None if self.distribution is None else _densities(self.tree, self.distribution)

        def caption_of(shown: DisplaySubset) -> str:
            caption = _caption(self.tree, shown)
            if densities is not None:
                caption += (
                    f"; shapes: rows from {mean_text(densities.low, 2)} to {mean_text(densities.high, 2)}"
                )
            if row is None:
                return caption
            predicted = _prediction(self.tree, row, row_path[-1], self._code)
            return f"{caption}; dark: the path of a row to node {row_path[-1]}, {predicted}"

        layout = self._layout(max_leaves, row_path, intervals, size, caption_of)
        layout = replace(layout, table=replace(layout.table, densities=densities))
        ax = axes(ax, size=((layout.width + 12) / 72, (layout.height + 12) / 72))
        ax.set(xlim=(0, layout.width), ylim=(layout.height, 0))
        ax.set_axis_off()
        self.shown_ = layout.shown
        on_path = np.isin(layout.shown.node, row_path)
        self.legend_ = _draw_legend(ax, layout.legend, layout.font)
        if isinstance(layout, OutlineLayout):
            self.edges_, self.bars_, self.texts_, self.table_ = layout.draw(ax, on_path)
            caption = layout.caption
        else:
            caption = caption_of(layout.shown)
            self._draw(ax, layout, on_path)
        style = {"va": "bottom", "fontsize": layout.font, "color": GREY, **VERBATIM}
        self.caption_ = ax.text(0, layout.height, caption, **style)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw(self, ax: Any, layout: FigureLayout, on_path: Bools) -> None:
        """Draw branches, nodes and the table."""
        self.edges_ = _draw_branches(ax, layout, on_path)
        self.bars_ = _draw_nodes(ax, layout, on_path)
        self.texts_ = _draw_texts(ax, layout, on_path)
        leaves = np.flatnonzero(layout.shown.tree.skeleton.is_leaf)
        y = {leaf: layout.y.item(leaf) for leaf in leaves[np.argsort(layout.y[leaves])].tolist()}
        head = layout.top - 0.8 * layout.page.font
        self.table_ = layout.table.draw(
            ax, layout.table_left, y, layout.has_text, head, layout.page.thickness
        )
        for leaf in on_path.nonzero()[0][layout.shown.tree.skeleton.is_leaf[on_path]]:  # one, or none
            ends, line = (layout.table_left - 4, layout.width), layout.page.pitch * np.array([-0.5, 0.5])
            ax.fill_between(ends, *(layout.y[leaf] + line), color=PALE, alpha=0.5, linewidth=0, zorder=0)

    @property
    def _code(self) -> int | None:
        """The code of the class of interest."""
        return None if self.positive is None else class_code(self.tree.schema.classes, self.positive)

    def _layout(
        self,
        max_leaves: int | Literal["auto"] | None,
        row_path: list[int],
        intervals: bool,
        size: tuple[float, float] | None,
        caption_of: Callable[[DisplaySubset], str],
    ) -> FigureLayout | OutlineLayout:
        """Fit the tree to its page; in given axes with fewer leaves, until there is room for their text.

        Axes too narrow for that have an outline (`fit_outline`), as those where terms leave no room for tests.
        """

        def fit(n_leaves: int | None) -> FigureLayout:
            return fit_to_page(
                self.tree, n_leaves, row_path, self.level if intervals else None, size, self._code
            )

        if size is None:
            whole = _MAX_WHOLE if self.tree.n_leaves <= _MAX_WHOLE else _PARTS
            return fit(whole if max_leaves == "auto" else max_leaves)
        if max_leaves != "auto":
            layout = fit(max_leaves)
        else:
            n = min(self.tree.n_leaves, max(_MIN_LEAVES, int(size[1] / _MIN_PITCH)))
            layout = fit(n)
            while not layout.complete and n > _MIN_LEAVES:
                n = max(_MIN_LEAVES, 3 * n // 4)
                layout = fit(n)
        if layout.complete and layout.width <= size[0]:
            return layout
        most = None if max_leaves == "auto" else max_leaves
        level = self.level if intervals else None
        outline = fit_outline(self.tree, most, row_path, level, size, self._code, caption_of)
        if size[0] > _OUTLINE_WIDTH:  # wide enough for branches, unless their text would have to go
            shows_more = outline.complete and outline.shown.tree.n_leaves >= layout.shown.tree.n_leaves
            return outline if shows_more else layout
        return layout if max_leaves is None and outline.shown.hidden.any() else outline


def _row(tree: Tree, row: Any) -> Table:
    """Read the row whose path is drawn."""
    table = Table.read(row, schema=tree.schema)
    if table.n_rows != 1:
        raise DataError(
            f"highlight has {table.n_rows} rows, expected one. Pass X[:1], or X.iloc[[0]] of a frame."
        )
    return table


def _prediction(tree: Tree, row: Table, node: int, code: int | None) -> str:
    """Write the prediction of the node where a row stops, or of the row if the terms of its path change it."""
    if not tree.path_slopes.of_node(node):
        return f"which predicts {prediction_line(tree, node, 2, code=code)}"
    predicted = predict_rows(tree, row)[0]
    if tree.is_regression:
        return f"where it is predicted {mean_text(predicted.item(), 2)}"
    decided = int(decide_rows(tree, row)[0])
    decision = f"where it is predicted {label_text(tree.schema.classes[decided])}"
    if code is None:
        return f"{decision} {probability_text(predicted.item(decided), 2)}"
    return f"{decision}, {probability_head(tree.schema.classes[code])} {probability_text(predicted.item(code), 2)}"


def _points(ax: Any) -> tuple[float, float]:
    """Compute the width and height of axes after the figure's layout."""
    figure = ax.figure.figure  # the whole figure, if the axes are in a subfigure
    ax.set_axis_off()
    if figure.get_layout_engine() is not None:
        figure.get_layout_engine().execute(figure)
    extent = ax.get_window_extent()
    return extent.width * 72 / figure.dpi, extent.height * 72 / figure.dpi


def _densities(tree: Tree, distribution: Distribution) -> Densities:
    """Compute the density of each node from even steps of its quantiles."""
    nodes = np.arange(tree.n_nodes, dtype=np.int32)
    return Densities.of(distribution.quantiles(nodes, (np.arange(_QUANTILES) + 0.5) / _QUANTILES), _BARS)


def _caption(tree: Tree, shown: DisplaySubset) -> str:
    """Write the size of the tree, and the part that is folded."""
    caption = f"{pluralise(tree.n_leaves, 'leaf', 'leaves')}, depth {tree.depth}"
    n_parts, n_hidden = int((shown.hidden > 0).sum()), int(shown.hidden.sum())
    if n_parts:
        caption += f"; {n_hidden:,} leaves are folded into {pluralise(n_parts, 'part')} (pale bars)"
    return caption


def _draw_branches(ax: Any, figure: FigureLayout, passed: Bools) -> Any:
    """Draw a curve from every node to each of its children, its width in proportion to its rows."""
    from matplotlib.collections import LineCollection

    skeleton, positions, y = figure.shown.tree.skeleton, figure.positions, figure.y
    width = _widths(figure)
    begin = _branch_starts(figure, width)
    curves = [
        np.array([(0.0, y[0]), (positions.end[0] + figure.page.node_bar / 2, y[0])])
    ]  # of all rows, to the root
    for node in range(1, skeleton.n_nodes):
        left = positions.end[skeleton.parent[node]] + figure.page.node_bar / 2
        x = left + (positions.begin[node] - 2.0 - left) * _STEPS
        curve = np.column_stack([x, begin[node] + (y[node] - begin[node]) * _CURVE])
        curves.append(np.vstack([curve, (positions.end[node] + figure.page.node_bar / 2, y[node])]))
    branches = LineCollection(
        curves,
        linewidths=width,
        colors=np.where(passed, DARK, PALE).tolist(),
        capstyle="butt",
        zorder=1,
    )
    return ax.add_collection(branches)


def _widths(figure: FigureLayout) -> Floats:
    """Compute the width of each branch, in proportion to its rows, with a visible minimum."""
    rows, widest = figure.shown.tree.rows, figure.page.widest_branch
    return np.maximum(widest * rows / max(1, rows.item(0)), 0.5)


def _branch_starts(figure: FigureLayout, width: Floats) -> Floats:
    """Compute the height at which each branch leaves its parent: siblings side by side."""
    skeleton = figure.shown.tree.skeleton
    start = figure.y.copy()
    for node in np.flatnonzero(skeleton.n_children).tolist():
        children = slice(skeleton.first_child[node], skeleton.first_child[node] + skeleton.n_children[node])
        ends = np.cumsum(width[children])
        start[children] = figure.y[node] + ends - width[children] / 2 - ends[-1] / 2
    return start


def _draw_nodes(ax: Any, figure: FigureLayout, passed: Bools) -> Any:
    """Draw a bar on every inner node, a dot for a leaf, a triangle for a folded subtree; return the bars."""
    shown, positions, page, y = figure.shown, figure.positions, figure.page, figure.y
    leaf = shown.tree.skeleton.is_leaf
    belief = bars(shown.tree)
    drawn = ((positions.end[node], y[node], belief[node], 1.0) for node in np.flatnonzero(~leaf).tolist())
    drawn_bars = draw_bars(ax, drawn, page.node_bar, page.thickness)
    middle = positions.end + page.node_bar / 2
    if page.pitch >= _LEADER_PITCH:
        right = figure.table_left - page.font / 2
        ax.hlines(y[leaf], middle[leaf], right, color=PALE, linewidth=0.7, linestyle=(0, (1, 2)), zorder=0)
    size = min(page.thickness, 6.0) ** 2
    for mark, which in (("o", leaf & (shown.hidden == 0)), (">", shown.hidden > 0)):
        colour = np.where(passed[which], DARK, GREY).tolist()
        ax.scatter(middle[which], y[which], s=size, marker=mark, color=colour, linewidth=0, zorder=3)
    return drawn_bars


def _draw_texts(ax: Any, figure: FigureLayout, passed: Bools) -> list[Any]:
    """Write the condition of a node over its branch, and its feature under it; return the texts."""
    page, positions, y = figure.page, figure.positions, figure.y
    half = _widths(figure) / 2
    texts = []

    def write(x: float, height: float, text: str, **style: Any) -> None:
        if text:
            texts.append(ax.text(x, height, text, zorder=4, **{"fontsize": page.font} | style, **VERBATIM))

    for node, text in enumerate(figure.texts):
        colour = DARK if passed[node] or not passed.any() else GREY
        x, above, below = positions.begin[node], y[node] - half[node] - 0.5, y[node] + half[node] + 1.0
        write(x, above, text.test, va="bottom", color=colour)
        beside = x + text_width(text.test, page.font) + text.indent(page)
        write(beside, above, text.rows, va="bottom", color=GREY, fontsize=page.small)
        write(x, below, text.name, va="top", color=colour)
    return texts


def _draw_legend(ax: Any, legend: list[list[tuple[str, str, float]]], font: float) -> list[Any]:
    """Write the classes beside their colours; return the texts."""
    texts = []
    for line, entries in enumerate(legend):
        y = (1.8 * line + 0.9) * font
        for colour, name, x in entries:
            ax.scatter(x + font / 2, y, s=(0.8 * font) ** 2, marker="s", color=colour, linewidth=0)
            place = x + 1.3 * font
            texts.append(ax.text(place, y, name, va="center_baseline", fontsize=font, color=DARK, **VERBATIM))
    return texts
