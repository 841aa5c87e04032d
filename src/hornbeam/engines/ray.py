"""Ray engine: a pass is a tree of tasks; what all tasks share is put into the object store once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from itertools import batched
from operator import iadd
from pkgutil import resolve_name
from typing import Any

from hornbeam.data.engine import Task, check_counts, combine_parts, fold_partitions, group_partitions
from hornbeam.errors import EngineError, HornbeamError, import_extra

_TASKS_PER_CPU = 3  # more than one, so that slow ones are balanced
_NOT_CONNECTED = (
    "Ray is not connected; expected a connection until the fit is over. Connect with ray.init(address), or "
    "ray.init() for processes on this machine."
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RayEngine:
    """Engine that runs on the workers of a Ray cluster.

    Connect first, with ``ray.init``; the engine does not shut Ray down.

    Parameters
    ----------
    n_tasks : int, optional
        Number of tasks for the partitions; three per processor by default, or one if the results come in blocks.
    fan_in : int
        Number of results that one task combines.
    retries : int
        How often a task is repeated whose worker died, or that could not read or write (`OSError`). Other errors reach
        the caller at once.

    Raises
    ------
    EngineError
        If Ray is not connected, or a worker lacks this version of Hornbeam.
    MissingExtraError
        Without the package ray: ``pip install 'hornbeam[ray]'``.

    Notes
    -----
    The result does not depend on the workers, or on which of them die: tasks are pure functions and sums are exact. Ray
    makes a lost result again by running its task again. The tasks read the rows, so the workers must see the files
    under the same paths.

    Examples
    --------
    >>> import ray  # doctest: +SKIP
    >>> ray.init()  # doctest: +SKIP
    >>> def count(partitions, shared):
    ...     return [sum(partitions), len(partitions)]
    >>> RayEngine().reduce(count, [3, 4, 5], None, blocks=2)  # doctest: +SKIP
    [12, 3]
    """

    n_tasks: int | None = None
    fan_in: int = 8
    retries: int = 3

    def __post_init__(self) -> None:
        check_counts(self, n_tasks=1, fan_in=2, retries=0)
        import_extra("ray", "ray", "RayEngine")
        _check_versions()

    @property
    def parallelism(self) -> int:
        """Number of processors of the cluster."""
        import ray

        with _explained():
            return max(1, int(ray.cluster_resources().get("CPU", 1)))

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
        import ray

        def remote(function: Callable[..., Any], n_results: int = 1) -> Any:
            options = {"max_retries": self.retries, "retry_exceptions": [OSError], "num_returns": n_results}
            return ray.remote(function).options(**options).remote

        with _explained():
            n_tasks = self.n_tasks or self.parallelism * (_TASKS_PER_CPU if blocks == 1 else 1)
            groups = group_partitions(partitions, n_tasks)
            pass_ = ray.put(_Pass(task, shared, combine, blocks, finish))
            fold, add, end = remote(_fold, blocks), remote(_combine), remote(_finish)
            folded = [fold(pass_, group) for group in groups]
            columns = [folded] if blocks == 1 else list(zip(*folded, strict=True))
            started, totals = list(columns[0]), []
            for block, parts in enumerate(columns):
                while len(parts) > self.fan_in:
                    parts = [add(pass_, *some) for some in batched(parts, self.fan_in)]
                    started += parts
                totals.append(end(pass_, block, *parts))
            try:
                return deepcopy(ray.get(totals))
            except BaseException:  # after an error or an interrupt, tasks may still run
                for result in (*started, *totals):
                    ray.cancel(result)
                raise

    def close(self) -> None:
        """Do nothing: the connection belongs to the caller."""


# ---- tasks ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Pass:
    """The arguments of `reduce` that all tasks need."""

    task: Task
    shared: Any
    combine: Callable[[Any, Any], Any]
    blocks: int
    finish: Callable[[int, Any, Any], Any] | None


def _fold(run: _Pass, partitions: Sequence[Any]) -> Any:
    parts = fold_partitions(run.task, partitions, run.shared, run.blocks)
    return tuple(parts) if run.blocks > 1 else parts[0]


def _combine(run: _Pass, *parts: Any) -> Any:
    return combine_parts(run.combine, parts)  # which copies: arrays of the object store cannot be changed


def _finish(run: _Pass, block: int, *parts: Any) -> Any:
    total = _combine(run, *parts)
    return total if run.finish is None else run.finish(block, total, run.shared)


# ---- errors --------------------------------------------------------------------------------------------


@contextmanager
def _explained() -> Iterator[None]:
    """Raise an error of a task unchanged, and an `EngineError` if workers died or Ray is not connected."""
    import ray
    from ray.exceptions import RayError, RayTaskError

    try:
        yield
    except HornbeamError:
        raise
    except RayError as error:
        reason: BaseException = error
        while isinstance(reason, RayTaskError):  # a task that needed the result of another one has its error
            reason = reason.cause
        if not isinstance(reason, RayError):
            raise reason from error
        raise EngineError(
            f"Ray could not finish a pass over the data: {' '.join(str(reason).split())} Most often a task needs more "
            "memory than its worker has: use more tasks (n_tasks=), or give workers more memory. Then fit again; with "
            "a checkpoint the fit continues where it was."
        ) from error
    except Exception as error:
        if ray.is_initialized():
            raise
        raise EngineError(_NOT_CONNECTED) from error


def _check_versions() -> None:
    """Compare the versions of Hornbeam, by a function that works on machines without Hornbeam."""
    import ray
    from ray.exceptions import RayTaskError
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    if not ray.is_initialized():
        raise EngineError(_NOT_CONNECTED)
    version_name = "hornbeam:__version__"
    here = resolve_name(version_name)
    ask = ray.remote(resolve_name)
    for node in [node for node in ray.nodes() if node["Alive"]]:
        on_node = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        try:
            found = ray.get(ask.options(num_cpus=0, scheduling_strategy=on_node).remote(version_name))
        except RayTaskError as error:
            found = f"none ({error.cause})"
        if found != here:
            raise EngineError(
                f"{node['NodeManagerAddress']} has Hornbeam {found}; expected {here}, as on this side. Install the "
                "same version on every machine, or name it: ray.init(runtime_env={'pip': ['hornbeam']})."
            )
