"""Save a model so that no fit is lost: check the path before the fit, and have a second place after it."""

from tempfile import NamedTemporaryFile
from typing import Any

import click

from hornbeam.errors import StorageError

__all__ = ["check_output", "save_model"]


def check_output(output: str) -> None:
    """Raise, before the fit, if the path cannot be written to."""
    from hornbeam.storage.file import check_writable
    from hornbeam.storage.pickles import refuse_pickle_name

    if output != "-":
        refuse_pickle_name(output)
        check_writable(output)


def save_model(model: Any, output: str) -> None:
    """Write a model to a file or to stdout.

    If writing a file fails, for example on a full disk, the model goes to the temporary folder, and the error names the
    file.
    """
    from hornbeam.storage.file import encode, write

    if output == "-":
        click.echo(encode(model), nl=False)
        return
    try:
        write(model, output)
    except OSError as error:
        raise _rescued(model, output, error) from error


def _rescued(model: Any, output: str, error: OSError) -> StorageError:
    """Write the model to the temporary folder, and return an error that names the file."""
    from hornbeam.storage.file import encode

    with NamedTemporaryFile(prefix="hornbeam-", suffix=".safetensors", delete=False) as file:
        file.write(encode(model, as_tensors=True))
    return StorageError(
        f"{output!r} cannot be written: {error.strerror or error}. The model is not lost: it is saved as {file.name!r}."
    )
