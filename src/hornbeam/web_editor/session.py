"""A session: an editor, its journal and the files it is saved to."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from copy import copy
from dataclasses import dataclass, field, replace
from hashlib import sha256
from os import PathLike
from pathlib import Path
from threading import RLock
from typing import Any
from weakref import finalize

from hornbeam.data.files.addresses import require_disk
from hornbeam.data.files.atomic_write import open_regular, write_atomic
from hornbeam.editing.approval_log import present_date
from hornbeam.editing.editor import TreeEditor
from hornbeam.errors import HornbeamError, ParameterError, StorageError, shown
from hornbeam.estimators.persistence.files import save
from hornbeam.explain.candidates.counted_candidates import candidates_of
from hornbeam.explain.candidates.held_out_gain import HeldOut
from hornbeam.explain.candidates.list_splits import check_node
from hornbeam.explain.candidates.node_rows import NodeRows
from hornbeam.explain.candidates.table import CandidateSplits
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.reporting.reporter import report
from hornbeam.smoothing.teacher_prior import is_distilled
from hornbeam.storage.file import check_writable
from hornbeam.web_editor.journal import Journal, lock_journal
from hornbeam.web_editor.operations import apply_edit, checked_edit
from hornbeam.web_editor.views import drawn_tree, node_view, tree_view

_LONGEST_NOTES = 100_000
_ENDINGS = (".html", ".md", ".journal")  # of the other files
_TITLE = "Report on an edited decision tree"
_MARKS = {
    ".html": f"<title>{_TITLE}</title>".encode(),
    ".md": b"# Approval log",
}  # at the head of files of `save`


class OutdatedError(ParameterError):
    """An operation that was made for another state of the session than the present one."""


@dataclass(slots=True, eq=False, weakref_slot=True)
class Session:
    """Edits of one tree, with a journal that survives a crash; no other session has the same journal until `close`."""

    model: Any
    editor: TreeEditor
    output: str | PathLike[str]
    test: tuple[Any, Any] | None = None
    positive: Any = None
    restored: int = field(default=0, init=False)  #: edits that were restored from the journal
    _journal: Journal = field(init=False)
    _reported: ReportedModel = field(init=False)
    _candidates: dict[tuple[str, int], tuple[NodeRows, CandidateSplits]] = field(
        default_factory=dict, init=False
    )
    _lock: Any = field(default_factory=RLock, init=False)
    held: ExitStack = field(default_factory=ExitStack, init=False)  #: what is closed with the session
    _closed: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        require_disk("path", self.output, "a file on a disk")
        self.output = Path(self.output)
        if self.output.suffix in _ENDINGS:
            raise ParameterError(
                f"path={str(self.output)!r}: the ending {self.output.suffix} is that of another file of the "
                "workbench; expected another one, such as .hornbeam."
            )
        check_writable(self.output)
        self._check_overwritten()
        self._reported = ReportedModel.of(self.model, self.positive)
        finalize(self, self.held.close)  # also at the end of the process
        self.held.enter_context(lock_journal(self._path(".journal")))
        try:
            self._restore()
        except BaseException:
            self.close()
            raise

    def _check_overwritten(self) -> None:
        """Raise `StorageError` if `save` would overwrite a file that it has not written."""
        for ending, mark in _MARKS.items():
            path = self._path(ending)
            try:
                with open_regular(path) as file:
                    if mark in file.read(4096):
                        continue
            except FileNotFoundError:
                continue
            except (OSError, StorageError):
                pass
            raise StorageError(
                f"{str(path)!r} is not a file of the workbench, and saving would overwrite it; expected no file of "
                "that name. Move it away, or choose another path."
            )

    def close(self) -> None:
        """End the session, so that another one can continue from its journal."""
        with self._lock:
            self._closed = True
            self.held.close()

    def _restore(self) -> None:
        """Begin with the edits of the journal."""
        first = self.editor.first.digest
        found = Journal.read(self._path(".journal"))
        if found is not None and found.first != first and found.saved == first:
            found = found.after_save() or found
        if found is not None and found.first != first:
            if not found.is_saved:
                raise StorageError(
                    f"{str(self._path('.journal'))!r} has unsaved edits of another tree; expected those of this tree. "
                    "Start the workbench with that tree and its rows, move the file away, or choose another path."
                )
            found = None
        self._journal = Journal(first, first)
        if found is not None:
            self._replay(found)

    def _path(self, ending: str) -> Path:
        return Path(self.output).with_suffix(ending)

    def _replay(self, found: Journal) -> None:
        """Make the edits of a journal again, and compare the digest."""
        try:
            for operation in (*found.done, *reversed(found.undone)):
                apply_edit(self.editor, checked_edit(operation), self._candidates_at)
            for _ in found.undone:
                self.editor.undo()
        except HornbeamError as error:
            raise self._unlike(f"an edit is refused: {error}") from error
        if self.editor.tree.digest != found.digest:
            raise self._unlike("the edits give another tree")
        self._journal, self.restored = found, len(found.done)

    def _unlike(self, why: str) -> StorageError:
        return StorageError(
            f"{str(self._path('.journal'))!r} cannot be restored: {why}. Expected the rows, the held-out rows and the "
            "version of Hornbeam that it was written with. Move the file away to start anew."
        )

    def state(self) -> dict[str, Any]:
        """Return all that the page shows about the edited tree (`tree_view`), and what can be done next."""
        with self._lock:
            return {
                **tree_view(self.editor, self._reported),
                "digest": self._digest,
                "undone": len(self._journal.undone),
                "most": self._most_leaves,
                "notes": self._journal.notes,
                "saved": self._journal.saved == self.editor.tree.digest,
                "restored": self.restored,
                "output": Path(self.output).name,
            }

    def automatic(self) -> dict[str, Any]:
        """Return the values that draw the tree before the edits."""
        with self._lock:
            return drawn_tree(self._reported, self.editor.first)

    def node(self, node: Any) -> dict[str, Any]:
        """Return all that the page shows about a node (`node_view`)."""
        with self._lock:
            return node_view(*self._node(node))

    def apply(self, operation: Any, digest: str | None = None) -> dict[str, Any]:
        """Do one thing, write the journal, and return the new state.

        Parameters
        ----------
        operation : dict
            An edit (`checked_edit`), or ``{"do": "undo"}``, ``"redo"``, or ``{"do": "note", "text": ...}``.
        digest : str, optional
            That of the state the operation was made for (``state()["digest"]``); None for the present state.

        Raises
        ------
        OutdatedError
            If the state has another digest; nothing is changed.
        ParameterError
            If it is impossible; nothing is changed.
        """
        with self._lock:
            self._check(digest)
            before = copy(self.editor), copy(self._journal)
            try:
                self._do(operation)
                state = self.state()
                self._journal.digest = self.editor.tree.digest
                self._journal.write(self._path(".journal"))
            except BaseException:  # a full disk, say: what is not in the journal is not done
                self.editor, self._journal = before
                raise
            return state

    def _do(self, operation: Any) -> None:
        simple: dict[Any, Callable[[Any], None]] = {
            "undo": self._undo,
            "redo": self._redo,
            "note": self._note,
        }
        do = operation.get("do") if isinstance(operation, dict) else None
        act = simple.get(do) if isinstance(do, str) else None
        self._edit(operation) if act is None else act(operation)

    def save(self, digest: str | None = None) -> list[str]:
        """Write the model, the report and the approval log; return the names of the files.

        Parameters
        ----------
        digest : str, optional
            That of the state to save, as in `apply`.

        Raises
        ------
        OutdatedError
            If the state has another digest; nothing is written.
        StorageError
            If another program has written the report or the approval log since; nothing is written.
        """
        with self._lock:
            self._check(digest)
            self._check_overwritten()
            model = self.editor.finish()
            save(model, self.output)
            X, y = (None, None) if self.test is None else self.test
            report(model, X, y, title=_TITLE, positive=self.positive).save(self._path(".html"))
            log = self.editor.log(self._journal.notes)
            write_atomic(self._path(".md"), [f"{log}\n".encode(errors="replace")])
            journal = replace(
                self._journal, saved=self.editor.tree.digest, saved_edits=len(self._journal.done)
            )
            journal.write(self._path(".journal"))
            self._journal = journal
            return [self._path(ending).name for ending in (Path(self.output).suffix, ".html", ".md")]

    @property
    def _digest(self) -> str:
        """Digest of the tree, the edits, those that were undone, and the notes."""
        journal = self._journal
        values = self.editor.tree.digest, journal.done, journal.undone, journal.notes
        return sha256(json.dumps(values).encode()).hexdigest()[:16]

    def _check(self, digest: str | None) -> None:
        if self._closed:
            raise ParameterError("the session is closed; expected an open one. Start the workbench again.")
        if digest is not None and digest != self._digest:
            raise OutdatedError(
                "Nothing was done: the tree or the notes were changed since the page showed them, for example in "
                "another tab. The page now shows the present tree; repeat what you did if it is still right."
            )

    def _edit(self, operation: Any) -> None:
        edit = checked_edit(operation) | {"date": present_date()}
        journal, editor = self._journal, self.editor
        # The size dial is moved several times: each move starts from the tree before the first one.
        moved = edit["do"] == "size" and self._dial_moved
        if moved:
            editor.undo()
        apply_edit(editor, edit, self._candidates_at)
        journal.done = [*(journal.done[:-1] if moved else journal.done), edit]
        journal.undone = []
        if len(journal.done) <= journal.saved_edits:
            journal.saved_edits = -1

    @property
    def _most_leaves(self) -> int:
        """Number of leaves at the upper end of the size dial; 1 for a tree with a teacher, which has no gains."""
        if is_distilled(self.editor.tree):
            return 1
        return (self.editor.edits[-1].before if self._dial_moved else self.editor.tree).n_leaves

    @property
    def _dial_moved(self) -> bool:
        """Whether the last edit is one of the size dial."""
        return bool(self._journal.done) and self._journal.done[-1]["do"] == "size"

    def _undo(self, _: Any) -> None:
        self.editor.undo()
        journal = self._journal
        journal.done, journal.undone = journal.done[:-1], [*journal.undone, journal.done[-1]]

    def _redo(self, _: Any) -> None:
        self.editor.redo()
        journal = self._journal
        journal.done, journal.undone = [*journal.done, journal.undone[-1]], journal.undone[:-1]

    def _note(self, operation: Any) -> None:
        text = operation.get("text")
        if not isinstance(text, str) or len(text) > _LONGEST_NOTES:
            raise ParameterError(
                f"notes {shown(text)}: expected a text of at most {_LONGEST_NOTES:,} letters."
            )
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ParameterError("the notes have half of a surrogate pair; expected valid Unicode.") from None
        self._journal.notes = text

    def _candidates_at(self, node: int, _: int | None = None) -> CandidateSplits:
        return self._node(node)[1]

    def _node(self, node: Any) -> tuple[NodeRows, CandidateSplits]:
        """Find the rows and candidates of a node; those of the last one are kept for the next edit."""
        editor = self.editor
        check_node(editor.tree, node)
        key = editor.tree.digest, int(node)
        if key not in self._candidates:
            here = NodeRows.of(editor.tree, editor.rows.encoded, editor.rows.grower, int(node))
            held_out = HeldOut.open(editor.tree.schema, editor.held_out)
            found = candidates_of(here.count(), held_out=held_out)
            self._candidates = {key: (here, found)}
        return self._candidates[key]
