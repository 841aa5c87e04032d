"""A tree in other languages."""

from typing import TYPE_CHECKING, Any

from hornbeam.export.text import text

if TYPE_CHECKING:
    from hornbeam.export.onnx import to_onnx
    from hornbeam.export.pmml import to_pmml
    from hornbeam.export.sql import to_sql
    from hornbeam.export.treelite import to_treelite

__all__ = [
    "text",
    "to_onnx",
    "to_pmml",
    "to_sql",
    "to_treelite",
]

_HOMES = {
    "to_onnx": "onnx",
    "to_pmml": "pmml",
    "to_sql": "sql",
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
