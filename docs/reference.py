"""The API reference: sections of `api.md`, and for each class a page with its methods and properties."""

import importlib
import inspect
import re
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

PAGE = Path(__file__).parent / "api.md"


class Name(NamedTuple):
    """A name in the reference: its section, the module that users import it from, and itself."""

    section: str
    module: str
    name: str

    @property
    def page(self) -> str:
        """The page that autosummary writes."""
        return f"api/generated/{self.module}.{self.name}"


def names() -> list[Name]:
    """Everything in the reference, in its order."""
    found, section, module, listing = [], "", "", False
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = line[3:]
        elif match := re.match(r"\.\. currentmodule:: (\S+)", line):
            module, listing = match[1], False
        elif line.startswith(".. autosummary::"):
            listing = True
        elif listing and (match := re.match(r"   (\w+)$", line)):
            found.append(Name(section, module, match[1]))
        elif line and not line.startswith("   "):
            listing = False
    return found


def sections() -> dict[str, list[Name]]:
    """The names of each section."""
    found: dict[str, list[Name]] = {}
    for name in names():
        found.setdefault(name.section, []).append(name)
    return found


def public(module: str, name: str) -> Any:
    """A documented name, as a user imports it."""
    return getattr(importlib.import_module(module), name)


def members(kind: type) -> dict[str, Any]:
    """Public methods, properties and documented attributes that Hornbeam defines, without parameters."""
    found = dict.fromkeys(
        re.findall(r"^(\w+_) : ", inspect.getdoc(kind) or "", re.MULTILINE)
    )
    found |= dict.fromkeys(getattr(kind, "_fields", ()))
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("hornbeam"):
            found |= vars(base)
    parameters: Any = (
        ()
        if getattr(kind, "_is_protocol", False)
        else inspect.signature(kind).parameters
    )
    return {
        name: inspect.getattr_static(kind, name, None)
        for name in sorted(found)
        if name[0] != "_"
        and name not in parameters
        and not re.fullmatch(r"set_\w+_request", name)
    }


def described() -> dict[str, dict[str, str]]:
    """For each class its members with a docstring, and the directive that shows them; none of an exception."""
    kinds = {f"{module}.{name}": public(module, name) for _, module, name in names()}
    return {
        full: {} if issubclass(kind, BaseException) else _directives(kind)
        for full, kind in kinds.items()
        if isinstance(kind, type)
    }


def _directives(kind: type) -> dict[str, str]:
    found = {}
    for name, value in members(kind).items():
        if isinstance(value, property | cached_property):
            found[name] = "autoproperty"
        elif isinstance(value, classmethod | staticmethod) or inspect.isroutine(value):
            found[name] = "automethod"
    return found
