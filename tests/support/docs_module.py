"""Python files of the documentation, which are not in a package."""

import importlib.util
from pathlib import Path
from types import ModuleType

__all__ = ["DOCS", "docs_module"]

DOCS = Path(__file__).parents[2] / "docs"


def docs_module(path: str) -> ModuleType:
    """Import a file of the documentation."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, DOCS / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
