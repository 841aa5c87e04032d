"""Tables of predictions, and the public functions of the C file that look them up."""

from __future__ import annotations

from math import log2

import numpy as np
from numpy.typing import NDArray

from hornbeam.export.source.c.layouts import array
from hornbeam.export.source.c.numbers import Real
from hornbeam.export.source.c.program import Program
from hornbeam.export.source.c.slope_terms import sloped_predictions
from hornbeam.export.wording import wrapped
from hornbeam.tree import Costs
from hornbeam.typing import Counts, Floats

ONE = {"uint8": 255, "uint16": 65_535}
"""The number that means probability 1, for each fixed-point type."""

_MAX_UNROLLED = 8  # copies; more take more code than a call of memcpy, which a chip may not have


def fixed_point(belief: Floats, one: int) -> Counts:
    """Round probabilities to multiples of 1 / `one`, so that each row still adds up to 1.

    All are rounded down, then those with the largest loss are raised: no error is as large as 1 / `one`.
    """
    parts = belief * one
    low = np.floor(parts)
    lost = np.argsort(np.argsort(low - parts, axis=1, kind="stable"), axis=1, kind="stable")
    return (low + (lost < one - low.sum(axis=1, keepdims=True))).astype(np.int64)


def stored(belief: Floats, kind: str) -> NDArray[np.generic]:
    """Convert probabilities to the type in which the file stores them."""
    if kind in ONE:
        return fixed_point(belief, ONE[kind])
    return belief.astype(np.float32) if kind == "float" else belief


def accuracy(program: Program) -> str:
    """Write the largest possible and the largest actual error of the stored probabilities."""
    kind, belief = program.probability, program.flat.belief
    if kind == "double":
        return "exactly the tree's"
    if program.is_regression or program.has_slopes:
        return "the tree's, rounded to float"
    found = stored(belief, kind).astype(np.float64) / ONE.get(kind, 1)
    error = float(np.abs(found - belief).max())
    if kind == "float":
        return f"the tree's, rounded to float: off by 2^-25 at most, here by {_power(error)}"
    return (
        f"in parts of {ONE[kind]}, which add up: off by less than 1/{ONE[kind]}, here by {error:.2g} at most"
    )


def _power(error: float) -> str:
    return f"2^{log2(error):.1f}" if error else "nothing"


def predictions(program: Program) -> str:
    """Write the tables and the public functions, which call ``NAME_place`` or ``NAME_walk``."""
    name, flat = program.name, program.flat
    belief = stored(flat.belief, program.probability).tolist()
    literal = (
        Real("float", np.float32) if program.probability == "float" else Real("double", np.float64)
    ).literal
    cells = [f"{{{', '.join(str(p) if isinstance(p, int) else literal(p) for p in row)}}}" for row in belief]
    parts = {
        "name": name,
        "NAME": program.prefix,
        "rows": len(belief),
        "belief": wrapped(cells),
        "open": flat.most_open,
    }
    tables = array(f"{name}_node_at", flat.node.tolist())
    if program.has_slopes:
        decide = ""
        if program.tree.decision.loss is not None:
            exact = {"type": "double", "probabilities": "softmax"}
            decide = _LEAST_COST.format(**parts, **exact, **_losses(program.tree.decision.loss))
        return tables + _NODE.format(**parts) + sloped_predictions(program, decide)
    if program.is_regression:
        parts["belief"] = wrapped(literal(row[0]) for row in belief)
        parts["quantiles"] = wrapped(f"{{{', '.join(map(literal, row[1:]))}}}" for row in belief)
        functions = _MEANS + _NODE + _MEAN + _QUANTILES * bool(program.tree.schema.quantiles)
        return tables + functions.format(**parts)
    if program.is_fractional:
        tables += array(f"{name}_shared", flat.share_start.tolist())
        tables += array(f"{name}_shared_lead", flat.share_lead.tolist())
        shares = wrapped(map(literal, flat.share.tolist()))
        tables += f"static const double {name}_share[] = {{\n{shares}\n}};\n"
        parts["missing"] = _missing(program)
        decide = _MOST_PROBABLE
        if program.tree.decision.loss is not None:
            decide = _LEAST_COST
            parts |= {"type": f"{name}_probability", "probabilities": "probabilities"}
            parts |= _losses(program.tree.decision.loss)
        return tables + (_BELIEF + _NODE + _SHARED_PROBABILITIES + decide).format(**parts)
    tables += array(f"{name}_decided", flat.decided.tolist())
    parts["copy"] = _copy(program)
    return tables + (_BELIEF + _NODE + _CLASS_AND_PROBABILITIES).format(**parts)


def _losses(loss: Costs) -> dict[str, str]:
    """Write the cost matrix of the decision, and the difference up to which two costs are equal."""
    literal = Real("double", np.float64).literal
    rows = [f"{{{', '.join(map(literal, row))}}}" for row in loss.matrix.tolist()]
    return {"loss": wrapped(rows), "slack": literal(loss.slack)}


