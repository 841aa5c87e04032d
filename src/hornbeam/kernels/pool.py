"""A thread pool that continues with fewer threads where the system has no more."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, NamedTuple, override
from weakref import finalize


class _Task(NamedTuple):
    """A call, and the future of its result."""

    future: Future[Any]
    call: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def run(self) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            result = self.call(*self.args, **self.kwargs)
        except BaseException as error:  # noqa: BLE001 (raised again by the future)
            self.future.set_exception(error)
        else:
            self.future.set_result(result)


type _Tasks = SimpleQueue[_Task | None]  # None: no more tasks


class Pool(Executor):
    """Executor of at most `n_threads` threads, which start as tasks are submitted.

    ``concurrent.futures.ThreadPoolExecutor`` raises a RuntimeError if a thread cannot be started. This pool works with
    the threads it has, and without any it runs each task in `submit`. Results do not depend on the number of threads.

    An interrupt can come just before `shutdown`, and threads then wait for tasks: they do not keep the interpreter from
    ending, and they end with the pool object.
    """

    def __init__(self, n_threads: int) -> None:
        self._most = n_threads
        self._threads: list[Thread] = []
        self._tasks: _Tasks = SimpleQueue()
        finalize(self, self._tasks.put, None)

    @override
    def submit[**P, T](self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Schedule a call; return the future of its result."""
        task = _Task(Future(), call, args, kwargs)
        if len(self._threads) < self._most:
            self._start()
        if self._threads:
            self._tasks.put(task)
        else:
            task.run()
        return task.future

    @override
    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the threads when their tasks are done; `cancel_futures` drops tasks that have not begun."""
        while cancel_futures:
            try:
                task = self._tasks.get_nowait()
            except Empty:
                break
            if task is not None:
                task.future.cancel()
        self._tasks.put(None)
        if wait:
            for thread in self._threads:
                thread.join()

    def _start(self) -> None:
        thread = Thread(target=_serve, args=(self._tasks,), daemon=True)
        try:
            thread.start()
        except RuntimeError:  # no more threads, or the interpreter is about to end
            self._most = len(self._threads)
        else:
            self._threads.append(thread)


def pool_map[Item, Result](
    call: Callable[[Item], Result], items: Sequence[Item], n_threads: int
) -> list[Result]:
    """Call a function for each item, in this thread or in several; results are in the order of the items."""
    if n_threads == 1:
        return list(map(call, items))
    with Pool(n_threads) as pool:
        return list(pool.map(call, items))


def _serve(tasks: _Tasks) -> None:
    while (task := tasks.get()) is not None:
        task.run()
        del task  # a waiting thread must not keep the result alive
    tasks.put(None)  # for the next thread
