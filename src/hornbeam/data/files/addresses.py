"""Addresses of stores such as S3, as texts that never show credentials."""

import os
import re
from os import PathLike
from pathlib import Path
from urllib.parse import quote
from urllib.request import url2pathname

from hornbeam.checks import check_path
from hornbeam.errors import DataError, ParameterError

FILE_ON_DISK = "a file on a disk. Copy it with the tools of the store"
# The scheme of an address. Path("s3://bucket") has one slash: refused, but it may have a password.
_SCHEME = re.compile(
    r".*?://|\s*(?:s3[an]?|gc?s|abfss?|az|https?|file):/|\s*[a-z][a-z0-9+.-]+:/?(?=[^/]*:.*@)",
    re.IGNORECASE | re.DOTALL,
)
_WITH_PORT = ("hdfs://", "viewfs://")  # these have no passwords


class Address(str):
    """The address of a file or folder in a store; the text has no credentials and no options, `full` has them.

    Messages, fingerprints and manifests contain the text. Only the functions of `stores` use `full`, which
    pyarrow accepts.
    """

    full: str

    def __new__(cls, full: str | PathLike[str]) -> "Address":
        """Make the text of an address, or copy an `Address`."""
        text: str = getattr(full, "full", str(full))  # str() of an Address is its text alone
        address = super().__new__(cls, without_credentials(text))
        address.full = text
        return address

    def below(self, path: str) -> "Address":
        """Return the address of a file below this folder."""
        folder, mark, options = self.full.partition("?")
        return Address(f"{folder.rstrip('/')}/{quote(path, safe='/=')}{mark}{options}")


def is_remote(path: str | PathLike[str]) -> bool:
    """Whether a path is the address of a store, such as S3."""
    text = str(path)
    if isinstance(path, Address):
        return True
    # Path.exists raises for names that are too long.
    return "://" in text or (_SCHEME.match(text) is not None and not os.path.exists(text))  # noqa: PTH110


def as_path[Named](path: Named) -> Named | str:
    """Return the path of an address that begins with ``file://``, and anything else as it is.

    Escapes such as ``%20`` are resolved, unless only a file or folder exists whose name has them, as in tables of
    Iceberg.
    """
    text = str(path)
    if text.startswith("file:/") and _parts(text)[1]:
        raise DataError(
            f"{without_credentials(text)!r} is an address of the disk with a user name; expected file:///path."
        )
    if not isinstance(path, str) or not path.startswith("file://"):
        return path
    literal = path.removeprefix("file://").removeprefix("localhost")
    resolved = url2pathname(literal)
    return literal if Path(literal).exists() and not Path(resolved).exists() else resolved


def require_disk(
    name: str, path: str | PathLike[str], expected: str = "a folder on a disk that all workers see"
) -> None:
    """Raise `ParameterError` unless a value is a path on a disk."""
    check_path(name, path)
    if is_remote(path):
        raise ParameterError(
            f"{name} is {without_credentials(str(path))!r}, an address of a store; expected {expected}."
        )


def without_credentials(address: str) -> str:
    """Return an address without the user name, password and options it may contain.

    A password with an unescaped slash or @ is refused later; no part of it may be in the message, so it is
    removed too.
    """
    scheme, credentials, rest = _parts(address)
    if scheme.startswith("abfs") and (container := re.split("[:@]", credentials)[0]):
        rest = f"{container}@{rest}"
    return f"{scheme}{rest}"


def needs_escapes(address: str) -> bool:
    """Whether a user name or password has characters that end it in an address."""
    return re.search(r"[/?#@\s]", _parts(address)[1]) is not None


def _parts(address: str) -> tuple[str, str, str]:
    """Return the scheme, the credentials, and the rest without options.

    All text before the last @ may be a password, with a slash or another mark that was not escaped.
    """
    if (found := _SCHEME.match(address)) is None:
        return "", "", str(address)
    scheme, rest = address[: found.end()], address[found.end() :]
    host = rest.partition("/")[0]
    user, mark, password = host.partition(":")
    if mark and not (scheme in _WITH_PORT and password.isdigit()) and "@" in rest[len(user) :]:
        credentials, _, rest = rest.rpartition("@")
    else:
        credentials = host.rpartition("@")[0]
        rest = rest[len(credentials) :].removeprefix("@")
    return scheme, credentials, re.split("[?#]", rest)[0]
