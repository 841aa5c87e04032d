"""The nested layout: tests as ifs and switches, for people and for branch predictors."""

from __future__ import annotations

import numpy as np

from hornbeam.export.c.program import Program

__all__ = ["nested"]

_DEEPEST = 30  # blocks inside each other; what lies deeper goes to a function of its own


def nested(program: Program) -> str:
    """Write the function from a row to its place, and those it calls."""
    name = program.name
    signature = f"static int32_t {name}_from_%d(const {name}_value *x)"
    roots, bodies = [0], []
    for root in roots:
        lines: list[str] = []
        # What is still to write: a line, or a lead with the number of blocks around it.
        todo: list[str | tuple[int, int]] = [(root, 1)]
        while todo:
            item = todo.pop()
            if isinstance(item, str):
                lines.append(item)
                continue
            lead, depth = item
            tab = "    " * depth
            if lead < 0:
                lines.append(f"{tab}return {~lead};")
            elif depth > _DEEPEST:
                roots.append(lead)
                lines.append(f"{tab}return {name}_from_{lead}(x);")
            else:
                blocks = _blocks(program, lead)
                todo += reversed(_written(blocks, tab, depth))
        if not any("x[" in line or "(x)" in line for line in lines):
            lines.insert(0, "    (void)x;")
        bodies.append(f"{signature % root}\n{{\n" + "\n".join(lines) + "\n}\n")
    declared = [f"{signature % root};" for root in roots[1:]]
    place = f"static int32_t {name}_place(const {name}_value *x)\n{{\n    return {name}_from_0(x);\n}}\n"
    return "\n".join([*declared, *bodies, place])


def _blocks(program: Program, at: int) -> list[tuple[str, int]]:
    """What opens each block of a test, with the lead inside; a switch if the first of them is one."""
    flat, number, complete = program.flat, program.number, program.complete
    feature = flat.feature.item(at)
    value, categories = f"x[{program.features[feature]}]", program.categories[feature]
    leads = flat.lead[flat.start[at] : flat.start[at + 1]].tolist()
    if not np.isnan(flat.threshold[at]):
        return number.branches(value, number.cut(flat.threshold.item(at)), leads, complete)
    labels = [*categories, *([] if complete else [f"{program.prefix}_MISSING_CODE"])]
    groups: dict[int, list[str]] = {}
    for lead, label in zip(leads, labels, strict=False):
        groups.setdefault(lead, []).append(f"case {label}:")
    groups.pop(~at, None)  # the default
    blocks = [("\n".join(cases), lead) for lead, cases in groups.items()]
    return [(f"switch ({program.name}_code({value}, {len(categories)})) {{", ~at), *blocks]


def _written(blocks: list[tuple[str, int]], tab: str, depth: int) -> list[str | tuple[int, int]]:
    """Write the blocks around the leads that are still to write."""
    if blocks[0][0].startswith("switch"):
        out: list[str | tuple[int, int]] = [tab + blocks[0][0]]
        for cases, lead in blocks[1:]:
            out += [*(tab + case for case in cases.split("\n")), (lead, depth + 1)]
        return [*out, f"{tab}default:", (blocks[0][1], depth + 1), f"{tab}}}"]
    if blocks[0][0] == "":
        return [(blocks[0][1], depth)]
    out = []
    for i, (condition, lead) in enumerate(blocks):
        opening = "if" if i == 0 else "} else if" if condition else "} else"
        out += [f"{tab}{opening} ({condition}) {{" if condition else f"{tab}{opening} {{", (lead, depth + 1)]
    return [*out, f"{tab}}}"]