def _copy(program: Program) -> str:
    """Write the copy of probabilities: unrolled if short, because compilers turn the loop into a call."""
    n = program.tree.n_classes
    if n <= _MAX_UNROLLED:
        return "\n".join(f"    p[{k}] = belief[{k}];" for k in range(n))
    return f"    for (int32_t k = 0; k < {program.prefix}_CLASSES; ++k)\n        p[k] = belief[k];"


def _missing(program: Program) -> str:
    """Write the condition that the value tested at a place is missing."""
    if program.layout == "bins":
        return f"value == {program.prefix}_MISSING"
    missing = program.number.missing("value")
    if not program.nominal:
        return missing
    return f"({missing} || ({program.name}_size[{program.name}_feature[place]] > 0 && value == -1))"


_BELIEF = """static const {name}_probability {name}_belief[{rows}][{NAME}_CLASSES] = {{
{belief}
}};
"""

_MEANS = """static const {name}_number {name}_mean_at[{rows}] = {{
{belief}
}};
"""

_MEAN = """
{name}_number {name}_mean(const {name}_value *x)
{{
    return {name}_mean_at[{name}_place(x)];
}}
"""

_QUANTILES = """
static const {name}_number {name}_quantiles_at[{rows}][{NAME}_QUANTILES] = {{
{quantiles}
}};

void {name}_quantiles(const {name}_value *x, {name}_number *q)
{{
    const {name}_number *found = {name}_quantiles_at[{name}_place(x)];
    for (int32_t k = 0; k < {NAME}_QUANTILES; ++k)
        q[k] = found[k];
}}
"""

_NODE = """
int32_t {name}_node(const {name}_value *x)
{{
    return {name}_node_at[{name}_place(x)];
}}
"""

_CLASS_AND_PROBABILITIES = """
int32_t {name}_class(const {name}_value *x)
{{
    return {name}_decided[{name}_place(x)];
}}

const {name}_probability *{name}_answer(const {name}_value *x)
{{
    return {name}_belief[{name}_place(x)];
}}

void {name}_probabilities(const {name}_value *x, {name}_probability *p)
{{
    const {name}_probability *belief = {name}_answer(x);
{copy}
}}
"""

_SHARED_PROBABILITIES = """
/* Whether a missing value goes to every branch of the place. */
static int32_t {name}_shares(const {name}_value *x, int32_t place)
{{
    if (place >= (int32_t)(sizeof {name}_feature / sizeof {name}_feature[0]))
        return 0;
    const {name}_value value = x[{name}_feature[place]];
    return {name}_shared[place] < {name}_shared[place + 1] && {missing};
}}

void {name}_probabilities(const {name}_value *x, {name}_probability *p)
{{
    struct {{
        int32_t lead;
        double share;
    }} waiting[{open}] = {{{{0, 1.0}}}};
    int32_t n = 1;
    for (int32_t k = 0; k < {NAME}_CLASSES; ++k)
        p[k] = 0.0;
    while (n > 0) {{
        const double share = waiting[--n].share;
        const int32_t place = {name}_walk(x, waiting[n].lead);
        if ({name}_shares(x, place)) {{
            for (int32_t i = {name}_shared[place + 1] - 1; i >= {name}_shared[place]; --i) {{
                waiting[n].lead = {name}_shared_lead[i];
                waiting[n++].share = share * {name}_share[i];
            }}
        }} else {{
            for (int32_t k = 0; k < {NAME}_CLASSES; ++k)
                p[k] += share * {name}_belief[place][k];
        }}
    }}
}}
"""

_MOST_PROBABLE = """
int32_t {name}_class(const {name}_value *x)
{{
    {name}_probability p[{NAME}_CLASSES];
    int32_t best = 0;
    {name}_probabilities(x, p);
    for (int32_t k = 1; k < {NAME}_CLASSES; ++k)
        if (p[k] > p[best])
            best = k;
    return best;
}}
"""

_LEAST_COST = """
/* The cost of deciding for a class (column) if another is the true one (row). */
static const double {name}_loss[{NAME}_CLASSES][{NAME}_CLASSES] = {{
{loss}
}};

int32_t {name}_class(const {name}_value *x)
{{
    {type} p[{NAME}_CLASSES];
    double cost[{NAME}_CLASSES] = {{0.0}};
    double least;
    int32_t k = 0;
    {name}_{probabilities}(x, p);
    for (int32_t t = 0; t < {NAME}_CLASSES; ++t)
        for (int32_t j = 0; j < {NAME}_CLASSES; ++j)
            cost[j] += p[t] * {name}_loss[t][j];
    least = cost[0];
    for (int32_t j = 1; j < {NAME}_CLASSES; ++j)
        if (cost[j] < least)
            least = cost[j];
    while (cost[k] > least + {slack})
        ++k;
    return k;
}}
"""
