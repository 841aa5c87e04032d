"""Readers of what people read: the names that text, Markdown, DOT and SVG show, by the shape of each alone."""

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
from hornbeam.export.wording import feature_name
from hornbeam.tree import Tree
from hornbeam.tree.walk import path

__all__ = ["DRAWINGS", "shown"]

_WORD = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,{}'"\\]+"""
_SVG = "{http://www.w3.org/2000/svg}"
_DOT_LABEL = r'"((?:[^"\\\n]|\\.)*)"'


@dataclass
class Drawing:
    """What a drawing says of each node: its feature, what leads to it, its answer and evidence."""

    tree: Tree
    features: dict[int, str] = field(default_factory=dict)
    tests: dict[int, str] = field(default_factory=dict)
    answers: dict[int, str] = field(default_factory=dict)
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
                yield _read(re.fullmatch(r"(.*) \d\.\d{3}", self.answers[node])[1].rstrip())
                yield from _counted(self.evidence[node])


def shown(tree: Tree) -> Iterator[str]:
    """The names that a drawing of a tree shows, node by node."""
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


def _read(word: str) -> str:
    return ast.literal_eval(word) if word[0] in "'\"" else word


def _members(test: str, categories: tuple[str, ...]) -> list[str]:
    """The categories that a test asks for, by name or by those it leaves out."""
    if re.fullmatch(r"[≤>] -?[\d.]+(e[+-]\d+)?( or missing)?", test):
        return []
    known = test.removesuffix(" or missing")
    if known == "known":
        return list(categories)
    single = re.fullmatch(rf"([=≠]) ({_WORD})", known)
    if single:
        left_out, named = single[1] == "≠", [_read(single[2])]
    else:
        negation, inside = re.fullmatch(r"(not )?in \{(.*)\}", known).groups()
        words = re.findall(rf"(?:^|, )({_WORD})(?=, |$)", inside)
        assert ", ".join(words) == inside
        left_out, named = negation is not None, [_read(word) for word in words]
    return [category for category in categories if category not in named] if left_out else named


def _counted(evidence: str) -> list[str]:
    """The classes of some evidence."""
    found = re.findall(rf"(?:^|, )(\d+) ({_WORD})(?=, |$)", evidence)
    assert ", ".join(" ".join(pair) for pair in found) == evidence
    return [_read(word) for _, word in found if not word.startswith("of ")]


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
            _take(drawn, node, re.sub(rf"^(?:│  |   )*[├└]─ {node}\) ", "", line).split(" ··")[0])
        if not n_children[node]:
            right = re.sub("^·* ", "", line.split(" ··")[1])
            drawn.answers[node], drawn.evidence[node] = re.fullmatch(r"(.* \d\.\d{3})  (.*)", right).groups()
    return drawn


def _take(drawn: Drawing, node: int, told: str) -> None:
    """Part the name of a feature from a test of it."""
    above = drawn.tree.skeleton.parent.item(node)
    width = len(feature_name(drawn.tree.schema.names[drawn.tree.skeleton.feature[above]]))
    drawn.features[above], drawn.tests[node] = told[:width], told[width + 1 :]


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
        for node, told in zip(path(tree.skeleton, leaf)[1:], steps, strict=True):
            _take(drawn, node, told)
        drawn.answers[leaf] = f"{best[0].content} {probability[0].content}"
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
        words = html.unescape(re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], label))
        if child:
            drawn.tests[int(child)] = words
        elif tree.skeleton.n_children[int(node)]:
            drawn.features[int(node)] = words
        else:
            drawn.answers[int(node)], drawn.evidence[int(node)] = words.split("\n")
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
    told = [part.text for part in picture.iter(f"{_SVG}text")]
    assert len(told) == 3 * tree.n_nodes - 1
    drawn.tests = dict(enumerate(told[: tree.n_nodes - 1], start=1))
    for node, (above, below) in enumerate(zip(*[iter(told[tree.n_nodes - 1 :])] * 2, strict=True)):
        if tree.skeleton.n_children[node]:
            drawn.features[node] = above
        else:
            drawn.answers[node], drawn.evidence[node] = above, below
    return drawn


DRAWINGS = {
    "text": ("Python", _from_text),
    "Markdown": ("markdown-it-py", _from_markdown),
    "DOT": ("Python", _from_dot),
    "SVG": ("Python", _from_svg),
}
"""Of each drawing what reads it, and how."""
