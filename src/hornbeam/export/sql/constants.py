"""Tables of constants, and names of columns."""

from __future__ import annotations

from sqlglot import exp

__all__ = ["alias", "constant_table"]


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
