"""The nested layout: splits as ifs and switches, readable and fast with branch prediction."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hornbeam.export.source.c.program import Program

__all__ = ["nested"]

_MAX_NESTING = 30  # blocks; deeper subtrees become functions of their own


class _Lead(NamedTuple):
    """A lead to write: the features that are not missing on its path, and the number of blocks around it."""

    lead: int
    known: frozenset[int]
    depth: int


def nested(program: Program) -> str:
    """Write the function from a row to its place, and the functions it calls."""
    name = program.name
    signature = f"static int32_t {name}_from_%d(const {name}_value *x)"
    roots, bodies = [_Lead(0, frozenset(), 1)], []
    for root in roots:
        lines: list[str] = []
        todo: list[str | _Lead] = [root]
        while todo:
            item = todo.pop()
            if isinstance(item, str):
                lines.append(item)
                continue
            lead, known, depth = item
            tab = "    " * depth
            if lead < 0:
                lines.append(f"{tab}return {~lead};")
            elif depth > _MAX_NESTING:
                roots.append(_Lead(lead, known, 1))
                lines.append(f"{tab}return {name}_from_{lead}(x);")
            else:
                todo += reversed(_test(program, item))
        if not any("x[" in line or "(x)" in line for line in lines):
            lines.insert(0, "    (void)x;")
        bodies.append(f"{signature % root.lead}\n{{\n" + "\n".join(lines) + "\n}\n")
    declared = [f"{signature % root.lead};" for root in roots[1:]]
    place = f"static int32_t {name}_place(const {name}_value *x)\n{{\n    return {name}_from_0(x);\n}}\n"
    return "\n".join([*declared, *bodies, place])


def _test(program: Program, at: _Lead) -> list[str | _Lead]:
    """Write a split as lines of code, and leads in place of its blocks."""
    flat, feature = program.flat, program.flat.feature.item(at.lead)
    leads = flat.lead[flat.start[at.lead] : flat.start[at.lead + 1]].tolist()
    # After a branch that missing values do not take, later splits on the feature need no test for them.
    complete = program.complete or feature in at.known
    tab, inside, after = "    " * at.depth, at.depth + 1, at.known | {feature}

    def block(lead: int, depth: int = inside) -> _Lead:
        return _Lead(lead, after if complete or lead != leads[-1] else at.known, depth)

    value = f"x[{program.features[feature]}]"
    if np.isnan(flat.threshold[at.lead]):
        categories = program.categories[feature]
        written: list[str | _Lead] = [f"{tab}switch ({program.name}_code({value}, {len(categories)})) {{"]
        labels = [*categories, *([] if complete else [f"{program.prefix}_MISSING_CODE"])]
        for lead, cases in _groups(leads, labels, default=~at.lead).items():
            written += [*(f"{tab}case {label}:" for label in cases), block(lead)]
        return [*written, f"{tab}default:", block(~at.lead), f"{tab}}}"]
    cut = program.number.cut(flat.threshold.item(at.lead))
    branches = program.number.branches(value, cut, leads, complete)
    if len(branches) == 1:
        return [block(branches[0][1], at.depth)]
    written = []
    for condition, lead in branches:
        opening = "} else " if written else ""
        written += [f"{tab}{opening}if ({condition}) {{" if condition else f"{tab}}} else {{", block(lead)]
    return [*written, f"{tab}}}"]


def _groups(leads: list[int], labels: list[str], default: int) -> dict[int, list[str]]:
    """Group the labels by lead, without those of the default lead."""
    groups: dict[int, list[str]] = {}
    for lead, label in zip(leads, labels, strict=False):
        groups.setdefault(lead, []).append(label)
    groups.pop(default, None)
    return groups
