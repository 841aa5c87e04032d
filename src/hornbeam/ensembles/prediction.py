"""Ordered parallel map, and sums and means of tree predictions, in a fixed order so that threads cannot change them."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future

import numpy as np

from hornbeam.data.table import Table
from hornbeam.kernels.pool import Pool
from hornbeam.tree.route import predict_rows
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

_AHEAD = 2  # finished results per thread that may wait in memory for the caller
_BLOCK = 8192  # rows at a time: their sums stay in the processor cache


def parallel_map[T](work: Callable[[int], T], n: int, n_jobs: int = 1) -> Iterator[T]:
    """Call ``work(0)`` to ``work(n - 1)`` on threads and yield the results in this order."""
    if n_jobs == 1 or n <= 1:
        yield from map(work, range(n))
        return
    pool = Pool(min(n_jobs, n))
    waiting: deque[Future[T]] = deque()
    try:
        for number in range(n):
            waiting.append(pool.submit(work, number))
            if len(waiting) > _AHEAD * n_jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        # After an error or an interrupt, running calls are not waited for.
        pool.shutdown(wait=False, cancel_futures=True)


def sum_predictions(trees: Sequence[Tree], table: Table, n_jobs: int = 1) -> Floats:
    """Add up the predictions of trees for each row, first tree first."""
    total = np.zeros((table.n_rows, trees[0].belief.shape[1]))

    def add(number: int) -> None:
        begin, end = number * _BLOCK, min((number + 1) * _BLOCK, table.n_rows)
        rows = table.slice(begin, end)
        for tree in trees:
            total[begin:end] += predict_rows(tree, rows)

    for _ in parallel_map(add, -(-table.n_rows // _BLOCK), n_jobs):
        pass
    return total


def mean_prediction(trees: Sequence[Tree], table: Table, n_jobs: int = 1) -> Floats:
    """Average the predictions of trees for each row: class probabilities, or means."""
    return sum_predictions(trees, table, n_jobs) / len(trees)
