"""Hostile names in every export: the output parses, and each name is read back unchanged."""

import ctypes
import json
import re
import subprocess
from itertools import chain
from xml.etree import ElementTree

import numpy as np
import pytest
from drawing_readers import DRAWINGS, shown
from hostile import NAMES, SURROGATES, category_names, column_names, hostile_trees, names_of, refused_by_xml
from source_runners import compile_c, needs_node

from hornbeam import export
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.table import Table
from hornbeam.errors import ExportError, MissingExtraError
from hornbeam.export import to_c, to_javascript, to_json, to_onnx, to_pmml, to_python, to_sql
from hornbeam.tree import Skeleton
from hornbeam.tree.tree import Tree

DIALECTS = ("bigquery", "databricks", "duckdb", "postgres", "snowflake", "spark", "sqlite", "trino")
TREES = [tree for tree, _ in hostile_trees()]


def every(names_in):
    """The names in each tree, in one list."""
    return list(chain.from_iterable(map(names_in, TREES)))


def test_all_names_are_different():
    assert len(set(every(names_of))) == len(every(names_of)) == NAMES


@pytest.mark.parametrize("drawing", DRAWINGS)
def test_drawings_contain_every_name(drawing, recover):
    runtime, reader = DRAWINGS[drawing]
    recover(drawing, runtime, every(shown), every(lambda tree: reader(tree).names()))


def test_json_contains_every_name(recover):
    def names_in(tree):
        document = json.loads(to_json(tree))
        features = document["features"]
        categories = [category for feature in features for category in feature.get("categories", [])]
        return [*[feature["name"] for feature in features], *document["classes"], *categories]

    recover("JSON rules", "Python", every(names_of), every(names_in))


def test_python_contains_every_name(recover):
    def names_in(tree):
        module = {}
        exec(to_python(tree).encode("ascii"), module)
        categories = [category for codes in module["_CODES"] for category in codes or ()]
        return [*module["FEATURES"], *module["CLASSES"], *categories]

    recover("Python source", "Python", every(names_of), every(names_in))


@needs_node
def test_javascript_contains_every_name(tmp_path, recover):
    sources = [
        to_javascript(tree, name=f"m{i}", vectors=every_category(tree)) for i, tree in enumerate(TREES)
    ]
    for source in sources:
        assert "<" not in re.sub("[<][ =]", "", source)  # only comparisons: no tag can begin
    names = ", ".join(
        f"[...m{i}.FEATURES, ...m{i}.CLASSES, ...m{i}.VECTORS.flatMap(([row]) => row)]"
        for i in range(len(TREES))
    )
    path = tmp_path / "names.js"
    path.write_text("\n".join([*sources, f"console.log(JSON.stringify([{names}]));"]), encoding="ascii")
    run = subprocess.run(["node", str(path)], capture_output=True, text=True, check=True)
    found = [sorted({name for name in names if isinstance(name, str)}) for names in json.loads(run.stdout)]
    recover("JavaScript", "node", every(lambda tree: sorted(names_of(tree))), chain.from_iterable(found))


def every_category(tree):
    """Rows that contain every category."""
    row = np.arange(max(len(feature.categories) for feature in tree.schema.features), dtype=np.int32)
    sizes = [len(feature.categories) for feature in tree.schema.features]
    return Table(tree.schema, tuple(row % size if size else np.zeros(len(row)) for size in sizes))


def test_c_contains_every_class(tmp_path, recover):
    library = ctypes.CDLL(
        str(compile_c("\n".join(to_c(t, name=f"m{i}") for i, t in enumerate(TREES)), tmp_path))
    )
    found = []
    for i, tree in enumerate(TREES):
        strings = (ctypes.c_char_p * tree.n_classes).in_dll(library, f"m{i}_class_names")
        found += [name.decode() for name in strings]
    # A C string ends at its first zero byte.
    recover("C", "gcc", [name.split("\0")[0] for name in every(lambda tree: tree.schema.classes)], found)


