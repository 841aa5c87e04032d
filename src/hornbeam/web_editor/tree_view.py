"""The edited tree as plain JSON values: what the page draws, the effect of the edits, and their list."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import Any

from hornbeam.editing import TreeEditor
from hornbeam.evaluation.score_change import ScoreChange
from hornbeam.reporting.payload import payload
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.tree.tree import Tree
from hornbeam.tuning import size_path

__all__ = ["drawn_tree", "tree_view"]

_LEVEL = 0.9  # of the intervals
_LOWER_IS_BETTER = frozenset({"log loss", "Brier score", "mean squared error", "cost per row"})


def drawn_tree(reported: ReportedModel, tree: Tree) -> dict[str, Any]:
    """Return the values that draw a tree, as in the report."""
    return payload(replace(reported, tree=tree), _LEVEL, still=True)


def tree_view(editor: TreeEditor, reported: ReportedModel) -> dict[str, Any]:
    """Return the values that the page shows about the edited tree; `reported` is the model before the edits.

    ``tree``: as in the report; ``now`` and ``before``: size and digest; ``scores``: before and after the edits on the
    held-out rows, or None; ``edits``: what was done; ``sizes``: numbers of leaves with their loss on held-out rows of
    the fit, or None.
    """
    path = size_path(editor.first)
    return {
        "tree": drawn_tree(reported, editor.tree),
        "now": _size(editor.tree),
        "before": _size(editor.first),
        "rows": editor.rows.table.n_rows,
        "held_out": None if editor.held_out is None else editor.held_out.n_rows,
        "scores": None if editor.held_out is None else [_score(change) for change in editor.score_changes()],
        "edits": [
            {"what": edit.what, "reason": edit.reason, "author": edit.author, "leaves": edit.after.n_leaves}
            for edit in editor.edits
        ],
        "sizes": None if path is None else [path.n_leaves.tolist(), path.loss.tolist(), path.measure],
    }


def _size(tree: Tree) -> dict[str, Any]:
    return {"leaves": tree.n_leaves, "depth": tree.depth, "digest": tree.digest[:16]}


def _score(change: ScoreChange) -> dict[str, Any]:
    """Return a score with its texts, and whether it is better: None if the change may be chance."""
    better = None
    if isfinite(change.error) and abs(change.difference) > 2 * change.error:
        better = (change.difference < 0) == (change.name in _LOWER_IS_BETTER)
    return {"name": change.name, "texts": change.texts, "better": better}
