"""The whole C file, and the test inside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from hornbeam.checks import check_choice, check_flags
from hornbeam.data.rows import read_rows
from hornbeam.data.table import Table
from hornbeam.errors import ExportError, ParameterError
from hornbeam.export.checks import is_name
from hornbeam.export.source.c.declarations import class_names, declarations
from hornbeam.export.source.c.layouts import array, binned_walk, binning, flat_walk, nested
from hornbeam.export.source.c.numbers import NUMBERS, Real
from hornbeam.export.source.c.predictions import predictions, stored
from hornbeam.export.source.c.program import Program
from hornbeam.export.source.c.slope_terms import NO_FUSED
from hornbeam.export.source.vectors import TestVectors
from hornbeam.export.wording import wrapped
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import HasTree, with_quantiles

_CHOICES = {
    "layout": ("if", "table", "bins"),
    "input": ("double", "float", "int32", "int16"),
    "probability": ("double", "float", "uint16", "uint8"),
}


def to_c(
    model: Tree | HasTree,
    *,
    name: str = "tree",
    layout: Literal["if", "table", "bins"] = "if",
    input: Literal["double", "float", "int32", "int16"] = "double",  # noqa: A002 the usual name
    probability: Literal["double", "float", "uint16", "uint8"] = "double",
    complete: bool = False,
    quantiles: Sequence[float] | None = None,
    vectors: Any = None,
) -> str:
    """Write a tree as one file of C99 that needs no heap, no library and only the header ``<stdint.h>``.

    Parameters
    ----------
    model : Tree, or fitted TreeClassifier or TreeRegressor
    name : str, default "tree"
        The beginning of every name in the file.
    layout : {"if", "table", "bins"}, default "if"
        Nested ifs; flat tables and one loop; or tables over small integers, with a function that converts the values of
        a row to such bins.
    input : {"double", "float", "int32", "int16"}, default "double"
        The type of a row's values. Every value of the type takes the same path as in the tree, because thresholds are
        rounded down to the type.
    probability : {"double", "float", "uint16", "uint8"}, default "double"
        The type of the probabilities: exact, rounded to float, or in parts of 65535 or 255 that add up; the file states
        the largest error. For a numeric target the type of the means: "double" or "float".
    complete : bool, default False
        Leave out the code for missing values. Smaller, for rows that have none.
    quantiles : sequence of float, optional
        Levels, such as ``[0.1, 0.5, 0.9]``: the quantiles of `TreeRegressor.predict_quantile`, beside the mean, of a
        `TreeRegressor` that was fitted with ``distribution=True``.
    vectors : array-like or data frame of shape (n_rows, n_features), optional
        Rows to ship with the code: compiled with ``NAME_TEST`` defined, the file is a program that fails
        unless all of them get the tree's nodes, classes and probabilities.

    Returns
    -------
    str
        ASCII source, with the function ``NAME_quantiles`` if quantiles are asked for. A file that defines
        ``NAME_DECLARATIONS_ONLY`` may include it as a header.

    Raises
    ------
    ExportError
        If missing values go to every child, and the layout is "if" or the probabilities are not doubles: their sum
        would not be exact. If the tree has slopes, and the layout is "bins" or the probabilities are integers.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart").fit([[0]] * 5 + [[1]] * 5, ["ill"] * 4 + ["well"] * 5 + ["ill"])
    >>> source = to_c(clf, input="float", probability="uint8")
    >>> print(source[source.index("static int32_t") : source.index("static int32_t tree_place")])
    static int32_t tree_from_0(const tree_value *x)
    {
        if (x[TREE_X0] <= 0.5f) {
            return 1;
        } else if (x[TREE_X0] > 0.5f) {
            return 2;
        } else {
            return 0;
        }
    }
    <BLANKLINE>
    """
    tree = with_quantiles(model, quantiles)
    check_flags(complete=complete)
    _check_choices(name, layout=layout, input=input, probability=probability)
    program = Program.of(tree, name, NUMBERS[input], layout, probability, complete)
    if program.is_fractional and (layout == "if" or probability != "double"):
        raise ExportError(
            f"This tree sends missing values to every child, and the sum cannot be exact with layout={layout!r} and "
            f"probability={probability!r}; expected layout='table' or 'bins' and probability='double'. Choose these, "
            "pass complete=True if rows have no missing values, or grow the tree with missing='own'."
        )
    if program.has_slopes and (layout == "bins" or probability not in ("double", "float")):
        raise ExportError(
            f"This tree has slopes, which need the values of a row and a logarithmic scale; with "
            f"layout={layout!r} and probability={probability!r} there are none. Expected layout='if' or 'table' and "
            "probability='double' or 'float'. A tree that is fitted with slopes=0 exports with all of them."
        )
    if program.is_regression and probability not in ("double", "float"):
        raise ExportError(
            f"The target is numeric, and probability={probability!r} cannot hold a mean; expected 'double' or "
            "'float'."
        )
    walk = [*_walk(program), predictions(program)]
    parts = [*_code_of_categories(program, "".join(walk)), *walk]
    if program.has_slopes:
        parts.insert(0, NO_FUSED)
    if not program.is_regression:
        parts.append(class_names(program))
    if isinstance(program.number, Real) and not complete:
        parts.insert(0, _NO_FAST_MATH)
    body = "\n".join(parts)
    only = f"{program.prefix}_DECLARATIONS_ONLY"
    test = "" if vectors is None else _test(program, vectors)
    return f"{declarations(program)}\n#ifndef {only}\n\n{body}{test}\n#endif\n"


def _check_choices(name: str, **settings: str) -> None:
    if not is_name(name, "[a-z][a-z0-9_]{0,19}"):
        raise ParameterError(
            f"name is {name!r}; expected at most 20 small letters, digits and underscores, a letter first: "
            "every name of the C file begins with it, e.g. 'tree'."
        )
    for setting, value in settings.items():
        check_choice(setting, value, _CHOICES[setting])


def _code_of_categories(program: Program, walk: str) -> list[str]:
    """Write the functions that read the code of a category, without those that are not called."""
    name, missing = program.name, program.number.missing("value")
    written = {
        "code_of": _CODE.format(
            name=name, NAME=program.prefix, missing=missing, of="code_of", type=program.number.ctype
        ),
        "code": _CODE.format(
            name=name, NAME=program.prefix, missing=missing, of="code", type=f"{name}_value"
        ),
    }
    if program.layout == "bins":
        written["code"] = _BIN_CODE.format(name=name, NAME=program.prefix)
    return [function for called, function in written.items() if f"{name}_{called}(" in walk]


def _walk(program: Program) -> list[str]:
    """Write the functions from a row to its place."""
    row = f"const {program.name}_value *x"
    place = f"static int32_t {program.name}_place({row})\n{{\n"
    binned = [binning(program)] if program.layout == "bins" else []
    if program.flat.n_inner == 0:
        return [*binned, f"{place}    (void)x;\n    return 0;\n}}\n"]
    if program.layout == "if":
        return [nested(program)]
    walk = binned_walk(program) if binned else flat_walk(program)
    return [*binned, walk, f"{place}    return {program.name}_walk(x, 0);\n}}\n"]


def _test(program: Program, X: Any) -> str:
    """Write rows with their expected predictions, and the program that compares them."""
    name, number, schema = program.name, program.number, program.tree.schema
    table = read_rows(X, schema=schema)
    features = zip(schema.features, table.columns, strict=True)
    columns = [c if f.is_nominal else number.rounded(c) for f, c in features]
    vectors = TestVectors.of(program.tree, Table(table.schema, tuple(columns)))
    if program.complete and np.isnan(vectors.numbers()).any():
        raise ExportError(
            "The vectors have missing values; expected none with complete=True. Drop these rows."
        )
    rows = [f"{{{', '.join(map(number.literal, row))}}}" for row in vectors.numbers().tolist()]
    literal = NUMBERS["float" if program.probability == "float" else "double"].literal
    expected = stored(vectors.probabilities, program.probability).tolist()
    return (_MEAN_TEST if program.is_regression else _TEST).format(
        name=name,
        NAME=program.prefix,
        type=number.ctype,
        n=len(rows),
        outputs=schema.n_outputs,
        quantiles=_QUANTILES_TEST.format(name=name, NAME=program.prefix) if schema.quantiles else "",
        rows=wrapped(rows),
        nodes=array(f"{name}_test_node", vectors.nodes.tolist()),
        classes=array(f"{name}_test_class", vectors.decided.tolist()),
        expected=wrapped(
            f"{{{', '.join(str(p) if isinstance(p, int) else literal(p) for p in row)}}}" for row in expected
        ),
        row=_BINNED_ROW.format(name=name, NAME=program.prefix)
        if program.layout == "bins"
        else f"{name}_test_x[i]",
        bins=f"        {name}_value bins[{program.prefix}_FEATURES];\n" if program.layout == "bins" else "",
    )


_NO_FAST_MATH = """#ifdef __FAST_MATH__
#error "NaN means a missing value here: compile without -ffast-math"
#endif
"""

_CODE = """static int32_t {name}_{of}({type} value, int32_t size)
{{
    if ({missing} || value == -1)
        return {NAME}_MISSING_CODE;
    return value >= 0 && value < size ? (int32_t)value : {NAME}_UNKNOWN_CODE;
}}
"""

_BIN_CODE = """static int32_t {name}_code({name}_value value, int32_t size)
{{
    if (value == {NAME}_MISSING)
        return {NAME}_MISSING_CODE;
    return (int32_t)value < size ? (int32_t)value : {NAME}_UNKNOWN_CODE;
}}
"""

_BINNED_ROW = "({name}_bin({name}_test_x[i], bins), bins)"

_MEAN_TEST = """
#ifdef {NAME}_TEST
static const {type} {name}_test_x[{n}][{NAME}_FEATURES] = {{
{rows}
}};
{nodes}static const {name}_number {name}_test_mean[{n}][{outputs}] = {{
{expected}
}};

