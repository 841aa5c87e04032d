"""The code of the positive class, from its label."""

from collections.abc import Sequence

from hornbeam.errors import ParameterError
from hornbeam.typing import Label

__all__ = ["class_code", "parse_class"]


def class_code(classes: Sequence[Label], positive: Label) -> int:
    """Return the code of the positive class; `ParameterError` if it is not one of the classes.

    `classes` is empty where the target is numeric.
    """
    known = list(classes)
    if not known:
        raise ParameterError(
            f"positive={positive!r}: the target is numeric and has no classes. Leave `positive` out."
        )
    if positive not in known:
        raise ParameterError(f"positive={positive!r}: expected one of the classes {known}.")
    return known.index(positive)


def parse_class(classes: Sequence[Label], text: str) -> Label:
    """Find the label with this text, for command lines: ``"1"`` finds the class 1."""
    spelled = [str(label) for label in classes]
    return classes[class_code(spelled, text)]
