"""A tree, or its rules, in other languages."""

from typing import TYPE_CHECKING, Any

from hornbeam.export.text import text

if TYPE_CHECKING:
    from hornbeam.export.c import to_c
    from hornbeam.export.condition import condition_words
    from hornbeam.export.dot import to_dot
    from hornbeam.export.html import to_html
    from hornbeam.export.javascript import to_javascript
    from hornbeam.export.json_rules import to_json
    from hornbeam.export.markdown import to_markdown
    from hornbeam.export.matrix import to_matrix
    from hornbeam.export.onnx import to_onnx
    from hornbeam.export.pmml import to_pmml
    from hornbeam.export.python import to_python
    from hornbeam.export.rule_list import rules_dict, rules_markdown, rules_text
    from hornbeam.export.shap import to_shap
    from hornbeam.export.sql import rules_where, to_sql
    from hornbeam.export.svg import to_svg
    from hornbeam.export.treelite import to_treelite
    from hornbeam.export.vectors import Vectors

__all__ = [
    "Vectors",
    "condition_words",
    "rules_dict",
    "rules_markdown",
    "rules_text",
    "rules_where",
    "text",
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
    "to_treelite",
]

_HOMES = {
    "Vectors": "vectors",
    "condition_words": "condition",
    "rules_dict": "rule_list",
    "rules_markdown": "rule_list",
    "rules_text": "rule_list",
    "rules_where": "sql",
    "to_c": "c",
    "to_dot": "dot",
    "to_html": "html",
    "to_javascript": "javascript",
    "to_json": "json_rules",
    "to_markdown": "markdown",
    "to_matrix": "matrix",
    "to_onnx": "onnx",
    "to_pmml": "pmml",
    "to_python": "python",
    "to_shap": "shap",
    "to_sql": "sql",
    "to_svg": "svg",
    "to_treelite": "treelite",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value  # the next look-up does not come here
    return value


def __dir__() -> list[str]:
    return __all__
