"""The approval log: every edit with its reason, author and effect, in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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


def approval_log(edits: Sequence[Edit]) -> str:
    r"""Write a table of edits in Markdown, with the digests of the trees before and after.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> X, y = [[21], [34], [52], [70]], ["no", "no", "yes", "yes"]
    >>> editor = TreeClassifier("cart").fit(X, y).edit(X, y, author="A. Analyst")
    >>> editor.prune(0, reason="too few rows")
    >>> print(editor.log())  # doctest: +ELLIPSIS
    # Approval log
    <BLANKLINE>
    | edit | what | reason | author | leaves | digest |
    |---:|---|---|---|---:|---|
    |  | tree before the edits |  |  | 2 | ... |
    | 1 | node 0: x0 ≤ 40 \| x0 > 40, now a leaf | too few rows | A. Analyst | 1 | ... |
    """
    head = [
        "# Approval log",
        "",
        "| edit | what | reason | author | leaves | digest |",
        "|---:|---|---|---|---:|---|",
    ]
    if not edits:
        return "\n".join((*head[:2], "No edits."))
    lines = [_line("", "tree before the edits", "", "", edits[0].before)]
    lines += [_line(str(n), one.what, one.reason, one.author, one.after) for n, one in enumerate(edits, 1)]
    return "\n".join((*head, *lines))


def _line(number: str, what: str, reason: str, author: str, tree: Tree) -> str:
    cells = [number, *map(markdown_text, (what, reason, author)), str(tree.n_leaves), tree.digest[:16]]
    return f"| {' | '.join(cells)} |"
