"""The approval log: every edit with its reason, author and effect, in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hornbeam.data.table import Table
from hornbeam.evaluation.score_change import PredictedRows
from hornbeam.grid import Grid, markdown_text
from hornbeam.tree.tree import Tree


@dataclass(frozen=True, slots=True, eq=False)
class Edit:
    """An edit of a tree.

    Parameters
    ----------
    what : str
        What was done.
    reason, author : str
        Empty if they were not given.
    before, after : Tree

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> X, y = [[21], [34], [52], [70]], ["no", "no", "yes", "yes"]
    >>> editor = TreeClassifier("cart").fit(X, y).edit(X, y)
    >>> editor.prune(0)
    >>> editor.edits[0].before.n_leaves, editor.edits[0].after.n_leaves
    (2, 1)
    >>> print(editor.edits[0])
    node 0: x0 ≤ 40 | x0 > 40, now a leaf
    """

    what: str
    reason: str
    author: str
    before: Tree
    after: Tree

    def to_dict(self) -> dict[str, str]:
        """Return the texts and the digests of the trees, for JSON."""
        texts = {"what": self.what, "reason": self.reason, "author": self.author}
        return {**texts, "before": self.before.digest, "after": self.after.digest}

    def __str__(self) -> str:
        by = f", by {self.author}" if self.author else ""
        return f"{self.what}{by}" + (f": {self.reason}" if self.reason else "")


def approval_log(edits: Sequence[Edit], held_out: Table | None = None) -> str:
    """Write a table of edits in Markdown, with the digests of the trees before and after.

    With `held_out` rows, which the tree was not grown from, also the loss of each tree and its change by the edit,
    with the standard error, and all scores before the first and after the last edit.
    """
    if not edits:
        return "# Approval log\n\nNo edits."
    trees = [edits[0].before, *(edit.after for edit in edits)]
    said = [("", "tree before the edits", "", "")]
    said += [(str(n), edit.what, edit.reason, edit.author) for n, edit in enumerate(edits, 1)]
    rows = [
        [*map(markdown_text, texts), str(tree.n_leaves), tree.digest[:16]]
        for texts, tree in zip(said, trees, strict=True)
    ]
    head, align = ["edit", "what", "reason", "author", "leaves", "digest"], "><<<><>"
    if held_out is None:
        return f"# Approval log\n\n{_markdown(head, rows, align)}"
    first = last = PredictedRows.of(trees[0], held_out)
    losses = []
    for tree in trees[1:]:
        before, last = last, PredictedRows.of(tree, held_out)
        losses.append(next(before.changes_to(last)))
    effects = [[losses[0].texts[0], ""], *(list(loss.texts[1:]) for loss in losses)]
    rows = [[*row, *effect] for row, effect in zip(rows, effects, strict=True)]
    scores = [[change.name, *change.texts] for change in first.changes_to(last)]
    return "\n\n".join(
        (
            "# Approval log",
            _markdown([*head, losses[0].name, "change"], rows, align),
            "## Effect of all edits",
            f"On {len(first.target):,} held-out rows; ± is the standard error of the change.",
            _markdown(["score", "before", "after", "change"], scores, "<>"),
        )
    )


def _markdown(head: list[str], rows: list[list[str]], align: str) -> str:
    return Grid("", head, rows, align).markdown(escaped=True, right="---:")
