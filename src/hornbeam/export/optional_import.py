"""Libraries that one export needs and the others do not."""

from importlib import import_module

from hornbeam.errors import MissingExtraError

__all__ = ["import_extra"]


def import_extra(library: str, extra: str) -> None:
    """Raise `MissingExtraError`, with the extra to install, unless a library can be imported.

    Examples
    --------
    >>> import_extra("numpy", "sql")
    >>> import_extra("papyrus", "scrolls")
    Traceback (most recent call last):
        ...
    hornbeam.errors.MissingExtraError: This export needs papyrus. Install it: pip install 'hornbeam[scrolls]'.
    """
    try:
        import_module(library)
    except ImportError as error:
        message = f"This export needs {library}. Install it: pip install 'hornbeam[{extra}]'."
        raise MissingExtraError(message) from error
