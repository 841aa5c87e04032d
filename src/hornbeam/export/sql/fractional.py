"""Tables of a query in which parts of a row stop at many nodes: missing values went to every child."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
from sqlglot import exp

from hornbeam.errors import ExportError
from hornbeam.export.sql.expressions import SplitExpressions

__all__ = ["fractional_tables"]

# A round costs little, but for a sum twice as long a database's planner takes more than twice the time.
_ROUND = 100
# Nodes that wait are columns, and SQLite has 2,000 at most.
_MOST_WAITING = 1_500

type _Ways = dict[int, list[int]]
"""Nodes, each with a way to it: it begins at a node of which a table says what part of a row came there."""


def fractional_tables(query: SplitExpressions, inputs: str, carried: Sequence[str]) -> dict[str, exp.Select]:
    """Add up for each row the answers of all nodes where parts of it stop.

    The walk is the tree's own, depth first, because the order of the additions is part of the answer. It goes in
    rounds of some nodes, so that no table is wide and no expression deep, however large the tree.

    Parameters
    ----------
    query : SplitExpressions
    inputs : str
        The table with the features that the tree asks for.
    carried : sequence of str
        Columns of it to carry over.

    Returns
    -------
    dict from str to sqlglot.exp.Select
        Tables, each of which reads the one before. The last has the columns `carried`, ``leaf``, and the
        probabilities ``p0``, ``p1``, ...

    Raises
    ------
    ExportError
        If missing values spread on too many levels at a time.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.data.schema import Feature, Schema
    >>> from hornbeam.export.sql.dialect import DIALECTS
    >>> from hornbeam.tree import Skeleton, Tree
    >>> stump = Skeleton.of([2, 0, 0], [0, -1, -1], [0.5, np.nan, np.nan], missing_slot=[-2, -1, -1])
    >>> tree = Tree.raw(Schema((Feature("dose"),), ("ill",)), stump, np.array([[8], [2], [6]]))
    >>> for table, select in fractional_tables(SplitExpressions(tree, DIALECTS["sqlite"]), "inputs", []).items():
    ...     print(f"{table}: {select.sql('sqlite')}")
    hornbeam_routed: SELECT x0, CASE WHEN x0 > 0.5 THEN 2 WHEN x0 IS NULL THEN 0 ELSE 1 END AS leaf, CAST(0.0
      AS REAL) AS p0, CAST(1.0 AS REAL) AS came0 FROM inputs
    hornbeam_steps0: SELECT x0, leaf, p0, came0, CASE WHEN x0 <= 0.5 THEN 1.0 WHEN x0 IS NULL THEN 0.25 ELSE 0.0
      END AS to1, CASE WHEN x0 > 0.5 THEN 1.0 WHEN x0 IS NULL THEN 0.75 ELSE 0.0 END AS to2 FROM hornbeam_routed
    hornbeam_parts0: SELECT x0, leaf, p0, came0 * to1 AS stop1, came0 * to2 AS stop2 FROM hornbeam_steps0
    hornbeam_sums0: SELECT x0, leaf, p0 + stop1 * 1.0 + stop2 * 1.0 AS p0 FROM hornbeam_parts0
    """
    tree = query.tree
    portions = {node: query.portions(node) for node in np.flatnonzero(tree.skeleton.n_children).tolist()}
    p = [f"p{k}" for k in range(tree.n_classes)]
    kept = [*carried, *[f"x{f}" for f in query.features]]
    # Doubles from the start: some databases take a constant for a decimal, and would go on with decimals.
    nothing, whole = (exp.cast(query.dialect.number(part), "double") for part in (0.0, 1.0))
    start = {"leaf": query.leaf(), **dict.fromkeys(p, nothing), "came0": whole}
    tables = {"hornbeam_routed": _select(inputs, kept, start)}
    kept, came = [*kept, "leaf"], ["came0"]
    for turn, (stops, waiting) in enumerate(_rounds(portions)):
        steps = dict.fromkeys(step for way in (*stops.values(), *waiting.values()) for step in pairwise(way))
        going = {f"came{node}": _part(way) for node, way in waiting.items()}
        for noun, same, new in (
            ("steps", [*kept, *p, *came], {_step(*step): portions[step[0]][step[1]] for step in steps}),
            ("parts", [*kept, *p], going | {f"stop{node}": _part(way) for node, way in stops.items()}),
            ("sums", [*kept, *going], {f"p{k}": _sum(query, k, stops) for k in range(len(p))}),
        ):
            tables[f"hornbeam_{noun}{turn}"] = _select(next(reversed(tables)), same, new)
        came = list(going)
    return tables


def _rounds(onward: Mapping[int, Collection[int]]) -> Iterator[tuple[_Ways, _Ways]]:
    """Walk depth first to all nodes where parts of rows come, and tell after each round where they stopped.

    `onward` says where a row may go from an inner node, or stay. Told are also the nodes with children that wait
    for a later round: its ways begin at these.
    """
    todo = [[0]]
    while todo:
        stops: _Ways = {}
        for _ in range(_ROUND):
            if not todo:
                break
            way = todo.pop()
            node = way[-1]
            if node not in onward:
                stops[node] = way
            elif node in onward[node]:
                stops[node] = [*way, node]
            todo += [[*way, to] for to in sorted(onward.get(node, ()), reverse=True) if to != node]
        waiting = {way[-2]: way[:-1] for way in todo}
        if len(waiting) > _MOST_WAITING:
            raise ExportError(
                f"Missing values spread on {len(waiting)} levels at a time, expected {_MOST_WAITING} at most: prune "
                "the tree, or grow it with missing='own' or missing='learned'."
            )
        yield stops, waiting
        todo = [way[-2:] for way in todo]


def _step(at: int, to: int) -> str:
    return f"stay{at}" if at == to else f"to{to}"


def _part(way: list[int]) -> exp.Expression:
    """What part of a row takes a way: what came to its beginning, times the portion that takes each step."""
    part: exp.Expression = exp.column(f"came{way[0]}")
    for step in pairwise(way):
        part = exp.Mul(this=part, expression=exp.column(_step(*step)))
    return part


def _sum(query: SplitExpressions, k: int, stops: Iterable[int]) -> exp.Expression:
    """Add the answers of some nodes to what was added before."""
    added: exp.Expression = exp.column(f"p{k}")
    for node in stops:
        belief = query.tree.belief.item(node, k)
        if belief > 0:
            term = exp.Mul(this=exp.column(f"stop{node}"), expression=query.dialect.number(belief))
            added = exp.Add(this=added, expression=term)
    return added


def _select(source: str, same: Iterable[str], new: Mapping[str, exp.Expression]) -> exp.Select:
    """Select columns as they are, and new ones; without sqlglot's copies, which take longer than all else."""
    named = [exp.alias_(expression, name, copy=False) for name, expression in new.items()]
    return exp.select(*map(exp.column, same), *named, copy=False).from_(source, copy=False)
