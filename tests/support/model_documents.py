"""Model files as documents of JSON, which tests change and load again."""

import json

from hornbeam.storage.file import decode, encode
from hornbeam.storage.model import Model


def document_of(tree, /, **changes):
    """The file of a tree without its checksum, with some entries changed."""
    said = json.loads(encode(Model.of(tree)))
    del said["sha256"]
    for key, value in changes.items():
        (said["tree"] if key in said["tree"] else said)[key] = value
    return said


def load_document(said):
    return decode(json.dumps(said).encode())
