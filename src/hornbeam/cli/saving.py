"""Save a model so that no fit is lost: check the path before the fit, and have a second place after it."""

from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import click

from hornbeam.cli.console import warn
from hornbeam.errors import StorageError

__all__ = ["check_output", "save_model"]


def check_output(output: str) -> None:
    """Raise, before the fit, if the path cannot be written to."""
    from hornbeam.storage.file import check_writable
    from hornbeam.storage.pickles import refuse_pickle_name

    if output != "-":
        refuse_pickle_name(output)
        check_writable(output)


def save_model(model: Any, output: str) -> str:
    """Write a model to a file or to stdout, and return the name of the file.

    A model too large for JSON is written as safetensors beside the requested name. If writing fails, for example
    on a full disk, the model goes to the temporary folder, and the error names the file.
    """
    from hornbeam.storage.file import encode, write_fitting
    from hornbeam.storage.text import TooLargeForTextError

    if output == "-":
        try:
            data = encode(model)
        except TooLargeForTextError:
            warn("the model is too large for text: it is written as safetensors")
            data = encode(model, as_tensors=True)
        click.echo(data, nl=False)
        return output
    try:
        written = write_fitting(model, output)
    except OSError as error:
        raise _rescued(model, output, error) from error
    if written != Path(output):
        left = ", which is left as it was" if Path(output).exists() else ""
        warn(f"the model is too large for the text of {output}{left}: it is saved as {written}")
    return str(written)


def _rescued(model: Any, output: str, error: OSError) -> StorageError:
    """Write the model to the temporary folder, and return an error that names the file."""
    from hornbeam.storage.file import encode

    with NamedTemporaryFile(prefix="hornbeam-", suffix=".safetensors", delete=False) as file:
        file.write(encode(model, as_tensors=True))
    return StorageError(
        f"{output!r} cannot be written: {error.strerror or error}. The model is not lost: it is saved as {file.name!r}."
    )
