"""Progress reports and interruption of growing."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock
from typing import NamedTuple

import numpy as np

from hornbeam.kernels.pool import Pool
from hornbeam.typing import Counts


class Watch:
    """Counter of finished rows over all threads, and stop signal for the kernels.

    `on_progress` is called every `tick_seconds` with the number of finished rows.
    """

    def __init__(self, on_progress: Callable[[int], None] | None = None, tick_seconds: float = 0.1) -> None:
        self._on_progress = on_progress
        self._tick_seconds = tick_seconds
        self._slots: list[Counts] = []
        self.stopped = False

    def progress_slot(self) -> Counts:
        """Return two numbers to share with a kernel: rows it has finished, and whether it must stop."""
        slot = np.zeros(2, dtype=np.int64)
        self._slots.append(slot)
        if self.stopped:  # read after the append: a later stop finds the slot in the list
            slot[1] = 1
        return slot

    def finish_rows(self, n_rows: int) -> None:
        """Count rows that reached their leaf outside the kernels."""
        self.progress_slot()[0] = n_rows

    @property
    def rows_done(self) -> int:
        """Number of rows that have reached their leaf."""
        return sum(int(slot[0]) for slot in self._slots)

    def stop(self) -> None:
        """Stop every kernel, including those that have not started."""
        self.stopped = True
        for slot in self._slots:
            slot[1] = 1

    def run[T](self, work: Callable[[], T]) -> T:
        """Run ``work`` in a thread and report its progress; an interrupt stops the kernels."""
        pool = Pool(1)
        try:
            return self._wait(pool.submit(work))
        except BaseException:
            self.stop()
            raise
        finally:
            pool.shutdown()

    def _wait[T](self, future: Future[T]) -> T:
        """Wait for a result and report the progress.

        The loop has a function of its own, because Python 3.14 leaves a try or with statement without its handlers if
        an interrupt comes at the end of a loop inside it.
        """
        done = Lock()  # not a Condition: an interrupt inside one can surface as a RuntimeError
        done.acquire()
        future.add_done_callback(lambda _: done.release())
        while not done.acquire(timeout=self._tick_seconds):
            if self._on_progress is not None:
                self._on_progress(self.rows_done)
        return future.result()


class PassReport(NamedTuple):
    """Report of one finished pass of growing level by level.

    Attributes
    ----------
    phase : str
        ``"survey"``, ``"count"`` or ``"gather"``.
    level : int
        Depth of the nodes of the pass.
    n_nodes : int
        Nodes whose split was searched, or whose rows were gathered.
    n_rows : int
        Rows of these nodes that were counted or moved.
    rows_done : int
        Rows that have reached their leaf so far.
    task_bytes : int
        Bytes of histograms that each task sends, whatever the number of its rows.
    row_bytes : int
        Bytes of rows that all tasks together send.
    blocks : int
        Number of blocks that these bytes were cut into.

    Examples
    --------
    >>> PassReport("count", 3, 8, 1000, 200, task_bytes=4096, row_bytes=0, blocks=1).predicted_bytes(n_tasks=7)
    28672
    """

    phase: str
    level: int
    n_nodes: int
    n_rows: int
    rows_done: int
    task_bytes: int
    row_bytes: int
    blocks: int

    def predicted_bytes(self, n_tasks: int) -> int:
        """Return the bytes that this number of tasks sends in total."""
        return self.task_bytes * n_tasks + self.row_bytes
