"""One SELECT that reads a table, finds the leaf of each row, and returns its predictions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import reduce

from sqlglot import exp

from hornbeam.errors import ExportError, ParameterError
from hornbeam.export.sql.dialect import alias, constant_table, identifier
from hornbeam.export.sql.expressions import SplitExpressions
from hornbeam.export.sql.prediction_tables import Tables, fractional_tables, sloped_tables
from hornbeam.tree import Costs
from hornbeam.tree.tree import Tree

_INPUTS, _ROUTED, _PREDICTIONS = "hornbeam_inputs", "hornbeam_routed", "hornbeam_predictions"
_COSTS, _TERMS = "hornbeam_costs", "hornbeam_terms"
_WORD = re.compile(r"[a-z0-9_]{1,60}", re.ASCII | re.IGNORECASE)  # a name in every database, without quotes

_REFERENCE = re.compile(r"\{\{[^{}]*\}\}")


def select_statement(
    query: SplitExpressions,
    table: tuple[str, ...],
    keep: Sequence[str],
    columns: Mapping[str, str],
    terms: Mapping[str, exp.Expression] | None = None,
) -> exp.Select:
    """Assemble the query of a table, given by its name after those of its catalog and schema, if it has them.

    `keep` are columns to carry over, `columns` maps features to columns; `terms` are further columns of a tree with
    slopes, over the inputs ``x0``, ``x1``, ...
    """
    outputs = ["leaf", *_label(query), *_output_names(query, keep)]
    taken = {output.lower() for output in outputs}
    for column in keep:
        if column.lower() in taken:
            raise ParameterError(f"keep names {column!r}, which the result has already: rename it in a view")
        taken.add(column.lower())
    inputs = _inputs(query, table, keep, columns)
    computed = query.shares or len(query.tree.slopes)
    select = _computed(query, inputs, keep, terms or {}) if computed else _joined(query, inputs, keep)
    if len(table) == 1 and table[0].lower() in {part.alias for part in select.ctes}:
        raise ParameterError(f"table is {table[0]!r}, a name that the query uses itself: pass its schema too")
    return select


def _inputs(
    query: SplitExpressions, table: tuple[str, ...], keep: Sequence[str], columns: Mapping[str, str]
) -> exp.Select:
    """Read each column once, as ``k0``, ... or ``x0``, ..., with NULL for every missing value."""
    schema = query.tree.schema
    unknown = set(columns) - set(schema.names)
    if unknown:
        raise ParameterError(f"columns names {sorted(unknown)}, expected features of the tree")
    read = {f: columns.get(schema.names[f], schema.names[f]) for f in query.tree.features_used}
    seen: dict[str, str] = {}
    for column in read.values():
        twin = seen.setdefault(column.lower() if query.dialect.folds_case else column, column)
        if twin is not column:
            raise ExportError(
                f"Two tested columns are named {twin!r} and {column!r}; {query.dialect.name} ignores case. "
                "Pass the names of their columns: columns={feature: column}."
            )
    source = query.dialect.source
    kept = [alias(source(column), f"k{i}") for i, column in enumerate(keep)]
    tested = [
        alias(query.dialect.column(schema.features[f], source(column)), f"x{f}") for f, column in read.items()
    ]
    nothing = [] if kept or tested else [alias(exp.null(), "x")]
    named = map(_table_name, reversed(table))
    parts = dict(zip(("this", "db", "catalog"), named, strict=False))
    source_table = exp.Table(**parts, alias=exp.TableAlias(this=exp.to_identifier("source")))
    return exp.select(*kept, *tested, *nothing).from_(source_table)


def _table_name(name: str) -> exp.Identifier:
    """Write the name of a table, quoted; a reference of dbt as it is."""
    return exp.to_identifier(name, quoted=False) if is_reference(name) else identifier(name)


def is_reference(table: str) -> bool:
    """Whether a name is an expression of dbt in double braces, such as ``{{ ref('loans') }}``."""
    return _REFERENCE.fullmatch(table) is not None


def _joined(query: SplitExpressions, inputs: exp.Select, keep: Sequence[str]) -> exp.Select:
    """Find the leaf of each row, and its prediction in a table of leaves.

    The join is a left one, although the table has every leaf: otherwise a database might begin with the leaves, and
    scan all rows for each of them.
    """
    kept = [exp.column(f"k{i}") for i in range(len(keep))]
    routed = exp.select(*kept, alias(query.leaf(), "leaf")).from_(_INPUTS)
    tree, number = query.tree, query.dialect.number
    labels, best = query.dialect.labels(tree.schema.classes), tree.decided

    def row(node: int) -> exp.Expression:
        label = [labels[best[node]].copy()] if labels else []
        return exp.Tuple(expressions=[exp.Literal.number(node), *label, *map(number, tree.belief[node])])

    rows = [row(node) for node in query.stops()]
    probabilities = _probabilities(query)
    columns = ["leaf", *_label(query), *probabilities]
    constants, table = constant_table(_PREDICTIONS, rows, columns, query.dialect.name)
    return (
        exp.select(
            *[alias(exp.column(f"k{i}", _ROUTED), identifier(column)) for i, column in enumerate(keep)],
            *[alias(exp.column(column, _PREDICTIONS), column) for column in ("leaf", *_label(query))],
            *[
                alias(exp.cast(exp.column(p, _PREDICTIONS), "double"), name)
                for p, name in zip(probabilities, _output_names(query, keep), strict=True)
            ],
        )
        .from_(_ROUTED)
        .join(
            _PREDICTIONS,
            on=exp.column("leaf", _PREDICTIONS).eq(exp.column("leaf", _ROUTED)),
            join_type="left",
        )
        .with_(_INPUTS, as_=inputs, copy=False)
        .with_(_ROUTED, as_=routed, copy=False)
        .with_(constants, as_=table, copy=False)
    )


def _computed(
    query: SplitExpressions, inputs: exp.Select, keep: Sequence[str], terms: Mapping[str, exp.Expression]
) -> exp.Select:
    """Compute the prediction of each row: from all nodes where parts of it stop, or from the terms of its path."""
    carried, has_slopes = [*[f"k{i}" for i in range(len(keep))], *terms], len(query.tree.slopes) > 0
    tables: Tables = [(_INPUTS, inputs)]
    if terms:
        added = [alias(points, name) for name, points in terms.items()]
        tables.append((_TERMS, exp.select("*", *added).from_(_INPUTS)))
    if has_slopes:
        tables += sloped_tables(query, _TERMS if terms else _INPUTS, carried)
    else:
        tables += fractional_tables(query, _INPUTS, carried).items()
    kept = [alias(exp.column(f"k{i}"), identifier(column)) for i, column in enumerate(keep)]
    loss = query.tree.decision.loss
    if loss is not None:
        tables.append((_COSTS, _expected(query, loss).from_(tables[-1][0])))
    decide = _largest(query, "s" if has_slopes else "p") if loss is None else _least_cost(query, loss)
    label = [alias(decide, column) for column in _label(query)]
    names = zip(_probabilities(query), _output_names(query, keep), strict=True)
    select = exp.select(*kept, *terms, "leaf", *label, *(alias(exp.column(p), name) for p, name in names))
    select = select.from_(tables[-1][0])
    for table, part in tables:
        select.with_(table, as_=part, materialized=query.dialect.materializes or None, copy=False)
    return select


def _largest(query: SplitExpressions, of: str) -> exp.Expression:
    """Write the first class of the largest probability or score; a number has no class."""
    labels = query.dialect.labels(query.tree.schema.classes)
    if not labels:
        return exp.null()
    p = [f"{of}{k}" for k in range(len(labels))]
    ifs = []
    for k, label in enumerate(labels[:-1]):
        highest = [exp.GTE(this=exp.column(p[k]), expression=exp.column(later)) for later in p[k + 1 :]]
        ifs.append(exp.If(this=exp.and_(*highest, copy=False), true=label))
    return exp.Case(ifs=ifs, default=labels[-1]) if ifs else labels[-1]


def _expected(query: SplitExpressions, loss: Costs) -> exp.Select:
    """Add a column per class with the expected cost of deciding for it, added up in the order of the classes."""
    number, p = query.dialect.number, _probabilities(query)
    costs = []
    for j in range(len(p)):
        parts: list[exp.Expression] = [
            exp.Mul(this=exp.column(p[t]), expression=exp.Paren(this=number(loss.matrix.item(t, j))))
            for t in range(len(p))
        ]
        total = reduce(lambda left, right: exp.Add(this=left, expression=right), parts)
        costs.append(alias(total, f"c{j}"))
    return exp.select("*", *costs)


def _least_cost(query: SplitExpressions, loss: Costs) -> exp.Expression:
    """Write the first class of least expected cost; costs that differ by rounding are equal."""
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
    tree = query.tree
    return tree.schema.number_names if tree.is_regression else [f"p{k}" for k in range(tree.n_classes)]


def _output_names(query: SplitExpressions, keep: Sequence[str]) -> list[str]:
    tree = query.tree
    return tree.schema.number_names if tree.is_regression else probability_names(tree, keep)


def probability_names(tree: Tree, keep: Sequence[str] = ()) -> list[str]:
    """Name the columns of the probabilities: ``p_<class>``, or ``p`` and the number of a class whose name is no word.

    The number also replaces names that differ only in case, and those of columns to `keep`.
    """
    names = [f"p_{label}" for label in tree.schema.classes]
    uses = Counter(name.lower() for name in (*names, *keep))
    return [
        name if _WORD.fullmatch(name) and uses[name.lower()] == 1 else f"p{k}" for k, name in enumerate(names)
    ]
