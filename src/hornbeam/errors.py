"""Every exception Hornbeam raises, and its warning.

::

    HornbeamError
    ├── DataError         (ValueError)    rows, columns, labels or weights that cannot be used
    ├── SchemaError       (ValueError)    columns that do not fit the schema a tree was made with
    ├── ParameterError    (ValueError)    a setting outside its range, or two that exclude each other
    ├── TreeError         (ValueError)    arrays that do not make a tree
    ├── StorageError      (ValueError)    a file that holds no sound model, or a model no file can hold
    ├── InteropError      (ValueError)    a model that cannot be converted from or to another library
    ├── ExportError       (ValueError)    a tree that a format cannot express exactly
    ├── BusyError         (RuntimeError)  an estimator that another thread is fitting or updating
    ├── EngineError       (RuntimeError)  a pass over the data that could not be finished
    └── MissingExtraError (ImportError)   an optional dependency that is not installed

    HornbeamWarning       (UserWarning)   a fit or a prediction that works, and is probably not what was meant

Each message says what was found, what was expected and what to do.
"""

import contextlib
import warnings
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from os import sep
from pathlib import Path

__all__ = [
    "BusyError",
    "DataError",
    "EngineError",
    "ExportError",
    "HornbeamError",
    "HornbeamWarning",
    "InteropError",
    "MissingExtraError",
    "ParameterError",
    "SchemaError",
    "StorageError",
    "TreeError",
]

_LONGEST = 200  # characters of a value in a message


def shown(value: object) -> str:
    """Show a value in a message: in 200 characters at most, and also if its own code cannot show it.

    Examples
    --------
    >>> shown("gin"), len(shown(10**190)), shown(10**5_000)
    ("'gin'", 191, 'an int of 16610 bits')
    """
    if type(value) is int and value.bit_length() > 4 * _LONGEST:  # Python refuses to write very long ones
        return f"an int of {value.bit_length()} bits"
    try:
        words = repr(value)
    except Exception:  # noqa: BLE001 (whatever the code of the value raises)
        return f"a {type(value).__name__}"
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}..."


def import_extra(library: str, extra: str, purpose: str = "This export") -> None:
    """Raise `MissingExtraError`, with the extra to install, unless a library can be imported.

    Examples
    --------
    >>> import_extra("numpy", "sql")
    >>> import_extra("papyrus", "scrolls", "Reading scrolls")
    Traceback (most recent call last):
        ...
    hornbeam.errors.MissingExtraError: Reading scrolls needs papyrus. Install it: pip install 'hornbeam[scrolls]'.
    """
    try:
        import_module(library)
    except ImportError as error:
        message = f"{purpose} needs {library}. Install it: pip install 'hornbeam[{extra}]'."
        raise MissingExtraError(message) from error


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


class SchemaError(HornbeamError, ValueError):
    """Columns that do not fit the schema a tree was made with."""


class ParameterError(HornbeamError, ValueError):
    """A setting outside its range, or two settings that exclude each other."""


class TreeError(HornbeamError, ValueError):
    """Arrays that do not make a tree."""


class StorageError(HornbeamError, ValueError):
    """A file that holds no sound model, or a model that no file can hold."""


class InteropError(HornbeamError, ValueError):
    """A model that cannot be converted from or to another library."""


class ExportError(HornbeamError, ValueError):
    """A tree that a format cannot express exactly."""


class BusyError(HornbeamError, RuntimeError):
    """Another thread is fitting or updating the estimator."""


class EngineError(HornbeamError, RuntimeError):
    """A pass over the data that could not be finished."""


class MissingExtraError(HornbeamError, ImportError):
    """An optional dependency that is not installed; the message names the extra."""


class HornbeamWarning(UserWarning):
    """A warning that something works, and is probably not what was meant.

    Examples
    --------
    >>> import warnings
    >>> import pandas as pd
    >>> from hornbeam import TreeClassifier
    >>> from hornbeam.errors import HornbeamWarning
    >>> X = pd.DataFrame({"customer": [f"C-{i}" for i in range(40)], "weekday": [i % 7 for i in range(40)]})
    >>> y = ["no", "yes"] * 20
    >>> with warnings.catch_warnings(record=True, action="always") as heard:
    ...     _ = TreeClassifier().fit(X, y)
    >>> print(heard[0].message)
    Column 'customer' has 40 different values in 40 rows (an identifier?). ...
    >>> with warnings.catch_warnings():  # the column is meant
    ...     warnings.simplefilter("ignore", HornbeamWarning)
    ...     _ = TreeClassifier().fit(X, y)
    """


def warn(message: str, category: type[Warning] = HornbeamWarning) -> None:
    """Warn, with the first line outside Hornbeam as the place of the warning.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     warn("rows are few")
    >>> str(caught[0].message)
    'rows are few'
    """
    warnings.warn(message, category, skip_file_prefixes=_inside())


@cache
def _inside() -> tuple[str, ...]:
    """Return the folders of Hornbeam and of scikit-learn's wrapper of `fit` for callbacks, and the file of contexts.

    scikit-learn is not imported for it, because the command line predicts without.
    """
    sklearn = find_spec("sklearn")
    places = (sklearn and sklearn.submodule_search_locations) or ()
    folders = [Path(__file__).parent, *(Path(place, "callback") for place in places)]
    # As compiled: in a zip file `contextlib.__file__` has another name. A whole name would not match.
    contexts = contextlib.suppress.__exit__.__code__.co_filename.removesuffix(".py")
    return (contexts, *(f"{folder}{sep}" for folder in folders))  # no file whose name begins like a folder
