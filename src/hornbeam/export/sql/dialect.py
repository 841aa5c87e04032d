"""Columns and constants in each database's dialect, with the same meaning as in the tree."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import inf, isinf
from sys import float_info
from typing import Any

from sqlglot import exp

from hornbeam.data.schema import Feature
from hornbeam.errors import ExportError, ParameterError
from hornbeam.export.checks import check_text
from hornbeam.typing import Category, Label

_EXACT_INTEGERS = 2**53


class Nan(Enum):
    """How a database tests for NaN, which means missing."""

    NEVER = "the database has no NaN"
    EQUAL = "NaN equals itself"
    TESTED = "there is a function for it"


@dataclass(frozen=True, slots=True)
class Dialect:
    """The properties of a database that matter for a tree; `name` is that of sqlglot.

    `folds_case`: column names are compared without regard to case. `materializes`: ``AS MATERIALIZED`` is supported.
    `splits_names`: a dot splits a quoted name. `text`: the types to which text is cast, one after the other, so that it
    compares by every character; bytes where text is compared without regard to case or to spaces at its end.
    """

    name: str
    nan: Nan
    folds_case: bool = True
    materializes: bool = False
    splits_names: bool = False
    text: tuple[str, ...] = ("text",)

    def number(self, value: float) -> exp.Expression:
        """Write a finite number so that the database reads the same float64."""
        if value < 0:
            return exp.Neg(this=self._positive(-value))
        return self._positive(value)

    def _positive(self, value: float) -> exp.Expression:
        decimal = repr(float(value))
        if self.name != "sqlite":
            # With an exponent it is a float in every database, not a decimal that may be rounded.
            return exp.Literal.number(decimal if "e" in decimal else f"{decimal}e0")
        whole, _, part = decimal.partition(".")
        if "e" not in decimal and len(part) <= 4 and len(whole) + len(part) <= 15:
            return exp.Literal.number(decimal)
        # SQLite reads some long decimals with a wrong last bit; integers and powers of two it reads exactly.
        top, bottom = value.as_integer_ratio()
        if bottom == 1:
            shift = max((top & -top).bit_length() - 1, 0)
            return _scaled(top >> shift, 1 << shift, exp.Mul)
        return _scaled(top, bottom, exp.Div)

    def sides(self, x: exp.Expression, threshold: float) -> tuple[exp.Expression, exp.Expression | None]:
        """Write that a number is at most the threshold, and that it is above, or None if no number is."""
        if threshold == inf:
            return exp.Not(this=x.is_(exp.null())), None
        if isinf(threshold):  # not every database can write infinity
            least = self.number(-float_info.max)
            return exp.LT(this=x, expression=least), exp.GTE(this=x.copy(), expression=least.copy())
        cut = self.number(threshold)
        return exp.LTE(this=x, expression=cut), exp.GT(this=x.copy(), expression=cut.copy())

    def literal(self, value: Category) -> exp.Expression:
        """Write a category: text, a number or a boolean."""
        if isinstance(value, str):
            return self.text_literal(value)
        if isinstance(value, bool):
            return exp.true() if value else exp.false()
        if isinstance(value, int):
            return exp.Neg(this=exp.Literal.number(-value)) if value < 0 else exp.Literal.number(value)
        return self.number(value)

    def source(self, column: str) -> exp.Column:
        """Write a column of the table that is read."""
        if self.splits_names and "." in column:
            raise ExportError(
                f"A column is named {column!r}; no column of {self.name} has a dot in its name. Pass the name of the "
                "feature's column: columns={feature: column}."
            )
        return exp.Column(this=identifier(column), table=exp.to_identifier("source"))

    def column(self, feature: Feature, column: exp.Expression) -> exp.Expression:
        """Write a column so that NULL is missing, and other values compare as the feature's values do."""
        kinds = set(map(type, feature.categories))
        if str in kinds:
            if self.name == "sqlite":
                # The collation of a column might make 'a' equal to 'A'; an expression has no collation.
                return exp.DPipe(this=column, expression=exp.Literal.string(""))
            return self._compared(column)
        if kinds == {bool}:
            return column
        if any(isinstance(value, int) and abs(value) > _EXACT_INTEGERS for value in feature.categories):
            return column
        number = exp.cast(column, "double")
        if self.nan is Nan.NEVER:
            return number
        if self.nan is Nan.EQUAL:
            return exp.Nullif(this=number, expression=exp.cast(exp.Literal.string("NaN"), "double"))
        missing = exp.If(this=exp.IsNan(this=number.copy()), true=exp.null())
        return exp.Case(ifs=[missing], default=number)

    def categories(self, feature: Feature) -> list[exp.Expression]:
        """Write the categories as they compare with the feature's column."""
        if not any(isinstance(category, str) for category in feature.categories):
            return [self.literal(category) for category in feature.categories]
        texts = [_as_text(category) for category in feature.categories]
        if len(set(texts)) < len(texts):
            raise ExportError(
                f"{feature.kind.capitalize()} feature {feature.name!r} has two categories that are the same as "
                "text, and a column of text cannot tell them apart. Merge them, or rename one of them."
            )
        literals = [self.text_literal(text) for text in texts]
        return [self._compared(one) for one in literals] if self.name == "tsql" else literals

    def labels(self, classes: tuple[Label, ...]) -> list[exp.Expression]:
        """Write the classes: as text, whole numbers or booleans if all of them are, else all as text."""
        for kind in (str, bool, int):
            if all(type(label) is kind for label in classes):
                return [self.literal(label) for label in classes]  # type: ignore[arg-type]
        return [self.text_literal(str(label)) for label in classes]

    def text_literal(self, text: str) -> exp.Expression:
        """Write text; a zero character, which ends text in some databases, as CHR(0), or refuse it."""
        if self.text == ("text",):
            return text_literal(text)
        check_text(text)
        if "\0" in text:
            raise ExportError(
                f"A category, class or rule holds a zero character, which text of {self.name} does not. Replace it in "
                "the data."
            )
        return exp.National(this=text) if self.name == "tsql" else exp.Literal.string(text)

    def _compared(self, text: exp.Expression) -> exp.Expression:
        """Cast text so that it compares by every character."""
        for kind in self.text:
            text = exp.cast(text, exp.DataType.build(kind, dialect=self.name))
        return text


