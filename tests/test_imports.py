"""The modules of the package have an order: each imports only earlier ones."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import hornbeam

FOLDER = Path(hornbeam.__file__).parent
MODULES = {
    ".".join(("hornbeam", *path.relative_to(FOLDER).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in FOLDER.rglob("*.py")
}


def imported(path):
    """Modules that a file imports anywhere, in functions and TYPE_CHECKING blocks too; a package is its __init__."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [(f"{node.module}.{alias.name}", node.module) for alias in node.names]
        else:
            continue
        for name, package in names:
            yield from [module for module in (name, package) if module in MODULES][:1]


def test_imports_have_no_circle():
    graph = {module: set(imported(path)) - {module} for module, path in MODULES.items()}
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle
    assert "hornbeam.tree.level_order" in graph["hornbeam.tree.skeleton"]
    assert "hornbeam.lazy" in graph["hornbeam"]


def test_in_the_tree_package_no_import_is_for_type_checkers_alone():
    assert [
        module
        for module, path in MODULES.items()
        if module.startswith("hornbeam.tree") and "TYPE_CHECKING" in path.read_text(encoding="utf-8")
    ] == []
