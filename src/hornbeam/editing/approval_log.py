"""The approval log: every edit with its reason, author and effect, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from hornbeam.data.table import Table
from hornbeam.evaluation.score_change import ScoreChange, score_changes
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
    r"""Write a table of edits in Markdown, with the digests of the trees before and after.

    Parameters
    ----------
    edits : sequence of Edit
    held_out : Table, optional
        Rows that the tree was not grown from. With them: the loss of each tree and its difference to the one before,
        with the standard error, and all scores before the first and after the last edit.

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
    >>> editor = TreeClassifier("cart").fit(X, y).edit(X, y, held_out=([[30], [60]], ["no", "yes"]))
    >>> editor.prune(0)
    >>> print(editor.log())  # doctest: +ELLIPSIS
    # Approval log
    <BLANKLINE>
    | edit | what | reason | author | leaves | log loss | change | digest |
    |---:|---|---|---|---:|---:|---:|---|
    |  | tree before the edits |  |  | 2 | 0.0000 |  | ... |
    | 1 | node 0: x0 ≤ 40 \| x0 > 40, now a leaf |  |  | 1 | 0.6931 | +0.6931 ± 0.0000 | ... |
    <BLANKLINE>
    ## Cost of all edits
    <BLANKLINE>
    On 2 held-out rows; ± is the standard error of the difference.
    <BLANKLINE>
    | score | before | after | change |
    |---|---:|---:|---:|
    | log loss | 0.0000 | 0.6931 | +0.6931 ± 0.0000 |
    | Brier score | 0.0000 | 0.5000 | +0.5000 ± 0.0000 |
    | AUC | 1.0000 | 0.5000 | -0.5000 ± nan |
    | error rate | 0.0000 | 0.5000 | +0.5000 ± 0.5000 |
    """
    if not edits:
        return "# Approval log\n\nNo edits."
    trees = [edits[0].before, *(edit.after for edit in edits)]
    texts = [("", "tree before the edits", "", "")]
    texts += [(str(n), edit.what, edit.reason, edit.author) for n, edit in enumerate(edits, 1)]
    rows = [[*map(markdown_text, text), str(tree.n_leaves)] for text, tree in zip(texts, trees, strict=True)]
    head = ["edit", "what", "reason", "author", "leaves"]
    end = []
    if held_out is not None:
        losses = [score_changes(*pair, held_out)[0] for pair in pairwise(trees)]
        head += [losses[0].name, "change"]
        costs = [[_number(losses[0].before), ""], *([_number(one.after), _change(one)] for one in losses)]
        rows = [[*row, *cost] for row, cost in zip(rows, costs, strict=True)]
        end = ["", *_cost_of_all(trees[0], trees[-1], held_out)]
    rows = [[*row, tree.digest[:16]] for row, tree in zip(rows, trees, strict=True)]
    return "\n".join(("# Approval log", "", *_table([*head, "digest"], rows), *end))


def _cost_of_all(first: Tree, last: Tree, held_out: Table) -> Iterator[str]:
    yield "## Cost of all edits"
    yield ""
    yield f"On {held_out.n_rows:,} held-out rows; ± is the standard error of the difference."
    yield ""
    changes = score_changes(first, last, held_out)
    rows = [[one.name, _number(one.before), _number(one.after), _change(one)] for one in changes]
    yield from _table(["score", "before", "after", "change"], rows)


def _number(value: float) -> str:
    return f"{value:.4f}"


def _change(change: ScoreChange) -> str:
    return f"{change.difference:+.4f} ± {change.error:.4f}"


_RIGHT = {"edit", "leaves", "log loss", "mean squared error", "change", "before", "after"}


def _table(head: list[str], rows: list[list[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'|'.join('---:' if name in _RIGHT else '---' for name in head)}|"
    yield from (f"| {' | '.join(row)} |" for row in rows)
