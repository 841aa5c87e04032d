"""Addresses of stores such as S3, as texts that never show credentials."""

from os import PathLike
from pathlib import Path
from urllib.parse import quote
from urllib.request import url2pathname

from hornbeam.errors import ParameterError

__all__ = ["Address", "as_path", "is_remote", "require_disk", "without_credentials"]


class Address(str):
    """The address of a file or folder in a store; the text has no credentials and no options, `full` has them.

    Messages, fingerprints and manifests contain the text. Only the functions of `stores` use `full`.

    Parameters
    ----------
    full : str
        The address as pyarrow accepts it.

    Examples
    --------
    >>> folder = Address("s3://key:secret@bucket/rows?region=eu-west-1")
    >>> folder.below("year=2024/part 0.parquet")
    's3://bucket/rows/year=2024/part%200.parquet'
    >>> folder.below("a.parquet").full
    's3://key:secret@bucket/rows/a.parquet?region=eu-west-1'
    """

    full: str

    def __new__(cls, full: str) -> "Address":
        """Make the text of an address, or copy an `Address`."""
        address = super().__new__(cls, without_credentials(full))
        address.full = getattr(full, "full", full)
        return address

    def below(self, path: str) -> "Address":
        """Return the address of a file below this folder."""
        folder, mark, options = self.full.partition("?")
        return Address(f"{folder.rstrip('/')}/{quote(path, safe='/=')}{mark}{options}")


def is_remote(path: str | Path) -> bool:
    """Whether a path is the address of a store, such as S3.

    Examples
    --------
    >>> is_remote("s3://bucket/rows.parquet"), is_remote("rows.parquet")
    (True, False)
    """
    return "://" in str(path) and not isinstance(path, Path)


def as_path[Named](path: Named) -> Named | str:
    """Return the path of an address that begins with ``file://``, and anything else as it is.

    Escapes such as ``%20`` are resolved, unless only a file or folder exists whose name has them, as in tables of
    Iceberg.

    Examples
    --------
    >>> as_path("file:///data/the%20rows"), as_path("rows"), as_path("s3://bucket/rows")
    ('/data/the rows', 'rows', 's3://bucket/rows')
    """
    if not isinstance(path, str) or not path.startswith("file://"):
        return path
    literal = path.removeprefix("file://").removeprefix("localhost")
    resolved = url2pathname(literal)
    return literal if Path(literal).exists() and not Path(resolved).exists() else resolved


def require_disk(
    name: str, path: str | PathLike[str], expected: str = "a folder on a disk that all workers see"
) -> None:
    """Raise `ParameterError` if a path that must be on a disk is the address of a store.

    Examples
    --------
    >>> require_disk("cache", "s3://bucket/codes")
    Traceback (most recent call last):
    hornbeam.errors.ParameterError: cache is 's3://bucket/codes', an address of a store; expected a folder on a disk ...
    """
    if isinstance(path, str) and is_remote(path):
        raise ParameterError(
            f"{name} is {without_credentials(path)!r}, an address of a store; expected {expected}."
        )


def without_credentials(address: str) -> str:
    """Return an address without the user name, password and options it may contain.

    Examples
    --------
    >>> without_credentials("s3://key:secret@bucket/rows?endpoint_override=localhost")
    's3://bucket/rows'
    >>> without_credentials("abfs://container:key@account.dfs.core.windows.net/rows")
    'abfs://container@account.dfs.core.windows.net/rows'
    >>> without_credentials("s3://key:sec/ret@bucket/rows")  # such a key is refused, but it is a key
    's3://bucket/rows'
    >>> without_credentials("/data/rows@home.parquet")
    '/data/rows@home.parquet'
    """
    scheme, mark, rest = address.partition("://")
    if not mark:
        return str(address)
    rest = rest.partition("?")[0]
    begin, _, password = rest.partition("/")[0].partition(":")
    if (
        begin and password and "@" not in password and not password.isdigit()
    ):  # not a port: a key with a slash
        rest = rest.rpartition("@")[2]
    host, slash, path = rest.partition("/")
    user, _, host = host.rpartition("@")
    if scheme.startswith("abfs") and (container := user.partition(":")[0]):
        host = f"{container}@{host}"
    return f"{scheme}://{host}{slash}{path}"
