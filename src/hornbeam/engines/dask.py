"""Dask engine: a pass is one small graph of tasks that fold, tasks that combine, and one final task per block.

Nothing is scattered, pinned or stored on a worker, so Dask can repeat whatever is lost with a worker. A large shared
object is the result of a task of its own, which Dask copies from worker to worker.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from itertools import batched, count
from operator import iadd, itemgetter
from pickle import PickleBuffer
from time import monotonic
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from hornbeam.checks import MOST, check_number
from hornbeam.data.engine import (
    LocalEngine,
    Task,
    check_counts,
    combine_parts,
    fold_partitions,
    group_partitions,
)
from hornbeam.engines.dask_checks import WHEN_LATE, check_cluster, explained
from hornbeam.engines.dask_rows import write_collection
from hornbeam.errors import EngineError, ParameterError, import_extra

if TYPE_CHECKING:
    from distributed import Client, Future

    from hornbeam.data.files.scratch import WrittenRows

# Above 2, tasks are assigned one by one, to threads or by the scheduler, so that slow ones are balanced.
_TASKS_PER_THREAD = 3
_MOST_TASKS = 300  # for more workers one each: a task takes the scheduler and the driver about 2 ms
_CHECK_SECONDS = 600.0  # interval of the checks for a pass that is stuck
_MANY_BYTES = 1_000_000  # a larger shared object is sent to each worker once, not with each task
# Seconds that the same tasks may run: a task of a worker of several threads takes a whole pass.
_STUCK_SECONDS = 3 * 3600.0


@dataclass(slots=True, eq=False)
class DaskEngine:
    """Engine that runs on the workers of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
        Client of the cluster; the engine does not close it.
    n_tasks : int, optional
        Number of tasks of a pass, each of one thread. By default one per worker, which uses all threads of the worker
        and combines their results there; for workers of one thread three each, fewer if that would be more than
        300 in all, or one if the results come in blocks. For a cluster that will grow, choose it for the final size.
    fan_in : int
        Number of results that one task combines.
    retries : int
        How often a failed task is repeated before its error is raised.
    deadline : float, optional
        Time limit of a pass in seconds. By default a pass fails when none of its tasks runs for ten minutes, or when
        the same tasks run for three hours and for ten times the longest pass so far.
    folder : path, optional
        Folder that all workers see under this name: the rows of a dask collection are written there, and deleted after
        the fit. By default that for temporary files, which works if all workers are on this machine.

    Raises
    ------
    EngineError
        If the scheduler or a worker lacks this version of Hornbeam.
    MissingExtraError
        Without the package distributed: ``pip install 'hornbeam[dask]'``.

    Warns
    -----
    RuntimeWarning
        If the cluster is configured to remove workers for good that are away for a few seconds.

    Notes
    -----
    The result does not depend on the workers, or on which of them die: tasks are pure functions, sums are exact, and
    the result of a task is used once, however often it ran.

    Examples
    --------
    >>> from distributed import Client
    >>> def count(partitions, shared):
    ...     return [sum(partitions), len(partitions)]
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0") as client:
    ...     DaskEngine(client).reduce(count, [3, 4, 5], None, blocks=2)
    [12, 3]
    """

    client: Client
    _: KW_ONLY
    n_tasks: int | None = None
    fan_in: int = 8
    retries: int = 3
    deadline: float | None = None
    folder: Any = None
    _longest: float = field(default=0.0, init=False, repr=False)

    def __post_init__(self) -> None:
        check_counts(self, n_tasks=1, fan_in=2, retries=0)
        if self.deadline is not None:
            check_number("deadline", self.deadline, 0, MOST, what="a number of seconds")
        check_cluster(self.client)

    @property
    def parallelism(self) -> int:
        """Number of threads of all connected workers."""
        with explained(self.client):
            n_threads: int = sum(self.client.nthreads().values())
        return max(1, n_threads)

    def reduce(
        self,
        task: Task,
        partitions: Sequence[Any],
        shared: Any,
        *,
        combine: Callable[[Any, Any], Any] = iadd,
        blocks: int = 1,
        finish: Callable[[int, Any, Any], Any] | None = None,
    ) -> list[Any]:
        """Fold groups of partitions, combine the results, finish each block; see `hornbeam.data.engine.Engine`."""
        from dask import config, delayed

        with explained(self.client):
            begin, name, numbers = monotonic(), uuid4().hex, count()
            kept: tuple[Any, ...]
            sent: tuple[Any, ...]

            def submit(step: str, function: Callable[..., Any], *arguments: Any) -> Any:
                key = (f"{step}-{name}", next(numbers))
                return delayed(function, pure=False)(*arguments, dask_key_name=key)

            large = _n_bytes(shared) > _MANY_BYTES
            n_tasks, threaded = (self.n_tasks, False) if self.n_tasks else self._default_tasks(blocks, large)
            groups = group_partitions(partitions, n_tasks)
            threads = combine if threaded else None
            kept, sent = ((), (submit("share", partial(_given, shared)),)) if large else ((shared,), ())
            folded = [
                submit("fold", partial(_fold, task, group, blocks, threads, *kept), *sent) for group in groups
            ]
            totals = []
            for block in range(blocks):
                parts = (
                    folded if blocks == 1 else [submit("pick", itemgetter(block), part) for part in folded]
                )
                while len(parts) > self.fan_in:
                    parts = [
                        submit("combine", partial(combine_parts, combine), some)
                        for some in batched(parts, self.fan_in)
                    ]
                finished = partial(_finish, combine, finish, block, *kept)
                totals.append(submit("finish", finished, *sent, parts))
            # A warning of large graphs would be wrong: what is large is in the graph once.
            with config.set({"distributed.admin.large-graph-warning-threshold": sys.maxsize}):
                futures = self.client.compute(totals, retries=self.retries, optimize_graph=False)
            try:
                results = self._wait(futures, name)
            finally:
                for future in futures:  # after an error or an interrupt, tasks may still run
                    future.release()
            self._longest = max(self._longest, monotonic() - begin)
            return results

    def _write_rows(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> WrittenRows:
        """Let Dask write a collection as Parquet files, which are deleted when the result is closed."""
        return write_collection(X, y, sample_weight, groups, self.client, self.folder)

    def close(self) -> None:
        """Do nothing: the client belongs to the caller, and a pass leaves nothing on the workers."""

    def _default_tasks(self, blocks: int, large: bool) -> tuple[int, bool]:
        """Return the number of tasks that fold, and whether each uses the threads of its worker.

        With a large shared object there are several for each thread: the scheduler gives a few tasks that depend on one
        object to the worker that has it.
        """
        threads = self.client.nthreads().values()
        n_workers, most = max(1, len(threads)), _tasks_per_thread(blocks)
        if large:
            return self.parallelism * most, False
        if max(threads, default=1) > 1:
            return n_workers, True
        return n_workers * max(1, min(most, _MOST_TASKS // n_workers)), False

    def _wait(self, futures: list[Future[Any]], name: str) -> list[Any]:
        before, since = None, monotonic()
        while True:
            end = monotonic() + (_CHECK_SECONDS if self.deadline is None else self.deadline)
            try:
                return [future.result(timeout=max(0.0, end - monotonic())) for future in futures]
            except TimeoutError:
                if any(future.status == "error" for future in futures):
                    raise  # a TimeoutError of the task itself
            running = {
                worker: [key for key in keys if name in str(key)]
                for worker, keys in self.client.processing().items()
            }
            patience = max(_STUCK_SECONDS, 10 * self._longest) if any(running.values()) else 0
            if self.deadline is not None or (running == before and monotonic() - since >= patience):
                raise EngineError(self._late_message(running))
            if running != before:
                before, since = running, monotonic()

    def _late_message(self, running: dict[str, list[Any]]) -> str:
        n_tasks = sum(map(len, running.values()))
        return (
            f"A pass over the data did not end in time. Workers that are left: {len(running)}; tasks that run on "
            f"them: {n_tasks}. {WHEN_LATE} The dashboard is at {self.client.dashboard_link}."
        )


def current_client() -> Client:
    """Return the current client; raise `ParameterError` without one."""
    import_extra("distributed", "dask", "A fit on a Dask cluster")
    from distributed import get_client

    try:
        return get_client()
    except ValueError as error:
        raise ParameterError(
            "There is no current client of Dask; expected one. Connect first: distributed.Client(address), or Client() "
            "for processes on this machine."
        ) from error


def writing_engine(engine: Any, folder: Any = None) -> DaskEngine:
    """Return an engine that writes collections to a folder: the given one, or one of the current client."""
    writer = engine if isinstance(engine, DaskEngine) else DaskEngine(current_client())
    if folder:
        writer = copy(writer)
        writer.folder = folder
    return writer


def _n_bytes(shared: Any) -> int:
    """Return the size of a pickle of an object, without copying its arrays."""
    from distributed.protocol.pickle import dumps

    buffers: list[PickleBuffer] = []
    pickled = dumps(shared, buffer_callback=buffers.append)
    return len(pickled) + sum(buffer.raw().nbytes for buffer in buffers)


# ---- tasks ---------------------------------------------------------------------------------------------


def _given(shared: Any) -> Any:
    return shared


def _tasks_per_thread(blocks: int) -> int:
    """Return one if results come in blocks, of which each task has all; else several."""
    return _TASKS_PER_THREAD if blocks == 1 else 1


def _fold(
    task: Task,
    partitions: Sequence[Any],
    blocks: int,
    combine: Callable[[Any, Any], Any] | None,
    shared: Any,
) -> Any:
    """Run a task on a group of partitions; with `combine` by all threads of the worker."""
    if combine is None:
        parts = fold_partitions(task, partitions, shared, blocks)
    else:
        from distributed import get_worker

        n_threads = get_worker().state.nthreads
        local = LocalEngine(n_threads, n_tasks=n_threads * _tasks_per_thread(blocks))
        parts = local.reduce(task, partitions, shared, combine=combine, blocks=blocks)
    return parts if blocks > 1 else parts[0]


def _finish(
    combine: Callable[[Any, Any], Any],
    finish: Callable[[int, Any, Any], Any] | None,
    block: int,
    shared: Any,
    parts: Sequence[Any],
) -> Any:
    total = combine_parts(combine, parts)
    return total if finish is None else finish(block, total, shared)
