"""The approval log: every edit with its reason, author and effect, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hornbeam.data.table import Table
from hornbeam.evaluation.score_change import PredictedRows
from hornbeam.export.people.markdown import markdown_text
from hornbeam.tree.tree import Tree

__all__ = ["Edit", "approval_log"]


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
    """

    what: str
    reason: str
    author: str
    before: Tree
    after: Tree


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
    head = ["edit:", "what", "reason", "author", "leaves:", "digest"]
    if held_out is None:
        return "\n".join(("# Approval log", "", *_table(head, rows)))
    first = last = PredictedRows.of(trees[0], held_out)
    losses = []
    for tree in trees[1:]:
        before, last = last, PredictedRows.of(tree, held_out)
        losses.append(next(before.changes_to(last)))
    effects = [[losses[0].texts[0], ""], *(list(loss.texts[1:]) for loss in losses)]
    rows = [[*row, *effect] for row, effect in zip(rows, effects, strict=True)]
    table = _table([*head, f"{losses[0].name}:", "change:"], rows)
    return "\n".join(("# Approval log", "", *table, "", *_effect_of_all(first, last)))


def _effect_of_all(first: PredictedRows, last: PredictedRows) -> Iterator[str]:
    yield "## Effect of all edits"
    yield ""
    yield f"On {first.table.n_rows:,} held-out rows; ± is the standard error of the change."
    yield ""
    rows = [[change.name, *change.texts] for change in first.changes_to(last)]
    yield from _table(["score", "before:", "after:", "change:"], rows)


def _table(head: list[str], rows: list[list[str]]) -> Iterator[str]:
    """Write a table; the columns whose names end with a colon are aligned to the right."""
    yield f"| {' | '.join(name.rstrip(':') for name in head)} |"
    yield f"|{'|'.join('---:' if name.endswith(':') else '---' for name in head)}|"
    yield from (f"| {' | '.join(row)} |" for row in rows)
