"""Dask: a pass is one small graph of tasks that fold, tasks that add up, and a last one for each block.

Nothing is scattered, pinned or kept on a worker: what a worker takes with it when it dies can be made again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass, field
from functools import partial, reduce
from itertools import batched, count
from operator import iadd, itemgetter
from time import monotonic
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from hornbeam.data.engine import Task, fold_units, group_units
from hornbeam.engines.dask_checks import WHEN_LATE, check_cluster, explained
from hornbeam.errors import EngineError, ParameterError

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["DaskEngine"]

_GROUPS_A_THREAD = 3  # above 2 the scheduler hands them out one by one, so that slow ones even out
_LOOK = 600.0  # seconds after which a pass that has not ended is looked at
_STUCK = 3600.0  # seconds the same tasks may run


@dataclass(slots=True, eq=False)
class DaskEngine:
    """Workers of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
        Connected to the cluster; it stays yours to close.
    groups : int, optional
        Into how many tasks the units are dealt; by default three per worker thread, and one where parts are so
        big that they come in blocks. Give a cluster that will grow as many as it will have use for.
    fan_in : int
        How many parts a task adds up.
    retries : int
        How often a task that raises an error is tried again before the error counts.
    deadline : float, optional
        Seconds a pass may take. By default a pass is given up when nothing of it runs for ten minutes, or when
        the same tasks run for an hour and for ten times the longest pass so far.

    Raises
    ------
    EngineError
        If the scheduler or a worker lacks this version of Hornbeam.
    MissingExtraError
        Without the package distributed: ``pip install 'hornbeam[dask]'``.

    Warns
    -----
    RuntimeWarning
        If the cluster is set to give up for good on workers that are away for a few seconds.

    Notes
    -----
    The result depends neither on the workers nor on which of them die: tasks are pure, sums are exact, and a
    task's result is used once however often it ran.

    Examples
    --------
    >>> from distributed import Client
    >>> def count(units, shared):
    ...     return [sum(units), len(units)]
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0") as client:
    ...     DaskEngine(client).reduce(count, [3, 4, 5], None, blocks=2)
    [12, 3]
    """

    client: Client
    _: KW_ONLY
    groups: int | None = None
    fan_in: int = 8
    retries: int = 3
    deadline: float | None = None
    _longest: float = field(default=0.0, init=False, repr=False)

    def __post_init__(self) -> None:
        for name, least in (("groups", 1), ("fan_in", 2), ("retries", 0), ("deadline", 0)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ParameterError(f"{name} is {value}; expected at least {least}")
        check_cluster(self.client)

    @property
    def parallelism(self) -> int:
        """Threads of all workers that are there now."""
        with explained(self.client):
            n_threads: int = sum(self.client.nthreads().values())
        return max(1, n_threads)

    def reduce(
        self,
        task: Task,
        units: Sequence[Any],
        shared: Any,
        *,
        combine: Callable[[Any, Any], Any] = iadd,
        blocks: int = 1,
        finish: Callable[[int, Any, Any], Any] | None = None,
    ) -> list[Any]:
        """Fold units into parts, combine the parts, finish each block; see `hornbeam.data.engine.Engine`."""
        from dask import delayed

        with explained(self.client):
            begin, name, numbers = monotonic(), uuid4().hex, count()

            def ask(verb: str, function: Callable[..., Any], *arguments: Any) -> Any:
                key = (f"{verb}-{name}", next(numbers))
                return delayed(function, pure=False)(*arguments, dask_key_name=key)

            groups = group_units(
                units, self.groups or self.parallelism * (_GROUPS_A_THREAD if blocks == 1 else 1)
            )
            folded = [ask("fold", partial(_fold, task, group, shared, blocks)) for group in groups]
            totals = []
            for block in range(blocks):
                parts = folded if blocks == 1 else [ask("pick", itemgetter(block), part) for part in folded]
                while len(parts) > self.fan_in:
                    parts = [
                        ask("add", partial(_add_up, combine), some) for some in batched(parts, self.fan_in)
                    ]
                totals.append(ask("finish", partial(_finish, combine, finish, block, shared), parts))
            futures = self.client.compute(totals, retries=self.retries, optimize_graph=False)
            try:
                results = self._wait(futures, name)
            finally:
                for (
                    future
                ) in futures:  # after an error or an interrupt nobody waits for the tasks still running
                    future.release()
            self._longest = max(self._longest, monotonic() - begin)
            return results

    def close(self) -> None:
        """Nothing to give back: the client is yours, and a pass leaves nothing on its workers."""

    def _wait(self, futures: list[Future[Any]], name: str) -> list[Any]:
        before, since = None, monotonic()
        while True:
            end = monotonic() + (_LOOK if self.deadline is None else self.deadline)
            try:
                return [future.result(timeout=max(0.0, end - monotonic())) for future in futures]
            except TimeoutError:
                if any(future.status == "error" for future in futures):
                    raise  # the task's own
            running = {
                worker: [key for key in keys if name in str(key)]
                for worker, keys in self.client.processing().items()
            }
            patience = max(_STUCK, 10 * self._longest) if any(running.values()) else 0
            if self.deadline is not None or (running == before and monotonic() - since >= patience):
                raise EngineError(self._late(running))
            if running != before:
                before, since = running, monotonic()

    def _late(self, running: dict[str, list[Any]]) -> str:
        n_tasks = sum(map(len, running.values()))
        return (
            f"A pass over the data did not end in time. Workers that are left: {len(running)}; tasks that run on "
            f"them: {n_tasks}. {WHEN_LATE} The dashboard is at {self.client.dashboard_link}."
        )


# ---- tasks ---------------------------------------------------------------------------------------------


def _fold(task: Task, units: Sequence[Any], shared: Any, blocks: int) -> Any:
    parts = fold_units(task, units, shared, blocks)
    return parts if blocks > 1 else parts[0]


def _add_up(combine: Callable[[Any, Any], Any], parts: Sequence[Any]) -> Any:
    # A part stays with the worker, who may be asked again to add it up: it must not have been added to.
    return reduce(combine, parts[1:], deepcopy(parts[0]))


def _finish(
    combine: Callable[[Any, Any], Any],
    finish: Callable[[int, Any, Any], Any] | None,
    block: int,
    shared: Any,
    parts: Sequence[Any],
) -> Any:
    total = _add_up(combine, parts)
    return total if finish is None else finish(block, total, shared)
