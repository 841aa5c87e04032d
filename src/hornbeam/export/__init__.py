"""Exports of a tree to text, pictures, source code, SQL and other runtimes.

In reading order:

- `checks`: checks of the model and of arguments
- `wording`, `slope_text`: text of names, numbers, tests, conditions, predictions and terms of leaves
- `people/`: text, tables and pictures
- `source/`: Python, JavaScript and C
- `sql/`: queries
- `runtime/`: ONNX, treelite, PMML and shap
- `json_rules`: a tree as rules in JSON
"""

from typing import TYPE_CHECKING, Any

from hornbeam.export.people.text import to_text
from hornbeam.lazy import lazy_attribute

if TYPE_CHECKING:
    from hornbeam.export.json_rules import to_json
    from hornbeam.export.people.dot import to_dot
    from hornbeam.export.people.html import to_html
    from hornbeam.export.people.markdown import to_markdown
    from hornbeam.export.people.svg import to_svg
    from hornbeam.export.runtime.matrix import to_matrix
    from hornbeam.export.runtime.onnx import to_onnx
    from hornbeam.export.runtime.pmml import to_pmml
    from hornbeam.export.runtime.shap import to_shap
    from hornbeam.export.runtime.skl2onnx import register_skl2onnx
    from hornbeam.export.runtime.treelite import to_treelite
    from hornbeam.export.source.c.source import to_c
    from hornbeam.export.source.javascript import to_javascript
    from hornbeam.export.source.python import to_python
    from hornbeam.export.sql.queries import to_sql

__all__ = [
    "register_skl2onnx",
    "to_c",
    "to_dot",
    "to_html",
    "to_javascript",
    "to_json",
    "to_markdown",
    "to_matrix",
    "to_onnx",
    "to_pmml",
    "to_python",
    "to_shap",
    "to_sql",
    "to_svg",
    "to_text",
    "to_treelite",
]

_MODULES = {
    "register_skl2onnx": ".runtime.skl2onnx",
    "to_c": ".source.c.source",
    "to_dot": ".people.dot",
    "to_html": ".people.html",
    "to_javascript": ".source.javascript",
    "to_json": ".json_rules",
    "to_markdown": ".people.markdown",
    "to_matrix": ".runtime.matrix",
    "to_onnx": ".runtime.onnx",
    "to_pmml": ".runtime.pmml",
    "to_python": ".source.python",
    "to_shap": ".runtime.shap",
    "to_sql": ".sql.queries",
    "to_svg": ".people.svg",
    "to_treelite": ".runtime.treelite",
}


def __getattr__(name: str) -> Any:
    return lazy_attribute(globals(), _MODULES, name)


def __dir__() -> list[str]:
    return __all__
