"""Edits by hand, as the history of a tree records them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

from hornbeam.tree.tree import Step

__all__ = ["EDIT", "RecordedEdit", "recorded_edits"]

EDIT = "edit"  #: step of the history


class RecordedEdit(NamedTuple):
    """An edit in a history.

    Attributes
    ----------
    what : str
        What was done.
    reason, author : str
        Empty if they were not given.
    before : str
        The first 16 digits of the digest of the tree before the edit; empty in older files.

    Examples
    --------
    >>> edit = RecordedEdit("node 2 is now a leaf", "too few rows", "A. Analyst", "7e01a3b5c4d2f699")
    >>> print(edit)
    node 2 is now a leaf; reason: too few rows; author: A. Analyst; tree before: 7e01a3b5c4d2f699
    >>> RecordedEdit.of(edit.step()) == edit
    True
    """

    what: str
    reason: str = ""
    author: str = ""
    before: str = ""

    @classmethod
    def of(cls, step: Step) -> Self:
        """Read an edit from a step."""
        known = dict(step.parameters)
        return cls(*(str(known.get(name, "")) for name in cls._fields))

    def step(self) -> Step:
        """Return the edit as a step, without what was not given."""
        return Step.of(EDIT, **{name: text for name, text in self._asdict().items() if text})

    def __str__(self) -> str:
        said = {"reason": self.reason, "author": self.author, "tree before": self.before}
        return "; ".join([self.what, *(f"{name}: {text}" for name, text in said.items() if text)])


def recorded_edits(history: Sequence[Step]) -> tuple[RecordedEdit, ...]:
    """Return the edits of a history, first to last.

    Examples
    --------
    >>> recorded_edits([Step.of("grow"), Step.of("edit", what="node 0 is now a leaf")])
    (RecordedEdit(what='node 0 is now a leaf', reason='', author='', before=''),)
    """
    return tuple(RecordedEdit.of(step) for step in history if step.name == EDIT)
