"""Spark engine: a pass is one job over groups of partitions; only partitions and sums pass through the JVM."""

from __future__ import annotations

import pickle
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from functools import partial
from math import ceil
from operator import iadd
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from hornbeam.data.engine import Task, check_counts, fold_partitions, group_partitions
from hornbeam.errors import EngineError, HornbeamError, ParameterError, import_extra

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

_TASKS_PER_CORE = 2  # few, because a Python task costs Spark about 50 ms


@dataclass(frozen=True, slots=True, eq=False)
class SparkEngine:
    """Engine that runs on the executors of a Spark cluster.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
        A classic session; the engine does not stop it.
    n_tasks : int, optional
        Number of tasks for the partitions; two per core by default.
    fan_in : int
        Number of results that one task combines.

    Raises
    ------
    EngineError
        If executors lack this version of Hornbeam.
    MissingExtraError
        Without the package pyspark: ``pip install 'hornbeam[spark]'``.

    Notes
    -----
    The tasks read the rows, so the executors must see the files under the same paths as the driver. Spark repeats
    failed tasks and those of lost executors (``spark.task.maxFailures``).

    Examples
    --------
    >>> from pyspark.sql import SparkSession  # doctest: +SKIP
    >>> def count(partitions, shared):
    ...     return [sum(partitions), len(partitions)]
    >>> SparkEngine(SparkSession.builder.getOrCreate()).reduce(count, [3, 4, 5], None, blocks=2)  # doctest: +SKIP
    [12, 3]
    """

    spark: SparkSession
    _: KW_ONLY
    n_tasks: int | None = None
    fan_in: int = 8

    def __post_init__(self) -> None:
        check_counts(self, n_tasks=1, fan_in=2)
        _check_session(self.spark)
        with _explained(self.spark):
            _check_versions(self._context)

    @property
    def _context(self) -> SparkContext:
        return self.spark.sparkContext

    @property
    def parallelism(self) -> int:
        """Number of cores of all executors (Spark's default parallelism)."""
        with _explained(self.spark):
            return max(1, int(self._context.defaultParallelism))

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
        with _explained(self.spark):
            default = _TASKS_PER_CORE * self.parallelism
            groups = group_partitions(partitions, self.n_tasks or default)
            wrap = partial(partial, _with_pickled_error)
            parts = self._context.parallelize(list(enumerate(groups)), len(groups)).flatMap(
                wrap(partial(_fold, task, shared, blocks))
            )
            n_keys = len(groups) * blocks
            while n_keys > blocks:  # key modulo `blocks` is the block, and stays so
                n_keys = ceil(n_keys / blocks / self.fan_in) * blocks
                parts = parts.map(partial(_narrow, n_keys)).reduceByKey(
                    wrap(combine), min(n_keys, default), int
                )
            if finish is not None:
                parts = parts.map(wrap(partial(_finish, finish, shared)))
            return [result for _, result in sorted(_collect(parts), key=lambda pair: pair[0])]

    def close(self) -> None:
        """Do nothing: the session belongs to the caller."""


# ---- tasks ---------------------------------------------------------------------------------------------


def _fold(task: Task, shared: Any, blocks: int, numbered: tuple[int, Sequence[Any]]) -> list[tuple[int, Any]]:
    number, partitions = numbered
    return list(enumerate(fold_partitions(task, partitions, shared, blocks), start=number * blocks))


def _narrow(n_keys: int, pair: tuple[int, Any]) -> tuple[int, Any]:
    key, part = pair
    return key % n_keys, part


def _finish(finish: Callable[[int, Any, Any], Any], shared: Any, pair: tuple[int, Any]) -> tuple[int, Any]:
    block, total = pair
    return block, finish(block, total, shared)


# ---- errors: Spark passes on only their text, so the text contains the pickled error ----------------------


def _with_pickled_error(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except Exception as error:
        from pyspark import cloudpickle

        raise RuntimeError(f"[hornbeam:{b64encode(cloudpickle.dumps(error)).decode()}]") from error


def _collect(parts: Any) -> Any:
    try:
        return parts.collect()
    except _failures() as error:
        pickled = re.search(r"\[hornbeam:([\w+/=]+)\]", str(error))
        if pickled:
            raise pickle.loads(b64decode(pickled[1])) from error  # noqa: S301 - written by our own task
        raise EngineError(
            f"Spark could not finish a pass over the data: {_reason(error)}. Look at the executors' logs; most "
            "often one needs more memory (spark.executor.memoryOverhead)."
        ) from error


@contextmanager
def _explained(spark: SparkSession) -> Iterator[None]:
    """Convert errors of a session that has ended into an `EngineError`; errors of a task are raised unchanged."""
    try:
        yield
    except HornbeamError:
        raise
    except Exception as error:
        if _is_alive(spark):
            raise
        raise EngineError(
            f"The Spark session has ended: it was stopped, or its driver has died ({type(error).__name__}). Start a "
            "new session and fit again; with a checkpoint the fit continues where it was."
        ) from error


def _is_alive(spark: SparkSession) -> bool:
    from py4j.protocol import Py4JError

    try:
        return not spark.sparkContext._jsc.sc().isStopped()
    except (AttributeError, OSError, Py4JError):
        return False


def _failures() -> tuple[type[Exception], ...]:
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    return Py4JJavaError, PySparkException


def _reason(error: Exception) -> str:
    """Return the last line of a long message that names an error."""
    lines = [line for line in str(error).splitlines() if re.match(r"[\w.]+(Error|Exception): ", line)]
    return (lines or [str(error)])[-1].rstrip(".")


def _check_session(spark: SparkSession) -> None:
    import_extra("pyspark", "spark", "SparkEngine")
    from pyspark.sql import SparkSession

    if not isinstance(spark, SparkSession):
        raise ParameterError(
            f"spark is {spark!r}; expected a classic pyspark.sql.SparkSession: one of Spark Connect cannot run "
            "tasks of Python. Start it where the driver is, with SparkSession.builder.getOrCreate()."
        )


def _check_versions(context: SparkContext) -> None:
    """Compare the versions of Hornbeam, by a function that works on machines without Hornbeam."""
    version_name = "hornbeam:__version__"
    here, n = resolve_name(version_name), context.defaultParallelism
    try:
        found = set(context.parallelize([version_name] * n, n).map(resolve_name).collect())
    except _failures() as error:
        found = {_reason(error)}
    if found != {here}:
        raise EngineError(
            f"The executors have Hornbeam {', '.join(sorted(found))}; expected {here}, as on this side. "
            "Install the same version on every machine, or send a packed environment along (spark.archives)."
        )
