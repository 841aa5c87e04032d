"""Runs what is not in the cache yet: processes that take a (set, fold, group) at a time.

A process has a limit of CPU seconds for a task; beyond, the kernel ends it (SIGXCPU), compiled code or Java and
all, and what its methods had not yet done is recorded as too slow, here and on the set's other folds.
"""

from __future__ import annotations

import multiprocessing
import resource
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

from benchmarks.quality.studies.cache import Cache, Result
from benchmarks.quality.studies.methods import Group
from benchmarks.quality.studies.sets import N_FOLDS, Entry, Fold, load
from hornbeam.evaluation.scores import ScoreSums

TOO_SLOW = "too slow"


@dataclass(frozen=True, slots=True)
class Task:
    """Methods of a group to be run on a fold."""

    entry: Entry
    fold: int
    group: Group
    wanted: tuple[str, ...]


@dataclass
class Runner:
    """Hands tasks to processes and keeps their results."""

    cache: Cache
    groups: Sequence[Group]
    methods: frozenset[str]  # "group/method"
    n_jobs: int = 2
    seconds: float = 120.0
    n_folds: int = N_FOLDS
    cpu: dict[str, float] = field(default_factory=dict)

    def run(self, entries: Sequence[Entry]) -> None:
        """Run everything that is missing, smallest sets first."""
        todo = {entry.key: self._n_missing(entry) for entry in entries}
        print(
            f"{len(entries)} sets, {sum(todo.values()):,} of {len(entries) * self.n_folds * len(self.groups):,} "
            "tasks to run",
            flush=True,
        )
        log = _Log(todo)
        tasks = self._tasks(entries)
        workers = [_Worker() for _ in range(self.n_jobs)]
        try:
            while busy := self._hand_out(tasks, workers):
                ready = wait([worker.pipe for worker in busy])
                for worker in busy:
                    if worker.pipe in ready and self._listen(worker):
                        log.done(worker.task, self.cpu)
                        worker.task = None
        finally:
            for worker in workers:
                worker.end()

    def _wanted(self, entry: Entry, fold: int, group: Group) -> tuple[str, ...]:
        known = self.cache.read(entry.key, group.name, fold)
        return tuple(
            method
            for method in group.methods
            if method not in known and f"{group.name}/{method}" in self.methods
        )

    def _n_missing(self, entry: Entry) -> int:
        return sum(
            bool(self._wanted(entry, fold, group)) for group in self.groups for fold in range(self.n_folds)
        )

    def _tasks(self, entries: Sequence[Entry]) -> Iterator[Task]:
        for entry in entries:
            for group in self.groups:
                for fold in range(self.n_folds):
                    if wanted := self._wanted(entry, fold, group):
                        yield Task(entry, fold, group, wanted)

    def _hand_out(self, tasks: Iterator[Task], workers: list[_Worker]) -> list[_Worker]:
        """Give idle processes a task each; return those at work."""
        for worker in workers:
            while worker.task is None and (task := next(tasks, None)) is not None:
                slow = self._slow_before(task)
                rest = tuple(method for method in task.wanted if method not in slow)
                self.cache.add(task.entry.key, task.group.name, task.fold, slow)
                if rest:
                    worker.begin(Task(task.entry, task.fold, task.group, rest), self.seconds)
        return [worker for worker in workers if worker.task is not None]

    def _slow_before(self, task: Task) -> dict[str, Result]:
        """What was too slow on a fold would be on the next."""
        slow: dict[str, Result] = {}
        for fold in range(self.n_folds):
            for method, result in self.cache.read(task.entry.key, task.group.name, fold).items():
                if method in task.wanted and (result.reason or "").startswith(TOO_SLOW):
                    slow[method] = Result(None, reason=result.reason)
        return slow

    def _listen(self, worker: _Worker) -> bool:
        """Take a message; True when the task has ended, one way or the other."""
        task = worker.task
        assert task is not None
        try:
            message = worker.pipe.recv()
        except EOFError:
            reason = worker.bury(self.seconds)
            message = ("end", self.seconds if reason.startswith(TOO_SLOW) else 0.0, reason)
        if message[0] == "result":
            worker.results[message[1]] = message[2]
            return False
        _, cpu, reason = message
        self.cpu[task.group.name] = self.cpu.get(task.group.name, 0.0) + cpu
        results = dict(worker.results)
        if reason and reason.startswith(TOO_SLOW):
            results |= {m: Result(None, reason=reason) for m in task.wanted if m not in results}
        elif reason:  # not kept: the next run tries again
            print(
                f"{task.entry.key} {task.group.name} fold {task.fold}: {reason}", file=sys.stderr, flush=True
            )
        self.cache.add(task.entry.key, task.group.name, task.fold, results)
        return True


