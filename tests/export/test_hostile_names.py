"""Hostile names: ten thousand through every source, some through every picture; nothing gets out."""

import ctypes
import json
import re
import subprocess
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from machines import ask_c, needs_node
from markdown_it import MarkdownIt

from hornbeam.data import Table
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.export import Vectors, to_dot, to_javascript, to_json, to_markdown, to_python, to_svg
from hornbeam.tree import Skeleton, Tree
from parity import HOSTILE, hostile_name, random_model, renamed

N_FEATURES, N_CATEGORIES, N_CLASSES = 300, 9200, 500


@pytest.fixture(scope="module")
def names():
    """Ten thousand different names, every known trick among them."""
    rng = np.random.default_rng(10_000)
    found = dict.fromkeys(HOSTILE)
    while len(found) < N_FEATURES + N_CATEGORIES + N_CLASSES:
        found[hostile_name(rng)] = None
    mixed = list(found)
    rng.shuffle(mixed)
    return mixed


@pytest.fixture(scope="module")
def tree(names):
    """A root that asks for a category, one in three unknown to it, and a number below."""
    features = [Feature(name) for name in names[:N_FEATURES]]
    categories = tuple(names[N_FEATURES : N_FEATURES + N_CATEGORIES])
    features[7] = Feature(names[7], Kind.NOMINAL, categories)
    slot_of = np.arange(N_CATEGORIES) % 3 - 1
    skeleton = Skeleton.of(
        n_children=[2, 2, 0, 0, 0],
        feature=[7, 5, -1, -1, -1],
        threshold=[np.nan, 0.1, np.nan, np.nan, np.nan],
        slot_start=[0, *[N_CATEGORIES] * 5],
        slot_of=slot_of,
    )
    rng = np.random.default_rng(1)
    leaves = rng.integers(0, 3, (2, N_CLASSES))
    right = rng.integers(0, 3, N_CLASSES)
    evidence = np.stack([leaves.sum(axis=0) + right + 1, leaves.sum(axis=0), right, *leaves])
    return Tree.raw(Schema(tuple(features), tuple(names[-N_CLASSES:])), skeleton, evidence)


@pytest.fixture(scope="module")
def rows(tree):
    """Rows of some categories, and of an unknown one."""
    codes = np.append(np.arange(0, N_CATEGORIES, 25), -2).astype(np.int32)
    n = len(codes)
    columns = [np.zeros(n) for _ in range(N_FEATURES)]
    columns[7] = codes
    columns[5] = np.arange(n) / n
    return Vectors.of(tree, Table(tree.schema, tuple(columns)))


def test_c(tree, rows, tmp_path):
    ((node, best, p),) = ask_c([(tree, rows.table)], tmp_path, layout="if")
    assert (node == rows.nodes).all()
    assert (best == rows.probabilities.argmax(axis=1)).all()
    assert (p == rows.probabilities).all()
    library = ctypes.CDLL(str(tmp_path / "models.so"))
    found = (ctypes.c_char_p * N_CLASSES).in_dll(library, "m0_class_names")
    # A C string ends at its first zero byte.
    assert list(found) == [name.encode().split(b"\0")[0] for name in tree.schema.classes]


def test_python(tree, rows):
    module = {}
    exec(to_python(tree), module)
    assert module["FEATURES"] == tree.schema.names
    assert module["CLASSES"] == tree.schema.classes
    assert [module["node"](row) for row in rows.values()] == rows.nodes.tolist()


@needs_node
def test_javascript(tree, rows, tmp_path):
    source = to_javascript(tree, vectors=rows.table)
    assert source.isascii()
    assert "<" not in re.sub("[<][ =]", "", source)  # comparisons alone: no tag can begin
    told = "const { FEATURES, CLASSES, check } = module.exports;\n"
    told += "process.stdout.write(JSON.stringify([FEATURES, CLASSES, check()]));"
    path = tmp_path / "names.js"
    path.write_text(source + told, encoding="ascii")
    run = subprocess.run(["node", str(path)], capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == [list(tree.schema.names), list(tree.schema.classes), 0]


def test_json(tree):
    document = json.loads(to_json(tree))
    assert [feature["name"] for feature in document["features"]] == list(tree.schema.names)
    assert document["features"][7]["categories"] == list(tree.schema.features[7].categories)
    assert document["classes"] == list(tree.schema.classes)


LABEL = r'"(?:[^"\\\n]|\\.)*"'
DOT_LINE = re.compile(
    rf"  (?:n\d+|n\d+ -> n\d+|node|edge) \[[a-z]+=(?:{LABEL}|[a-z]+)(?:, [a-z]+=(?:{LABEL}|[a-z]+))*\];"
)


@pytest.mark.parametrize("seed", range(30))
def test_pictures_and_tables(seed):
    """Trees of hostile names, drawn: as many boxes, lines and cells as with tame ones, and the same shape."""
    tame = random_model(seed, max_rows=70)
    tree = renamed(tame, seed)
    lines = to_dot(tree, max_categories=50, max_width=20_000).split("\n")
    assert all(DOT_LINE.fullmatch(line) for line in lines[1:-1])
    assert len(lines) == len(to_dot(tame).split("\n"))

    shapes = [
        [
            (part.tag, sorted(part.attrib))
            for part in ElementTree.fromstring(to_svg(t, max_width=10**5)).iter()
        ]
        for t in (tame, tree)
    ]
    assert without_bars(shapes[0]) == without_bars(shapes[1])

    tokens = MarkdownIt("commonmark").enable("table").parse(to_markdown(tree))
    cells = [token.children for before, token in pairwise(tokens) if before.type == "td_open"]
    assert len(cells) == 5 * tree.n_leaves
    allowed = {"code_inline", "text"}
    assert {child.type for cell in cells for child in cell} <= allowed
    plain = {child.content for cell in cells for child in cell if child.type == "text"}
    assert all(re.fullmatch(r"\d+|\d\.\d{3}| and |every row|", words) for words in plain)


def without_bars(shape):
    """Rectangles are left out: how many a bar has depends on nothing but the belief."""
    return [part for part in shape if not part[0].endswith("rect")]
