"""Edits by hand, as the history of a tree records them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

from hornbeam.tree.tree import Step

__all__ = ["EDIT", "RecordedEdit", "recorded_edits"]

EDIT = "edit"  #: step of the history


class RecordedEdit(NamedTuple):
    """An edit in a history: what was done, and the reason and author, empty if they were not given.

    `before` has the first 16 digits of the digest of the tree before the edit; it is empty in older files.
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
    """Return the edits of a history, first to last."""
    return tuple(RecordedEdit.of(step) for step in history if step.name == EDIT)
