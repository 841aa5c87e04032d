"""Operations of the workbench: JSON objects that say what to do, and the calls of the editor that they stand for.

An operation has all that is needed to repeat it, so a list of them is a journal. Categories are given by their codes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from types import MappingProxyType
from typing import Any

from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.editing.editor import TreeEditor
from hornbeam.errors import ParameterError, shown
from hornbeam.explain.candidates.list_splits import find_column
from hornbeam.explain.candidates.table import CandidateSplit, CandidateSplits

type Operation = Mapping[str, Any]
type Candidates = Callable[[int, int | None], CandidateSplits]

_LARGEST = 1 << 1000  # an int below it is a finite float

#: Fields of each edit, beside "do", "reason" and "date".
EDITS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "prune": ("node",),
        "threshold": ("node", "value"),
        "groups": ("node", "groups"),
        "split": ("node", "feature", "value", "groups", "missing"),
        "grow": ("node", "levels"),
        "size": ("leaves",),
        "drop_term": ("node", "feature"),
        "round_terms": ("node", "feature"),
        "refit_terms": ("node", "feature"),
        "set_term": ("node", "feature", "value", "per", "category"),
    }
)


def checked_edit(operation: Any) -> dict[str, Any]:
    """Return an edit with its known fields only; raise a `ParameterError` if it is not an edit."""
    do = operation.get("do") if isinstance(operation, Mapping) else None
    if not isinstance(do, str) or do not in EDITS:
        raise ParameterError(f"operation {shown(operation)}: expected 'do' to be one of {', '.join(EDITS)}.")
    known = {"do", "reason", "date", *EDITS[do]}
    if unknown := sorted(map(str, operation.keys() - known)):
        raise ParameterError(f"operation with {shown(unknown[0])}: expected only {', '.join(sorted(known))}.")
    return {name: value for name, value in operation.items() if value is not None}


def apply_edit(editor: TreeEditor, operation: Operation, candidates: Candidates) -> None:
    """Make an edit of `checked_edit`; `candidates` returns the candidates of a node, and of a feature if given.

    The editor takes over the date of the edit.
    """
    editor.date = operation.get("date", "")
    said = {"reason": operation.get("reason", "")}
    node, schema = operation.get("node"), editor.tree.schema
    match operation["do"]:
        case "prune":
            editor.prune(node, **said)  # type: ignore[arg-type]  # the editor checks it
        case "grow":
            editor.grow(node, operation.get("levels"), **said)  # type: ignore[arg-type]
        case "size":
            editor.shrink(operation.get("leaves"), **said)  # type: ignore[arg-type]
        case "threshold":
            feature = _feature_at(editor, node)
            editor.set_threshold(node, _threshold(feature, operation.get("value")), **said)  # type: ignore[arg-type]
        case "groups":
            feature = _feature_at(editor, node)
            editor.set_categories(node, _groups(feature, operation.get("groups")), **said)  # type: ignore[arg-type]
        case "split":
            _split(editor, schema, operation, candidates, said)
        case _:
            _edit_term(editor, operation, said)


def _split(
    editor: TreeEditor, schema: Schema, operation: Operation, candidates: Candidates, said: dict[str, Any]
) -> None:
    """Split by the best candidate of a feature, or at a given place."""
    node, column = operation.get("node"), find_column(schema, operation.get("feature"))  # type: ignore[arg-type]
    feature, groups, value = schema.features[column], operation.get("groups"), operation.get("value")
    if groups is None and value is None:
        best = _best(candidates(node, None), column, feature)  # type: ignore[arg-type]
        editor.split(node, best, **said)  # type: ignore[arg-type]
        return
    editor.split(
        node,  # type: ignore[arg-type]
        column,
        threshold=None if value is None else _threshold(feature, value),
        categories=None if groups is None else _groups(feature, groups),
        missing=operation.get("missing"),
        **said,
    )


def _edit_term(editor: TreeEditor, operation: Operation, said: dict[str, Any]) -> None:
    """Edit the term of a feature at a node."""
    node: Any = operation.get("node")
    named: Any = operation.get("feature")
    column = find_column(editor.tree.schema, named)
    feature, category = editor.tree.schema.features[column], operation.get("category")
    match operation["do"]:
        case "drop_term":
            editor.drop_term(node, column, **said)
        case "round_terms":
            editor.round_terms(node, column, **said)
        case "refit_terms":
            editor.refit_terms(node, column, **said)
        case _:
            chosen = None if category is None else _category(feature, category)
            per = operation.get("per", 1.0)
            editor.set_term(node, column, operation.get("value"), per=per, category=chosen, **said)


def _best(found: CandidateSplits, column: int, feature: Feature) -> CandidateSplit:
    for split in found:
        if split.column == column:
            return split
    raise ParameterError(
        f"{feature.name!r} has one value at this node; expected a feature with two at least. Choose another feature."
    )


def _feature_at(editor: TreeEditor, node: Any) -> Feature | None:
    """Return the feature that a node splits; None if there is no such node or split, which the editor refuses."""
    skeleton = editor.tree.skeleton
    if not isinstance(node, int) or not 0 <= node < skeleton.n_nodes or skeleton.feature[node] < 0:
        return None
    return editor.tree.schema.features[skeleton.feature.item(node)]


def _threshold(feature: Feature | None, value: Any) -> Any:
    """Return a number, or the category of an ordinal feature that a code stands for."""
    if feature is not None and feature.kind is Kind.ORDINAL:
        return _category(feature, value)
    if type(value) is int and abs(value) < _LARGEST:
        return value
    if type(value) is not float or not isfinite(value):
        raise ParameterError(f"threshold {shown(value)}: expected a finite number.")
    return value


def _groups(feature: Feature | None, groups: Any) -> list[list[Any]]:
    if not isinstance(groups, list) or not all(isinstance(group, list) for group in groups):
        raise ParameterError(f"groups {shown(groups)}: expected a list of codes for each child.")
    return [[_category(feature, code) for code in group] for group in groups]


def _category(feature: Feature | None, code: Any) -> Any:
    categories: Iterable[Any] = () if feature is None else feature.categories
    known = tuple(categories)
    if isinstance(code, bool) or not isinstance(code, int) or not 0 <= code < len(known):
        raise ParameterError(f"category {shown(code)}: expected a code from 0 to {len(known) - 1}.")
    return known[code]
