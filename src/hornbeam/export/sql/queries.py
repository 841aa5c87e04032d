"""A tree as an SQL query, and rules as conditions behind WHERE."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hornbeam.errors import ExportError, ParameterError, import_extra
from hornbeam.export.point_terms import CardPoints
from hornbeam.tree import Condition
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import HasTree, with_quantiles

_TEMPLATE = re.compile(r"\{[{%#]")


def to_sql(
    model: Tree | HasTree,
    *,
    table: str | Sequence[str] = "rows",
    dialect: str = "duckdb",
    keep: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    quantiles: Sequence[float] | None = None,
) -> str:
    """Write a tree as one SELECT that scores the rows of a table.

    Parameters
    ----------
    model : Tree, or fitted TreeClassifier or TreeRegressor
    table : str or sequence of str, default "rows"
        The table to read, or its schema and name: ``("main", "rows")``. A text in double braces, such as
        ``"{{ ref('loans') }}"``, is a reference of dbt and is written as it is.
    dialect : str, default "duckdb"
        One of bigquery, databricks, duckdb, mysql (also MariaDB), postgres, redshift, snowflake, spark, sqlite, trino
        and tsql (SQL Server).
    keep : sequence of str
        Columns of the table to carry over into the result, such as its key.
    columns : mapping from feature to column, optional
        The name of a feature's column, if it is not the name of the feature.
    quantiles : sequence of float, optional
        Levels, such as ``[0.1, 0.5, 0.9]``: the quantiles of `TreeRegressor.predict_quantile`, as columns ``q10``,
        ``q50`` and ``q90`` beside the mean, of a `TreeRegressor` that was fitted with ``distribution=True``.

    Returns
    -------
    str
        A query whose result has the kept columns; ``leaf``, the node where the row stops; ``label``, the class of
        `predict`, with costs and class weights; and ``p_<class>``, the probability of each class, in the order of the
        tree's classes. The name is ``p`` and the number of the class (``p0``) if that of the class has other
        characters than letters of ASCII, digits and underscores, is longer than 58, or equals another name apart from
        case. For a numeric target, ``mean`` takes the place of label and probabilities.

    Raises
    ------
    ExportError
        If two tested columns differ only in case and the database ignores case, if a name is empty, if missing values
        go to every child on more than 1,500 levels at a time, or if text beside a reference would be a template of dbt.
    MissingExtraError
        Without the package sqlglot: ``pip install 'hornbeam[sql]'``.

    Notes
    -----
    NULL and NaN are missing, and categories compare by value, so a missing or unseen value takes the same path as in
    the tree. Numeric columns are read as float64, and numbers are written so that the database reads the same bits; in
    SQLite as fractions of integers, because it misreads some long decimals. Where a missing value goes to every child,
    the probabilities are added in the tree's own order. So SQLite and DuckDB return the tree's probabilities bit for
    bit. With slopes the label is the tree's, because it needs no exponential function; probabilities use the
    database's ``EXP``, and differ by rounding, by less than 1e-12. SQLite must be compiled with its mathematical
    functions.

    Names and categories are quoted and escaped. Each column is written once, with its table: SQLite would read a
    misspelt name without a table as text.

    Examples
    --------
    >>> import sqlite3
    >>> import numpy as np
    >>> from hornbeam import Tree
    >>> from hornbeam.export import to_sql
    >>> from hornbeam.tree import Feature, Schema, Skeleton
    >>> stump = Skeleton.of([2, 0, 0], [0, -1, -1], [30.5, np.nan, np.nan])
    >>> tree = Tree.raw(Schema((Feature("age"),), ("no", "yes")), stump, np.array([[5, 5], [4, 1], [1, 4]]))
    >>> query = to_sql(tree, table="people", dialect="sqlite", keep=["name"])
    >>> print(query)
    WITH hornbeam_inputs AS (
      SELECT
        source."name" AS k0,
        CAST(source."age" AS REAL) AS x0
      FROM "people" AS source
    ), hornbeam_routed AS (
      SELECT
        k0,
        CASE WHEN x0 > 30.5 THEN 2 WHEN x0 IS NULL THEN 0 ELSE 1 END AS leaf
      FROM hornbeam_inputs
    ), hornbeam_predictions(leaf, label, p0, p1) AS (
      VALUES
        (0, 'no', 0.5, 0.5),
        (1, 'no', 0.8, 0.2),
        (2, 'yes', 0.2, 0.8)
    )
    SELECT
      hornbeam_routed.k0 AS "name",
      hornbeam_predictions.leaf AS leaf,
      hornbeam_predictions.label AS label,
      CAST(hornbeam_predictions.p0 AS REAL) AS p_no,
      CAST(hornbeam_predictions.p1 AS REAL) AS p_yes
    FROM hornbeam_routed
    LEFT JOIN hornbeam_predictions
      ON hornbeam_predictions.leaf = hornbeam_routed.leaf
    >>> people = sqlite3.connect(":memory:")
    >>> _ = people.execute("CREATE TABLE people (name, age)")
    >>> _ = people.execute("INSERT INTO people VALUES ('Ada', 36), ('Bob', 30.5), ('Cid', NULL)")
    >>> people.execute(query).fetchall()
    [('Ada', 2, 'yes', 0.2, 0.8), ('Bob', 1, 'no', 0.8, 0.2), ('Cid', 0, 'no', 0.5, 0.5)]
    >>> people.close()
    """
    tree = with_quantiles(model, quantiles)
    return _write(tree, None, 0, table=table, dialect=dialect, keep=keep, columns=columns)


def points_sql(tree: Tree, card: CardPoints, reasons: int, **settings: Any) -> str:
    """Write a tree of two classes as a query with points and reasons (`Scorecard.to_sql`)."""
    return _write(tree, card, reasons, **settings)


def _write(
    tree: Tree,
    card: CardPoints | None,
    reasons: int,
    *,
    table: str | Sequence[str] = "rows",
    dialect: str = "duckdb",
    keep: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
) -> str:
    import_extra("sqlglot", "sql")
    from hornbeam.export.sql.dialect import find_dialect
    from hornbeam.export.sql.expressions import SplitExpressions
    from hornbeam.export.sql.points import points_select, term_columns
    from hornbeam.export.sql.select import is_reference, select_statement

    query = SplitExpressions(tree, find_dialect(dialect))
    parts = (table,) if isinstance(table, str) else table
    if not (_are_names(parts) and 1 <= len(tuple(parts)) <= 3):
        raise ParameterError(f"table is {table!r}, expected a name, or up to three: catalog, schema, table")
    if not _are_names(keep):
        raise ParameterError(f"keep is {keep!r}, expected a list of columns: keep=['id']")
    if not isinstance(columns or {}, Mapping):
        raise ParameterError(f"columns is {columns!r}, expected a dict from features to columns of the table")
    terms = None if card is None else term_columns(query, card.terms)
    select = select_statement(query, tuple(parts), keep, columns or {}, terms)
    if card is not None:
        select = points_select(query, select, keep, card, reasons)
    written: str = select.sql(dialect=dialect, pretty=True, copy=False)
    references = list(filter(is_reference, parts))
    if references and _TEMPLATE.search(_without(written, references)):
        raise ExportError(
            "A name, category or class holds {{, {% or {#, which dbt would read as part of its template. Name the "
            "table instead of a reference, or rename what holds them."
        )
    return written


def _without(text: str, parts: Iterable[str]) -> str:
    for part in parts:
        text = text.replace(part, "", 1)
    return text


def _are_names(names: Any) -> bool:
    """Whether names are a sequence of texts."""
    return (
        isinstance(names, Iterable)
        and not isinstance(names, str)
        and all(isinstance(name, str) for name in names)
    )


def where_clauses(
    rules: Iterable[Iterable[Condition]], dialect: str, table: str | None, columns: Mapping[str, str]
) -> list[str]:
    """Write the conditions of each rule as SQL (`RuleSet.to_sql`)."""
    import_extra("sqlglot", "sql")
    from hornbeam.export.sql.dialect import find_dialect
    from hornbeam.export.sql.expressions import rule_condition

    found = find_dialect(dialect)
    return [rule_condition(rule, found, table, columns).sql(dialect=dialect) for rule in rules]
