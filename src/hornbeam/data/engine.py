"""Engines run tasks over partitions of rows; ``reduce`` is the only operation that may be distributed."""

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial, reduce
from itertools import pairwise
from operator import iadd
from typing import Any, Protocol

from hornbeam.errors import EngineError, ParameterError
from hornbeam.kernels.pool import Pool

type Task = Callable[[Sequence[Any], Any], Sequence[Any]]


class Engine(Protocol):
    """Protocol: run pure tasks over partitions of rows and combine their results.

    An engine may group, reorder, repeat and retry as it likes; each partition counts exactly once in the result.
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
    n_jobs : int
        Number of threads.
    groups : int, optional
        Number of tasks that the partitions are divided into; one per thread by default.
    reverse : bool
        Take partitions and combine parts from the last to the first. Tests set this and `groups` to check that a result
        does not depend on the grouping and order of partitions.

    Examples
    --------
    >>> def count(partitions, shared):
    ...     return [sum(partitions), len(partitions)]
    >>> LocalEngine(n_jobs=2).reduce(count, [3, 4, 5], None, blocks=2)
    [12, 3]
    """

    n_jobs: int = 1
    groups: int | None = None
    reverse: bool = False

    def __post_init__(self) -> None:
        if self.n_jobs < 1:
            raise ParameterError(f"n_jobs is {self.n_jobs}; an engine needs at least 1 thread")
        if self.groups is not None and self.groups < 1:
            raise ParameterError(f"groups is {self.groups}; expected at least 1, or None for one per thread")

    @property
    def parallelism(self) -> int:
        """Number of tasks that run at once."""
        return self.n_jobs

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
            partitions[::-1] if self.reverse else partitions, self.groups or self.n_jobs
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
        if self.n_jobs == 1 or len(groups) == 1:
            return map(task, groups)
        pool = Pool(min(self.n_jobs, len(groups)))
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


def check_least(engine: Any, **least: int) -> None:
    """Raise `ParameterError` if a parameter of an engine is below its least value; None is always allowed."""
    for name, smallest in least.items():
        value = getattr(engine, name)
        if value is not None and value < smallest:
            raise ParameterError(f"{name} is {value}; expected at least {smallest}")
