"""The page of the workbench: its elements, style and script, in the design of the report."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from hornbeam.reporting.document import DRAWING, read_scripts, read_style
from hornbeam.reporting.markup import Markup, element
from hornbeam.reporting.sections.tree import tree_figure, tree_tools
from hornbeam.web_editor.session import Session

_SCRIPTS = ("connection", "histogram", "split_forms", "node_panel", "overview", "workbench")
# The drawing scripts of the report draw one tree, so each tree has its own call of this function.
_PICTURE = """function picture(data) {
%s
treePicture();
return { data, nodes, features, classes, regression, first, parent, depth, open, colourOf, nameOf, wordOf, isLeaf,
  pathTo, childrenOf, answerOf, amount, counted, percent, key, redraw, fit, focusOn, openTo, describe,
  chosen: () => current, choose: (node) => { current = node; } };
}
"""


def page(session: Session) -> str:
    """Build the page, without any value of the data; the script fetches the tree."""
    head = [
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("link", rel="icon", href="data:,"),
        element("link", rel="stylesheet", href="workbench.css"),
        element("title", "Workbench"),
    ]
    body = element(
        "body",
        element("a", "Skip to the tree", href="#tree-place", class_="skip"),
        _header(),
        element("noscript", element("p", "The workbench needs JavaScript.", class_="problem")),
        element(
            "main",
            element("p", id="problem", class_="problem", role="alert"),
            _tree(),
            element(
                "div",
                _comparison(session.editor.held_out is not None),
                _size(),
                _edits(),
                _notes(),
                class_="overview",
            ),
        ),
        element("template", tree_tools(), tree_figure(_panel()), id="tree-template"),
        element("script", src="workbench.js"),
        class_="workbench",
    )
    return f'<!doctype html>\n<html lang="en">{element("head", *head)}{body}</html>\n'


def _button(name: str, words: str, keys: str = "", **attributes: object) -> Markup:
    hint = (
        {"title": f"{words} ({keys})", "aria_keyshortcuts": keys.replace("Ctrl", "Control")} if keys else {}
    )
    return element("button", words, type="button", id=name, **hint, **attributes)


def _header() -> Markup:
    buttons = (
        _button("undo", "Undo", "Ctrl+Z", disabled=True),
        _button("redo", "Redo", "Ctrl+Y", disabled=True),
        _button("compare", "Show automatic tree", aria_pressed="false"),
        _button("save", "Save", "Ctrl+S", class_="strong-button"),
        _button("theme", "Light or dark"),
    )
    return element(
        "header",
        element("div", element("p", "Workbench", class_="kicker"), element("h1", "Edit the tree")),
        element("div", *buttons, role="toolbar", aria_label="Session", class_="actions"),
        element("p", id="facts", class_="byline"),
        element("p", id="status", class_="note", role="status"),
    )


def _tree() -> Markup:
    text = (
        "Choose a node with the mouse or the arrow keys. P prunes it, G grows it by one level, R rounds its "
        "threshold, E goes to its form."
    )
    return element(
        "section",
        element("h2", "The tree", id="tree-title", class_="visually-hidden"),
        element("div", element("p", text, class_="note"), element("ul", id="legend"), class_="tree-head"),
        element("div", id="tree-place"),
        id="tree",
        aria_labelledby="tree-title",
    )


def _panel() -> Markup:
    return element(
        "aside",
        element("div", id="tree-node"),
        element("div", id="node-forms"),
        id="panel",
        aria_label="The chosen node",
    )


def _comparison(held_out: bool) -> Markup:
    text = (
        "± is the standard error. A change of more than twice that is marked; smaller ones may be chance."
        if held_out
        else "There are no held-out rows, so the scores are not known."
    )
    return _section(
        "comparison",
        "Compared with the automatic tree",
        element(
            "div",
            element("table", id="scores"),
            class_="scroll",
            tabindex=0,
            role="region",
            aria_label="Scores",
        ),
        element("p", text, class_="note"),
    )


def _size() -> Markup:
    return _section(
        "size",
        "Size",
        element(
            "label",
            element("span", "Leaves at most: ", element("output", id="leaves")),
            element("input", id="dial", type="range", min=1, max=1, value=1),
        ),
        element("p", id="size-text", class_="note"),
    )


def _edits() -> Markup:
    return _section("edits", "Edits", element("ol", id="edit-list", class_="steps"))


def _notes() -> Markup:
    return _section(
        "notes",
        "Notes",
        element(
            "label",
            element("span", "Written to the approval log"),
            element("textarea", id="note", rows=5, maxlength=100_000),
        ),
    )


def _section(name: str, title: str, *parts: Markup) -> Markup:
    heading = element("h2", title, id=f"{name}-title")
    return element("section", heading, *parts, id=f"{name}-section", aria_labelledby=f"{name}-title")


@cache
def style() -> str:
    """Return the style sheet: that of the report, then that of the workbench."""
    return read_style() + _read("workbench.css")


@cache
def script() -> str:
    """Return all scripts as one, in one function scope."""
    own = "".join(_read(f"{name}.js") for name in _SCRIPTS)
    drawing = _PICTURE % read_scripts(DRAWING)
    return f'"use strict";\n(() => {{\n{read_scripts(["elements", "theme"])}{drawing}{own}}})();\n'


def _read(name: str) -> str:
    return (files("hornbeam.web_editor") / "assets" / name).read_text(encoding="utf-8")
