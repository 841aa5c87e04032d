"""Engines run tasks over partitions of rows; ``reduce`` is the only operation that may be distributed."""

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial, reduce
from itertools import pairwise
from operator import iadd
from typing import Any, Protocol

from hornbeam.checks import check_flags, check_whole
from hornbeam.data.threads import n_threads
from hornbeam.errors import EngineError, ParameterError, shown
from hornbeam.kernels.pool import Pool

type Task = Callable[[Sequence[Any], Any], Sequence[Any]]


class Engine(Protocol):
    """Protocol: run pure tasks over partitions of rows and combine their results.

    An engine may group, reorder, repeat and retry as it likes; each partition counts exactly once in the result.

    Examples
    --------
    One that runs a task on all partitions at once:

    >>> from hornbeam.engines import Engine
    >>> class Simple:
    ...     parallelism = 1
    ...
    ...     def reduce(self, task, partitions, shared, *, combine=None, blocks=1, finish=None):
    ...         parts = task(partitions, shared)
    ...         return list(parts) if finish is None else [finish(i, one, shared) for i, one in enumerate(parts)]
    ...
    ...     def close(self):
    ...         pass
    >>> engine: Engine = Simple()
    >>> engine.reduce(lambda partitions, shared: [sum(partitions)], [3, 4, 5], None)
    [12]
    """

    @property
    def parallelism(self) -> int:
        """Number of tasks that run at once."""
        ...

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
        """Run a task on groups of partitions, combine the parts they return, and finish each block of the total.

        Parameters
        ----------
        task : callable (partitions, shared) -> sequence of `blocks` parts
            Pure and picklable; reduces a group of partitions, which may be empty.
        partitions : sequence
            Addresses of rows.
        shared : object
            Small; sent to every task.
        combine : callable (part, part) -> part
            Associative, commutative and exact; may work in place on its first argument. Default: integer
            addition.
        blocks : int
            Number of parts that a task returns.
        finish : callable (block, part, shared) -> result, optional
            Runs on the worker that has the total of the block.

        Returns
        -------
        list
            One result per block, in order.
        """
        ...

    def close(self) -> None:
        """Release the resources of the engine."""
        ...


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """An engine of threads in this process.

    Parameters
    ----------
    n_jobs : int, optional
        Number of threads; None: 1, -1: all cores.
    n_tasks : int, optional
        Number of tasks that the partitions are divided into; one per thread by default.
    reverse : bool
        Take partitions and combine parts from the last to the first. Tests set this and `n_tasks` to check that a
        result does not depend on the grouping and order of partitions.

    Examples
    --------
    >>> def count(partitions, shared):
    ...     return [sum(partitions), len(partitions)]
    >>> LocalEngine(n_jobs=2).reduce(count, [3, 4, 5], None, blocks=2)
    [12, 3]
    """

    n_jobs: int | None = None
    n_tasks: int | None = None
    reverse: bool = False

    def __post_init__(self) -> None:
        n_threads(self.n_jobs)
        check_flags(reverse=self.reverse)
        check_counts(self, n_tasks=1)

    @property
    def parallelism(self) -> int:
        """Number of tasks that run at once."""
        return n_threads(self.n_jobs)

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
        """Run a task on groups of partitions and combine the results; see `Engine.reduce`."""
        groups = group_partitions(
            partitions[::-1] if self.reverse else partitions, self.n_tasks or self.parallelism
        )
        totals: list[Any] | None = None
        for parts in self._run(partial(fold_partitions, task, shared=shared, blocks=blocks), groups):
            totals = list(parts) if totals is None else list(map(combine, totals, parts))
        assert totals is not None  # there is at least one group, which may be empty
        if finish is None:
            return totals
        return [finish(block, total, shared) for block, total in enumerate(totals)]

    def close(self) -> None:
        """Do nothing: threads end with each call of `reduce`."""

    def _run(
        self, task: Callable[[Sequence[Any]], Sequence[Any]], groups: list[Sequence[Any]]
    ) -> Iterable[Sequence[Any]]:
        n_jobs = min(self.parallelism, len(groups))
        if n_jobs == 1:
            return map(task, groups)
        pool = Pool(n_jobs)
        try:
            return [future.result() for future in [pool.submit(task, group) for group in groups]]
        finally:
            # After an error or an interrupt, return without waiting for the tasks still running.
            pool.shutdown(wait=False, cancel_futures=True)


def group_partitions(partitions: Sequence[Any], n_groups: int) -> list[Sequence[Any]]:
    """Divide partitions into groups of neighbours of nearly equal size, at most one group per partition."""
    n_groups = max(1, min(n_groups, len(partitions)))
    bounds = [len(partitions) * group // n_groups for group in range(n_groups + 1)]
    return [partitions[begin:end] for begin, end in pairwise(bounds)]


def fold_partitions(task: Task, partitions: Sequence[Any], shared: Any, blocks: int) -> Sequence[Any]:
    """Run a task on a group of partitions, and check that it returns one part per block."""
    parts = task(partitions, shared)
    if len(parts) != blocks:
        raise EngineError(f"a task returned {len(parts)} parts; expected one per block, {blocks}")
    return parts


def combine_parts(combine: Callable[[Any, Any], Any], parts: Sequence[Any]) -> Any:
    """Combine the parts of several tasks without changing them: an engine may use a part again."""
    return reduce(combine, parts[1:], deepcopy(parts[0]))


def resolve_engine(engine: Any, n_jobs: int = 1) -> Engine:
    """Return the engine, or threads of this process if it is None."""
    if engine is None:
        return LocalEngine(n_jobs)
    if not hasattr(engine, "reduce") or not hasattr(engine, "parallelism"):
        raise ParameterError(
            f"engine={shown(engine)}: expected an engine of hornbeam.engines, or None for threads of this process."
        )
    return engine  # type: ignore[no-any-return]


def check_counts(engine: Any, **least: int) -> None:
    """Check parameters of an engine that are whole numbers; None is allowed for `n_tasks`."""
    for name, smallest in least.items():
        check_whole(
            name, getattr(engine, name), smallest, none="the engine's own number" * (name == "n_tasks")
        )
