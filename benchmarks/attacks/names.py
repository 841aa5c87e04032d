"""Hostile names of features, classes and categories through every exporter and both formats of files.

What is written must parse, with the same structure as for plain names, and tell the names as they were; or be refused
with an error of ours. The names and the trees are those of `tests/export/hostile.py`.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

import hornbeam
from hornbeam import export
from hornbeam.errors import HornbeamError
from hornbeam.rules.extract import extract
from hornbeam.storage.file import decode, encode
from hornbeam.storage.model import Model

NEEDS = ("hypothesis", "onnx", "sqlglot", "treelite")
IN_CI, LIMIT = 60, 5.0
DIALECTS = ("bigquery", "databricks", "duckdb", "postgres", "snowflake", "spark", "sqlite", "trino")
IN_A_TREE = 60


@cache
def tests() -> Any:
    """The module of the tests that knows hostile names."""
    folder = Path(__file__).parents[2] / "tests" / "export"
    sys.path += [str(folder), str(folder.parent)]
    spec = importlib.util.spec_from_file_location("export_hostile", folder / "hostile.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def prepare() -> None:
    """Import what all cases need."""
    judge(draw(np.random.default_rng(0)))


def draw(rng: np.random.Generator) -> dict[str, Any]:
    known = [*tests().HOSTILE, *tests().SURROGATES]
    names = [
        tests().hostile_name(rng) if rng.random() < 0.5 else known[rng.integers(len(known))]
        for _ in range(12)
    ]
    return {"names": names, "places": [int(place) for place in rng.permutation(IN_A_TREE)[:12]]}


@cache
def plain() -> Any:
    return tests().tree_with([f"n{i}" for i in range(IN_A_TREE)], 0)[0]


def tree_of(case: dict[str, Any]) -> Any:
    names = [f"n{i}" for i in range(IN_A_TREE)]
    for name, place in zip(case.get("names", []), case.get("places", []), strict=False):
        if isinstance(name, str) and isinstance(place, int) and name not in names:
            names[place % IN_A_TREE] = name
    return tests().tree_with(names, 0)[0]


# ---- readers: what is written, as something that must not depend on the names, or that tells them ----------------


def tags(source: str) -> list[str]:
    """The tags and the names of attributes of a page."""
    found: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attributes: Any) -> None:
            if tag != "title":
                found.append(f"{tag} {sorted(name for name, _ in attributes)}")

    reader = Reader()
    reader.feed(source)
    reader.close()
    return found


def elements(source: str) -> list[str]:
    """The elements of a drawing, but for the full names of what is cut short."""
    found = [element.tag for element in ElementTree.fromstring(source).iter()]
    return [tag for tag in found if not tag.endswith("}title")]


def statements(source: str) -> list[str]:
    return [type(node).__name__ for node in ast.walk(ast.parse(source.encode("ascii")))]


def compiled(source: str) -> bool:
    """Whether a compiler takes it without a warning."""
    gcc = shutil.which("gcc")
    if gcc is None:
        return True
    command = [gcc, "-fsyntax-only", "-std=c99", "-Wall", "-Wextra", "-Werror", "-x", "c", "-"]
    return (
        subprocess.run(command, input=source.encode("ascii"), capture_output=True, check=False).returncode
        == 0
    )


def scripted(source: str) -> bool:
    """Whether the source is plain ASCII in which no tag can begin."""
    return "<" not in re.sub("[<][ =]", "", source.encode("ascii").decode())


def names_in_pmml(tree: Any) -> list[str]:
    """All names but that of the target, in order of the alphabet."""
    root = ElementTree.fromstring(export.to_pmml(tree))
    target = root.find(".//{*}MiningField[@usageType='target']")
    names = []
    for field in root.iterfind(".//{*}DataDictionary/{*}DataField"):
        names += [value.get("value") for value in field.iterfind("{*}Value")]
        if target is None or field.get("name") != target.get("name"):
            names.append(field.get("name"))
    return sorted(name or "" for name in names)


def queries(tree: Any) -> list[list[str]]:
    """The kinds of nodes of every dialect's query, but for those that put a text with a NUL together."""
    import sqlglot

    told = []
    for dialect in DIALECTS:
        columns = tests().column_names(tree, dialect)
        query = export.to_sql(tree, dialect=dialect, columns=columns)
        nodes = [type(node).__name__ for one in sqlglot.parse(query, dialect=dialect) for node in one.walk()]
        told.append(sorted(kind for kind in nodes if kind not in ("Literal", "DPipe", "Chr", "Paren")))
    return told


def names_in_json(tree: Any) -> list[Any]:
    told = json.loads(export.to_json(tree))
    categories = [category for feature in told["features"] for category in feature.get("categories", [])]
    return [*(feature["name"] for feature in told["features"]), *told["classes"], *categories]


def names_in_python(tree: Any) -> list[Any]:
    module: dict[str, Any] = {}
    exec(export.to_python(tree).encode("ascii"), module)
    categories = [category for codes in module["_CODES"] for category in codes or ()]
    return [*module["FEATURES"], *module["CLASSES"], *categories]


def saved_again(tree: Any) -> list[Any]:
    return [decode(encode(Model.of(tree), as_tensors=as_tensors)).tree.digest for as_tensors in (False, True)]


# What must be as with plain names, and what must tell the names or the digest of the tree.
STRUCTURE: dict[str, Callable[[Any], Any]] = {
    "text": lambda tree: len(export.to_text(tree).split("\n")),
    "markdown": lambda tree: len(export.to_markdown(tree).split("\n")),
    "dot": lambda tree: len(export.to_dot(tree).split("\n")),
    "svg": lambda tree: elements(export.to_svg(tree)),
    "html": lambda tree: tags(export.to_html(tree)),
    "html title": lambda tree: tags(export.to_html(tree, title=tree.schema.names[0])),
    "report": lambda tree: tags(hornbeam.report(tree).text),
    "model card": lambda tree: len(hornbeam.model_card(tree).text.split("\n")),
    "python": lambda tree: statements(export.to_python(tree)),
    "c": lambda tree: compiled(export.to_c(tree)),
    "javascript": lambda tree: scripted(export.to_javascript(tree, name="model")),
    "sql": queries,
    "onnx": lambda tree: len(export.to_onnx(tree).graph.node),
    "treelite": lambda tree: export.to_treelite(tree).num_tree,
    "rules as text": lambda tree: len(extract(tree).to_text().split("\n")),
    "rules as markdown": lambda tree: len(extract(tree).to_markdown().split("\n")),
    "rules as JSON": lambda tree: len(json.loads(extract(tree).to_json())),
}
CONTENT: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "json": (names_in_json, lambda tree: tests().names_of(tree)),
    "python names": (names_in_python, lambda tree: tests().names_of(tree)),
    "pmml": (names_in_pmml, lambda tree: sorted(tests().names_of(tree))),
    "files": (saved_again, lambda tree: [tree.digest] * 2),
}


@cache
def expected(target: str) -> Any:
    return STRUCTURE[target](plain())


def judge(case: dict[str, Any]) -> str | None:
    try:
        tree = tree_of(case)
    except HornbeamError:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for target in [*STRUCTURE, *CONTENT]:
            wrong = try_target(target, tree)
            if wrong:
                return f"{target}: {wrong}"
    return None


def try_target(target: str, tree: Any) -> str | None:
    try:
        if target in STRUCTURE:
            found, wanted = STRUCTURE[target](tree), expected(target)
        else:
            read, truth = CONTENT[target]
            found, wanted = read(tree), truth(tree)
    except HornbeamError:
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200]
    return None if found == wanted else "not what plain names give"
