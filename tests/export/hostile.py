"""Hostile names, and trees that contain all of them.

`hostile_trees()` are complete binary trees in which every inner node tests another feature. Their rows bring every
category to the node that tests it, so an export that confuses two names fails.
"""

import os
from functools import cache

import numpy as np
from random_models import random_rows, row_to

from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.table import Table
from hornbeam.tree import Skeleton
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import pull_up, slots

__all__ = [
    "HOSTILE",
    "NAMES",
    "SURROGATES",
    "category_names",
    "column_names",
    "hostile_name",
    "hostile_trees",
    "names_of",
    "refused_by_xml",
    "tree_with",
]  # fmt: skip

NAMES = int(os.environ.get("HORNBEAM_EXPORT_NAMES", "250"))  # `nox -s exports` tries 10,000
_IN_A_TREE = 1000

HOSTILE = (
    "", " ", "'", '"', "`", "\\", "\\\\", "\\'", "\\n", "\n", "\r\n", "\t", "\0", "a\0b", "\x1b[31m", "\x7f", "\x85",
    "*/", "/*", "//", "#", "??/", "??)", "??/\n", "%s%n", "%d", "${x}", "{{x}}", "$x$", "$TABLES", "<!--", "-->",
    "]]>", "&amp;", "&#0;", "&", "<script>", "</script>", "</SCRIPT >", "</text></svg>", "<![CDATA[", "<?xml ?>",
    "';DROP TABLE x;--", "\\';DROP TABLE x;--", "1 OR 1=1", "--", ";", "$$", "E'\\''", "\\u0000", "\\u2028", "\\0",
    "int", "float", "return", "class", "None", "NULL", "null", "NaN", "nan", "inf", "undefined", "true", "this",
    "constructor", "__proto__", "hasOwnProperty", "__class__", "main", "leaf", "label", "p0", "x", "x0", "k0", "row",
    "a b", "a-b", "a_b", "a.b", "A_B", "0", "-1", "1e5", "missing", "a or missing", "of 2 more classes", "… 3 more",
    "'a'", "'\\n'", "{", "}", "{a, b}", ", ", "\u200b", "\u202egnp", "\u2066", "\u2028", "\u2029", "\ufeff", "\ufffe",
    "é", "e\u0301", "\u00df", "SS", "ı", "İ", "名前", "🌳", "👩‍👩‍👧", "\U0010ffff", "|", "| a | b |", "\\|", "**bold**",
    "[x](y)", "]", "->", "\\N", "\\N{DASH}", "\\x41", "\\\n", "x" * 10_000,
)  # fmt: skip
SURROGATES = ("\ud800", "a\udfffb", "\udc80'")  # valid in Python strings, but not in Unicode


@cache
def hostile_trees(allowed: str = "every") -> list[tuple[Tree, Table]]:
    """Trees with `NAMES` hostile names together, with rows; with "XML" only the names that XML can hold."""
    names = [name for name in _names() if allowed == "every" or (name and _xml_holds(name))]
    parts = [names[begin : begin + _IN_A_TREE] for begin in range(0, len(names), _IN_A_TREE)]
    return [tree_with(part, seed) for seed, part in enumerate(parts)]


def names_of(tree: Tree) -> list[str]:
    """All names of a tree: features, classes, categories."""
    return [*tree.schema.names, *tree.schema.classes, *category_names(tree)]


def category_names(tree: Tree) -> list[str]:
    """The names of all categories."""
    return [category for feature in tree.schema.features for category in feature.categories]


def refused_by_xml() -> list[str]:
    """The names that no XML document can hold, however they are escaped."""
    return [name for name in _names() if not _xml_holds(name)]


def column_names(tree: Tree, dialect: str) -> dict[str, str]:
    """Columns for the features whose names a database cannot have, or cannot distinguish from another."""
    columns, folded = {}, set()
    for i, name in enumerate(tree.schema.names):
        dotted = dialect == "bigquery" and "." in name
        if not name or "\0" in name or dotted or name.lower() in folded:
            columns[name] = f"column {i}"
        folded.add(name.lower())
    return columns


@cache
def _names() -> list[str]:
    """Different names in random order, with all known tricks."""
    rng = np.random.default_rng(10_000)
    found = dict.fromkeys(HOSTILE)
    while len(found) < NAMES:
        found[hostile_name(rng)] = None
    mixed = list(found)
    rng.shuffle(mixed)
    return mixed


def hostile_name(rng: np.random.Generator) -> str:
    """One known trick, several together, or random characters."""
    kind = rng.integers(4)
    if kind < 2:
        return "".join(rng.choice(HOSTILE[:-1], rng.integers(1, 4)))
    if kind == 2:
        return "".join(map(chr, rng.integers(0, 128, rng.integers(0, 9))))
    points = rng.integers(0, 0x10FFFF, rng.integers(0, 9), endpoint=True)
    return "".join(chr(p) for p in points if not 0xD800 <= p < 0xE000)


def _xml_holds(name: str) -> bool:
    return all(c in "\t\n\r" or " " <= c < "\ufffe" or c > "\uffff" for c in name)


def tree_with(names: list[str], seed: int) -> tuple[Tree, Table]:
    """One name in thirty for a feature, one for a class, the rest for categories; one feature in eight is numeric."""
    rng = np.random.default_rng([seed, 3])
    n = len(names) // 30
    numeric = [i % 8 == 5 for i in range(n)]
    categories = iter(np.array_split(np.array(names[2 * n :], object), n - sum(numeric)))
    features = [
        Feature(name) if number else Feature(name, Kind.NOMINAL, tuple(next(categories)))
        for name, number in zip(names, numeric, strict=False)
    ]
    sizes = [len(feature.categories) for feature in features]
    skeleton = Skeleton.of(
        n_children=[2] * n + [0] * (n + 1),
        feature=[*range(n), *[-1] * (n + 1)],
        threshold=[0.1 if number else np.nan for number in numeric] + [np.nan] * (n + 1),
        missing_slot=[*rng.integers(-1, 2, n), *[-1] * (n + 1)],
        slot_start=np.cumsum([0, *sizes, *[0] * (n + 1)]),
        slot_of=np.concatenate([np.arange(size) % 2 for size in sizes]),
    )
    own = np.zeros((skeleton.n_nodes, n), np.int64)  # every class is that of some leaf
    leaf = np.arange(n + 1)
    own[n + leaf, leaf % n], own[n + leaf, (leaf + 1) % n] = 5, rng.integers(1, 5, n + 1)
    tree = Tree.raw(Schema(tuple(features), tuple(names[n : 2 * n])), skeleton, pull_up(skeleton, own))
    return tree, _rows(tree, seed)


def _rows(tree: Tree, seed: int) -> Table:
    """Rows that bring every category to the node that tests it, and a missing and an unseen one."""
    slot = slots(tree.skeleton)
    filler = random_rows(tree, seed, 2 * len(names_of(tree)))
    rows = []
    for node, feature in enumerate(tree.schema.features):
        tried = [*range(len(feature.categories)), *([-1, -2] if feature.kind is Kind.NOMINAL else [np.nan])]
        for value in tried:
            row = row_to(tree, node, slot, [column.item(len(rows)) for column in filler.columns])
            rows.append([*row[:node], value, *row[node + 1 :]])
    columns = [
        np.array(column, np.int32 if feature.kind is Kind.NOMINAL else np.float64)
        for feature, column in zip(tree.schema.features, zip(*rows, strict=True), strict=True)
    ]
    return Table(tree.schema, tuple(columns))
