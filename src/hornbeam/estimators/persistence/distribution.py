"""Codec of the distribution of a numeric target: the counts of the rows that stop at each node, and what was learned.

Belief is not saved: the strengths of borrowing give it again, bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.binning.target_bins import TargetBins
from hornbeam.errors import ParameterError, SchemaError, StorageError, TreeError
from hornbeam.estimators.persistence.parameters import decode_step, encode_step
from hornbeam.smoothing.borrowing import Borrowing
from hornbeam.smoothing.distribution import N_TAILS, Distribution, RangeLevels, with_terms
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import evidence_stopping, pull_up
from hornbeam.typing import Counts

if TYPE_CHECKING:
    from hornbeam.ensembles.forest.distribution import ForestDistribution

_MOST = 2**62  # steps of weight in a tree
_NAMES = ("low", "high", "cells", "counts", "unit", "smoother", "low_levels", "high_levels")
_FOREST_NAMES = ("low", "high", "cells", "counts", "low_levels", "high_levels")


def encode_distribution(distribution: Distribution | None) -> dict[str, Any]:
    """Return what an estimator has learned about the distribution of the target: an entry, or none."""
    if distribution is None:
        return {}
    tree, bins = distribution.tree, distribution.bins
    counts = evidence_stopping(tree.skeleton, tree.evidence).ravel()
    cells = np.flatnonzero(counts)
    values = (
        *(bins.low, bins.high),
        *(cells.astype(np.int64), counts[cells]),  # node times the number of bins, plus the bin
        tree.unit.item(0),
        encode_step(distribution.smoother),
        *(distribution.levels.low, distribution.levels.high),
    )
    return {"distribution": dict(zip(_NAMES, values, strict=True))}


def decode_distribution(content: Any, tree: Tree) -> Distribution | None:
    """Build the distribution of a regression tree from the entry of a file, with every value checked."""
    if content is None:
        return None
    if not (isinstance(content, dict) and tree.is_regression and tuple(content) == _NAMES):
        raise StorageError(
            f"distribution is {content!r:.80}; expected {', '.join(_NAMES)}, of a tree with a numeric target"
        )
    bins, levels, cells, counts = _decode_counts(content, tree.n_nodes)
    own = np.zeros(tree.n_nodes * bins.n_bins, np.int64)
    own[cells] = counts
    evidence = pull_up(tree.skeleton, own.reshape(tree.n_nodes, bins.n_bins))
    smoother, unit = decode_step(content["smoother"]), content["unit"]
    if not isinstance(smoother, Borrowing) or not isinstance(unit, float):
        raise StorageError(
            f"smoother is {smoother!r:.80} and unit {unit!r:.80}; expected a Borrowing and a number"
        )
    try:
        counted = Tree.raw(bins.schema(tree.schema), tree.skeleton, evidence, unit=unit, rows=tree.rows)
    except (ParameterError, SchemaError, TreeError) as error:
        raise StorageError(f"the distribution is no tree: {error}") from error
    return Distribution(bins, smoother(counted), smoother, levels, with_terms(tree))


def encode_forest_distribution(distribution: ForestDistribution | None) -> dict[str, Any]:
    """Return what a forest has learned about the distribution of the target; nodes are numbered tree after tree."""
    if distribution is None:
        return {}
    bins, levels, begin, cells, counts = distribution.bins, distribution.levels, 0, [], []
    for each in distribution.counts:
        node, code, count = each.cells
        cells.append((node.astype(np.int64) + begin) * bins.n_bins + code)
        counts.append(count)
        begin += each.skeleton.n_nodes
    values = (bins.low, bins.high, np.concatenate(cells), np.concatenate(counts), levels.low, levels.high)
    return {"distribution": dict(zip(_FOREST_NAMES, values, strict=True))}


def decode_forest_distribution(content: Any, trees: Sequence[Tree]) -> ForestDistribution | None:
    """Build the distribution of a forest from the entry of a file, with every value checked."""
    if content is None:
        return None
    from hornbeam.ensembles.forest.distribution import BinCounts, ForestDistribution  # slow to import

    if tuple(content) != _FOREST_NAMES:
        raise StorageError(f"distribution is {content!r:.80}; expected {', '.join(_FOREST_NAMES)}")
    begin = np.cumsum([0, *(tree.n_nodes for tree in trees)])
    bins, levels, cells, counts = _decode_counts(content, begin.item(-1))
    first = np.searchsorted(cells, begin * bins.n_bins)
    if (np.diff(first) == 0).any():
        raise StorageError("a tree has no counts of the distribution; expected rows in each tree")
    parts = [
        BinCounts.of(tree.skeleton, cells[here:end] - at * bins.n_bins, counts[here:end], bins.n_bins)
        for tree, at, here, end in zip(trees, begin.tolist(), first[:-1], first[1:], strict=False)
    ]
    return ForestDistribution(bins, tuple(parts), levels)


def _decode_counts(content: dict[str, Any], n_nodes: int) -> tuple[TargetBins, RangeLevels, Counts, Counts]:
    """Check bins, levels and counts."""
    bins = TargetBins(_numbers(content, "low"), _numbers(content, "high"))
    ends = np.stack([bins.low, bins.high], axis=1).ravel() if len(bins.low) == bins.n_bins else np.empty(0)
    steps = np.diff(ends)
    if not (len(ends) and np.isfinite(ends).all() and (steps >= 0).all() and (steps[1::2] > 0).all()):
        raise StorageError("the bins of the distribution are not in order; expected increasing numbers")
    levels = RangeLevels(_numbers(content, "low_levels"), _numbers(content, "high_levels"))
    for level in (levels.low, levels.high):
        known = level[level == level]
        if len(level) != N_TAILS or (known < 0).any() or (known > 1).any():
            raise StorageError(
                f"levels of the distribution are wrong; expected {N_TAILS} numbers from 0 to 1"
            )
    cells, counts = _numbers(content, "cells", np.int64), _numbers(content, "counts", np.int64)
    n_cells = n_nodes * bins.n_bins
    if (
        len(cells) != len(counts)
        or (np.diff(cells) <= 0).any()
        or (cells < 0).any()
        or (cells >= n_cells).any()
    ):
        raise StorageError("cells of the distribution are not in order; expected one place for each count")
    if (counts <= 0).any() or counts.sum(dtype=np.float64) > _MOST:
        raise StorageError(
            f"counts of the distribution are wrong; expected numbers from 1, together {_MOST:.3g}"
        )
    return bins, levels, cells, counts


def _numbers(content: dict[str, Any], name: str, dtype: type = np.float64) -> NDArray[Any]:
    value = content[name]
    if isinstance(value, np.ndarray) and value.dtype == dtype and value.ndim == 1:
        return value
    raise StorageError(f"{name} is {value!r:.80}; expected a list of {np.dtype(dtype)}")
