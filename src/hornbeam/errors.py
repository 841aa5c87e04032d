"""Every exception Hornbeam raises.

::

    HornbeamError
    ├── DataError         (ValueError)    rows, columns, labels or weights that cannot be used
    │   └── ContainerError (TypeError)    X of a type that cannot be read
    ├── SchemaError       (ValueError)    columns that do not fit the schema a tree was made with
    ├── ParameterError    (ValueError)    a setting outside its range, or two that exclude each other
    ├── TreeError         (ValueError)    arrays that do not make a tree
    ├── ExportError       (ValueError)    a tree that a target cannot say, or not exactly
    ├── EngineError       (RuntimeError)  a pass over the data that could not be finished
    └── MissingExtraError (RuntimeError)  an optional dependency that is not installed

Each message says what was found, what was expected and what to do.
"""

__all__ = [
    "ContainerError",
    "DataError",
    "EngineError",
    "ExportError",
    "HornbeamError",
    "MissingExtraError",
    "ParameterError",
    "SchemaError",
    "TreeError",
]


class HornbeamError(Exception):
    """The root of every error Hornbeam raises.

    Examples
    --------
    >>> import hornbeam
    >>> try:
    ...     hornbeam.TreeClassifier(criterion="gin").fit([[0], [1]], [0, 1])
    ... except hornbeam.errors.HornbeamError as error:
    ...     print(type(error).__name__)
    ParameterError
    """


class DataError(HornbeamError, ValueError):
    """Rows, columns, labels or weights that cannot be used."""


class ContainerError(DataError, TypeError):
    """X of a type that cannot be read: sparse, lazy, or no table at all."""


class SchemaError(HornbeamError, ValueError):
    """Columns that do not fit the schema a tree was made with."""


class ParameterError(HornbeamError, ValueError):
    """A setting outside its range, or two settings that exclude each other."""


class TreeError(HornbeamError, ValueError):
    """Arrays that do not make a tree."""


class ExportError(HornbeamError, ValueError):
    """A tree that a target cannot say, or not exactly."""


class EngineError(HornbeamError, RuntimeError):
    """A pass over the data that could not be finished."""


class MissingExtraError(HornbeamError, RuntimeError):
    """An optional dependency that is not installed; the message names the extra."""
