"""The layouts: nested ifs, or tables and one loop, over the values of a row or over its bins."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from hornbeam.export.source.c.program import Program
from hornbeam.export.source.lookup_tables import LookupTables
from hornbeam.export.wording import wrapped
from hornbeam.typing import Indices

_MAX_NESTING = 30  # blocks; deeper subtrees become functions of their own


def smallest(values: Iterable[int]) -> str:
    """Name the smallest integer type that holds all values."""
    low, high = min(values, default=0), max(values, default=0)
    if low >= 0:
        return next(f"uint{bits}_t" for bits in (8, 16, 32) if high < 2**bits)
    return next(
        f"int{bits}_t" for bits in (8, 16, 32) if -(2 ** (bits - 1)) <= low and high < 2 ** (bits - 1)
    )


def array(name: str, values: list[int]) -> str:
    """Write a table of integers in the smallest type; an empty one gets a zero, because C has no empty arrays."""
    return f"static const {smallest(values)} {name}[] = {{\n{wrapped(values or [0])}\n}};\n"


def bin_type(program: Program) -> str:
    """Name the type of a bin; its two largest values mean missing and unknown."""
    return smallest([max([0, *map(len, program.cuts), *program.sizes]) + 2])


def flat_walk(program: Program) -> str:
    """Write the tables, and the function from the values of a row and a lead to a place."""
    name, number = program.name, program.number
    cuts = [number.cut(t) if t == t else 0 for t in program.flat.threshold.tolist()]
    written = (
        f"static const {name}_value {name}_threshold[] = {{\n{wrapped(map(number.literal, cuts))}\n}};\n"
    )
    sizes = array(f"{name}_size", program.sizes) if program.nominal else ""
    return sizes + written + _walk(program, number.missing("value"))


def binned_walk(program: Program) -> str:
    """Write the tables, and the function from the bins of a row and a lead to a place."""
    name, flat, cuts = program.name, program.flat, program.cuts
    splits = zip(flat.feature.tolist(), flat.threshold.tolist(), strict=True)
    rank = [int(np.searchsorted(cuts[f], t)) if t == t else 0 for f, t in splits]
    return array(f"{name}_threshold", rank) + _walk(program, f"value == {program.prefix}_MISSING")


def binning(program: Program) -> str:
    """Write the function that converts the values of a row to bins."""
    name, number, cuts = program.name, program.number, program.cuts
    numbers = [number.literal(number.cut(t)) for run in cuts for t in run.tolist()] or ["0"]
    return _BINNING.format(
        name=name,
        NAME=program.prefix,
        sizes=array(f"{name}_size", program.sizes),
        starts=array(f"{name}_cut_start", np.cumsum([0, *map(len, cuts)]).tolist()),
        cuts=wrapped(numbers),
        type=number.ctype,
        missing=number.missing("value"),
    )


def _walk(program: Program, missing: str) -> str:
    """Write the tables of both flat layouts, and the loop over them."""
    name, flat, complete = program.name, program.flat, program.complete
    start, lead = _known(flat) if complete else (flat.start[:-1], flat.lead)
    above = f"value > {name}_threshold[at]"
    tables = [array(f"{name}_feature", flat.feature.tolist()), array(f"{name}_lead", lead.tolist())]
    if program.nominal:
        tables.append(array(f"{name}_start", start.tolist()))
    coded = (_CODED_KNOWN if complete else _CODED) if program.nominal else ""
    return "".join(tables) + _WALK.format(
        name=name,
        type=smallest(lead.tolist()),
        first=f"{name}_start[at]" if program.nominal else f"{2 if complete else 3} * at",
        coded=coded.format(name=name, NAME=program.prefix),
        which=above if complete else f"{missing} ? 2 : {above}",
    )


def _known(flat: LookupTables) -> tuple[Indices, Indices]:
    """Drop the leads of missing values, which are the last of each node."""
    keep = np.ones(len(flat.lead), np.bool_)
    keep[flat.start[1:] - 1] = False
    return (flat.start[:-1] - np.arange(flat.n_inner)).astype(np.int32), flat.lead[keep]


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


_WALK = """
static int32_t {name}_walk(const {name}_value *x, int32_t at)
{{
    while (at >= 0) {{
        const {name}_value value = x[{name}_feature[at]];
        const {type} *lead = {name}_lead + {first};
{coded}        at = lead[{which}];
    }}
    return ~at;
}}
"""

_CODED = """        const int32_t size = {name}_size[{name}_feature[at]];
        if (size > 0) {{
            const int32_t code = {name}_code(value, size);
            at = code == {NAME}_UNKNOWN_CODE ? ~at : lead[code == {NAME}_MISSING_CODE ? size : code];
            continue;
        }}
"""

_CODED_KNOWN = """        const int32_t size = {name}_size[{name}_feature[at]];
        if (size > 0) {{
            const int32_t code = {name}_code(value, size);
            at = code < 0 ? ~at : lead[code];
            continue;
        }}
"""

_BINNING = """
{starts}static const {type} {name}_cuts[] = {{
{cuts}
}};
{sizes}
void {name}_bin(const {type} *x, {name}_value *bins)
{{
    for (int32_t f = 0; f < {NAME}_FEATURES; ++f) {{
        const {type} value = x[f];
        const int32_t size = {name}_size[f];
        if (size > 0) {{
            const int32_t code = {name}_code_of(value, size);
            bins[f] = ({name}_value)(code == {NAME}_MISSING_CODE ? {NAME}_MISSING
                                     : code < 0             ? {NAME}_UNKNOWN
                                                            : code);
        }} else if ({missing}) {{
            bins[f] = {NAME}_MISSING;
        }} else {{
            int32_t low = {name}_cut_start[f], high = {name}_cut_start[f + 1];
            while (low < high) {{
                const int32_t middle = low + (high - low) / 2;
                if (value > {name}_cuts[middle])
                    low = middle + 1;
                else
                    high = middle;
            }}
            bins[f] = ({name}_value)(low - {name}_cut_start[f]);
        }}
    }}
}}
"""
