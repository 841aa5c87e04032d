"""Evidence of every node of a given tree, counted from encoded rows in one pass."""

from collections.abc import Sequence

import numpy as np

from hornbeam.data.binning.bins import Bins
from hornbeam.data.encoded_rows import EncodedSource
from hornbeam.data.engine import Engine
from hornbeam.data.sources import Partition
from hornbeam.errors import ParameterError
from hornbeam.kernels import levelwise
from hornbeam.kernels.levelwise import CodeTree
from hornbeam.kernels.subtree import CRITERIA, GrowthSpec, Rows, Rules
from hornbeam.tree.evidence.count import Counted, sum_at_nodes, with_counts
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.walk import pull_up
from hornbeam.typing import Counts, Indices


def count_encoded(
    tree: Tree,
    source: EncodedSource,
    bins: Bins,
    engine: Engine,
    *,
    unit: float = 1.0,
    step: Step | None = None,
) -> Tree:
    """Count encoded rows on the skeleton of a tree; belief becomes raw frequencies, gains stay.

    The cuts of `bins` contain those of the tree. `unit` is the value of one step of the rows' weight; `step` is added
    to the history.
    """
    nominal, n_classes = bins.nominal.astype(np.uint8), tree.schema.n_classes
    spec = GrowthSpec.of(bins.n_codes, nominal, None, None, n_classes, CRITERIA["entropy"], Rules())
    stopped = count_stopped(source, spec, skeleton_to_code_tree(tree.skeleton, bins), engine)
    total = pull_up(tree.skeleton, stopped)
    return with_counts(tree, Counted(total[:, :-1], total[:, -1], unit), step)


def count_stopped(source: EncodedSource, spec: GrowthSpec, code_tree: CodeTree, engine: Engine) -> Counts:
    """Add up the evidence, and the number of rows, that end at each node, in one pass."""
    [stopped] = engine.reduce(_count_rows, source.partitions(), (source, spec, code_tree))
    counted: Counts = stopped
    return counted


def encoded_sums(node: Indices, rows: Rows, spec: GrowthSpec, n_nodes: int) -> Counts:
    """Add up encoded rows at a node each: class weights, or weight and sum, then the number of rows."""
    if rows.numerator is not None:
        return sum_at_nodes(node, n_nodes, rows.weight, [rows.numerator])
    return sum_at_nodes(node, n_nodes, rows.weight, label=rows.label, n_classes=spec.n_classes)


def skeleton_to_code_tree(skeleton: Skeleton, bins: Bins) -> CodeTree:
    """Convert splits on values into splits on codes."""
    if skeleton.is_fractional:
        raise ParameterError(
            "a split of this tree sends missing values to every child; expected splits that send each row to "
            "one child. Count such a tree on a table"
        )
    nominal = np.diff(skeleton.slot_start) > 0
    left = np.full(skeleton.n_nodes, -1, dtype=np.int32)
    for f in np.unique(skeleton.feature[(skeleton.feature >= 0) & ~nominal]).tolist():
        nodes = skeleton.feature == f
        values = () if bins.values is None else bins.values[f]
        if len(values):
            left[nodes] = np.searchsorted(values, skeleton.threshold[nodes], side="right") - 1
        else:
            left[nodes] = np.searchsorted(bins.edges[f], skeleton.threshold[nodes], side="left")
    map_start = np.where(nominal, skeleton.slot_start[:-1], -1).astype(np.int64)
    return CodeTree(
        skeleton.feature,
        skeleton.first_child,
        left,
        skeleton.missing_slot,
        map_start,
        skeleton.slot_of.astype(np.int32, copy=False),
    )


def _count_rows(
    partitions: Sequence[Partition], shared: tuple[EncodedSource, GrowthSpec, CodeTree]
) -> list[Counts]:
    """Evidence, and number of rows, that end at each node."""
    source, spec, code_tree = shared
    stopped = np.zeros((len(code_tree.feature), spec.n_channels + 1), dtype=np.int64)
    for partition in partitions:
        rows = source.read(partition)
        stopped += encoded_sums(levelwise.descend(rows.codes, spec, code_tree), rows, spec, len(stopped))
    return [stopped]
