"""The sections every report has: what the model is, its tree, its leaves and rules, and a row to try."""

from __future__ import annotations

from hornbeam.export.words import several
from hornbeam.page.markup import Markup, element, joined
from hornbeam.page.prose import lender
from hornbeam.page.subject import Subject

__all__ = ["leaf_section", "row_section", "rule_section", "section", "tree_section"]


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


def tree_section(measured: bool = False) -> Markup:
    """The tree, to open and close, to search and to walk through."""
    bar = (
        "The bar shows where its mean lies between the lowest and the highest mean of the tree."
        if measured
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
            element(
                "span",
                "Open and close nodes with the round buttons, or with the arrow keys. Point at a node to see "
                "everything about it.",
                class_="screen",
            ),
        ]
    )
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
    tools = element(
        "div",
        search,
        element("span", id="tree-found", role="status"),
        element("span", *buttons, class_="buttons"),
        class_="tools",
    )
    figure = element(
        "div",
        element("div", id="tree-view"),
        element("aside", id="tree-node", aria_label="The chosen node", aria_live="polite"),
        class_="tree-figure",
    )
    return section(
        "tree",
        "The tree",
        element("p", text),
        element("ul", id="legend"),
        tools,
        figure,
        element("div", id="tree-print"),
        wide=True,
    )


def row_section(subject: Subject) -> Markup:
    """A form that asks the tree about one row, in the page."""
    used = {f for f in subject.tree.skeleton.feature.tolist() if f >= 0}
    of = "" if len(used) == subject.tree.schema.n_features else f" The tree asks only for these {len(used)}."
    text = (
        "Fill in what is known and leave the rest blank. The answer is computed in this page, by the same tree and "
        f"with the same treatment of missing and unseen values as the model itself; nothing leaves this file.{of}"
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
            element("div", id="row-answer", role="status"),
            class_="row-figure",
        ),
        element("p", id="row-problem", class_="problem", role="alert"),
        wide=True,
    )


def leaf_section(subject: Subject, level: float, tested: bool) -> Markup:
    """The leaf table, which the script fills and sorts."""
    measured = subject.tree.is_measured
    whom = "the second class" if subject.tree.n_classes == 2 else "the leaf’s most probable class"
    said = "The mean is what the tree answers" if measured else f"The probability is that of {whom}"
    rate, raw = ("mean", "plain mean of its rows") if measured else ("rate", "plain frequency")
    seen = "mean" if measured else "share"
    test = (
        f" Beside it, the {seen} seen among the test rows; odd is the chance that so large a difference comes about by "
        "accident in any leaf (corrected for their number), so a small one is a reason to look."
        if tested
        else " Without test rows nothing can be set beside it."
    )
    text = (
        f"Where rows end up. {said}, with the {100 * level:g} % interval within which the "
        f"true {rate} of such rows should lie. Raw is the {raw}, borrowed what {lender(subject.tree)} lend, in "
        f"rows.{test}"
    )
    return section(
        "leaves",
        f"The {several(subject.tree.n_leaves, 'leaf', 'leaves')}",
        element("p", text),
        element("div", element("table", id="leaf-table"), class_="scroll", tabindex=0, role="region",
                aria_label="Leaf table"),
        element("p", id="leaf-more", class_="note"),
        wide=True,
    )  # fmt: skip


def rule_section(rules: list[str] | None) -> Markup:
    """The rules: one a leaf, made by the script, or those that were handed over."""
    text = (
        "The same tree as sentences, one for each leaf, the most frequent first."
        if rules is None
        else "The model as a list of rules, as they were handed to this report."
    )
    items = [] if rules is None else [element("li", rule) for rule in rules]
    return section(
        "rules",
        "In words",
        element("p", text),
        element("ol", *items, id="rule-list" if rules is None else None, class_="rules"),
        joined([element("p", id="rule-more", class_="note")] if rules is None else []),
    )
