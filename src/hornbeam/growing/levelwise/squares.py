"""The last pass for a numeric target: its sum of squares at each leaf, which is a part of the evidence."""

from collections.abc import Sequence

import numpy as np

from hornbeam.data.engine import Engine
from hornbeam.data.sources import Partition, Source
from hornbeam.growing.levelwise.same_rows import check_same_rows
from hornbeam.growing.levelwise.task_context import TaskContext
from hornbeam.typing import Counts

__all__ = ["sum_squares"]


def sum_squares(context: TaskContext, target: Source, engine: Engine) -> Counts:
    """Add up weight times squared target of the rows that end at each node of the tree, in steps."""
    [squares] = engine.reduce(_sum_squares, context.source.partitions(), (context, target))
    return squares  # type: ignore[no-any-return]


def _sum_squares(partitions: Sequence[Partition], shared: tuple[TaskContext, Source]) -> list[Counts]:
    context, target = shared
    squares = np.zeros(len(context.code_tree.feature), dtype=np.int64)
    for partition in partitions:
        node = context.nodes(partition, context.read(partition, weighted=False))
        table = target.read(partition, features=())
        assert table.numeric_target is not None  # the first pass found it
        check_same_rows(len(node) == len(table.numeric_target.values))
        np.add.at(squares, node, table.numeric_target.squares(table.weight, table.unit))
    return [squares]
