"""The head of the C file: how to use it, the declarations, and the codes of features, categories and classes."""

from __future__ import annotations

from hornbeam.export.source.c.layouts import bin_type
from hornbeam.export.source.c.numbers import Real
from hornbeam.export.source.c.predictions import ONE, accuracy
from hornbeam.export.source.c.program import Program, comment, string
from hornbeam.tree.skeleton import summary
from hornbeam.tree.words import plain_label


def declarations(program: Program) -> str:
    """Write the head of the file."""
    name, schema = program.name, program.tree.schema
    value = bin_type(program) if program.layout == "bins" else program.number.ctype
    probability = program.probability + "_t" * (program.probability in ONE)
    lines = [f"#define {program.prefix}_FEATURES {schema.n_features}"]
    if not program.is_regression:
        lines.append(f"#define {program.prefix}_CLASSES {schema.n_classes}")
    if schema.quantiles:
        lines.append(f"#define {program.prefix}_QUANTILES {len(schema.quantiles)}")
    lines.append(f"#define {program.prefix}_NODES {program.tree.n_nodes}")
    if program.probability in ONE:
        lines.append(f"#define {program.prefix}_ONE {ONE[program.probability]}")
    if program.layout == "bins":
        most = {"uint8_t": 255, "uint16_t": 65_535}.get(value, 2**31 - 1)
        lines += [f"#define {program.prefix}_MISSING {most}", f"#define {program.prefix}_UNKNOWN {most - 1}"]
    lines += _codes(program)
    output = "number" if program.is_regression else "probability"
    lines += [
        "",
        f"typedef {value} {name}_value;",
        f"typedef {probability} {name}_{output};",
        "",
        f"int32_t {name}_node(const {name}_value *x);",
    ]
    if program.is_regression:
        lines.append(f"{name}_number {name}_mean(const {name}_value *x);")
        if schema.quantiles:
            lines.append(f"void {name}_quantiles(const {name}_value *x, {name}_number *q);")
    else:
        lines.append(f"int32_t {name}_class(const {name}_value *x);")
        lines.append(f"void {name}_probabilities(const {name}_value *x, {name}_probability *p);")
    if not (program.is_fractional or program.is_regression or program.has_slopes):
        lines.append(f"const {name}_probability *{name}_answer(const {name}_value *x);")
    if program.layout == "bins":
        lines.append(f"void {name}_bin(const {program.number.ctype} *x, {name}_value *bins);")
    if not program.is_regression:
        lines.append(f"extern const char *const {name}_class_names[{program.prefix}_CLASSES];")
    guard = f"{program.prefix}_DECLARED"
    declared = "\n".join(lines)
    head = f"#ifndef {guard}\n#define {guard}\n#include <stdint.h>\n\n{declared}\n#endif\n"
    return _about(program) + head


def class_names(program: Program) -> str:
    """Write the table of class labels."""
    names = ",\n".join(f"    {string(str(plain_label(label)))}" for label in program.tree.schema.classes)
    return f"const char *const {program.name}_class_names[{program.prefix}_CLASSES] = {{\n{names}\n}};\n"


def _codes(program: Program) -> list[str]:
    """Write an enumeration of the features, one of each feature's categories, and one of the classes."""
    schema = program.tree.schema
    lines: list[str] = []
    if program.features:
        lines += _enumeration("The position of each feature in a row.", program.features, list(schema.names))
    for feature, identifiers in zip(schema.features, program.categories, strict=True):
        if identifiers:
            names = [str(plain_label(category)) for category in feature.categories]
            lines += _enumeration(f"Categories of the feature {comment(feature.name)}.", identifiers, names)
    if not program.is_regression:
        classes = [str(plain_label(label)) for label in schema.classes]
        lines += _enumeration("The classes, in the order of their probabilities.", program.classes, classes)
    codes = f"enum {{ {program.prefix}_MISSING_CODE = -1, {program.prefix}_UNKNOWN_CODE = -2 }};"
    return [*lines, "/* A missing category, and one that is not in the list. */", codes]


def _enumeration(about: str, identifiers: list[str], names: list[str]) -> list[str]:
    pairs = enumerate(zip(identifiers, names, strict=True))
    lines = [f"    {identifier} = {i}, /* {comment(name)} */" for i, (identifier, name) in pairs]
    lines[-1] = lines[-1].replace(", /*", " /*", 1)
    return [f"/* {about} */", "enum {", *lines, "};"]


def _about(program: Program) -> str:
    name, number, real = program.name, program.number, isinstance(program.number, Real)
    missing = "NaN" if real else number.literal(float("nan"))
    how = [
        f"A decision tree, exported by Hornbeam: {summary(program.tree.skeleton)}.",
        f"Digest {program.tree.digest}.",
        "",
        f"{name}_node(x)              the node where the row x stops",
    ]
    if program.is_regression:
        how.append(f"{name}_mean(x)              its mean, {accuracy(program)}")
        if levels := program.tree.schema.quantiles:
            how.append(f"{name}_quantiles(x, q)      its quantiles of {', '.join(map(str, levels))}")
    else:
        how.append(f"{name}_class(x)             the code of the class that the model decides for")
        how.append(f"{name}_probabilities(x, p)  the probability of each class, {accuracy(program)}")
    if not (program.is_fractional or program.is_regression or program.has_slopes):
        how.append(f"{name}_answer(x)            the same probabilities, as a pointer into the table")
    how.append("")
    if program.layout == "bins":
        how += [
            f"{name}_bin(x, bins) converts a row of {number.ctype} to bins, the input of the other functions. A bin is",
            f"the number of thresholds below a value, or the code of a category; {program.prefix}_MISSING for a",
            f"missing value, {program.prefix}_UNKNOWN for a category that is not in the list.",
            "",
        ]
    how.append(
        f"A row has one {number.ctype} for each feature: a number, or the code of a category (see the enums)."
    )
    if program.complete:
        how.append(
            "Values must not be missing: this file has no branches for them. A category that is not in the list"
        )
        how.append("stops at the node that tests it, and the prediction is that of the node.")
    else:
        how.append(
            f"A missing value is {missing}, a missing category {missing} or -1. A value without a branch (missing, or"
        )
        how.append(
            "a category that is not in the list) stops at the node that tests it, and the prediction is"
        )
        how.append("that of the node.")
    how.append(f"Every {number.ctype} takes the same path as in the tree.")
    if program.is_fractional:
        how.append(
            "A missing value goes to every branch, with a share for each. The sum has the tree's bits if double"
        )
        how.append(
            "arithmetic is not fused (-std=c99 or -ffp-contract=off) and not wider (FLT_EVAL_METHOD 0)."
        )
    if program.has_slopes:
        how.append(
            "The tree has slopes: terms that change the prediction with the values of a row. They have the"
        )
        how.append("tree's bits if double arithmetic is not wider (FLT_EVAL_METHOD 0); it is not fused.")
    return "/*\n" + "".join(f" * {line}".rstrip() + "\n" for line in how) + " */\n"
