"""Updating the evidence of a fitted tree: splits stay, counts change, and the same smoothers are applied again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hornbeam.data.engine import Engine
from hornbeam.data.sources import MemorySource, Source
from hornbeam.data.table import Table
from hornbeam.data.weights import to_steps
from hornbeam.errors import DataError
from hornbeam.estimators.fit_tree import known_shares
from hornbeam.smoothing.teacher_prior import is_distilled, with_prior_of
from hornbeam.tree.evidence.count import count_on_all
from hornbeam.tree.evidence.update import add_rows, decay, remove_rows
from hornbeam.tree.tree import Step, Tree
from hornbeam.typing import Counts

if TYPE_CHECKING:
    from hornbeam.smoothing.distribution import Distribution


def update(estimator: Any, table: Table, sample_weight: Any, factor: float) -> None:
    """Multiply the old evidence by `factor`, then add the rows of a table."""
    tree, distribution = decay(estimator.tree_, factor), estimator._distribution
    rows = _row_weights(estimator, table, sample_weight, tree)
    if distribution is not None:
        distribution = distribution.decay(factor)
        distribution = distribution.add(_row_weights(estimator, table, sample_weight, distribution.tree))
    _resmooth(estimator, add_rows(tree, rows, shares=_shares(estimator)), distribution)


def forget(estimator: Any, table: Table, sample_weight: Any) -> None:
    """Remove the rows of a table from the evidence."""
    rows = _row_weights(estimator, table, sample_weight, estimator.tree_)
    tree = remove_rows(estimator.tree_, rows, shares=_shares(estimator))
    distribution = estimator._distribution
    if distribution is not None:
        distribution = distribution.remove(_row_weights(estimator, table, sample_weight, distribution.tree))
    _resmooth(estimator, tree, distribution)


def recount(estimator: Any, rows: Source, engine: Engine) -> None:
    """Replace the evidence by that of some rows alone."""
    counted = count_on_all(estimator.tree_, rows, engine)
    step = Step.of("recount", rows=rows.n_rows)
    distribution = estimator._distribution
    if distribution is not None:
        distribution = distribution.recount(counted, rows, engine)
    _resmooth(estimator, counted._edited(history=(*estimator.tree_.history, step)), distribution)
    if counted.skeleton.is_fractional:
        estimator._shares = (
            known_shares(counted, rows.table) if isinstance(rows, MemorySource) else counted.weight
        )


def _shares(estimator: Any) -> Counts:
    """Return the shares of `fit`; a file may lack them, and then the current evidence is close."""
    shares: Counts | None = estimator._shares
    tree: Tree = estimator.tree_
    return tree.weight if shares is None else shares


def _row_weights(estimator: Any, table: Table, sample_weight: Any, tree: Tree) -> Table:
    """Convert row weights to the tree's unit, and leave out rows of weight 0, as `fit` does."""
    unit = tree.unit.item(0)
    weight = to_steps(sample_weight, table.n_rows, unit)
    counts = (
        np.ones(table.n_rows, bool)
        if table.schema.is_regression
        else estimator.class_weight_[table.target] > 0
    )
    if weight is not None:
        table = replace(table, weight=weight, unit=unit)
        counts &= weight > 0
    if not counts.any():
        raise DataError("Every row has weight 0. Sample weights must contain at least one non-zero number.")
    return table if counts.all() else table.take(np.flatnonzero(counts))


def _resmooth(estimator: Any, tree: Tree, distribution: Distribution | None) -> None:
    """Smooth a tree with new evidence; the estimator changes only if nothing fails."""
    from hornbeam.smoothing.replay import (  # it imports all smoothers
        replay,
        smoothers_of,
        smoothers_that_give,
    )

    if is_distilled(tree):
        calibration = smoothers_of(estimator.tree_.history[-1:])  # intervals stay calibrated
        smoothed = replay(calibration, with_prior_of(estimator.tree_, tree))
    else:
        smoothed = replay(smoothers_that_give(estimator.tree_, estimator.smoothing), tree)
    if tree.skeleton.is_fractional:
        estimator._shares = _shares(estimator)
    estimator.tree_ = smoothed
    if distribution is not None:
        estimator._distribution = distribution
