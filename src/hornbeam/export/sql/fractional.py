"""Tables of a query for trees that send missing values to every child, so that parts of a row stop at many nodes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
from sqlglot import exp

from hornbeam.errors import ExportError
from hornbeam.export.sql.expressions import SplitExpressions

__all__ = ["fractional_tables"]

_ROUND = 100  # nodes; a database plans one long sum in much more time than several short ones
_MAX_WAITING = 1_500  # waiting nodes are columns, and SQLite has 2,000 at most

type _Paths = dict[int, list[int]]
"""Nodes, each with a path to it, from a node for which a table has the share of the row that came there."""


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
    kept = [*carried, *[f"x{f}" for f in query.features]]
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
        if len(waiting) > _MAX_WAITING:
            raise ExportError(
                f"Missing values go to every child on {len(waiting)} levels at a time, expected {_MAX_WAITING} at "
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
