"""Readers of the names in text, Markdown, DOT and SVG, which use only the syntax of each format."""

import ast
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
from markdown_it import MarkdownIt

from hornbeam.export import to_dot, to_markdown, to_svg, to_text
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import path
from hornbeam.tree.words import feature_name

__all__ = ["DRAWINGS", "shown"]

_NAME = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,{}'"\\]+"""
_SVG = "{http://www.w3.org/2000/svg}"
_DOT_LABEL = r'"((?:[^"\\\n]|\\.)*)"'


@dataclass
class Drawing:
    """The text of each node in a drawing: its feature, condition, prediction and evidence."""

    tree: Tree
    features: dict[int, str] = field(default_factory=dict)
    tests: dict[int, str] = field(default_factory=dict)
    predictions: dict[int, str] = field(default_factory=dict)
    evidence: dict[int, str] = field(default_factory=dict)

    def names(self) -> Iterator[str]:
        """The names, read back, node by node."""
        for node in range(self.tree.n_nodes):
            if node:
                above = self.tree.skeleton.feature[self.tree.skeleton.parent[node]]
                yield from _members(self.tests[node], self.tree.schema.features[above].categories)
            if node in self.features:
                yield _read(self.features[node])
            else:
                yield _read(re.fullmatch(r"(.*) \d\.\d{3}", self.predictions[node])[1].rstrip())
                yield from _counted(self.evidence[node])


def shown(tree: Tree) -> Iterator[str]:
    """The names that a drawing of a tree must contain, node by node."""
    skeleton, schema = tree.skeleton, tree.schema
    for node in range(tree.n_nodes):
        if node:
            above = skeleton.parent.item(node)
            feature = schema.features[skeleton.feature[above]]
            if feature.categories:
                run = skeleton.slot_of[skeleton.slot_start[above] : skeleton.slot_start[above + 1]]
                slot = node - skeleton.first_child[above]
                yield from (feature.categories[code] for code in np.flatnonzero(run == slot))
        if skeleton.n_children[node]:
            yield schema.names[skeleton.feature[node]]
        else:
            yield schema.classes[tree.decided[node]]
            counts = tree.evidence[node]
            most = np.argsort(-counts, kind="stable")[: min(4, np.count_nonzero(counts))]
            yield from (schema.classes[k] for k in most)


def _read(name: str) -> str:
    return ast.literal_eval(name) if name[0] in "'\"" else name


def _members(test: str, categories: tuple[str, ...]) -> list[str]:
    """The categories of a condition, listed or given by their complement."""
    if re.fullmatch(r"[≤>] -?[\d.]+(e[+-]\d+)?( or missing)?", test):
        return []
    known = test.removesuffix(" or missing")
    if known == "known":
        return list(categories)
    single = re.fullmatch(rf"([=≠]) ({_NAME})", known)
    if single:
        left_out, named = single[1] == "≠", [_read(single[2])]
    else:
        negation, inside = re.fullmatch(r"(not )?in \{(.*)\}", known).groups()
        names = re.findall(rf"(?:^|, )({_NAME})(?=, |$)", inside)
        assert ", ".join(names) == inside
        left_out, named = negation is not None, [_read(name) for name in names]
    return [category for category in categories if category not in named] if left_out else named


def _counted(evidence: str) -> list[str]:
    """The classes in a text of evidence."""
    found = re.findall(rf"(?:^|, )(\d+) ({_NAME})(?=, |$)", evidence)
    assert ", ".join(" ".join(pair) for pair in found) == evidence
    return [_read(name) for _, name in found if not name.startswith("of ")]


