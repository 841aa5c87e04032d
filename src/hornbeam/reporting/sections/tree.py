"""Sections of every report: the tree, its leaves, rules and smaller sizes, and a form for one row."""

from __future__ import annotations

from hornbeam.grid import Grid
from hornbeam.reporting.markup import Markup, element, framed, joined
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.reporting.summary import prior_source
from hornbeam.tree.tree import Tree
from hornbeam.tree.words import label_text, pluralise
from hornbeam.tuning.size_path import size_path

ABSENT = "No test rows were given to this report, so this section is empty."


def section(name: str, title: str, *parts: object, wide: bool = False) -> Markup:
    """Write a section with its heading.

    Examples
    --------
    >>> print(section("end", "The end", element("p", "No more.")))
    <section id="end" aria-labelledby="end-title"><h2 id="end-title">The end</h2><p>No more.</p></section>
    """
    heading = element("h2", title, id=f"{name}-title")
    return element(
        "section", heading, *parts, id=name, aria_labelledby=f"{name}-title", class_="wide" if wide else None
    )


_BY_COSTS = (
    "The class named is the decision; by costs or class weights it need not be the most probable class. "
)
_TERMS = (
    "Where a node or one above it has terms, the prediction shown is that of a row at their centres; the terms change "
    "it with the values of a row. A term holds for all rows that pass its node. "
)


def tree_section(tree: Tree) -> Markup:
    """The tree, with nodes to open, close and search."""
    bar = (
        "The bar shows where its mean lies between the lowest and the highest mean of the tree."
        if tree.is_regression
        else "The bar shows its class probabilities."
    )
    text = joined(
        [
            "The first test is the root",
            element("span", " at the left", class_="wide-only"),
            ". Each node shows the condition that leads to it and, below, its own test or its prediction. ",
            bar,
            " The number beside the bar counts the training rows",
            element("span", "; a branch is as thick as their share", class_="wide-only"),
            ". ",
            "" if tree.decision.is_default else _BY_COSTS,
            _TERMS if len(tree.slopes) else "",
            element(
                "span",
                "Open and close nodes with the round buttons, or with the arrow keys. Point at a node to see "
                "everything about it.",
                class_="screen",
            ),
        ]
    )
    return section(
        "tree",
        "The tree",
        element("p", text),
        element("ul", id="legend"),
        tree_tools(),
        tree_figure(),
        element("div", id="tree-print"),
        wide=True,
    )


def tree_tools() -> Markup:
    """The search field and the buttons above the picture of a tree."""
    search = element(
        "label",
        element("span", "Find"),
        element(
            "input",
            type="search",
            id="tree-search",
            placeholder="a feature or a category",
            autocomplete="off",
        ),
    )
    buttons = [
        element(
            "button",
            words,
            type="button",
            id=f"tree-{name}",
            title=hint,
            aria_label=hint if len(words) == 1 else None,
        )
        for name, words, hint in (
            ("closer", "+", "Larger"),
            ("farther", "−", "Smaller"),
            ("fit", "Fit", "Fit the open part of the tree into the window"),
            ("open", "Open all", "Open every node"),
            ("close", "Reset", "Open only what fits the window"),
        )
    ]
    return element(
        "div",
        search,
        element("span", id="tree-found", role="status"),
        element("span", *buttons, class_="buttons"),
        class_="tools",
    )


def tree_figure(beside: Markup | None = None) -> Markup:
    """The picture of a tree, which the script draws; beside it the chosen node, or other content."""
    node = element("aside", id="tree-node", aria_label="The chosen node", aria_live="polite")
    return element(
        "div", element("div", id="tree-view"), node if beside is None else beside, class_="tree-figure"
    )


