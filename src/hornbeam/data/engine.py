"""Where work runs. Everything that may be distributed is one verb, ``reduce``."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from operator import iadd
from typing import Any, Protocol

from hornbeam.errors import EngineError, ParameterError
from hornbeam.kernels.pool import Pool

__all__ = ["Engine", "LocalEngine", "Task", "fold_units", "group_units"]

type Task = Callable[[Sequence[Any], Any], Sequence[Any]]


class Engine(Protocol):
    """Runs pure tasks over units of data and adds up what they return.

    An engine may group, reorder, repeat and retry as it likes; each unit counts exactly once in the result.
    """

    @property
    def parallelism(self) -> int:
        """Tasks worth running at once."""
        ...

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
        """Fold units into parts, combine the parts, finish each block of the total.

        Parameters
        ----------
        task : callable (units, shared) -> sequence of `blocks` parts
            Pure and picklable; folds a group of units. No units give the parts of no rows.
        units : sequence
            Tiny addresses of rows.
        shared : object
            Small; sent to every task.
        combine : callable (part, part) -> part
            Associative, commutative and exact; may work in place on its first argument. Default: integer
            addition.
        blocks : int
            How many parts a task returns.
        finish : callable (block, part, shared) -> result, optional
            Runs where the block's total lies.

        Returns
        -------
        list
            One result per block, in order.
        """
        ...

    def close(self) -> None:
        """Give back what the engine holds."""
        ...


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """Threads of this process.

    Parameters
    ----------
    n_jobs : int
        Threads.
    groups : int, optional
        Into how many tasks the units are dealt; one per thread by default.
    reverse : bool
        Take units and combine parts from the last to the first. With `groups` this is how tests ask whether a
        result depends on how the rows were dealt.

    Examples
    --------
    >>> def count(units, shared):
    ...     return [sum(units), len(units)]
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
        """Tasks worth running at once."""
        return self.n_jobs

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
        """Fold units into parts, combine the parts, finish each block; see `Engine.reduce`."""
        groups = group_units(units[::-1] if self.reverse else units, self.groups or self.n_jobs)
        totals: list[Any] | None = None
        for parts in self._run(partial(fold_units, task, shared=shared, blocks=blocks), groups):
            totals = list(parts) if totals is None else list(map(combine, totals, parts))
        assert totals is not None  # there is always a group, if only an empty one
        if finish is None:
            return totals
        return [finish(block, total, shared) for block, total in enumerate(totals)]

    def close(self) -> None:
        """Nothing to give back: threads live as long as a call."""

    def _run(
        self, task: Callable[[Sequence[Any]], Sequence[Any]], groups: list[Sequence[Any]]
    ) -> Iterable[Sequence[Any]]:
        if self.n_jobs == 1 or len(groups) == 1:
            return map(task, groups)
        pool = Pool(min(self.n_jobs, len(groups)))
        try:
            return [future.result() for future in [pool.submit(task, group) for group in groups]]
        finally:
            # After an error or an interrupt nobody waits for the tasks still running.
            pool.shutdown(wait=False, cancel_futures=True)


def group_units(units: Sequence[Any], n_groups: int) -> list[Sequence[Any]]:
    """Deal units into groups of neighbours, as even as can be and never more than there are units.

    Examples
    --------
    >>> group_units("abcde", 3)
    ['a', 'bc', 'de']
    >>> group_units([], 3)
    [[]]
    """
    n_groups = max(1, min(n_groups, len(units)))
    bounds = [len(units) * group // n_groups for group in range(n_groups + 1)]
    return [units[begin:end] for begin, end in pairwise(bounds)]


def fold_units(task: Task, units: Sequence[Any], shared: Any, blocks: int) -> Sequence[Any]:
    """Run a task on its group of units, and see that a part for each block comes back.

    Examples
    --------
    >>> fold_units(lambda units, power: [sum(unit**power for unit in units)], [3, 4], 2, blocks=1)
    [25]
    """
    parts = task(units, shared)
    if len(parts) != blocks:
        raise EngineError(f"a task returned {len(parts)} parts; expected one per block, {blocks}")
    return parts
