"""An editor: the current tree, its rows, and every edit, with undo and redo."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from hornbeam.checks import check_whole
from hornbeam.data.rows import read_rows
from hornbeam.data.table import Table
from hornbeam.editing.approval_log import Edit, approval_log, edit_text, present_date
from hornbeam.editing.new_branches import (
    branch_with_categories,
    branch_with_threshold,
    candidate_branch,
    check_inner_node,
    grown_branch,
    one_split,
)
from hornbeam.editing.replace_branch import replace_branch
from hornbeam.errors import DataError, ParameterError, shown
from hornbeam.evaluation.score_change import ScoreChanges, score_changes
from hornbeam.explain.candidates.held_out_gain import HeldOut
from hornbeam.explain.candidates.list_splits import candidates_at, check_node, find_column
from hornbeam.explain.candidates.table import CandidateSplit, CandidateSplits
from hornbeam.explain.candidates.training_rows import TrainingRows
from hornbeam.explain.candidates.way import Direction
from hornbeam.smoothing.teacher_prior import is_distilled
from hornbeam.tree.edit import RecordedEdit, keep_best_leaves
from hornbeam.tree.evidence.count import count_rows
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

_LONGEST, _LONGEST_NOTES = 10_000, 1_000_000  # letters of a reason or an author, and of notes


@dataclass(slots=True, eq=False, repr=False)
class TreeEditor:
    """Edits a tree by hand, step by step; every edit counts the rows again and can be undone.

    `TreeClassifier.edit` and `TreeRegressor.edit` make one. Nodes are numbered level by level, so their numbers change
    with an edit.

    Parameters
    ----------
    first : Tree
        The tree before the first edit.
    rows : TrainingRows
        The rows it was grown from.
    smoothing : callable, optional
        A smoother of the user that the tree was smoothed with.
    author : str, default ""
        Author of all edits that name none.
    on_finish : callable, optional
        Called by `finish` with the edited tree; its result is returned.
    held_out : Table, optional
        Rows that the tree was not grown from, for gains of candidates and the effect of edits.
    date : str, optional
        Date of all edits. None: the time of each, in UTC, or that of the variable SOURCE_DATE_EPOCH.
    data : str, default ""
        Name of the rows, for the approval log.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> X, y = [[21], [34], [52], [70]], ["no", "no", "yes", "yes"]
    >>> classifier = TreeClassifier().fit(X, y)
    >>> editor = classifier.edit(X, y)
    >>> editor.set_threshold(0, 50, reason="the bank's own age group")
    >>> editor.tree.skeleton.threshold[0], classifier.tree_.skeleton.threshold[0]
    (np.float64(50.0), np.float64(40.0))
    >>> editor.undo()
    >>> editor.tree.digest == classifier.tree_.digest
    True
    >>> editor.redo()
    >>> editor.finish() is classifier
    True
    >>> classifier.tree_.history[-1].name
    'interval-calibration'
    """

    first: Tree
    rows: TrainingRows
    smoothing: Any = None
    author: str = ""
    on_finish: Callable[[Tree, Tree], Any] | None = None
    held_out: Table | None = None
    date: str | None = None
    data: str = ""
    _done: tuple[Edit, ...] = field(default=(), init=False)
    _undone: tuple[Edit, ...] = field(default=(), init=False)
    _finished: Tree = field(init=False)

    def __post_init__(self) -> None:
        for name, text in {"author": self.author, "date": self.date or "", "data": self.data}.items():
            _check_text(name, text)
        _check_rows(self.first, self.rows.table)
        self._finished = self.first

    @classmethod
    def _of(
        cls,
        model: Any,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        author: str = "",
        on_finish: Callable[[Tree, Tree], Any] | None = None,
        held_out: Any = None,
        date: str | None = None,
        data: str = "",
    ) -> Self:
        """Make an editor for the tree of a model; parameters as in `TreeClassifier.candidate_splits`."""
        tree, rows = TrainingRows.of(model, X, y, sample_weight)
        unseen = HeldOut.open(tree.schema, held_out)
        table = None if unseen is None else read_rows(unseen.source)
        return cls(tree, rows, getattr(model, "smoothing", None), author, on_finish, table, date, data)

    def __repr__(self) -> str:
        return f"TreeEditor({self.tree!r}, {len(self._done)} edits)"

    @property
    def tree(self) -> Tree:
        """The tree after all edits."""
        return self._done[-1].after if self._done else self.first

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits that made it, first to last."""
        return self._done

    def candidates(self, node: int = 0, *, feature: str | int | None = None) -> CandidateSplits:
        """List the best split of each feature at a node, or all splits of one feature (`candidate_splits`)."""
        held_out = HeldOut.open(self.tree.schema, self.held_out)
        return candidates_at(self.tree, self.rows, node, feature, held_out)

    def prune(self, node: int, *, reason: str = "", author: str | None = None) -> None:
        """Turn a node into a leaf."""
        check_inner_node(self.tree, node)
        self._edit(node, Skeleton.leaf(), reason, author)

    def set_threshold(
        self, node: int, threshold: Any, *, reason: str = "", author: str | None = None
    ) -> None:
        """Move the threshold of a numeric split; the splits below stay.

        For an ordinal feature the threshold is a category, the last one of the first child.
        """
        self._edit(node, branch_with_threshold(self.tree, node, threshold), reason, author)

    def set_categories(
        self,
        node: int,
        categories: Iterable[Iterable[Any]],
        *,
        reason: str = "",
        author: str | None = None,
    ) -> None:
        """Move categories between the children of a nominal split; the splits below stay.

        `categories` has those of each child: ``[["red", "blue"], ["green"]]``.
        """
        self._edit(node, branch_with_categories(self.tree, node, categories), reason, author)

    def split(
        self,
        node: int,
        split: CandidateSplit | str | int,
        *,
        threshold: Any = None,
        categories: Iterable[Iterable[Any]] | None = None,
        missing: Direction | None = None,
        reason: str = "",
        author: str | None = None,
    ) -> None:
        """Split a node in another way; its children are leaves, which `grow` splits further.

        Parameters
        ----------
        node : int
            A leaf or an inner node; what was below it is removed.
        split : CandidateSplit, str or int
            One of `candidates`; or the name or index of a feature, and the other parameters.
        threshold : float, or a category of an ordinal feature, optional
            The first child has the values up to it.
        categories : iterable of iterables of categories, optional
            For a nominal feature: the categories of each child.
        missing : {"left", "right", "own", "every"}, optional
            Where rows with a missing value go. None: they stop at the node.
        reason, author : str, optional
            For the approval log.
        """
        check_node(self.tree, node)
        schema, gain = self.tree.schema, None
        if not isinstance(split, CandidateSplit):
            column = find_column(schema, split)
            branch = one_split(schema, column, threshold=threshold, categories=categories, missing=missing)
        elif any(value is not None for value in (threshold, categories, missing)):
            raise ParameterError(
                "threshold, categories and missing describe a split of your own; expected none of them with a "
                "candidate."
            )
        else:
            branch = candidate_branch(schema, split)
            if sum(child.rows for child in split.children) == self.tree.rows[node]:  # else of another node
                gain = np.full(branch.n_nodes, np.nan)
                gain[0] = split.penalised_gain
        self._edit(node, branch, reason, author, gain)

    def grow(self, node: int, levels: int | None = 1, *, reason: str = "", author: str | None = None) -> None:
        """Grow a node from its rows by some levels, or to the limits of the fit (None); what was below it is removed.

        The settings are those of the fit; its largest number of leaves limits None alone. The branch is not pruned.
        """
        if levels is not None:
            check_whole("levels", levels, 1, 1_000)
        branch, gain = grown_branch(self.tree, self.rows, node, levels)
        self._edit(node, branch, reason, author, gain)

    def shrink(self, n_leaves: int, *, reason: str = "", author: str | None = None) -> None:
        """Prune the tree to at most some leaves: the splits of largest gain times weight stay (`LeafBudget`).

        Splits of unknown gain, such as those of your own, go first.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> X, y = [[1], [2], [3], [4], [5]], ["no", "no", "yes", "yes", "no"]
        >>> editor = TreeClassifier("cart").fit(X, y).edit(X, y)
        >>> editor.shrink(2)
        >>> editor.edits[0].before.n_leaves, editor.tree.n_leaves
        (3, 2)
        """
        if self.tree.n_leaves == 1:
            raise ParameterError("the tree is one leaf; expected a tree with a split to prune.")
        check_whole("n_leaves", n_leaves, 1, self.tree.n_leaves - 1)
        if is_distilled(self.tree):
            raise ParameterError(
                "the splits of a tree with a teacher have no gains to choose by; expected a tree without one. Prune "
                "its nodes one by one, or fit it with a smaller max_leaf_nodes."
            )
        small = keep_best_leaves(self.tree, n_leaves)
        self._edit(0, small.skeleton, reason, author, small.gain)

    def undo(self) -> None:
        """Take the last edit back."""
        if not self._done:
            raise ParameterError("nothing to undo: the tree is the one before the first edit.")
        self._undone, self._done = (*self._undone, self._done[-1]), self._done[:-1]

    def redo(self) -> None:
        """Make the edit again that was undone last."""
        if not self._undone:
            raise ParameterError("nothing to redo: no edit was undone since the last one.")
        self._done, self._undone = (*self._done, self._undone[-1]), self._undone[:-1]

    def finish(self) -> Any:
        """Put the edited tree into the estimator the editor was made from, and return it; else return the tree.

        Refused if the estimator was fitted or updated since.
        """
        if self.on_finish is None:
            return self.tree
        estimator = self.on_finish(self._finished, self.tree)
        self._finished = self.tree
        return estimator

    def score_changes(self) -> ScoreChanges:
        """Compare the scores of the tree before the edits and after them, on the held-out rows.

        Examples
        --------
        >>> from hornbeam import TreeRegressor
        >>> X, y = [[1], [2], [3], [4]], [1.0, 2.0, 6.0, 7.0]
        >>> editor = TreeRegressor("cart").fit(X, y).edit(X, y, held_out=([[1], [4]], [1.0, 7.0]))
        >>> editor.prune(1)
        >>> editor.score_changes()
        mean squared error: 0 before, 0.125 after, +0.125 ± 0.125
        """
        if self.held_out is None:
            raise ParameterError(
                "there are no held-out rows; expected rows that the tree was not grown from. Pass held_out=(X, y) to "
                "`edit`."
            )
        return score_changes(self.first, self.tree, self.held_out)

    def log(self, notes: str = "") -> str:
        """Write the approval log in Markdown: every edit in words, with its date, author, reason, size and digest.

        With held-out rows also the loss after each edit, and all scores before and after the edits. `notes` are written
        above the place to sign, as they are.
        """
        _check_text("notes", notes, _LONGEST_NOTES)
        return approval_log(self.first, self._done, self.rows.table, self.held_out, self.data, notes)

    def _edit(
        self, node: int, branch: Skeleton, reason: str, author: str | None, gain: Floats | None = None
    ) -> None:
        author = self.author if author is None else author
        date = present_date() if self.date is None else self.date
        said = {"reason": reason, "author": author, "date": date}
        for name, text in said.items():
            _check_text(name, text)
        before = self.tree
        what = edit_text(before, node, branch)
        step = RecordedEdit(what, **said, before=before.digest[:16]).step()
        after = replace_branch(before, self.rows, node, branch, gain=gain, step=step, own=self.smoothing)
        self._done, self._undone = (*self._done, Edit(what, **said, before=before, after=after)), ()


def _check_text(name: str, text: object, longest: int = _LONGEST) -> None:
    """Raise `ParameterError` unless a reason, an author, a date or a name can be stored in a file."""
    if not isinstance(text, str):
        raise ParameterError(f"{name}={shown(text)}: expected a text.")
    if len(text) > longest:
        raise ParameterError(f"{name} has {len(text):,} letters; expected at most {longest:,}.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ParameterError(f"{name} has half of a surrogate pair; expected valid Unicode.") from None


def _check_rows(tree: Tree, table: Table) -> None:
    """Raise `DataError` if the rows are not those that the tree counts."""
    counted = count_rows(Skeleton.leaf(), table)
    found, expected = counted.evidence[0] * counted.unit, tree.evidence[0] * tree.unit
    if counted.rows[0] != tree.rows[0] or not np.allclose(found, expected, rtol=1e-9, atol=0.0):
        raise DataError(
            f"the {table.n_rows:,} rows are not those that the tree counts, {tree.rows[0]:,} at its root; expected the "
            "rows, the target and the weights of fit, and of every update."
        )
