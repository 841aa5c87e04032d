"""Tables of a query for trees with slopes, or where a missing value goes to every child."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import pairwise

import numpy as np
from sqlglot import exp

from hornbeam.data.schema import Kind
from hornbeam.errors import ExportError
from hornbeam.export.source.lookup_tables import node_scores
from hornbeam.export.sql.dialect import alias, constant_table
from hornbeam.export.sql.expressions import SplitExpressions
from hornbeam.tree.slopes import Term

type Tables = list[tuple[str | exp.TableAlias, exp.Expression]]

_ROUTED, _DISTANCES, _LEAVES = "hornbeam_routed", "hornbeam_distances", "hornbeam_leaves"
_SCORES, _LARGEST, _POWERS = "hornbeam_scores", "hornbeam_largest", "hornbeam_powers"
_PREDICTED = "hornbeam_predicted"
_NEVER = -1e300  # the score of a class of probability 0: not every database can write infinity
_LEAST_POWER = -700.0  # below it the power counts as 0; some databases fail where exp is not a normal number
_ROUND = 100  # nodes; a database plans one long sum in much more time than several short ones
_MOST_COLUMNS = 1_500  # of a table; SQLite has 2,000 at most, PostgreSQL 1,664
type _Paths = dict[int, list[int]]
"""Nodes, each with a path to it, from a node for which a table has the share of the row that came there."""


def sloped_tables(query: SplitExpressions, inputs: str, carried: Sequence[str]) -> Tables:
    """Compute for each row the scores of its node with the terms of its path, and the probabilities.

    Returns named tables, each of which reads those before, the first `inputs`. The last has the columns `carried`
    over, ``leaf``, the scores ``s0``, ``s1``, ..., and the probabilities ``p0``, ``p1``, ...; or ``leaf`` and
    ``mean``.

    A term is its slopes times the distance of the row's value from the centre. The distances of a row are
    columns ``d0``, ``d1``, ..., 0 where the value is missing or the path has fewer terms; the slopes are joined.
    """
    tree, n = query.tree, query.tree.schema.n_outputs
    slopes = tree.path_slopes
    n_terms = int(np.diff(slopes.starts(tree.n_nodes)).max())
    kept, read = _columns(carried), _columns([f"x{f}" for f in sorted(set(slopes.feature.tolist()))])
    distances = [alias(_distance(query, j), f"d{j}") for j in range(n_terms)]
    routed = exp.select(*kept, *read, alias(query.leaf(), "leaf")).from_(inputs)
    scores = tree.schema.number_names if tree.is_regression else [f"s{k}" for k in range(n)]
    tables: Tables = [
        (_ROUTED, routed),
        (_DISTANCES, exp.select(*_columns(carried), "leaf", *distances).from_(_ROUTED)),
    ]
    most = max(_MOST_COLUMNS // n - 1, 1)  # terms of a table, beside the scores
    for begin in range(0, n_terms, most):
        tables += _add_terms(query, carried, scores, range(begin, min(begin + most, n_terms)), n_terms)
    if tree.is_regression:
        return tables
    first, *others = _columns(scores)
    largest = exp.Greatest(this=first, expressions=others) if others else first
    powers = [alias(_power(query, k), f"e{k}") for k in range(n)]
    probabilities = [alias(_probability(k, n), f"p{k}") for k in range(n)]
    return [
        *tables,
        (_LARGEST, exp.select("*", alias(largest, "largest")).from_(_SCORES)),
        (_POWERS, exp.select("*", *powers).from_(_LARGEST)),
        (
            _PREDICTED,
            exp.select(*_columns(carried), "leaf", *_columns(scores), *probabilities).from_(_POWERS),
        ),
    ]


def _columns(names: Sequence[str]) -> list[exp.Column]:
    return [exp.column(name) for name in names]


def _add_terms(
    query: SplitExpressions, carried: Sequence[str], scores: Sequence[str], part: range, n_terms: int
) -> Tables:
    """Write a table of the slopes of some terms, and a table of the scores to which these terms are added.

    The first has the number of terms and the scores of nodes too; the tables between the first and the last scores
    carry the distances of the terms that are left.
    """
    first, last = part.start == 0, part.stop == n_terms
    before, after = (
        _DISTANCES if first else f"{_SCORES}{part.start}",
        _SCORES if last else f"{_SCORES}{part.stop}",
    )
    slopes = _LEAVES if first else f"{_LEAVES}{part.start}"
    left = [] if last else [f"d{j}" for j in range(part.stop, n_terms)]
    begin = [_double(f"a{k}", slopes) if first else exp.column(name, before) for k, name in enumerate(scores)]
    scored = exp.select(
        *[exp.column(column, before) for column in [*carried, *left]],
        alias(exp.column("leaf", before), "leaf"),
        alias(exp.column("terms", slopes if first else before), "terms"),
        *[
            alias(reduce(_plus, [_effect(j, k, before, slopes) for j in part], begin[k]), name)
            for k, name in enumerate(scores)
        ],
    ).from_(before)
    same_leaf = exp.column("leaf", slopes).eq(exp.column("leaf", before))
    return [
        _leaves(query, slopes, part),
        (after, scored.join(slopes, on=same_leaf, join_type="left")),
    ]


def _leaves(query: SplitExpressions, name: str, part: range) -> tuple[exp.TableAlias, exp.Expression]:
    """Write the table of nodes where a row may stop: number of terms and scores, and slopes of some terms."""
    tree, number = query.tree, query.dialect.number
    n, scores = tree.schema.n_outputs, node_scores(tree)
    columns = ["leaf", *(["terms", *[f"a{k}" for k in range(n)]] if part.start == 0 else [])]
    columns += [f"b{j}_{k}" for j in part for k in range(n)]
    rows: list[exp.Expression] = []
    for node in query.stops():
        terms = tree.path_slopes.terms(node)
        own = [slope for term in terms[part.start : part.stop] for slope in term.slope]
        whole = [exp.Literal.number(node)]
        if part.start == 0:
            whole.append(exp.Literal.number(len(terms)))
            own = [*[max(score, _NEVER) for score in scores[node].tolist()], *own]
        own += [0.0] * (len(columns) - len(whole) - len(own))
        rows.append(exp.Tuple(expressions=[*whole, *[number(cell + 0.0) for cell in own]]))
    return constant_table(name, rows, columns, query.dialect.name)


def _distance(query: SplitExpressions, j: int) -> exp.Expression:
    """Write the distance from the centre of the j-th term of each node where a row may stop."""
    ifs = []
    for node in query.stops():
        terms = query.tree.path_slopes.terms(node)
        if j < len(terms):
            there = exp.EQ(this=exp.column("leaf"), expression=exp.Literal.number(node))
            ifs.append(exp.If(this=there, true=_term(query, terms[j])))
    return exp.Case(ifs=ifs, default=query.dialect.number(0.0))


def _term(query: SplitExpressions, term: Term) -> exp.Expression:
    f, category, low, high, centre, _ = term
    number = query.dialect.number
    feature, x = query.tree.schema.features[f], exp.column(f"x{f}")

    def case(condition: exp.Expression, distance: float) -> exp.If:
        return exp.If(this=condition, true=number(distance + 0.0))

    if feature.kind is Kind.ORDINAL:  # a value that is not declared is missing
        codes = [min(max(float(code), low), high) for code in range(len(feature.categories))]
        cases = zip(query.categories[f], codes, strict=True)
        ifs = [case(exp.EQ(this=x.copy(), expression=value.copy()), code - centre) for value, code in cases]
        return exp.Case(ifs=ifs, default=number(0.0)) if ifs else number(0.0)
    missing = case(x.is_(exp.null()), 0.0)
    if category >= 0:
        chosen = case(exp.EQ(this=x.copy(), expression=query.categories[f][category].copy()), 1.0 - centre)
        return exp.Case(ifs=[missing, chosen], default=number(0.0 - centre + 0.0))
    below = case(exp.LT(this=x.copy(), expression=number(low + 0.0)), low - centre)
    above = case(exp.GT(this=x.copy(), expression=number(high + 0.0)), high - centre)
    inside = exp.Sub(this=x.copy(), expression=exp.Paren(this=number(centre + 0.0)))
    return exp.Case(ifs=[missing, below, above], default=inside)


def _effect(j: int, k: int, distances: str, slopes: str) -> exp.Expression:
    """Write what the j-th term of a path adds to a score."""
    return exp.Mul(this=_double(f"b{j}_{k}", slopes), expression=exp.column(f"d{j}", distances))


def _plus(left: exp.Expression, right: exp.Expression) -> exp.Expression:
    return exp.Add(this=left, expression=right)


def _double(column: str, table: str) -> exp.Expression:
    return exp.cast(exp.column(column, table), "double")


def _power(query: SplitExpressions, k: int) -> exp.Expression:
    below = exp.Sub(this=exp.column(f"s{k}"), expression=exp.column("largest"))
    number = query.dialect.number
    tiny = exp.If(this=exp.LT(this=below, expression=number(_LEAST_POWER)), true=number(0.0))
    return exp.Case(ifs=[tiny], default=exp.Exp(this=below.copy()))


def _probability(k: int, n: int) -> exp.Expression:
    powers: list[exp.Expression] = [exp.column(f"e{j}") for j in range(n)]
    total = reduce(_plus, powers)
    none = exp.If(
        this=exp.EQ(this=exp.column("terms"), expression=exp.Literal.number(0)), true=exp.column(f"s{k}")
    )
    share = exp.Div(this=exp.column(f"e{k}"), expression=exp.Paren(this=total), typed=True)
    return exp.Case(ifs=[none], default=share)


def fractional_tables(query: SplitExpressions, inputs: str, carried: Sequence[str]) -> dict[str, exp.Select]:
    """Add up for each row the predictions of all nodes where parts of it stop.

    Nodes are visited depth first, as in the tree's own prediction, so that sums have the same rounding. They are
    visited in rounds, so that also for a large tree no table is wide and no expression deep.

    Returns tables, each of which reads the one before, the first `inputs`. The last has the columns `carried` over,
    ``leaf``, and the probabilities ``p0``, ``p1``, ...
    """
    tree = query.tree
    portions = {node: query.portions(node) for node in np.flatnonzero(tree.skeleton.n_children).tolist()}
    p = [f"p{k}" for k in range(tree.n_classes)]
    kept = [*carried, *[f"x{f}" for f in query.tree.features_used]]
    # Casts to double, because some databases read a constant as a decimal and would continue with decimals.
    nothing, whole = (exp.cast(query.dialect.number(part), "double") for part in (0.0, 1.0))
    start = {"leaf": query.leaf(), **dict.fromkeys(p, nothing), "came0": whole}
    tables = {"hornbeam_routed": _select(inputs, kept, start)}
    kept, came = [*kept, "leaf"], ["came0"]
    for round_number, (stops, waiting) in enumerate(_rounds(portions)):
        steps = dict.fromkeys(
            step for path in (*stops.values(), *waiting.values()) for step in pairwise(path)
        )
        going = {f"came{node}": _share(path) for node, path in waiting.items()}
        for noun, same, new in (
            ("steps", [*kept, *p, *came], {_step(*step): portions[step[0]][step[1]] for step in steps}),
            ("parts", [*kept, *p], going | {f"stop{node}": _share(path) for node, path in stops.items()}),
            ("sums", [*kept, *going], {f"p{k}": _sum(query, k, stops) for k in range(len(p))}),
        ):
            tables[f"hornbeam_{noun}{round_number}"] = _select(next(reversed(tables)), same, new)
        came = list(going)
    return tables


def _rounds(onward: Mapping[int, Collection[int]]) -> Iterator[tuple[_Paths, _Paths]]:
    """Visit depth first all nodes that parts of rows reach; yield the paths of each round.

    `onward` has the targets of each inner node, among them the node itself if a row may stop there. The first paths of
    a round lead to nodes where rows stop, the second to nodes whose children wait for a later round.
    """
    todo = [[0]]
    while todo:
        stops: _Paths = {}
        for _ in range(_ROUND):
            if not todo:
                break
            path = todo.pop()
            node = path[-1]
            if node not in onward:
                stops[node] = path
            elif node in onward[node]:
                stops[node] = [*path, node]
            todo += [[*path, to] for to in sorted(onward.get(node, ()), reverse=True) if to != node]
        waiting = {path[-2]: path[:-1] for path in todo}
        if len(waiting) > _MOST_COLUMNS:
            raise ExportError(
                f"Missing values go to every child on {len(waiting)} levels at a time, expected {_MOST_COLUMNS} at "
                "most: prune the tree, or grow it with missing='own' or missing='learned'."
            )
        yield stops, waiting
        todo = [path[-2:] for path in todo]


def _step(at: int, to: int) -> str:
    return f"stay{at}" if at == to else f"to{to}"


def _share(path: list[int]) -> exp.Expression:
    """Write the share of a row that takes a path: that at its beginning, times the portion of each step."""
    share: exp.Expression = exp.column(f"came{path[0]}")
    for step in pairwise(path):
        share = exp.Mul(this=share, expression=exp.column(_step(*step)))
    return share


def _sum(query: SplitExpressions, k: int, stops: Iterable[int]) -> exp.Expression:
    """Write the sum so far plus the predictions of some nodes."""
    total: exp.Expression = exp.column(f"p{k}")
    for node in stops:
        belief = query.tree.belief.item(node, k)
        if belief > 0:
            term = exp.Mul(this=exp.column(f"stop{node}"), expression=query.dialect.number(belief))
            total = exp.Add(this=total, expression=term)
    return total


def _select(source: str, same: Iterable[str], new: Mapping[str, exp.Expression]) -> exp.Select:
    """Select columns as they are, and new ones; without the copies of sqlglot, which take most of the time."""
    named = [exp.alias_(expression, name, copy=False) for name, expression in new.items()]
    return exp.select(*map(exp.column, same), *named, copy=False).from_(source, copy=False)
