"""One SELECT that reads a table, routes its rows and answers them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from sqlglot import exp

from hornbeam.errors import ExportError, ParameterError
from hornbeam.export.sql.dialect import name
from hornbeam.export.sql.expressions import SplitExpressions
from hornbeam.export.sql.fractional import fractional_tables
from hornbeam.tree import Costs

__all__ = ["select_statement"]

_INPUTS, _ROUTED, _ANSWERS = "hornbeam_inputs", "hornbeam_routed", "hornbeam_answers"
_COSTS = "hornbeam_costs"


def select_statement(
    query: SplitExpressions, table: tuple[str, ...], keep: Sequence[str], columns: Mapping[str, str]
) -> exp.Select:
    """Put the parts of a query together.

    Parameters
    ----------
    query : SplitExpressions
    table : tuple of str
        The name of the table, behind those of its schema and catalog if given.
    keep : sequence of str
        Columns to carry over.
    columns : mapping from feature to column

    Returns
    -------
    sqlglot.exp.Select

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.data.schema import Schema
    >>> from hornbeam.export.sql.dialect import DIALECTS
    >>> from hornbeam.tree import Skeleton, Tree
    >>> tree = Tree.raw(Schema((), ("no", "yes")), Skeleton.leaf(), np.array([[1, 3]]))
    >>> made = select_statement(SplitExpressions(tree, DIALECTS["duckdb"]), ("rows",), ["id"], {})
    >>> made.named_selects
    ['id', 'leaf', 'label', 'p0', 'p1']
    """
    outputs = ["leaf", *_label(query), *_probabilities(query)]
    taken = {output.lower() for output in outputs}
    for column in keep:
        if column.lower() in taken:
            raise ParameterError(f"keep names {column!r}, which the result has already: rename it in a view")
        taken.add(column.lower())
    inputs = _inputs(query, table, keep, columns)
    made = _added(query, inputs, keep) if query.shares else _joined(query, inputs, keep)
    if len(table) == 1 and table[0].lower() in {part.alias for part in made.ctes}:
        raise ParameterError(f"table is {table[0]!r}, a name the query needs itself: give its schema too")
    return made


def _inputs(
    query: SplitExpressions, table: tuple[str, ...], keep: Sequence[str], columns: Mapping[str, str]
) -> exp.Select:
    """Read each column once, under a name of our own and with NULL for all that is missing."""
    schema = query.tree.schema
    unknown = set(columns) - set(schema.names)
    if unknown:
        raise ParameterError(f"columns names {sorted(unknown)}, expected features of the tree")
    read = {f: columns.get(schema.names[f], schema.names[f]) for f in query.features}
    seen: dict[str, str] = {}
    for column in read.values():
        twin = seen.setdefault(column.lower() if query.dialect.folds_case else column, column)
        if twin is not column:
            raise ExportError(
                f"Two tested columns are named {twin!r} and {column!r}; {query.dialect.name} does not tell case. "
                "Say what they are called there: columns={feature: column}."
            )
    source = query.dialect.source
    kept = [_alias(source(column), f"k{i}") for i, column in enumerate(keep)]
    asked = [
        _alias(query.dialect.column(schema.features[f], source(column)), f"x{f}")
        for f, column in read.items()
    ]
    nothing = [] if kept or asked else [_alias(exp.null(), "x")]
    parts = dict(zip(("this", "db", "catalog"), map(name, reversed(table)), strict=False))
    named = exp.Table(**parts, alias=exp.TableAlias(this=exp.to_identifier("source")))
    return exp.select(*kept, *asked, *nothing).from_(named)


def _joined(query: SplitExpressions, inputs: exp.Select, keep: Sequence[str]) -> exp.Select:
    """Find the leaf of each row, and its answer in a table of leaves.

    The join is a left one, although every leaf is there: so no database begins with the leaves, and asks
    every row again for each of them.
    """
    kept = [exp.column(f"k{i}") for i in range(len(keep))]
    routed = exp.select(*kept, _alias(query.leaf(), "leaf")).from_(_INPUTS)
    tree, number = query.tree, query.dialect.number
    labels, best = query.dialect.labels(tree.schema.classes), tree.decided

    def row(node: int) -> exp.Expression:
        label = [labels[best[node]].copy()] if labels else []
        return exp.Tuple(expressions=[exp.Literal.number(node), *label, *map(number, tree.belief[node])])

    rows = [row(node) for node in query.stops()]
    probabilities = _probabilities(query)
    answers, table = _table(rows, ["leaf", *_label(query), *probabilities], query.dialect.name)
    return (
        exp.select(
            *[_alias(exp.column(f"k{i}", _ROUTED), name(column)) for i, column in enumerate(keep)],
            *[_alias(exp.column(column, _ANSWERS), column) for column in ("leaf", *_label(query))],
            *[_alias(exp.cast(exp.column(p, _ANSWERS), "double"), p) for p in probabilities],
        )
        .from_(_ROUTED)
        .join(_ANSWERS, on=exp.column("leaf", _ANSWERS).eq(exp.column("leaf", _ROUTED)), join_type="left")
        .with_(_INPUTS, as_=inputs, copy=False)
        .with_(_ROUTED, as_=routed, copy=False)
        .with_(answers, as_=table, copy=False)
    )


def _table(
    rows: list[exp.Expression], columns: list[str], dialect: str
) -> tuple[exp.TableAlias, exp.Expression]:
    """Write a table of constants, with the names of its columns where the dialect wants them."""
    named = [exp.to_identifier(column) for column in columns]
    if dialect == "sqlite":
        return exp.TableAlias(this=exp.to_identifier(_ANSWERS), columns=named), exp.Values(expressions=rows)
    values = exp.Values(
        expressions=rows, alias=exp.TableAlias(this=exp.to_identifier("leaves"), columns=named)
    )
    return exp.TableAlias(this=exp.to_identifier(_ANSWERS)), exp.select("*").from_(values)


def _added(query: SplitExpressions, inputs: exp.Select, keep: Sequence[str]) -> exp.Select:
    """Add up the answers of all nodes where parts of a row stop."""
    tables = {_INPUTS: inputs, **fractional_tables(query, _INPUTS, [f"k{i}" for i in range(len(keep))])}
    kept = [_alias(exp.column(f"k{i}"), name(column)) for i, column in enumerate(keep)]
    loss = query.tree.decision.loss
    if loss is not None:
        tables[_COSTS] = _expected(query, loss, next(reversed(tables)))
    label = _alias(_most_probable(query) if loss is None else _least_cost(query, loss), "label")
    made = exp.select(*kept, "leaf", label, *_probabilities(query)).from_(next(reversed(tables)))
    for table, select in tables.items():
        made.with_(table, as_=select, materialized=query.dialect.materializes or None, copy=False)
    return made


def _most_probable(query: SplitExpressions) -> exp.Expression:
    """The first class that no later one exceeds: the first of the highest."""
    labels, p = query.dialect.labels(query.tree.schema.classes), _probabilities(query)
    ifs = []
    for k, label in enumerate(labels[:-1]):
        highest = [exp.GTE(this=exp.column(p[k]), expression=exp.column(later)) for later in p[k + 1 :]]
        ifs.append(exp.If(this=exp.and_(*highest, copy=False), true=label))
    return exp.Case(ifs=ifs, default=labels[-1]) if ifs else labels[-1]


def _expected(query: SplitExpressions, loss: Costs, table: str) -> exp.Select:
    """Beside all columns, what it is expected to cost to decide for each class: sums in the order of the classes."""
    number, p = query.dialect.number, _probabilities(query)
    costs = []
    for j in range(len(p)):
        parts: list[exp.Expression] = [
            exp.Mul(this=exp.column(p[t]), expression=exp.Paren(this=number(loss.matrix.item(t, j))))
            for t in range(len(p))
        ]
        total = reduce(lambda left, right: exp.Add(this=left, expression=right), parts)
        costs.append(_alias(total, f"c{j}"))
    return exp.select("*", *costs).from_(table)


def _least_cost(query: SplitExpressions, loss: Costs) -> exp.Expression:
    """The first class whose expected cost no other is below, but for rounding."""
    labels, slack = query.dialect.labels(query.tree.schema.classes), query.dialect.number(loss.slack)

    def no_more(j: int, other: int) -> exp.Expression:
        bound = exp.Add(this=exp.column(f"c{other}"), expression=exp.Paren(this=slack.copy()))
        return exp.LTE(this=exp.column(f"c{j}"), expression=bound)

    every = range(len(labels))
    ifs = [
        exp.If(this=exp.and_(*[no_more(j, other) for other in every if other != j], copy=False), true=label)
        for j, label in enumerate(labels[:-1])
    ]
    return exp.Case(ifs=ifs, default=labels[-1]) if ifs else labels[-1]


def _label(query: SplitExpressions) -> list[str]:
    return [] if query.tree.is_regression else ["label"]


def _probabilities(query: SplitExpressions) -> list[str]:
    return ["mean"] if query.tree.is_regression else [f"p{k}" for k in range(query.tree.n_classes)]


def _alias(expression: exp.Expression, alias: str | exp.Identifier) -> exp.Alias:
    return exp.Alias(this=expression, alias=exp.to_identifier(alias))
