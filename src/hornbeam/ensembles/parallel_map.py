"""Ordered parallel map: work on threads, results in order."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future

from hornbeam.kernels.pool import Pool

__all__ = ["parallel_map"]

_AHEAD = 2  # finished results per thread that may wait in memory for the caller


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
