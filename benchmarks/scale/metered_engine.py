"""The engine of one process with a meter on `reduce`: what each call took, and what it would have moved."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import iadd
from threading import Lock
from typing import Any

from hornbeam.data.engine import LocalEngine


@dataclass(slots=True)
class Reduction:
    """One call of `reduce`: CPU and wall seconds, those of finishing among them; tasks, and bytes of their parts."""

    task: str
    cpu: float = 0.0
    wall: float = 0.0
    finish_cpu: float = 0.0
    n_tasks: int = 0
    moved: int = 0


@dataclass(frozen=True, slots=True)
class Metered(LocalEngine):
    """Threads of this process, metered.

    `weigh` pickles every part to know its size: an engine between machines would send that. It takes time, so
    seconds count only without.
    """

    weigh: bool = False
    reductions: list[Reduction] = field(default_factory=list)
    _lock: Any = field(default_factory=Lock, repr=False)

    def reduce(
        self,
        task: Callable[..., Sequence[Any]],
        partitions: Sequence[Any],
        shared: Any,
        *,
        combine: Callable[[Any, Any], Any] = iadd,
        blocks: int = 1,
        finish: Callable[[int, Any, Any], Any] | None = None,
    ) -> list[Any]:
        """Reduce, and note what it took."""
        note = Reduction(f"{task.__module__.rpartition('.')[2]}.{task.__name__}")
        self.reductions.append(note)

        def run(group: Sequence[Any], shared: Any) -> Sequence[Any]:
            parts = task(group, shared)
            size = sum(len(pickle.dumps(part, protocol=5)) for part in parts) if self.weigh else 0
            with self._lock:
                note.n_tasks += 1
                note.moved += size
            return parts

        def end(block: int, part: Any, shared: Any) -> Any:
            begin = time.process_time()
            assert finish is not None
            result = finish(block, part, shared)
            note.finish_cpu += time.process_time() - begin
            return result

        cpu, wall = time.process_time(), time.perf_counter()
        # By name: slots make a new class, which the empty super() does not know.
        found = LocalEngine.reduce(
            self,
            run,
            partitions,
            shared,
            combine=combine,
            blocks=blocks,
            finish=None if finish is None else end,
        )
        note.cpu, note.wall = time.process_time() - cpu, time.perf_counter() - wall
        return found
