"""The approval log: every edit in words, with its date, author, reason and effect, in Markdown."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

import hornbeam
from hornbeam.data.schema import Schema
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError, shown
from hornbeam.evaluation.score_change import PredictedRows, ScoreChanges
from hornbeam.grid import Grid, markdown_text
from hornbeam.tree.condition import Condition, slot_condition
from hornbeam.tree.edit import recorded_edits
from hornbeam.tree.skeleton import EVERY_CHILD, Skeleton
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import descendants, leaves_below
from hornbeam.tree.words import feature_name, label_text, pluralise, threshold_text

_MOST_CHANGES, _MOST_NAMES, _MOST_CATEGORIES = 8, 4, 20  # in the text of an edit, and of a child
_CLOCK = "SOURCE_DATE_EPOCH"


@dataclass(frozen=True, slots=True, eq=False)
class Edit:
    """An edit of a tree.

    Parameters
    ----------
    what : str
        What was changed; nodes have their numbers before the edit.
    reason, author, date : str
        Empty if they were not given.
    before, after : Tree

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> X, y = [[21], [34], [52], [70]], ["no", "no", "yes", "yes"]
    >>> editor = TreeClassifier("cart").fit(X, y).edit(X, y, date="2026-01-31", author="A. Analyst")
    >>> editor.prune(0)
    >>> editor.edits[0].before.n_leaves, editor.edits[0].after.n_leaves
    (2, 1)
    >>> print(editor.edits[0])
    pruned to 1 leaf, from 2: removed the split on x0 at the root, by A. Analyst, 2026-01-31
    """

    what: str
    reason: str
    author: str
    date: str
    before: Tree
    after: Tree

    def to_dict(self) -> dict[str, str]:
        """Return the texts and the digests of the trees, for JSON."""
        texts = {name: getattr(self, name) for name in ("what", "reason", "author", "date")}
        return {**texts, "before": self.before.digest, "after": self.after.digest}

    def __str__(self) -> str:
        by = f", by {self.author}" if self.author else ""
        on = f", {self.date}" if self.date else ""
        return f"{self.what}{by}{on}" + (f": {self.reason}" if self.reason else "")


def present_date() -> str:
    """Return the date and time in UTC, to the minute, or those of SOURCE_DATE_EPOCH if it is set."""
    seconds = os.environ.get(_CLOCK)
    try:
        now = datetime.now(UTC) if seconds is None else datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        raise ParameterError(
            f"{_CLOCK}={shown(seconds)}: expected seconds since 1970, as in {_CLOCK}=1767225600, or no such variable."
        ) from None
    return f"{now:%Y-%m-%d %H:%M} UTC"


def edit_text(tree: Tree, node: int, branch: Skeleton) -> str:
    """Describe what changes if a branch replaces a node and all below it; nodes have the numbers of the tree.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier("cart").fit([[1], [2], [3]], ["no", "yes", "no"]).tree_
    >>> edit_text(tree, 2, Skeleton.leaf())
    'pruned to 2 leaves, from 3: removed the split on x0 at node 2'
    """
    changes = list(_changes(tree, node, branch))
    n_after = tree.n_leaves - leaves_below(tree.skeleton).item(node) + branch.n_leaves
    text = ""
    if changes and all(kind == "removed" for kind, _ in changes):
        text = f"pruned to {pluralise(n_after, 'leaf', 'leaves')}, from {tree.n_leaves:,}: "
    for at, (kind, words) in enumerate(changes[:_MOST_CHANGES]):
        repeated = at > 0 and kind == changes[at - 1][0]
        text += "; " * (at > 0) + (words if repeated else f"{kind} {words}")
    if len(changes) > _MOST_CHANGES:
        text += f"; and {len(changes) - _MOST_CHANGES:,} more"
    return text or f"kept the splits at and below {_place(node)}, counted the rows again"


def _changes(tree: Tree, node: int, branch: Skeleton) -> Iterator[tuple[str, str]]:
    """Compare a node and all below it with a branch: yield what was done, and to which splits."""
    old, schema = tree.skeleton, tree.schema
    todo = [(node, 0)]
    for at, to in todo:
        before, after = _tests(schema, old, at), _tests(schema, branch, to)
        if before and not after:
            yield "removed", _splits(tree, at)
        elif after and not before:
            yield "split", f"{_place(at)} on {_split_text(branch, to, after)}{_below(branch, to, ', with')}"
        elif before == after and old.missing_slot[at] == branch.missing_slot[to]:
            todo += zip(_children(old, at), _children(branch, to), strict=True)
        elif _is_moved(before, after) and old.missing_slot[at] == branch.missing_slot[to]:
            feature = before[0].feature
            if feature.is_nominal:
                was, now = _split_text(old, at, before), _split_text(branch, to, after)
                yield (
                    "moved",
                    f"categories of {feature_name(feature.name)} at {_place(at)}, from {was} to {now}",
                )
            else:
                was, now = (
                    threshold_text(feature, skeleton.threshold.item(here))
                    for skeleton, here in ((old, at), (branch, to))
                )
                name = feature_name(feature.name)
                yield "moved", f"the threshold of {name} at {_place(at)} from {was} to {now}"
            todo += zip(_children(old, at), _children(branch, to), strict=True)
        else:
            was = f"{_split_text(old, at, before)}{_below(old, at, ' and')}"
            now = f"{_split_text(branch, to, after)}{_below(branch, to, ', with')}"
            yield "split", f"{_place(at)} on {now}, instead of {was}"


def _tests(schema: Schema, skeleton: Skeleton, node: int) -> list[Condition]:
    """Return the condition of each child."""
    return [slot_condition(schema, skeleton, node, slot) for slot in range(skeleton.n_children[node])]


def _is_moved(before: list[Condition], after: list[Condition]) -> bool:
    """Whether a split has other bounds, or the same categories in other children, and is otherwise the same."""
    one, other = before[0], after[0]
    if one.column != other.column or len(before) != len(after):
        return False
    return one.feature.is_nominal or None not in (one.at_most, other.at_most)


def _children(skeleton: Skeleton, node: int) -> range:
    first = skeleton.first_child.item(node)
    return range(first, first + skeleton.n_children.item(node))


def _split_text(skeleton: Skeleton, node: int, tests: list[Condition]) -> str:
    """Write the conditions of the children, with the name of the feature once."""
    name = feature_name(tests[0].feature.name)
    first, *others = (test.text(_MOST_CATEGORIES) for test in tests)
    every = ", missing to every child" if skeleton.missing_slot[node] == EVERY_CHILD else ""
    return " | ".join([first, *(text.removeprefix(name).strip() for text in others)]) + every


def _below(skeleton: Skeleton, node: int, joint: str) -> str:
    """Count the splits below a split; empty if there are none."""
    n = int(np.count_nonzero(skeleton.n_children[descendants(skeleton, node)])) - 1
    return f"{joint} {pluralise(n, 'split')} below" if n else ""


def _splits(tree: Tree, node: int) -> str:
    """Name the features of the splits at and below a node."""
    column = tree.skeleton.feature[descendants(tree.skeleton, node)]
    column = column[column >= 0]
    names = [feature_name(tree.schema.names[each]) for each in dict.fromkeys(column.tolist())]
    if len(names) > _MOST_NAMES:
        names[_MOST_NAMES:] = [f"{pluralise(len(names) - _MOST_NAMES, 'more feature')}"]
    *most, last = names
    listed = f"{', '.join(most)} and {last}" if most else last
    if len(column) == 1:
        return f"the split on {listed} at {_place(node)}"
    return f"{len(column):,} splits at and below {_place(node)} (on {listed})"


def _place(node: int) -> str:
    return f"node {node}" if node else "the root"


def edit_grid(tree: Tree) -> Grid:
    """Tabulate the edits in the history of a tree."""
    edits = recorded_edits(tree.history)
    effects = any(edit.effect for edit in edits)
    rows = [
        [str(n), edit.date, edit.author, edit.what, edit.reason, *[edit.effect] * effects, edit.before]
        for n, edit in enumerate(edits, 1)
    ]
    heads = [
        "Edit",
        "Date",
        "Author",
        "What",
        "Reason",
        *["Effect on held-out rows"] * effects,
        "Tree before",
    ]
    return Grid("Edits by hand", heads, rows, "<")


def approval_log(
    first: Tree,
    edits: Sequence[Edit],
    rows: Table,
    held_out: Table | None = None,
    data: str = "",
    notes: str = "",
    date: str = "",
) -> str:
    """Write the edits of a tree in Markdown: the data, a table of edits, notes, and a place to sign.

    `rows` are those that the tree counts, `data` is their name. Edits that the tree had before have a table of their
    own. With `held_out` rows, which the tree was not grown from, the table also has the loss of each tree, and with
    costs the cost per row, and their change by the edit, with the standard error; and there are all scores before the
    first and after the last edit. A tree without edits has its scores and `date`.
    """
    earlier = edit_grid(first)
    trees = [first, *(edit.after for edit in edits)]
    said = [("", "", "", "tree before the edits", "")]
    said += [(str(n), edit.date, edit.author, edit.what, edit.reason) for n, edit in enumerate(edits, 1)]
    cells = [
        [*map(markdown_text, texts), str(tree.n_leaves), tree.digest[:16]]
        for texts, tree in zip(said, trees, strict=True)
    ]
    head, align = ["edit", "date", "author", "what", "reason", "leaves", "digest"], "><<<<><>"
    scores: list[str] = []
    if held_out is not None:
        before = last = PredictedRows.of(first, held_out)
        for at, tree in enumerate(trees):
            previous, last = last, PredictedRows.of(tree, held_out) if at else last
            main = ScoreChanges(tuple(previous.changes_to(last)))._main
            cells[at] += [text for one in main for text in (one.texts[1], one.texts[2] if at else "")]
        head += [text for one in main for text in (one.name, "change")]
        scores = _scores(before, last, edited=bool(edits))
    changes = ["Nodes have the numbers of the tree before the edit.", _markdown(head, cells, align)]
    return "\n\n".join(
        (
            "# Approval log",
            _markdown(["fact", "value"], _facts(trees, rows, held_out, data, date), "<"),
            *(["## Earlier edits", earlier.markdown()] if earlier.rows else []),
            "## Edits",
            *(changes if edits else ["None."]),
            *scores,
            *(["## Notes", notes.strip()] if notes.strip() else []),
            "## Approval",
            f"Approved by (name, date, signature): {markdown_text(20 * '_')}",
        )
    )


def _scores(before: PredictedRows, after: PredictedRows, *, edited: bool) -> list[str]:
    """Tabulate all scores on the held-out rows, before and after the edits if there are any."""
    scores = [[change.name, *change.texts] for change in before.changes_to(after)]
    on = f"On {len(before.target):,} held-out rows"
    if not edited:
        return ["## Scores", f"{on}.", _markdown(["score", "value"], [row[:2] for row in scores], "<>")]
    return [
        "## Effect of all edits",
        f"{on}; ± is the standard error of the change.",
        _markdown(["score", "before", "after", "change"], scores, "<>"),
    ]


def _facts(
    trees: Sequence[Tree], rows: Table, held_out: Table | None, data: str, date: str
) -> list[list[str]]:
    """List the target, the rows with their hashes, the trees with their digests, and the version."""
    first, *others = trees
    digests = (
        {"digest of the tree before": first.digest, "digest of the tree after": others[-1].digest}
        if others
        else {"digest of the tree": first.digest, "date": date}
    )
    schema = first.schema
    classes = ", ".join(map(label_text, schema.classes[:_MOST_CATEGORIES]))
    more = len(schema.classes) - _MOST_CATEGORIES
    facts = {
        "target": "a number"
        if schema.is_regression
        else f"classes {classes}" + f" and {more} more" * (more > 0),
        **({"data": data} if data else {}),
        "training rows": _rows_text(rows),
        **({} if held_out is None else {"held-out rows": _rows_text(held_out)}),
        **digests,
        "Hornbeam": hornbeam.__version__,
    }
    return [[name, markdown_text(value)] for name, value in facts.items()]


def _rows_text(table: Table) -> str:
    return f"{table.n_rows:,}, hash {MemorySource(table).fingerprint}"


def _markdown(head: list[str], rows: list[list[str]], align: str) -> str:
    return Grid("", head, rows, align).markdown(escaped=True, right="---:")
