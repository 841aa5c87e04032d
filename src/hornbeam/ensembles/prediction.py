"""Ordered parallel map, votes, and sums and means of tree predictions, in a fixed order whatever the threads."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from functools import partial

import numpy as np

from hornbeam.data.table import Table
from hornbeam.kernels.pool import Pool
from hornbeam.tree.edit import with_belief
from hornbeam.tree.route import predict_rows
from hornbeam.tree.tree import Step, Tree
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


def vote(tree: Tree) -> Tree:
    """Replace the probabilities of each node by its vote: 1 for the most probable class, the first of equals.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> vote(TreeClassifier("cart", max_depth=1).fit([[0], [1], [1]], [0, 0, 1]).tree_).belief.tolist()
    [[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]
    """
    votes = np.eye(tree.n_classes)[tree.belief.argmax(axis=1)]
    return with_belief(tree, votes, step=Step.of("vote"))


def sum_predictions(trees: Sequence[Tree], table: Table, n_jobs: int = 1) -> Floats:
    """Add up the predictions of trees for each row, first tree first."""
    return _sum([partial(predict_rows, tree) for tree in trees], trees[0].belief.shape[1], table, n_jobs)


def sum_votes(trees: Sequence[Tree], weights: Floats, table: Table, n_jobs: int = 1) -> Floats:
    """Add up the weights of the trees that vote for each class, for each row, first tree first."""
    votes = [partial(_vote_of, tree, weight) for tree, weight in zip(trees, weights.tolist(), strict=True)]
    return _sum(votes, trees[0].n_classes, table, n_jobs)


def _vote_of(tree: Tree, weight: float, table: Table) -> Floats:
    votes: Floats = weight * np.eye(tree.n_classes)[predict_rows(tree, table).argmax(axis=1)]
    return votes


def _sum(parts: Sequence[Callable[[Table], Floats]], width: int, table: Table, n_jobs: int) -> Floats:
    total = np.zeros((table.n_rows, width))

    def add(number: int) -> None:
        begin, end = number * _BLOCK, min((number + 1) * _BLOCK, table.n_rows)
        rows = table.slice(begin, end)
        for part in parts:
            total[begin:end] += part(rows)

    for _ in parallel_map(add, -(-table.n_rows // _BLOCK), n_jobs):
        pass
    return total


def mean_prediction(trees: Sequence[Tree], table: Table, n_jobs: int = 1) -> Floats:
    """Average the predictions of trees for each row: class probabilities, or means."""
    return sum_predictions(trees, table, n_jobs) / len(trees)
