"""What an extension needs: the files of the package that name an existing one, outside of documentation."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# The files that a new one would change; CONTRIBUTING.md has the same list. Fewer are better.
FILES = {
    ("smoother", "HierarchicalShrinkage"): [
        "smoothing/__init__.py",
        "smoothing/registry.py",
        "smoothing/shrinkage.py",
    ],
    ("pruner", "MinimumError"): ["pruning/__init__.py", "pruning/minimum_error.py", "pruning/registry.py"],
    ("criterion", "[hH]ellinger|HELLINGER"): [
        "growing/criterion.py",
        "kernels/subtree.py",
        "native/growing/criteria.hpp",
    ],
    ("loss", r"'Poisson'|Poisson\("): [
        "ensembles/__init__.py",
        "ensembles/boosting/losses.py",
        "estimators/boosted_regressor.py",
    ],
    ("exporter", "to_dot"): [
        "cli/commands/export.py",
        "export/__init__.py",
        "export/people/dot.py",
    ],
    ("engine", "RayEngine"): ["engines/__init__.py", "engines/ray.py"],
    ("column check", r"Check\.DATE"): ["data/column_checks.py", "estimators/inputs/fit_warnings.py"],
    ("report section", "competitor_section"): ["reporting/reporter.py", "reporting/sections/competitors.py"],
    ("command", r"'drift'|def drift\(model: str"): ["cli/commands/drift.py", "cli/group.py"],
    ("kind of column", "ORDINAL|['\"]ordinal"): [
        "data/column_checks.py",
        "data/files/footers.py",
        "data/reading/columns.py",
        "data/schema.py",
        "editing/new_branches.py",
        "export/json_rules.py",
        "export/runtime/onnx.py",
        "export/runtime/pmml.py",
        "export/runtime/pmml_slopes.py",
        "export/slope_text.py",
        "export/sql/expressions.py",
        "export/sql/points.py",
        "export/sql/prediction_tables.py",
        "reporting/assets/model.js",
        "reporting/assets/words.js",
        "rules/text.py",
        "storage/assembly.py",
        "tree/words.py",
        "web_editor/operations.py",
        "web_editor/views.py",
    ],
}


def code(path):
    """The source without comments and docstrings."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return re.sub(r"//.*", "", text)
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value = ast.Constant(...)
    return ast.unparse(tree)


@pytest.fixture(scope="module")
def sources():
    files = [*ROOT.glob("src/hornbeam/**/*.py"), *ROOT.glob("src/**/*.js"), *ROOT.glob("native/**/*.[hc]pp")]
    return {str(file.relative_to(ROOT)).removeprefix("src/hornbeam/"): code(file) for file in files}


@pytest.mark.parametrize(("kind", "name"), FILES)
def test_an_extension_changes_these_files_only(kind, name, sources):
    assert sorted(file for file, text in sources.items() if re.search(name, text)) == FILES[kind, name]


@pytest.mark.parametrize(("kind", "name"), FILES)
def test_the_table_for_contributors_names_these_files(kind, name):
    """The row of the kind names each file, or its folder; the longest list is the one above."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| an? {kind} \|.*", text, re.MULTILINE)
    named = set(re.findall("`(.*?)`", row))
    if f"tests/{Path(__file__).name}" not in named:
        assert [
            file
            for file in FILES[kind, name]
            if not {file, *(f"{folder}/" for folder in Path(file).parents)} & named
        ] == []
