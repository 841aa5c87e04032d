"""The modules of the package have an order: each imports only earlier ones."""

import ast
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import hornbeam

FOLDER = Path(hornbeam.__file__).parent
MODULES = {
    ".".join(("hornbeam", *path.relative_to(FOLDER).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in FOLDER.rglob("*.py")
}
CONFIGURED = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
#: Exceptions of import-linter, whose number tests/budget.toml limits: `print` of a tree and of rules.
UPWARD = {
    tuple(line.split(" -> "))
    for contract in CONFIGURED["tool"]["importlinter"]["contracts"]
    for line in contract.get("ignore_imports", ())
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
    graph = {
        module: {one for one in imported(path) if one != module and (module, one) not in UPWARD}
        for module, path in MODULES.items()
    }
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle
    assert "hornbeam.tree.level_order" in graph["hornbeam.tree.skeleton"]
    assert "hornbeam.lazy" in graph["hornbeam"]


def test_upward_imports_are_inside_functions():
    for module, upper in UPWARD:
        at_import = ast.parse(MODULES[module].read_text(encoding="utf-8")).body
        assert upper not in {node.module for node in at_import if isinstance(node, ast.ImportFrom)}
        assert upper in imported(MODULES[module])


def test_in_the_tree_package_no_import_is_for_type_checkers_alone():
    assert [
        module
        for module, path in MODULES.items()
        if module.startswith("hornbeam.tree") and "TYPE_CHECKING" in path.read_text(encoding="utf-8")
    ] == []