class _Worker:
    """A process and the pipe to it; started when it first has something to do."""

    def __init__(self) -> None:
        self.task: Task | None = None
        self.results: dict[str, Result] = {}
        self.pipe: Connection[Any, Any] = None  # type: ignore[assignment]
        self._process: Any = None

    def begin(self, task: Task, seconds: float) -> None:
        if self._process is None:
            # Forked before any library has started a thread, and without reading all imports again.
            context = multiprocessing.get_context("fork")
            self.pipe, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
            self._process.start()
            theirs.close()
        self.task, self.results = task, {}
        self.pipe.send((task.entry, task.fold, task.group.name, task.wanted, seconds))

    def bury(self, seconds: float) -> str:
        """Why the process died."""
        self._process.join()
        code = self._process.exitcode
        self._process = None
        self.pipe.close()
        if code == -signal.SIGXCPU:
            return f"{TOO_SLOW}: more than {seconds:g} CPU seconds"
        return f"the process ended with {code}"

    def end(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.join()
            self.pipe.close()


_ANSWERING: dict[str, Group] = {}


def register(groups: Sequence[Group]) -> None:
    """Tell the processes to come which groups there are."""
    _ANSWERING.update({group.name: group for group in groups})


def _serve(pipe: Connection[Any, Any]) -> None:
    """Run tasks until no more come."""
    while True:
        try:
            entry, number, name, wanted, seconds = pipe.recv()
        except EOFError:
            return
        begin = time.process_time()
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        # Whole seconds, counted from the start of the process.
        resource.setrlimit(resource.RLIMIT_CPU, (int(begin + seconds) + 1, hard))
        reason = None
        try:
            fold = Fold(load(entry), number)
            for outcome in _ANSWERING[name].run(fold, frozenset(wanted)):
                if outcome.method in wanted:
                    pipe.send(("result", outcome.method, _result(fold, outcome)))
        except Exception as error:
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
        pipe.send(("end", time.process_time() - begin, reason))


def _result(fold: Fold, outcome: Any) -> Result:
    tally = None
    if outcome.probabilities is not None:
        tally = ScoreSums.of(fold.y_test, outcome.probabilities, labels=range(fold.n_classes))
    return Result(
        tally,
        outcome.seconds,
        outcome.size,
        outcome.reason,
        outcome.leaves,
        outcome.depth,
        outcome.steps,
        outcome.numbers,
        dict(outcome.costs),
    )


class _Log:
    """A line for every finished set, and on a terminal what is going on."""

    def __init__(self, todo: dict[str, int]) -> None:
        self._todo = dict(todo)
        self._n_tasks = sum(todo.values())
        self._n_done = 0
        self._begin = time.monotonic()

    def done(self, task: Task | None, cpu: dict[str, float]) -> None:
        assert task is not None
        key = task.entry.key
        self._n_done += 1
        self._todo[key] -= 1
        share = self._n_done / self._n_tasks
        spent = time.monotonic() - self._begin
        line = f"{share:6.1%} of tasks, {spent / 60:5.1f} min, {sum(cpu.values()) / 60:5.1f} CPU min  {key}"
        if self._todo[key] == 0:
            print(f"{line}: done, {task.entry.n_rows:,} rows", flush=True)
        elif sys.stdout.isatty():
            print(f"{line} {task.group.name} fold {task.fold}", end="\033[K\r", flush=True)
