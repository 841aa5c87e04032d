"""Public names of a package that are imported on first use, to keep its import fast."""

import os
from collections.abc import Mapping
from importlib import import_module
from threading import RLock
from typing import Any

# Two threads cannot import a package with circular imports, such as scikit-learn, at the same time. No module of
# Hornbeam may use a lazy name while it is imported: it would wait for this lock while its own import is locked.
_IMPORTING = RLock()
if hasattr(os, "register_at_fork"):  # a child process has no thread to finish an import
    os.register_at_fork(
        before=_IMPORTING.acquire, after_in_parent=_IMPORTING.release, after_in_child=_IMPORTING.release
    )


def lazy_attribute(package: dict[str, Any], modules: Mapping[str, str], name: str) -> Any:
    """Import a public name from its module, and store it in the package.

    Call it in ``__getattr__`` of the package:
    ``def __getattr__(name): return lazy_attribute(globals(), _MODULES, name)``.

    Parameters
    ----------
    package : dict
        ``globals()`` of the package, with its ``__all__``.
    modules : mapping from str to str
        The module of each name, relative to the package, such as ``".files.cache"``.
    name : str

    Raises
    ------
    AttributeError
        If the package has no such name; the message lists the names it has.

    Examples
    --------
    >>> package = {"__name__": "hornbeam", "__all__": ["Table"]}
    >>> lazy_attribute(package, {"Table": ".data.table"}, "Table")
    <class 'hornbeam.data.table.Table'>
    >>> sorted(package)
    ['Table', '__all__', '__name__']
    """
    if name not in modules:
        known = ", ".join(package["__all__"])
        raise AttributeError(
            f"module {package['__name__']!r} has no attribute {name!r}; its public names are {known}"
        )
    with _IMPORTING:
        value = getattr(import_module(modules[name], package["__name__"]), name)
    package[name] = value  # later lookups find it without __getattr__
    return value
