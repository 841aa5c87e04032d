"""The flat layouts: tables and one loop, over the values of a row or over its bins."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from hornbeam.export.source.c.program import Program
from hornbeam.export.source.lookup_tables import LookupTables
from hornbeam.export.wording import wrapped
from hornbeam.typing import Indices

__all__ = ["array", "bin_type", "binned_walk", "binning", "flat_walk", "smallest"]


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