def row_section(reported: ReportedModel) -> Markup:
    """A form that predicts one row in the page."""
    tree = reported.tree
    used = tree.features_used
    of = (
        ""
        if len(used) == reported.tree.schema.n_features
        else f" The tree uses only these {len(used)} features."
    )
    text = (
        "Fill in the values that are known and leave the others empty. The page computes the prediction with the same "
        "tree, and treats missing values and new categories as the model does. Nothing leaves this file."
        f"{of}"
    )
    paste = element(
        "label",
        element(
            "span", "Or paste a row: comma- or tab-separated values, with or without a line of names, or JSON"
        ),
        element("textarea", id="row-paste", rows=3, spellcheck="false"),
    )
    return section(
        "row",
        "Try a row",
        element("p", text),
        element(
            "div",
            element("form", element("div", id="row-fields"), paste, id="row-form", autocomplete="off"),
            element("div", id="row-prediction", role="status"),
            class_="row-figure",
        ),
        element("p", id="row-problem", class_="problem", role="alert"),
        wide=True,
    )


def leaf_section(reported: ReportedModel, level: float, tested: bool) -> Markup:
    """The leaf table; the script fills and sorts it."""
    regression = reported.tree.is_regression
    classes = reported.tree.schema.classes
    which = "the class decided" if reported.positive is None else label_text(classes[reported.positive])
    what = "mean" if regression else f"probability of {which}"
    raw = "mean of its training rows" if regression else "share among its training rows"
    test = (
        f" For the test rows, Seen is the {'mean' if regression else 'share'} observed. P-value is the chance of so "
        "large a difference between Seen and the prediction, corrected for the number of leaves, marked if below 0.05."
        if tested
        else ""
    )
    text = (
        f"Each line is a leaf with its {what}, and the {100 * level:g} % interval for the true value. Raw is the {raw} "
        f"before smoothing; Borrowed is the weight of {prior_source(reported.tree)} in the smoothed value, counted in "
        f"rows.{test}"
    )
    if len(reported.tree.slopes):
        text += (
            " Within a leaf the prediction changes with the values of a row: each change is written for a step of the "
            "value, within the range that stands in brackets; a missing value changes nothing."
        )
        if not reported.tree.skeleton.is_leaf[reported.tree.slopes.node].all():
            text += " Changes for the rows of several leaves come first, once."
    return section(
        "leaves",
        f"The {pluralise(reported.tree.n_leaves, 'leaf', 'leaves')}",
        element("p", text),
        element("div", element("table", id="leaf-table"), class_="scroll", tabindex=0, role="region",
                aria_label="Leaf table"),
        element("p", id="leaf-more", class_="note"),
        wide=True,
    )  # fmt: skip


def rule_section(rules: list[str] | None) -> Markup:
    """The rules: one per leaf, made by the script, or a given rule list."""
    text = (
        "Each leaf as a rule, those with most training rows first. Together the rules are the whole tree. A category "
        "that is not in the training rows is in no set, also not in one that is written with “not in”."
        if rules is None
        else "Rules that were passed to this report."
    )
    items = [] if rules is None else [element("li", rule) for rule in rules]
    return section(
        "rules",
        "Rules",
        element("p", text),
        element("ol", *items, id="rule-list" if rules is None else None, class_="rules"),
        joined([element("p", id="rule-more", class_="note")] if rules is None else []),
    )


def size_section(tree: Tree) -> Markup | None:
    """Write the smallest size for each of a few tolerances, and how it was found; None if no sizes were compared."""
    path = size_path(tree)
    if path is None or (first := int(path.n_leaves[0])) == 1:
        return None
    text = (
        f"When the tree was fitted, sizes from {first:,} leaves to one were compared by their {path.measure} on rows "
        "that were held out. The table has the smallest tree for each tolerance: the increase that the parameter "
        f"tolerance allows. This tree has {pluralise(tree.n_leaves, 'leaf', 'leaves')}."
    )
    rows = [
        [f"{100 * tolerance:g} %", f"{size:,}", f"{path.loss[at]:.4g}", f"{100 * path.increase[at]:.1f} %"]
        for tolerance, size in path.milestones().items()
        for at in [path.position(tolerance)]
    ]
    grid = Grid("Smallest trees", ["Tolerance", "Leaves", path.measure.capitalize(), "Increase"], rows)
    return section("sizes", "Smaller trees", element("p", text), framed(grid))
