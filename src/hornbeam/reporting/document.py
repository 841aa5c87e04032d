"""The result of a report, and its HTML page: one file that loads nothing else and runs only its own script."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from os import PathLike
from typing import Literal

from hornbeam.data.files.atomic_write import write_atomic
from hornbeam.reporting.markup import Markup, element

DRAWING = (
    "model",
    "words",
    "drawing",
    "terms",
    "tree",
    "tree_tools",
)  #: scripts that draw the tree of `data`
_SCRIPTS = ("elements", *DRAWING, "leaves", "row", "threshold", "theme", "start")
_DATA = 'const data = JSON.parse(document.getElementById("data").textContent);'


@dataclass(frozen=True, slots=True)
class Report:
    """A page about a model, displayed in notebooks; a model card is printed as its text, a page of HTML as its size.

    Parameters
    ----------
    text : str
        The whole page.
    format : {"html", "markdown"}, default "html"
        HTML for a report, Markdown for a model card.

    Examples
    --------
    >>> import hornbeam
    >>> clf = hornbeam.TreeClassifier().fit([[0], [1]], ["no", "yes"])
    >>> page = hornbeam.report(clf)
    >>> page.text[:15], str(hornbeam.model_card(clf))[:12]
    ('<!doctype html>', '# Model card')
    >>> print(page)
    Report(page of HTML, ... kB; save it, or see its text)
    """

    text: str = field(repr=False)
    format: Literal["html", "markdown"] = "html"

    def __str__(self) -> str:
        if self.format == "markdown":
            return self.text
        return f"Report(page of HTML, {len(self.text.encode()) / 1000:,.0f} kB; save it, or see its text)"

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page to a file.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Report("<!doctype html>").save(f"{folder}/report.html")
        """
        write_atomic(path, [self.text.encode()])

    def _repr_html_(self) -> str | None:
        """The page in an iframe, so that its style and the notebook's do not mix; None for Markdown."""
        if self.format == "markdown":
            return None
        frame = 'sandbox="allow-scripts allow-modals allow-popups" width="100%" height="800"'
        return f'<iframe title="Model report" {frame} srcdoc="{escape(self.text)}"></iframe>'

    def _repr_markdown_(self) -> str | None:
        return self.text if self.format == "markdown" else None


def document(
    title: str,
    byline: str,
    summary: Iterable[str],
    sections: Sequence[tuple[str, str, Markup]],
    data: str,
) -> str:
    """Build the page.

    Parameters
    ----------
    title, byline : str
        What stands above it all.
    summary : iterable of str
        The sentences at the head.
    sections : sequence of tuples of str, str and Markup
        Name of the anchor, words of the table of contents, and content.
    data : str
        JSON for the script, already safe (`safe_json`).

    Returns
    -------
    str
        HTML whose policy allows this script and this style alone, by their hashes, and no connection.

    Examples
    --------
    >>> page = document("A tree", "", ["It is small."], [], "{}")
    >>> page[:15], "default-src &#x27;none&#x27;" in page, page.count("<script")
    ('<!doctype html>', True, 2)
    """
    style, script = read_style(), _script()
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    head = [
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="generator", content="Hornbeam"),
        element("meta", name="color-scheme", content="light dark"),
        element("link", rel="icon", href="data:,"),
        element("title", title),
        element("style", Markup(style)),
    ]
    header = element(
        "header",
        element("p", "Model report", class_="kicker"),
        element("h1", title),
        element("p", byline, class_="byline") if byline else "",
        element("div", *(element("p", sentence) for sentence in summary), class_="summary"),
        _contents(sections),
    )
    body = element(
        "body",
        element("a", "Skip to the tree", href="#tree", class_="skip"),
        element("button", "Light or dark", type="button", id="theme"),
        header,
        element("noscript", element("p", _WITHOUT_SCRIPT, class_="problem")),
        element("main", *(content for _, _, content in sections)),
        element(
            "footer",
            element("p", "Made with Hornbeam."),
        ),
        element("script", Markup(data), type="application/json", id="data"),
        element("script", Markup(script)),
    )
    return f'<!doctype html>\n<html lang="en">{element("head", *head)}{body}</html>\n'


_WITHOUT_SCRIPT = (
    "The tree, its leaves, its rules and the form are drawn by a script inside this file. Scripts are switched off "
    "here, so these parts are empty. Open the file in a browser to see them."
)


def _contents(sections: Sequence[tuple[str, str, Markup]]) -> Markup:
    links = [element("li", element("a", words, href=f"#{name}")) for name, words, _ in sections]
    return element("nav", element("ol", *links), aria_label="Contents")


@cache
def read_style() -> str:
    """Return the style sheet of the page."""
    return _read("page.css")


def read_scripts(names: Iterable[str]) -> str:
    """Concatenate scripts of the page, without lines of comments; those of `DRAWING` need a constant `data`."""
    return re.sub(r"(?m)^ *//.*\n", "", "".join(_read(f"{name}.js") for name in names))


@cache
def _script() -> str:
    """All scripts as one, in one function scope."""
    return f'"use strict";\n(() => {{\n{_DATA}\n{read_scripts(_SCRIPTS)}}})();\n'


def _read(name: str) -> str:
    return (files("hornbeam.reporting") / "assets" / name).read_text(encoding="utf-8")


def _hash(source: str) -> str:
    return f"sha256-{b64encode(sha256(source.encode()).digest()).decode()}"