def _from_text(tree: Tree) -> Drawing:
    drawn = Drawing(tree)
    lines = to_text(tree, max_categories=None).split("\n")
    assert len(lines) == tree.n_nodes
    assert all(line.isprintable() for line in lines)
    first, n_children = tree.skeleton.first_child, tree.skeleton.n_children
    todo = [0]
    for line in lines:
        node = todo.pop()
        todo += range(first[node] + n_children[node] - 1, first[node] - 1, -1) if n_children[node] else []
        if node:
            _add_test(drawn, node, re.sub(rf"^(?:│  |   )*[├└]─ {node}\) ", "", line).split(" ··")[0])
        if not n_children[node]:
            right = re.sub("^·* ", "", line.split(" ··")[1])
            drawn.predictions[node], drawn.evidence[node] = re.fullmatch(
                r"(.* \d\.\d{3})  (.*)", right
            ).groups()
    return drawn


def _add_test(drawn: Drawing, node: int, text: str) -> None:
    """Split a text into the name of the feature and its condition."""
    above = drawn.tree.skeleton.parent.item(node)
    width = len(feature_name(drawn.tree.schema.names[drawn.tree.skeleton.feature[above]]))
    drawn.features[above], drawn.tests[node] = text[:width], text[width + 1 :]


def _from_markdown(tree: Tree) -> Drawing:
    drawn = Drawing(tree)
    tokens = MarkdownIt("commonmark").enable("table").parse(to_markdown(tree))
    cells = [token.children for before, token in pairwise(tokens) if before.type == "td_open"]
    assert len(cells) == 5 * tree.n_leaves
    for i in range(0, len(cells), 5):
        assert {part.type for cell in cells[i : i + 5] for part in cell} == {"code_inline", "text"}
        number, tests, best, probability, evidence = cells[i : i + 5]
        leaf = int(number[0].content)
        assert {part.content for part in tests if part.type == "text"} <= {" and ", ""}
        steps = [part.content for part in tests if part.type == "code_inline"]
        for node, text in zip(path(tree.skeleton, leaf)[1:], steps, strict=True):
            _add_test(drawn, node, text)
        drawn.predictions[leaf] = f"{best[0].content} {probability[0].content}"
        drawn.evidence[leaf] = evidence[0].content
    return drawn


def _from_dot(tree: Tree) -> Drawing:
    drawn = Drawing(tree)
    first, *lines, last = to_dot(tree, max_width=10**6).split("\n")
    assert (first, last) == ("digraph tree {", "}")
    assert [line.split("[")[0] for line in lines[:2]] == ["  node ", "  edge "]
    for line in lines[2:]:
        form = rf'  n(\d+)(?: -> n(\d+))? \[label={_DOT_LABEL}(?:, style="rounded,bold")?\];'
        node, child, label = re.fullmatch(form, line).groups()
        names = html.unescape(re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], label))
        if child:
            drawn.tests[int(child)] = names
        elif tree.skeleton.n_children[int(node)]:
            drawn.features[int(node)] = names
        else:
            drawn.predictions[int(node)], drawn.evidence[int(node)] = names.split("\n")
    return drawn


def _from_svg(tree: Tree) -> Drawing:
    drawn = Drawing(tree)
    picture = ElementTree.fromstring(to_svg(tree, max_width=10**6))
    assert {part.tag.removeprefix(_SVG) for part in picture.iter()} == {
        "svg",
        "title",
        "g",
        "path",
        "rect",
        "text",
    }
    text = [part.text for part in picture.iter(f"{_SVG}text")]
    assert len(text) == 3 * tree.n_nodes - 1
    drawn.tests = dict(enumerate(text[: tree.n_nodes - 1], start=1))
    for node, (above, below) in enumerate(zip(*[iter(text[tree.n_nodes - 1 :])] * 2, strict=True)):
        if tree.skeleton.n_children[node]:
            drawn.features[node] = above
        else:
            drawn.predictions[node], drawn.evidence[node] = above, below
    return drawn


DRAWINGS = {
    "text": ("Python", _from_text),
    "Markdown": ("markdown-it-py", _from_markdown),
    "DOT": ("Python", _from_dot),
    "SVG": ("Python", _from_svg),
}
"""The runtime and the reader of each format."""