def test_comments_of_c_contain_every_name(recover):
    def names_in(tree):
        enumerators = re.findall(
            r"^    M_[A-Z0-9_]+ = \d+,? /\* (.*) \*/$", to_c(tree, name="m"), re.MULTILINE
        )
        return [
            re.sub(
                r"\\x(..)|\\u(.{4})|\\U(.{8})",
                lambda code: chr(int("".join(filter(None, code.groups())), 16)),
                c,
            )
            for c in enumerators
        ]

    def listed(tree):
        names = [*tree.schema.names, *category_names(tree), *tree.schema.classes]
        return [name[:60] + "..." * (len(name) > 60) for name in names]

    recover("C, comments", "Python", every(listed), every(names_in))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_sql_contains_every_name(dialect, recover):
    sqlglot = pytest.importorskip("sqlglot", reason="the extra 'test' brings sqlglot")
    wanted, found = [], []
    for tree in TREES:
        columns = column_names(tree, dialect)
        [read] = sqlglot.parse(to_sql(tree, dialect=dialect, columns=columns), dialect=dialect)
        texts = {literal.this for literal in read.find_all(sqlglot.exp.Literal) if literal.is_string}
        quoted = {name.this for name in read.find_all(sqlglot.exp.Identifier) if name.quoted}
        wanted += sorted(pieces([*tree.schema.classes, *category_names(tree)]))
        wanted += sorted({"rows", *[columns.get(name, name) for name in tree.schema.names]})
        found += [*sorted(texts - {"NaN"} | {""}), *sorted(quoted)]
    recover(f"SQL, {dialect}", "sqlglot", wanted, found)


def pieces(names):
    """The parts of a text between its zero characters, which are written separately."""
    return {"", *(piece for name in names for piece in name.split("\0"))} - {"NaN"}


def test_onnx_contains_every_name(recover):
    pytest.importorskip("onnx", reason="the extra 'test' brings onnx")

    def names_in(tree):
        model = to_onnx(tree, inputs="columns")
        entry = {prop.key: json.loads(prop.value) for prop in model.metadata_props if prop.key != "digest"}
        categories = [category for feature in entry["features"] for category in feature["categories"]]
        inputs = [field.name for field in model.graph.input]
        assert [name for name in inputs if name in tree.schema.names] == [n for n in tree.schema.names if n]
        return [*[feature["name"] for feature in entry["features"]], *entry["classes"], *categories]

    recover("ONNX", "onnx", every(names_of), every(names_in))


def test_pmml_contains_every_name(recover):
    space = "{http://www.dmg.org/PMML-4_4}"
    wanted, found = [], []
    for tree, _ in hostile_trees("XML"):
        *features, target = ElementTree.fromstring(to_pmml(tree).encode()).iter(f"{space}DataField")
        values = [
            [value.get("value") for value in field.iter(f"{space}Value")] for field in (target, *features)
        ]
        found += [*[field.get("name") for field in features], *chain.from_iterable(values)]
        wanted += names_of(tree)
    recover("PMML", "Python", wanted, found)


def stump(**names):
    """A tree with one split, with given names of feature, category and label."""
    feature = Feature(names.get("feature", "f"), Kind.NOMINAL, (names.get("category", "a"), "b"))
    skeleton = Skeleton.of([2, 0, 0], [0, -1, -1], [np.nan] * 3, slot_start=[0, 2, 2, 2], slot_of=[0, 1])
    schema = Schema((feature,), (names.get("label", "no"), "yes"))
    return Tree.raw(schema, skeleton, np.array([[4, 4], [4, 0], [0, 4]]))


def test_names_that_xml_cannot_hold_raise():
    for name in refused_by_xml():
        with pytest.raises(ExportError, match="XML cannot hold"):
            to_pmml(stump(category=name))


@pytest.mark.parametrize("place", ["feature", "category", "label"])
@pytest.mark.parametrize("exporter", sorted({n for n in export.__all__ if n.startswith("t")} - {"to_matrix"}))
def test_surrogates_are_escaped_or_raise(exporter, place):
    """Python strings can hold them, but files cannot."""
    write = getattr(export, exporter)
    for tree in (stump(**{place: name}) for name in SURROGATES):
        for options in [{}, {"inputs": "columns"}] if exporter == "to_onnx" else [{}]:
            try:
                written = write(tree, **options)
            except ExportError:
                continue
            except MissingExtraError as missing:
                pytest.skip(str(missing))
            assert not isinstance(written, str) or written.encode()
