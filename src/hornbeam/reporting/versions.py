"""Versions of Python, the system and the libraries, for a bug report."""

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from hornbeam import __version__

_REQUIRED = ("numpy", "scipy", "scikit-learn", "narwhals")
_OPTIONAL = (
    "click",
    "dask",
    "lightgbm",
    "matplotlib",
    "onnx",
    "pandas",
    "polars",
    "pyarrow",
    "pyspark",
    "sqlglot",
    "treelite",
    "xgboost-cpu",
    "ydf",
)


def versions() -> dict[str, str]:
    """Collect the versions that a bug report needs."""
    threads = "" if getattr(sys, "_is_gil_enabled", lambda: True)() else ", without the GIL"
    libc = " ".join(platform.libc_ver())
    return {
        "python": f"{platform.python_version()} ({platform.python_implementation()}{threads})",
        "system": " ".join(
            filter(None, (platform.system(), platform.machine(), libc, f"{sys.byteorder}-endian"))
        ),
        "processors": str(os.cpu_count()),
        "hornbeam": __version__,
        **{name: _version(name) for name in (*_REQUIRED, *_OPTIONAL)},
    }


def show_versions() -> None:
    """Print the versions that a bug report needs.

    No path, no name of the machine and no name of the user is printed.

    Examples
    --------
    >>> import hornbeam
    >>> hornbeam.show_versions()  # doctest: +ELLIPSIS
    python        3...
    """
    found = versions()
    width = max(map(len, found))
    sys.stdout.writelines(f"{name:{width}}  {text}\n" for name, text in found.items())


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