DIALECTS = {
    dialect.name: dialect
    for dialect in (
        Dialect("bigquery", Nan.TESTED, splits_names=True),
        Dialect("databricks", Nan.EQUAL),
        Dialect("duckdb", Nan.EQUAL, materializes=True),
        Dialect("mysql", Nan.NEVER, text=("char", "binary")),
        Dialect("postgres", Nan.EQUAL, folds_case=False, materializes=True),
        Dialect("redshift", Nan.EQUAL, text=("varchar(65535)",)),
        Dialect("snowflake", Nan.EQUAL, folds_case=False),
        Dialect("spark", Nan.EQUAL),
        Dialect("sqlite", Nan.NEVER, materializes=True),
        Dialect("trino", Nan.TESTED),
        Dialect("tsql", Nan.NEVER, text=("nvarchar(max)", "varbinary(max)")),
    )
}


def find_dialect(dialect: Any) -> Dialect:
    """Find a dialect by its name."""
    if not isinstance(dialect, str) or dialect not in DIALECTS:
        raise ParameterError(
            f"dialect is {dialect!r}, expected one of {', '.join(DIALECTS)}. Use the one that is nearest to your "
            "database, and compare some rows with predict_proba."
        )
    return DIALECTS[dialect]


def identifier(name: str) -> exp.Identifier:
    """Write the name of a column or table, always quoted."""
    if not name or "\0" in name:
        raise ExportError(
            f"A column or table is named {name!r}; no database has such a name. Pass the name of the feature's "
            "column: columns={feature: column}."
        )
    check_text(name)
    return exp.to_identifier(name, quoted=True)


def text_literal(text: str) -> exp.Expression:
    """Write text; a zero character, which ends text in some databases, as CHR(0)."""
    check_text(text)
    first, *rest = text.split("\0")
    written: exp.Expression = exp.Literal.string(first)
    for part in rest:
        zero = exp.Chr(expressions=[exp.Literal.number(0)])
        written = exp.DPipe(this=written, expression=zero)
        if part:
            written = exp.DPipe(this=written, expression=exp.Literal.string(part))
    return written


def _as_text(category: Category) -> str:
    return str(category).lower() if isinstance(category, bool) else str(category)


def _scaled(top: int, power: int, by: type[exp.Mul] | type[exp.Div]) -> exp.Expression:
    """Multiply or divide by a power of two, in factors of at most 62 bits."""
    typed = {"typed": True} if by is exp.Div else {}  # otherwise sqlglot adds a cast against integer division
    written: Any = exp.Literal.number(f"{top}.0")
    while power > 1:
        step = min(power, 1 << 62)
        written = by(this=written, expression=exp.Literal.number(f"{step}.0"), **typed)
        power //= step
    expression: exp.Expression = written
    return expression


def constant_table(
    name: str, rows: list[exp.Expression], columns: list[str], dialect: str
) -> tuple[exp.TableAlias, exp.Expression]:
    """Write a table of constants, with the names of its columns where the dialect expects them."""
    named = [exp.to_identifier(column) for column in columns]
    if dialect == "sqlite":
        return exp.TableAlias(this=exp.to_identifier(name), columns=named), exp.Values(expressions=rows)
    values = exp.Values(
        expressions=rows, alias=exp.TableAlias(this=exp.to_identifier("leaves"), columns=named)
    )
    return exp.TableAlias(this=exp.to_identifier(name)), exp.select("*").from_(values)


def alias(expression: exp.Expression, name: str | exp.Identifier) -> exp.Alias:
    """Name a column."""
    return exp.Alias(this=expression, alias=exp.to_identifier(name))
