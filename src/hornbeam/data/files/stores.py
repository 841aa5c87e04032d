"""Reads and writes of files on disk and in stores; after transient errors of a store they are repeated."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from time import sleep
from typing import Any

from hornbeam.data.files.addresses import is_remote, needs_escapes, without_credentials
from hornbeam.errors import DataError, HornbeamError
from hornbeam.logger import logger

WAITS = (1.0, 2.0, 4.0, 8.0)  # seconds before the second, third, ... attempt

# Errors that do not go away. pyarrow has one type for nearly all errors of stores, so their texts are searched.
_LASTING = re.compile(
    r"denied|forbidden|unauthori[sz]ed|unauthenticated|authentication|credential|signature|"
    r"invalid.?access.?key|no.?such.?(bucket|key)|(?<![:.\d])40[0134]\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"'[^']*'")  # names of files
_DAMAGED = "page integrity"  # part of the message about a page of Parquet with the wrong checksum
_NO_CONNECTION = re.compile(
    r"curl(Code: | error \[)[67]\b", re.IGNORECASE
)  # no such host, or no connection to it
_GOOGLE = ("gs://", "gcs://")
_CONNECTED: set[tuple[str, str]] = (
    set()
)  # types and buckets of the stores that this process had a connection to


def in_store[Result](address: str, call: Callable[[Any, str], Result]) -> Result:
    """Call a function with the file system of an address and the path in it, and return its result.

    `call` may run several times, so it must give the same result each time. pyarrow itself repeats a request
    to S3 for about six seconds. This function repeats the whole call four times, after 1, 2, 4 and 8 seconds,
    so that a store may be away for about half a minute. It does not repeat calls that were refused, whose
    file does not exist, or that found no connection to a store to which this process never had one.

    Raises a `DataError` if the address is unknown or the store cannot be reached, and the errors of `call`
    that are not those of the store as they are; a wrong checksum of a page is an OSError.
    """
    import pyarrow as pa
    from pyarrow.fs import FileSystem

    full, shown = getattr(address, "full", address), without_credentials(address)
    if needs_escapes(full):
        raise _unreachable(shown, "Its user name or password has one of / ? # @, expected %2F %3F %23 %40.")
    why = ""
    uri = full
    if full.startswith(_GOOGLE) and "retry_limit_seconds=" not in full:  # pyarrow's own limit is 15 minutes
        uri += f"{'&' if '?' in full else '?'}retry_limit_seconds=6"
    try:
        store, path = FileSystem.from_uri(uri)
    except (pa.ArrowException, OSError, ValueError) as error:
        why = one_line(str(error).replace(uri, shown))
    if why:  # raised here, so that no context of this error has the credentials
        raise _unreachable(shown, why)
    if not is_remote(address):
        return call(store, path)
    place = store.type_name, path.partition("/")[0]
    for wait in (*WAITS, None):
        try:
            result = call(store, path)
            _CONNECTED.add(place)
            return result
        except (HornbeamError, FileNotFoundError):
            raise
        except (OSError, pa.ArrowException) as error:
            # Azure's errors have pyarrow's general type; its other types are errors of the data.
            if _DAMAGED in str(error) or not (isinstance(error, OSError) or type(error) is pa.ArrowException):
                raise
            text = _QUOTED.sub("", str(error))
            if _LASTING.search(text) or (place not in _CONNECTED and _NO_CONNECTION.search(text)):
                raise _unreachable(shown, one_line(error)) from error
            if wait is None:
                raise _unreachable(
                    shown, f"{one_line(error).rstrip('.')}, after {len(WAITS) + 1} attempts."
                ) from error
        logger.info("a store could not be reached: the call is repeated in %g seconds", wait)
        sleep(wait)
    raise AssertionError("the last attempt returns or raises")


def read_file[Result](file: str, read: Callable[[Any], Result]) -> Result:
    """Open a file for random access, and return what `read` reads from it; `read` may run several times."""

    def call(store: Any, path: str) -> Result:
        with _open(store, path, file) as opened:
            return read(opened)

    with file_errors(file):
        return in_store(file, call)


def read_in_turn[Part](file: str, read: Callable[[Any], Iterator[Part]]) -> Iterator[Part]:
    """Open a file for random access, and yield the parts that a function reads from it, the same parts each time.

    After a transient error of a store the file is opened again, and the parts that were yielded are passed
    over.
    """
    opened: Any = None
    parts: Iterator[Part] | None = None
    n_done = 0

    def close() -> None:
        nonlocal opened, parts
        if opened is not None:
            opened.close()
        opened = parts = None

    def call(store: Any, path: str) -> list[Part]:
        nonlocal opened, parts
        try:
            if parts is None:
                opened = _open(store, path, file)
                parts = islice(read(opened), n_done, None)
            return list(islice(parts, 1))
        except OSError:
            close()
            raise

    try:
        while True:
            with file_errors(file):
                found = in_store(file, call)
            if not found:
                return
            yield found[0]
            n_done += 1
    finally:
        close()


def open_parquet(opened: Any, **options: Any) -> Any:
    """Return the `ParquetFile` of an opened file, which verifies the checksums of pages that have one."""
    from pyarrow.parquet import ParquetFile

    return ParquetFile(opened, page_checksum_verification=True, **options)


def stat(file: str) -> tuple[int, int]:
    """Return the size of a file in bytes, and the time of its last change in nanoseconds (0 if unknown)."""

    def call(store: Any, path: str) -> tuple[int, int]:
        info = store.get_file_info(path)
        if is_remote(file):
            _check_size(info.size)
        return info.size or 0, info.mtime_ns or 0

    return in_store(file, call)


def one_line(error: Exception | str) -> str:
    """Return the message of an exception without line breaks."""
    return " ".join(str(error).split())


def _open(store: Any, path: str, file: str) -> Any:
    opened = store.open_input_file(path)
    if is_remote(file):
        _check_size(opened.size())
    return opened


@contextmanager
def file_errors(file: str) -> Iterator[None]:
    """Raise a `DataError` with the name of the file if it cannot be read."""
    import pyarrow as pa

    try:
        yield
    except FileNotFoundError as error:
        raise DataError(f"There is no file {file!r}. Name files, folders or patterns that exist.") from error
    except (pa.ArrowException, OSError) as error:
        why = one_line(error).rstrip(".")
        raise DataError(
            f"{file!r} cannot be read as Parquet: {why}. Write it again, or leave it out."
        ) from error


def _check_size(size: int | None) -> None:
    """Raise an error that is repeated if a store has no size for a file: its response was cut off in the header."""
    if not size:
        raise OSError("the store returned a size of 0 bytes for the file.")


def _unreachable(address: str, why: str) -> DataError:
    return DataError(
        f"{address!r} cannot be reached: {why} Check the address, the network and the credentials of the store."
    )
