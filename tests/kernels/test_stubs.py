"""The type stubs of the compiled module are those of the module as it is."""

import ast
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def _statements(module):
    """The statements of a file in alphabetical order: a formatter may have moved imports."""
    return sorted(map(ast.dump, module.body))


def test_the_stubs_are_current():
    """`nox -s stubs` writes them."""
    pytest.importorskip("nanobind.stubgen", reason="nanobind makes the stubs")
    made = runpy.run_path(str(ROOT / ".ci" / "stubs.py"))["stubs"]()
    kept = (ROOT / "src" / "hornbeam" / "kernels" / "_native.pyi").read_text(encoding="utf-8")
    assert _statements(ast.parse(made)) == _statements(ast.parse(kept))


def test_the_stubs_name_everything_in_the_module():
    from hornbeam.kernels import _native

    kept = ast.parse((ROOT / "src" / "hornbeam" / "kernels" / "_native.pyi").read_text(encoding="utf-8"))
    named = {node.name for node in kept.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert named == {name for name in vars(_native) if not name.startswith("_")}
