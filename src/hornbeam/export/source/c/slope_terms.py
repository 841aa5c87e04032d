"""Predictions of trees with slopes in C: tables of terms, scores and probabilities."""

from __future__ import annotations

import numpy as np

from hornbeam.export.source.c.layouts import array
from hornbeam.export.source.c.numbers import Real
from hornbeam.export.source.c.program import Program
from hornbeam.export.wording import wrapped

NO_FUSED = """/* A fused multiplication and addition would round once instead of twice. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=off")
#else
#pragma STDC FP_CONTRACT OFF
#endif
"""


def sloped_predictions(program: Program, least_cost: str) -> str:
    """Write the tables and public functions of a tree with slopes; `least_cost` decides, if not empty."""
    functions = _SCORES
    if program.is_regression:
        functions += _MEAN + _QUANTILES * bool(program.tree.schema.quantiles)
    else:
        functions += _SOFTMAX + ("" if least_cost else _LARGEST_SCORE)
    nominal = bool((program.tree.slopes.category >= 0).any())
    tests = [_CODED.format(name=program.name, NAME=program.prefix)] if nominal else []
    if not program.complete:
        tests.append(_MISSING.format(missing=program.number.missing("value")))
    written = functions.format(
        name=program.name,
        NAME=program.prefix,
        n=program.tree.schema.n_outputs,
        tests="".join(["        ", " else ".join(tests), "\n"]) if tests else "",
    )
    return _tables(program, nominal) + written + least_cost


def _tables(program: Program, nominal: bool) -> str:
    name, flat, slopes = program.name, program.flat, program.flat.terms
    literal, n = Real("double", np.float64).literal, program.tree.schema.n_outputs
    tables = array(f"{name}_term_start", slopes.starts(len(flat.node)).tolist())
    tables += array(f"{name}_term_feature", slopes.feature.tolist())
    if nominal:
        sizes = [program.sizes[f] for f in slopes.feature.tolist()]
        tables += array(f"{name}_category", slopes.category.tolist()) + array(f"{name}_categories", sizes)
    for of, numbers in (("low", slopes.low), ("high", slopes.high), ("centre", slopes.centre)):
        tables += f"static const double {name}_{of}[] = {{\n{wrapped(map(literal, numbers.tolist()))}\n}};\n"
    for of, rows in (("score", flat.score), ("slope", slopes.slope)):
        cells = wrapped(f"{{{', '.join(map(literal, row))}}}" for row in rows.tolist())
        tables += f"static const double {name}_{of}[][{n}] = {{\n{cells}\n}};\n"
    return tables


_SCORES = """
/* The scores of a row, or its mean: those of its place, and the terms. Returns whether there are terms. */
static int32_t {name}_scores(const {name}_value *x, double *score)
{{
    const int32_t place = {name}_place(x), end = {name}_term_start[place + 1];
    for (int32_t k = 0; k < {n}; ++k)
        score[k] = {name}_score[place][k];
    for (int32_t i = {name}_term_start[place]; i < end; ++i) {{
        const {name}_value value = x[{name}_term_feature[i]];
        double known = (double)value;
{tests}        known = known < {name}_low[i] ? {name}_low[i] : known > {name}_high[i] ? {name}_high[i] : known;
        known -= {name}_centre[i];
        for (int32_t k = 0; k < {n}; ++k)
            score[k] += {name}_slope[i][k] * known;
    }}
    return {name}_term_start[place] < end;
}}
"""

_CODED = """if ({name}_categories[i] > 0) {{
            const int32_t code = {name}_code(value, {name}_categories[i]);
            if (code == {NAME}_MISSING_CODE)
                continue;
            known = code == {name}_category[i] ? 1.0 : 0.0;
        }}"""

_MISSING = """if ({missing}) {{
            continue;
        }}"""

_MEAN = """
{name}_number {name}_mean(const {name}_value *x)
{{
    double mean[{n}];
    {name}_scores(x, mean);
    return ({name}_number)mean[0];
}}
"""

_QUANTILES = """
void {name}_quantiles(const {name}_value *x, {name}_number *q)
{{
    double exact[{n}];
    {name}_scores(x, exact);
    for (int32_t k = 0; k < {NAME}_QUANTILES; ++k)
        q[k] = ({name}_number)exact[k + 1];
}}
"""

_SOFTMAX = """
/* exp(x) for x <= 0, with the same bits everywhere. */
static double {name}_exp(double x)
{{
    static const double factorial[] = {{479001600.0, 39916800.0, 3628800.0, 362880.0, 40320.0, 5040.0,
                                       720.0,       120.0,      24.0,      6.0,      2.0}};
    double k, high, low, r, power, factor = 0.5, series = 1.0 / 6227020800.0;
    if (x < -745.1332191019412)
        return 0.0;
    k = (x * 1.4426950408889634 + 6755399441055744.0) - 6755399441055744.0;
    high = x - k * 0.6931471803691238;
    low = k * 1.9082149292705877e-10;
    r = high - low;
    for (int32_t i = 0; i < 11; ++i)
        series = 1.0 / factorial[i] + r * series;
    power = 1.0 + (r + (((high - r) - low) + r * r * series));
    for (int32_t n = (int32_t)-k; n > 0; n >>= 1) {{
        if (n & 1)
            power *= factor;
        factor *= factor;
    }}
    return power;
}}

static void {name}_softmax(const {name}_value *x, double *p)
{{
    double largest, total = 0.0;
    if (!{name}_scores(x, p))
        return;
    largest = p[0];
    for (int32_t k = 1; k < {n}; ++k)
        if (p[k] > largest)
            largest = p[k];
    for (int32_t k = 0; k < {n}; ++k)
        total += p[k] = {name}_exp(p[k] - largest);
    for (int32_t k = 0; k < {n}; ++k)
        p[k] /= total;
}}

void {name}_probabilities(const {name}_value *x, {name}_probability *p)
{{
    double exact[{n}];
    {name}_softmax(x, exact);
    for (int32_t k = 0; k < {n}; ++k)
        p[k] = ({name}_probability)exact[k];
}}
"""

_LARGEST_SCORE = """
int32_t {name}_class(const {name}_value *x)
{{
    double score[{n}];
    int32_t best = 0;
    {name}_scores(x, score);
    for (int32_t k = 1; k < {n}; ++k)
        if (score[k] > score[best])
            best = k;
    return best;
}}
"""
