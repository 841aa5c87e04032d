"""Looking on while kernels work: progress out, interruption in."""

from collections.abc import Callable
from threading import Lock

import numpy as np

from hornbeam.kernels.pool import Pool
from hornbeam.typing import Counts

__all__ = ["Watch"]

_TICK_SECONDS = 0.1


class Watch:
    """Counts settled rows over all threads, and tells every kernel to stop when the work is interrupted.

    Examples
    --------
    >>> Watch().run(lambda: 42)
    42
    """

    def __init__(self, on_progress: Callable[[int], None] | None = None) -> None:
        self._on_progress = on_progress
        self._slips: list[Counts] = []
        self.stopped = False

    def slip(self) -> Counts:
        """Hand out the two numbers a kernel shares with us: rows settled, and whether to stop."""
        slip = np.zeros(2, dtype=np.int64)
        self._slips.append(slip)
        slip[1] = self.stopped  # after it is in the list: a stop meanwhile reaches it either way
        return slip

    def settle(self, n_rows: int) -> None:
        """Count rows that reached their leaf outside the kernels."""
        self.slip()[0] = n_rows

    @property
    def settled(self) -> int:
        """Rows that have reached their leaf."""
        return sum(int(slip[0]) for slip in self._slips)

    def stop(self) -> None:
        """Ask every kernel to give up, those that have not begun too."""
        self.stopped = True
        for slip in self._slips:
            slip[1] = 1

    def run[T](self, work: Callable[[], T]) -> T:
        """Run ``work`` in a thread; report progress ten times a second; on an interrupt stop the kernels."""
        done = Lock()  # plain: an interrupt inside a Condition can surface as a RuntimeError
        done.acquire()
        with Pool(1) as pool:
            try:
                future = pool.submit(work)
                future.add_done_callback(lambda _: done.release())
                while not done.acquire(timeout=_TICK_SECONDS):
                    if self._on_progress is not None:
                        self._on_progress(self.settled)
                return future.result()
            except BaseException:
                self.stop()
                raise
