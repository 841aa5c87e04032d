"""The public API: documented names and their signatures are those of the recorded file, and each has one place."""

import ast
import importlib
import re
from collections import Counter
from pathlib import Path

import pytest

import hornbeam
from support import api

ROOT = Path(__file__).parents[1]
DOCUMENTED = api.documented()
NAMESPACES = sorted({module for module, _ in DOCUMENTED})
#: Pages for contributors, which show the inside.
INSIDE = ("docs/design/", "CONTRIBUTING.md", "docs/papers/")


def test_the_api_is_the_recorded_one():
    """A name or a signature changed: if that is meant, run ``python tests/support/api.py --write``."""
    recorded = api.SNAPSHOT.read_text(encoding="utf-8").splitlines()
    assert list(api.lines()) == recorded


def test_the_api_is_small():
    assert len(DOCUMENTED) <= 160
    assert len(NAMESPACES) <= 12


def test_a_name_has_one_public_place():
    assert [name for name, times in Counter(name for _, name in DOCUMENTED).items() if times > 1] == []


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_a_namespace_has_no_name_of_another_one(namespace):
    held = vars(importlib.import_module(namespace))
    assert [f"{module}.{name}" for module, name in DOCUMENTED if module != namespace and name in held] == []


def test_every_listed_name_is_documented_and_every_documented_name_is_listed():
    listed = set()
    for path in (ROOT / "src/hornbeam").rglob("*.py"):
        if "__all__" not in path.read_text(encoding="utf-8"):
            continue
        parts = path.relative_to(ROOT / "src").with_suffix("").parts
        module = ".".join(part for part in parts if part != "__init__")
        listed |= {(module, name) for name in getattr(importlib.import_module(module), "__all__", ())}
    listed -= {("hornbeam", "__version__"), ("hornbeam", "errors"), ("hornbeam.cli", "main")}
    assert listed == set(DOCUMENTED)


def imported(text):
    """Modules and names that examples import or name with dots."""
    joined = re.sub(r"^\s*\.\.\. ", "", text, flags=re.MULTILINE)
    statement = (
        r"^\s*(?:>>> )?((?:from hornbeam[\w.]* import (?:\([^)]*\)|[^(\n]+))|(?:import hornbeam[\w.]*.*))$"
    )
    for found in re.findall(statement, joined, re.MULTILINE):
        for node in ast.parse(found.strip()).body:
            if isinstance(node, ast.ImportFrom):
                yield from ((node.module, alias.name) for alias in node.names)
            else:
                names = [alias.name for alias in node.names if alias.name.startswith("hornbeam.")]
                yield from (tuple(name.rsplit(".", 1)) for name in names)


def is_public(module, name):
    """Whether a user may import the name from the module."""
    whole = f"{module}.{name}"
    return (module, name) in DOCUMENTED or whole in NAMESPACES or whole == "hornbeam.__version__"


PAGES = [
    path
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.py")]
    if not str(path.relative_to(ROOT)).startswith(INSIDE) and "_build" not in path.parts
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_imports_public_names_only(page):
    found = set(imported(page.read_text(encoding="utf-8")))
    assert sorted(one for one in found if not is_public(*one)) == []


def test_docstrings_of_public_names_import_public_names_only():
    inner = {}
    for module, name in DOCUMENTED:
        thing = api.public(module, name)
        texts = [thing.__doc__ or ""]
        if isinstance(thing, type) and not issubclass(thing, BaseException):
            texts += [getattr(value, "__doc__", "") or "" for value in api.members(thing).values()]
        wrong = {one for text in texts for one in imported(text) if not is_public(*one)}
        if wrong:
            inner[f"{module}.{name}"] = sorted(wrong)
    assert inner == {}


def test_an_inner_import_is_found():
    text = ">>> from hornbeam.data.table import Table\n>>> import hornbeam.explain\n"
    text += ">>> from hornbeam import (\n...     Tree,\n... )\n"
    found = set(imported(text))
    assert found == {("hornbeam.data.table", "Table"), ("hornbeam", "explain"), ("hornbeam", "Tree")}
    assert [is_public(*one) for one in sorted(found)] == [True, False, False]
    assert hornbeam.Tree is api.public("hornbeam", "Tree")
