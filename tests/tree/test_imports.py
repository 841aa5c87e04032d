"""The modules of hornbeam.tree have an order: each imports only earlier ones."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import hornbeam.tree

FOLDER = Path(hornbeam.tree.__file__).parent
MODULES = {
    ".".join(("hornbeam.tree", *path.relative_to(FOLDER).with_suffix("").parts)).removesuffix(
        ".__init__"
    ): path
    for path in FOLDER.rglob("*.py")
}


def imported(path):
    """Modules of hornbeam.tree that a file imports anywhere, in functions and TYPE_CHECKING blocks too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from {alias.name for alias in node.names} & MODULES.keys()
        elif isinstance(node, ast.ImportFrom):
            inner = {f"{node.module}.{alias.name}" for alias in node.names} & MODULES.keys()
            yield from inner or {node.module} & MODULES.keys()


def test_imports_within_the_tree_package_have_no_circle():
    graph = {module: set(imported(path)) for module, path in MODULES.items()}
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle
    assert "hornbeam.tree.level_order" in graph["hornbeam.tree.skeleton"]


def test_no_import_is_for_type_checkers_alone():
    assert [
        module for module, path in MODULES.items() if "TYPE_CHECKING" in path.read_text(encoding="utf-8")
    ] == []
