"""The public API as text: one line per documented name, method and attribute, with its signature.

``python tests/support/api.py --write`` writes the file that the test compares with.
"""

import dataclasses
import inspect
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SNAPSHOT = ROOT / "tests/api.txt"

sys.path.insert(0, str(ROOT / "docs"))
from reference import members, names, public  # noqa: E402  (beside the pages)


def documented() -> list[tuple[str, str]]:
    """Module and name of everything in the reference, in its order."""
    return [(module, name) for _, module, name in names()]


def signature(function: Any) -> str:
    """The parameters of a function without their types, which a type checker compares."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return "(...)"
    plain = [
        one.replace(annotation=inspect.Parameter.empty)
        for one in parameters
        if one.name not in ("self", "cls")
    ]
    made = {}
    if dataclasses.is_dataclass(function):
        made = {field.name: _Made(field.default_factory) for field in dataclasses.fields(function)}
    shown = [
        one.replace(default=made[one.name] if "FACTORY" in repr(type(one.default)) else _shown(one.default))
        for one in plain
    ]
    return str(inspect.Signature(shown))


class _Literal:
    """A default as it is in the text."""

    def __init__(self, text: str):
        self.text = text

    def __repr__(self) -> str:
        return self.text


class _Made(_Literal):
    """The default that a function makes for each object."""

    def __init__(self, factory: Any):
        super().__init__(f"{getattr(factory, '__qualname__', factory)}()")


def _shown(default: Any) -> Any:
    if isinstance(default, Enum):
        return default.value
    if default is inspect.Parameter.empty or isinstance(default, str | int | float | bool | tuple | None):
        return default
    return _Literal(type(default).__name__ + "()" if not callable(default) else default.__name__)


def lines() -> Iterator[str]:
    """The API, one line each."""
    for module, name in sorted(documented()):
        thing = public(module, name)
        if isinstance(thing, type) and issubclass(thing, BaseException):
            yield f"{module}.{name}({', '.join(base.__name__ for base in thing.__bases__)})"
            continue
        yield f"{module}.{name}{signature(thing)}"
        for member, value in members(thing).items() if isinstance(thing, type) else ():
            if isinstance(value, classmethod | staticmethod):
                value = value.__func__
            called = signature(value) if inspect.isfunction(value) else ""
            yield f"{module}.{name}.{member}{called}"


def main(arguments: list[str]) -> None:
    """Print the API, or write the file."""
    text = "".join(f"{line}\n" for line in lines())
    if "--write" in arguments:
        SNAPSHOT.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main(sys.argv[1:])
