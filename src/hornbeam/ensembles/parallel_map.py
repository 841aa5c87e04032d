"""Work shared out to threads, results in turn."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future

from hornbeam.kernels.pool import Pool

__all__ = ["parallel_map"]

_AHEAD = 2  # results a thread may be ahead of who takes them: they wait in memory


def parallel_map[T](work: Callable[[int], T], n: int, n_jobs: int = 1) -> Iterator[T]:
    """Do the work of 0, 1, ..., n - 1 on so many threads, and hand out the results in this order.

    Examples
    --------
    >>> list(parallel_map(lambda number: number**2, 5, n_jobs=2))
    [0, 1, 4, 9, 16]
    """
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
        # After an error or an interrupt nobody waits for what is still running.
        pool.shutdown(wait=False, cancel_futures=True)