int main(void)
{{
    int32_t wrong = 0;
    for (int32_t i = 0; i < {n}; ++i) {{
{bins}        const {name}_value *x = {row};
        wrong |= {name}_node(x) != {name}_test_node[i] || {name}_mean(x) != {name}_test_mean[i][0];
{quantiles}    }}
    return wrong;
}}
#endif
"""

_QUANTILES_TEST = """        {name}_number q[{NAME}_QUANTILES];
        {name}_quantiles(x, q);
        for (int32_t k = 0; k < {NAME}_QUANTILES; ++k)
            wrong |= q[k] != {name}_test_mean[i][k + 1];
"""

_TEST = """
#ifdef {NAME}_TEST
static const {type} {name}_test_x[{n}][{NAME}_FEATURES] = {{
{rows}
}};
{nodes}{classes}static const {name}_probability {name}_test_p[{n}][{NAME}_CLASSES] = {{
{expected}
}};

int main(void)
{{
    int32_t wrong = 0;
    for (int32_t i = 0; i < {n}; ++i) {{
{bins}        const {name}_value *x = {row};
        {name}_probability p[{NAME}_CLASSES];
        {name}_probabilities(x, p);
        for (int32_t k = 0; k < {NAME}_CLASSES; ++k)
            wrong |= p[k] != {name}_test_p[i][k];
        wrong |= {name}_node(x) != {name}_test_node[i] || {name}_class(x) != {name}_test_class[i];
    }}
    return wrong;
}}
#endif
"""
