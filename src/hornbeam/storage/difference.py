"""Differences between two models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from math import isnan
from typing import Any, NamedTuple

import numpy as np

from hornbeam.data.schema import Feature, Schema
from hornbeam.errors import StorageError
from hornbeam.grid import Grid, Result
from hornbeam.storage.model import Model
from hornbeam.tree import DecisionRule, Step
from hornbeam.tree.edit import EDIT, RecordedEdit
from hornbeam.tree.tree import Tree

_MOST_LINES = 20  # changes shown per part
_MOST_NUMBERS = 8  # values shown per line
_MOST_TESTS = 12  # splits shown per path
_LONGEST = 120  # characters shown per setting


@dataclass(frozen=True, slots=True, repr=False)
class Difference(Result[dict[str, str]]):
    """Differences between two models: false if there are none; printed as one line per change.

    Nodes are named by the splits on their path, with every category of a set: "not in" would mean two things
    where the two models have different categories. Below a changed split nothing is compared.

    Parameters
    ----------
    schema : tuple of str
        Features and classes.
    settings : tuple of str
        The estimator and its parameters.
    history : tuple of str
        The steps that made the tree.
    structure : tuple of str
        Tests.
    evidence : tuple of str
        Counts.
    belief : tuple of str
        Probabilities that differ by more than `atol`, and slopes that differ at all.

    Examples
    --------
    >>> bool(Difference()), print(Difference(settings=("max_depth: None, now 3",)))
    settings  max_depth: None, now 3
    (False, None)
    """

    schema: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    history: tuple[str, ...] = ()
    structure: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    belief: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, list[str]]:
        """Return the part and the text of each change.

        Examples
        --------
        >>> Difference(settings=("max_depth: None, now 3",)).to_dict()
        {'part': ['settings'], 'change': ['max_depth: None, now 3']}
        """
        changes = [(part.name, change) for part in fields(self) for change in getattr(self, part.name)]
        return {"part": [part for part, _ in changes], "change": [change for _, change in changes]}

    def __repr__(self) -> str:
        lines = []
        for part in fields(self):
            changes = getattr(self, part.name)
            lines += [f"{part.name:<9} {change}" for change in changes[:_MOST_LINES]]
            if len(changes) > _MOST_LINES:
                lines.append(f"{part.name:<9} … {len(changes) - _MOST_LINES:,} more")
        return "\n".join(lines) or "no difference"

    def _grid(self) -> Grid:
        """Return a table with a row per change."""
        rows = [tuple(change.values()) for change in self]
        caption = f"{len(rows):,} change{'s' * (len(rows) != 1)}" if rows else "No difference"
        return Grid(caption, ("part", "change"), rows, "<")


def compare(old: Model, new: Model, atol: float = 1e-9) -> Difference:
    """Compare two models part by part; several trees are compared in order."""
    if old.is_several != new.is_several:
        found = " and ".join(f"a {one.estimator or 'Tree'} of {_counted(one.trees)}" for one in (old, new))
        raise StorageError(
            f"there are {found}; expected two of one tree, or two of several: compare like with like"
        )
    parts: dict[str, list[str]] = {name: [] for name in ("history", "structure", "evidence", "belief")}
    if len(old.trees) != len(new.trees):
        parts["structure"].append(f"{_counted(old.trees)}, now {_counted(new.trees)}")
    for at, (before, after) in enumerate(zip(old.trees, new.trees, strict=False)):
        where = f"tree {at}, " if old.is_several else ""
        changes = (list(_compare_history(before, after)), *_compare_nodes(before, after, atol))
        for part, lines in zip(parts.values(), changes, strict=True):
            part += [where + line for line in lines]
    return Difference(
        schema=tuple(_compare_schema(old.schema, new.schema)),
        settings=(*_compare_settings(old, new), *_compare_decisions(old, new)),
        **{name: tuple(lines) for name, lines in parts.items()},
    )


def _counted(trees: tuple[Tree, ...]) -> str:
    return f"{len(trees):,} tree{'s' * (len(trees) != 1)}"


def _compare_schema(old: Schema, new: Schema) -> Iterator[str]:
    before, after = ({feature.name: feature for feature in schema.features} for schema in (old, new))
    yield from (f"feature {name!r} is gone" for name in before if name not in after)
    yield from (f"feature {name!r} is new" for name in after if name not in before)
    for name, feature in before.items():
        if name in after and _typed(after[name]) != _typed(feature):
            yield f"feature {name!r}: {_kind(feature)}, now {_kind(after[name])}"
    if before.keys() == after.keys() and list(before) != list(after):
        yield "features are in another order"
    if _types(old.classes) != _types(new.classes):
        yield f"classes: {_listed(old.classes)}, now {_listed(new.classes)}"


def _typed(feature: Feature) -> tuple[Any, ...]:
    return feature.kind, _types(feature.categories)


def _types(values: tuple[Any, ...]) -> list[tuple[str, Any]]:
    return [(type(value).__name__, value) for value in values]  # 1, 1.0 and True are three labels


def _kind(feature: Feature) -> str:
    if feature.is_numeric:
        return "numeric"
    return f"{feature.kind} {_listed(feature.categories)}"


def _listed(values: tuple[Any, ...]) -> str:
    return f"[{', '.join(map(repr, values))}]"


def _compare_decisions(old: Model, new: Model) -> Iterator[str]:
    """Compare the decision rules of two bare trees; those of estimators follow from their settings."""
    if not old.is_several and old.estimator is None:
        before, after = old.tree.decision, new.tree.decision
        if before != after:
            yield f"decision: {_rule(before)}, now {_rule(after)}"


def _rule(decision: DecisionRule) -> str:
    return (
        "the most probable class"
        if decision.loss is None
        else f"least cost of {decision.loss.matrix.tolist()}"
    )


def _compare_settings(old: Model, new: Model) -> Iterator[str]:
    if old.estimator != new.estimator:
        yield f"estimator: {old.estimator}, now {new.estimator}"
    for before, after in (
        (_value_texts(old.settings), _value_texts(new.settings)),
        (_value_texts(old.learned), _value_texts(new.learned)),
    ):
        for name in dict.fromkeys((*before, *after)):
            was, now = before.get(name, "not set"), after.get(name, "not set")
            if was != now:
                yield f"{name}: {_cut(was)}, now {_cut(now)}"


def _value_texts(values: Mapping[str, Any]) -> dict[str, str]:
    """Each value as text; a list of rules as one text per rule."""
    words: dict[str, str] = {}
    for name, value in sorted(values.items()):
        if isinstance(value, tuple) and value and all(isinstance(one, Step) for one in value):
            words |= {f"{name}[{at}]": _value_text(one) for at, one in enumerate(value)}
        else:
            words[name] = _value_text(value)
    return words


def _value_text(value: Any) -> str:
    """A value as text; different values have different texts."""
    match value:
        case Step():
            return (
                f"{value.name}({', '.join(f'{name}={_value_text(one)}' for name, one in value.parameters)})"
            )
        case np.ndarray():
            return f"array({value.tolist()})"
        case tuple():
            return f"({', '.join(map(_value_text, value))})"
        case _:
            return repr(value)


def _compare_history(old: Tree, new: Tree) -> Iterator[str]:
    before, after = list(map(_step_text, old.history)), list(map(_step_text, new.history))
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    yield from (f"left out {step}" for step in before[same:])
    yield from (f"added {step}" for step in after[same:])


def _step_text(step: Step) -> str:
    """A step as text; an edit by hand with its reason, its author and the digest of the tree before it."""
    return f"edit by hand: {RecordedEdit.of(step)}" if step.name == EDIT else str(step)


# The branches from the root to a node, innermost first: (branch, path to the parent).
type _Way = tuple[str, _Way] | None


class _Split(NamedTuple):
    """The condition of each child as text that does not depend on codes, and the branch of missing values."""

    branches: tuple[str, ...]
    missing: int


def _compare_nodes(old: Tree, new: Tree, atol: float) -> tuple[list[str], list[str], list[str]]:
    """Walk both trees from the root while their splits are equal."""
    structure: list[str] = []
    evidence: list[str] = []
    belief: list[str] = []
    comparable = _types(old.schema.classes) == _types(new.schema.classes)
    todo: list[tuple[int, int, _Way]] = [(0, 0, None)]
    for before, after, path in todo:
        if comparable:
            evidence += (f"{_place(path)}: {change}" for change in _compare_counts(old, before, new, after))
            belief += (
                f"{_place(path)}: {change}" for change in _compare_belief(old, before, new, after, atol)
            )
        old_split, new_split = _split(old, before), _split(new, after)
        if old_split != new_split:
            structure.append(f"{_place(path)}: {_split_text(old_split)}, now {_split_text(new_split)}")
        elif old_split is not None:
            first, second = old.skeleton.first_child.item(before), new.skeleton.first_child.item(after)
            for slot, branch in enumerate(old_split.branches):
                todo.append((first + slot, second + slot, (branch, path)))
    return structure, evidence, belief


def _compare_counts(old: Tree, before: int, new: Tree, after: int) -> Iterator[str]:
    was, now = old.evidence[before] * old.unit, new.evidence[after] * new.unit
    if not np.array_equal(was, now):
        yield f"{_numbers(was)}, now {_numbers(now)}"
    elif old.rows[before] != new.rows[after]:
        yield f"{old.rows[before]:,} rows, now {new.rows[after]:,}"


def _compare_belief(old: Tree, before: int, new: Tree, after: int, atol: float) -> Iterator[str]:
    was, now = old.belief[before], new.belief[after]
    if np.abs(was - now).max() > atol:
        yield f"{_numbers(was)}, now {_numbers(now)}"
    elif abs(old.borrowed[before] - new.borrowed[after]) > atol:
        yield f"borrows {old.borrowed[before]:.6g} rows, now {new.borrowed[after]:.6g}"
    yield from _compare_slopes(_terms(old, before), _terms(new, after))


def _compare_slopes(old: dict[str, str], new: dict[str, str]) -> Iterator[str]:
    for name in dict.fromkeys((*old, *new)):
        was, now = old.get(name, "none"), new.get(name, "none")
        if was != now:
            yield f"slope of {name}: {was}, now {now}"


def _terms(tree: Tree, node: int) -> dict[str, str]:
    """The terms of a node as text, by feature or category."""
    terms = {}
    for at, category, *limits, slope in tree.slopes.terms(node):
        feature = tree.schema.features[at]
        name = feature.name if category < 0 else f"{feature.name} = {feature.categories[category]!r}"
        values, (low, high, centre) = ([number + 0.0 for number in numbers] for numbers in (slope, limits))
        terms[name] = f"{values} from {low!r} to {high!r} around {centre!r}"
    return terms


def _place(path: _Way) -> str:
    """Name a node by its path; of a long path, by its last splits."""
    branches: list[str] = []
    while path is not None and len(branches) < _MOST_TESTS:
        branch, path = path
        branches.append(branch)
    if path is not None:
        branches.append("…")
    return " and ".join(reversed(branches)) or "every row"


def _numbers(values: Any) -> str:
    shown = [f"{value:.6g}" for value in values[:_MOST_NUMBERS]]
    return f"[{', '.join(shown)}{', …' * (len(values) > _MOST_NUMBERS)}]"


def _cut(words: str) -> str:
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"


def _split_text(test: _Split | None) -> str:
    if test is None:
        return "a leaf"
    missing = {-1: "stop", -2: "go to every child"}.get(test.missing)
    where = missing or f"go with {test.branches[test.missing]}"
    return f"{' / '.join(test.branches)} (missing values {where})"


def _split(tree: Tree, node: int) -> _Split | None:
    skeleton = tree.skeleton
    n_children = skeleton.n_children.item(node)
    if n_children == 0:
        return None
    feature = tree.schema.features[skeleton.feature[node]]
    threshold = skeleton.threshold.item(node) + 0.0  # -0.0 splits as 0.0 does
    if isnan(threshold):
        members: list[list[str]] = [[] for _ in range(n_children)]
        run = skeleton.slot_of[skeleton.slot_start[node] : skeleton.slot_start[node + 1]].tolist()
        for category, slot in zip(feature.categories, run, strict=True):
            if slot >= 0:
                members[slot].append(repr(category))
        branches = [f"{feature.name} in {{{', '.join(words)}}}" if words else "" for words in members]
    else:
        branches = [f"{feature.name} <= {threshold!r}", f"{feature.name} > {threshold!r}", ""][:n_children]
    missing = f"{feature.name} missing"
    return _Split(tuple(branch or missing for branch in branches), skeleton.missing_slot.item(node))
