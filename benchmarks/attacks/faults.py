"""What faults of every kind of cluster share: the rows, the fit, the moment of the fault, and what must come of it."""

from __future__ import annotations

import errno
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.attacks.subjects import rows, scratch
from hornbeam import TreeClassifier
from hornbeam.data.files.parquet import scan_parquet
from hornbeam.errors import EngineError
from hornbeam.out_of_core.fit import fit
from hornbeam.out_of_core.plan import Plan
from hornbeam.recipe import PRESETS

ROWS, DEPTH = 6_000, 4
FULL_DISK = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}

type Fit = Callable[
    [Any, Path, Callable[[int], None]], str
]  # of a cluster, a folder, what is called at each pass: the digest


@cache
def frame() -> Any:
    import pandas as pd

    X, y = rows(ROWS)
    return pd.DataFrame(X, columns=[f"x{f}" for f in range(X.shape[1])]).assign(y=y)


@cache
def files() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="rows-"))
    for number, begin in enumerate(range(0, ROWS, 1500)):
        frame()[begin : begin + 1500].to_parquet(folder / f"{number}.parquet", row_group_size=500)
    return folder


@dataclass(slots=True)
class Watched:
    """An engine that calls `on_pass` when a pass begins."""

    engine: Any
    on_pass: Callable[[int], None]
    parallelism: int = 2
    n_passes: int = 0

    def reduce(self, *arguments: Any, **options: Any) -> list[Any]:
        self.on_pass(self.n_passes)
        self.n_passes += 1
        return self.engine.reduce(*arguments, **options)

    def close(self) -> None:
        self.engine.close()


def grow(engine: Watched, folder: Path) -> str:
    """Grow a tree level by level from files, with a cache of codes and a checkpoint; its digest."""
    source = scan_parquet(files(), target="y", engine=engine)
    recipe = replace(PRESETS["cart"], grower=replace(PRESETS["cart"].grower, max_depth=DEPTH))
    kept = {"cache": folder / "cache", "checkpoint": folder / "checkpoint"}
    return fit(source, recipe, engine, plan=Plan.of(source, recipe, memory=ROWS * 8), **kept).digest


@cache
def in_memory() -> str:
    data = frame()
    return TreeClassifier("cart", max_depth=DEPTH).fit(data.drop(columns="y"), data["y"]).tree_.digest


@dataclass(slots=True)
class Fault:
    """A fault at a moment of a pass, in a thread of its own."""

    act: Callable[[Any, int], None]
    cluster: Any
    number: int
    at: int
    delay: float
    over: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None
    happened: bool = False

    def on_pass(self, number: int) -> None:
        if number == self.at and self.thread is None:
            self.thread = threading.Thread(target=self._run, daemon=True)
            self.thread.start()

    def _run(self) -> None:
        if not self.over.wait(self.delay):
            self.happened = True
            self.act(self.cluster, self.number)

    def end(self) -> None:
        self.over.set()
        if self.thread is not None:
            self.thread.join(60)


def attempt(
    call: Fit, fault: Fault, working_cluster: Callable[[], Any], wanted: Callable[[], str] = in_memory
) -> str | None:
    """A fit with a fault; after an `EngineError`, or an OSError of a full disk, the fit again on a working cluster."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            digest = call(fault.cluster, folder, fault.on_pass)
            wrong = None if digest == wanted() else f"another tree: {digest}"
        except EngineError as error:
            wrong = None if len(str(error)) > 40 else f"an error that says little: {error}"
            digest = ""
        except BaseException as error:
            full = isinstance(error, OSError) and error.errno in FULL_DISK
            wrong, digest = None if full else f"{type(error).__name__}: {error}", ""
        finally:
            fault.end()
        if wrong is None and not digest:
            again = call(working_cluster(), folder, lambda _: None)
            wrong = None if again == wanted() else f"another tree after the fault: {again}"
    return wrong


def left_behind(before: set[str]) -> str | None:
    end = time.monotonic() + 10
    while scratch() - before:
        if time.monotonic() > end:
            return f"{len(scratch() - before)} folders left behind"
        time.sleep(0.05)
    return None


def send_signal(pids: list[int], number: int, what: signal.Signals) -> int:
    """Send a signal to one of some processes, chosen by a number; return its id, 0 without processes."""
    if not pids:
        return 0
    pid = pids[number % len(pids)]
    with suppress(ProcessLookupError):
        os.kill(pid, what)
    return pid
