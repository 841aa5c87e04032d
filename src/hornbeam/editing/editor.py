"""An editor: the current tree, its rows, and every edit, with undo and redo."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.checks import check_flags, check_whole
from hornbeam.data.rows import read_rows
from hornbeam.data.table import Table
from hornbeam.editing.approval_log import Edit, approval_log, edit_text, present_date
from hornbeam.editing.fitted_bases import refitted_terms
from hornbeam.editing.new_branches import (
    branch_with_categories,
    branch_with_threshold,
    candidate_branch,
    check_inner_node,
    grown_branch,
    one_split,
)
from hornbeam.editing.replace_branch import replace_branch
from hornbeam.editing.term_edits import (
    check_signs,
    fixed_term,
    rounded_terms,
    terms_at,
    terms_below,
    terms_text,
    with_terms,
    without_terms,
)
from hornbeam.errors import DataError, ParameterError, shown
from hornbeam.evaluation.score_change import ScoreChanges, score_changes
from hornbeam.explain.candidates.held_out_gain import HeldOut
from hornbeam.explain.candidates.list_splits import candidates_at, check_node, find_column
from hornbeam.explain.candidates.table import CandidateSplit, CandidateSplits
from hornbeam.explain.candidates.training_rows import TrainingRows
from hornbeam.explain.candidates.way import Direction
from hornbeam.smoothing.teacher_prior import is_distilled
from hornbeam.tree.edit import RecordedEdit, keep_best_leaves, with_effect, with_slopes
from hornbeam.tree.evidence.count import count_rows
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.slopes import Slopes
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.words import pluralise
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
        """Turn a node into a leaf; the terms of the nodes below it are gone."""
        check_inner_node(self.tree, node)
        self._edit(node, Skeleton.leaf(), reason, author)

    def set_threshold(
        self, node: int, threshold: Any, *, reason: str = "", author: str | None = None
    ) -> None:
        """Move the threshold of a numeric split; the splits and terms below stay.

        For an ordinal feature the threshold is a category, the last one of the first child.
        """
        branch = branch_with_threshold(self.tree, node, threshold)
        self._edit(node, branch, reason, author, terms=terms_below(self.tree, node))

    def set_categories(
        self,
        node: int,
        categories: Iterable[Iterable[Any]],
        *,
        reason: str = "",
        author: str | None = None,
    ) -> None:
        """Move categories between the children of a nominal split; the splits and terms below stay.

        `categories` has those of each child: ``[["red", "blue"], ["green"]]``.
        """
        branch = branch_with_categories(self.tree, node, categories)
        self._edit(node, branch, reason, author, terms=terms_below(self.tree, node))

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
            A leaf or an inner node; what was below it is removed, its own terms stay.
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

        The settings are those of the fit; its largest number of leaves limits None alone. The branch is not pruned. A
        tree with a teacher grows as the default does. New nodes have no terms of their own.
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
        self._edit(0, small.skeleton, reason, author, small.gain, small.slopes)

    def drop_term(
        self, node: int, feature: str | int, *, reason: str = "", author: str | None = None
    ) -> None:
        """Remove the term of a feature from a node.

        In a tree with a teacher the bases of the node and of those below it are fitted again, after this and all edits
        of terms: the mean prediction of the rows of each is that of their target and of the tree before.

        Parameters
        ----------
        node : int
        feature : str or int
            The name or index of a feature with a term at this node.
        reason, author : str, optional
            For the approval log.
        """
        at = terms_at(self.tree, node, feature)
        self._edit_terms(node, at, without_terms(self.tree, at), reason, author)

    def round_terms(
        self,
        node: int,
        feature: str | int | None = None,
        *,
        digits: int = 2,
        reason: str = "",
        author: str | None = None,
    ) -> None:
        """Round the terms of a node, as they are printed: factors or changes per step, limits and centres.

        Parameters
        ----------
        node : int
        feature : str or int, optional
            The name or index of a feature. None: all terms of the node.
        digits : int, default 2
            Digits of a factor of the odds, or of a change of the mean; with more than two classes of the change of each
            score. Limits and centres are rounded to a hundredth of the step.
        reason, author : str, optional
            For the approval log.
        """
        at = terms_at(self.tree, node, feature)
        self._edit_terms(node, at, rounded_terms(self.tree, at, digits), reason, author)

    def set_term(
        self,
        node: int,
        feature: str | int,
        effect: Any,
        *,
        per: float = 1.0,
        category: Any = None,
        reason: str = "",
        author: str | None = None,
    ) -> None:
        """Set the effect of a term; its range and centre stay.

        Parameters
        ----------
        node : int
        feature : str or int
            The name or index of a feature with a term at this node.
        effect : float, or list of float
            Two classes: the factor of the odds of the last class, 1 for none. More classes: a factor of each, against
            the geometric mean of all. Regression: the change of the mean.
        per : float, default 1.0
            The step of the value that has this effect.
        category : label, optional
            The category of a nominal feature; its effect is that against the others.
        reason, author : str, optional
            For the approval log.

        Examples
        --------
        >>> import numpy as np
        >>> from hornbeam import TreeClassifier
        >>> from hornbeam.tree import Slopes, with_slopes
        >>> X, y = [[21], [34], [52], [70]], ["no", "no", "yes", "yes"]
        >>> clf = TreeClassifier("cart", smoothing="laplace", max_depth=1).fit(X, y)
        >>> terms = Slopes.of([0], [0], low=[20], high=[70], centre=[45], slope=[[0, 0.0123]])
        >>> clf.tree_ = with_slopes(clf.tree_, terms)
        >>> editor = clf.edit(X, y)
        >>> editor.set_term(0, "x0", 1.5, per=10)
        >>> was, now = editor.edits[0].what.split(" to odds of ")
        >>> was
        'changed the term of x0 at the root from odds of yes × 1.13 per +10 (20 to 70; × 1 at 45)'
        >>> now
        'yes × 1.5 per +10 (20 to 70; × 1 at 45)'
        """
        at = terms_at(self.tree, node, feature)
        self._edit_terms(node, at, fixed_term(self.tree, at, category, effect, per), reason, author)

    def refit_terms(
        self,
        node: int,
        feature: str | int | None = None,
        *,
        reason: str = "",
        author: str | None = None,
    ) -> None:
        """Fit the terms of a node again to its rows, after other edits; ranges and centres stay.

        Logistic or linear regression with a small ridge. In a tree with a teacher the predictions before the edit count
        as rows beside the target, as many as those of the teacher did.

        Parameters
        ----------
        node : int
        feature : str or int, optional
            The name or index of a feature. None: all terms of the node.
        reason, author : str, optional
            For the approval log.
        """
        at = terms_at(self.tree, node, feature)
        self._edit_terms(node, at, refitted_terms(self.tree, at, self.rows.table), reason, author)

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

    def score_changes(self, *, last: bool = False) -> ScoreChanges:
        """Compare the scores of the tree before the edits and after them, on the held-out rows.

        With `last`, before and after the last edit alone: what this edit cost.

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
        check_flags(last=last)
        before = self._done[-1].before if last and self._done else self.first
        return score_changes(before, self.tree, self.held_out)

    def log(self, notes: str = "") -> str:
        """Write the approval log in Markdown: every edit in words, with its date, author, reason, size and digest.

        With held-out rows also the loss after each edit, and all scores before and after the edits; of a tree without
        edits its scores, the date and a place to sign. `notes` are written above the place to sign, as they are.
        """
        _check_text("notes", notes, _LONGEST_NOTES)
        date = present_date() if self.date is None else self.date
        return approval_log(self.first, self._done, self.rows.table, self.held_out, self.data, notes, date)

    def _edit(
        self,
        node: int,
        branch: Skeleton,
        reason: str,
        author: str | None,
        gain: Floats | None = None,
        terms: Slopes | None = None,
    ) -> None:
        before = self.tree
        kept = before.slopes.of_nodes(node, node + 1) if terms is None else terms
        n_lost = len(terms_below(before, node)) - len(kept)
        lost = f"; removed {pluralise(n_lost, 'term')} of nodes below" if n_lost else ""
        self._do(
            edit_text(before, node, branch) + lost,
            lambda step: replace_branch(
                before, self.rows, node, branch, terms=kept, gain=gain, step=step, own=self.smoothing
            ),
            reason,
            author,
        )

    def _edit_terms(
        self, node: int, at: NDArray[np.intp], slopes: Slopes, reason: str, author: str | None
    ) -> None:
        before = self.tree
        check_signs(before, slopes, self.rows.grower.monotonic_cst)
        self._do(
            terms_text(before, with_slopes(before, slopes), node, at),
            lambda step: with_terms(before, node, slopes, self.rows.table, step),
            reason,
            author,
        )

    def _do(self, what: str, make: Callable[[Step], Tree], reason: str, author: str | None) -> None:
        """Make and record an edit."""
        author = self.author if author is None else author
        date = present_date() if self.date is None else self.date
        said = {"reason": reason, "author": author, "date": date}
        for name, text in said.items():
            _check_text(name, text)
        before = self.tree
        recorded = RecordedEdit(what, **said, before=before.digest[:16])
        after = make(recorded.step())
        if self.held_out is not None:
            after = with_effect(after, recorded, score_changes(before, after, self.held_out)._effect)
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
