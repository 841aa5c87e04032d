"""Scores of a tree on rows that are counted where they lie.

Rows that stop at the same node get the same answer, so what came at each node, class by class, is all that any
score needs: integers, the same for every engine and grouping.
"""

from collections.abc import Sequence
from functools import reduce
from operator import add, itemgetter

import numpy as np

from hornbeam.data.engine import Engine, LocalEngine
from hornbeam.data.sources import Source, Unit
from hornbeam.errors import DataError, ParameterError
from hornbeam.evaluation.calibration import ReliabilityCurve, reliability_curve
from hornbeam.evaluation.scores import ScoreSums
from hornbeam.out_of_core.count import count_source
from hornbeam.tree.route import predict_rows
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import evidence_stopping
from hornbeam.typing import Counts, Floats, Label

__all__ = ["score_tree", "tree_reliability"]


def score_tree(tree: Tree, source: Source, engine: Engine | None = None) -> ScoreSums:
    """Score what a tree says of every row of a source.

    Parameters
    ----------
    tree : Tree
    source : Source
        Rows of the tree's schema, with their target.
    engine : Engine, optional
        Where they are counted; default: this thread. The scores do not depend on it.

    Returns
    -------
    ScoreSums
        Its `log_loss`, `brier_score`, `rmse`, `zero_one_loss` and `calibration_error`; its `bins` are the
        calibration table of the most probable class.

    Notes
    -----
    A tree that sends missing values to every child answers a row with a mixture, and no two mixtures need be
    the same: there every row is asked, and the tallies of units are added in their order.

    Examples
    --------
    >>> from hornbeam.data import MemorySource, Table
    >>> from hornbeam.recipe import PRESETS
    >>> table = Table.read([[1.0], [2.0], [3.0], [4.0]], ["a", "a", "b", "b"])
    >>> score_tree(PRESETS["cart"].fit(table), MemorySource(table)).brier_score
    0.0
    """
    engine = LocalEngine() if engine is None else engine
    if (tree.skeleton.missing_slot == -2).any():
        [tallies] = engine.reduce(_score_unit, source.units(), (tree, source))
        if not tallies:
            raise _no_rows()
        return reduce(add, (tally for _, tally in sorted(tallies, key=itemgetter(0))))  # type: ignore[no-any-return]
    weight, _ = _rows_per_node(tree, source, engine)
    node, code = np.nonzero(weight)
    return ScoreSums.of(
        code, tree.belief[node], labels=range(tree.n_classes), sample_weight=weight[node, code]
    )


def tree_reliability(
    tree: Tree,
    source: Source,
    label: Label,
    engine: Engine | None = None,
    *,
    n_bins: int = 10,
    level: float = 0.95,
) -> ReliabilityCurve:
    """Set what a tree says of one class against how often it came, in all rows of a source.

    Parameters
    ----------
    tree : Tree
    source : Source
        Rows of the tree's schema, with their target.
    label : label
        The class.
    engine : Engine, optional
        Where they are counted; default: this thread. The curve does not depend on it.
    n_bins, level
        As of `reliability_curve`.

    Returns
    -------
    ReliabilityCurve
        Where rows have weights, those that stop at one node are taken to weigh the same.

    Examples
    --------
    >>> from hornbeam.data import MemorySource, Table
    >>> from hornbeam.recipe import PRESETS
    >>> table = Table.read([[1.0], [2.0], [3.0], [4.0]], ["a", "a", "b", "b"])
    >>> curve = tree_reliability(PRESETS["cart"].fit(table), MemorySource(table), "b")
    >>> curve.predicted.tolist(), curve.observed.tolist()
    ([0.0, 1.0], [0.0, 1.0])
    """
    if label not in tree.schema.classes:
        raise ParameterError(f"label={label!r}: expected one of the classes, {list(tree.schema.classes)}.")
    if (tree.skeleton.missing_slot == -2).any():
        raise ParameterError(
            "the tree sends missing values to every child, so rows that stop at a node need not get its answer; "
            "expected a tree grown with missing='own' or 'learned'. Pass reliability_curve its predictions."
        )
    weight, rows = _rows_per_node(tree, source, LocalEngine() if engine is None else engine)
    code = tree.schema.classes.index(label)
    total = weight.sum(axis=1)
    came = np.stack([weight[:, code], total - weight[:, code]])
    alike = np.divide(rows * came, total, out=np.zeros(came.shape), where=total > 0)
    some = came > 0
    predicted = np.broadcast_to(tree.belief[:, code], came.shape)
    first = np.broadcast_to([[True], [False]], came.shape)
    return reliability_curve(
        first[some], predicted[some], n_bins=n_bins, level=level, sample_weight=came[some], n_rows=alike[some]
    )


def _rows_per_node(tree: Tree, source: Source, engine: Engine) -> tuple[Floats, Counts]:
    """The weight of each class, and the rows, that stop at each node."""
    evidence, rows, unit = count_source(tree, source, engine)
    if not rows[0]:
        raise _no_rows()
    return np.multiply(evidence_stopping(tree.skeleton, evidence), unit), evidence_stopping(
        tree.skeleton, rows
    )


def _no_rows() -> DataError:
    return DataError("the source has no rows, expected some to ask about")


def _score_unit(units: Sequence[Unit], shared: tuple[Tree, Source]) -> list[list[tuple[int, ScoreSums]]]:
    """The tally of each unit, and where it begins: a task of the engine."""
    tree, source = shared
    found = []
    for unit in units:
        table = source.read(unit)
        assert table.target is not None
        weight = None if table.weight is None else table.weight * table.unit
        tally = ScoreSums.of(
            table.target, predict_rows(tree, table), labels=range(tree.n_classes), sample_weight=weight
        )
        found.append((unit.begin, tally))
    return [found]
