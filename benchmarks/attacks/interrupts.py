"""Interrupts (SIGINT) at any moment of a fit, a prediction, an update, a save or a command.

Afterwards the estimator is what it was or what it was to be, no thread and no file is left, and the same call again
gives what an undisturbed one does.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import hornbeam
from benchmarks.attacks.subjects import KINDS, model_state, n_threads, parquet, scratch, subject, undisturbed

HEAVY, IN_CI = True, 8
LIMIT, PATIENCE = 60.0, 300.0
LATEST = 1.0  # seconds of processor time from the signal to the exception


# ---- the interrupt -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class Interrupt:
    """A signal to this process after some seconds, as from a terminal; armed while the call runs."""

    delay: float
    armed: bool = True
    sent: float | None = None  # the processor time at that moment
    _over: threading.Event = field(default_factory=threading.Event)

    def run(self, act: Callable[[], Any]) -> str | None:
        """Make the call and be interrupted; what came of it but an end or a KeyboardInterrupt."""
        before = signal.signal(signal.SIGINT, self._raise)
        sender = threading.Thread(target=self._send)
        wrong = None
        try:
            sender.start()
            act()
            self.armed = False
        except KeyboardInterrupt:
            self.armed = False
        except BaseException as error:
            self.armed = False
            wrong = f"{type(error).__name__} in place of KeyboardInterrupt: {error}"
        late = 0.0 if self.sent is None else time.process_time() - self.sent
        self._over.set()
        sender.join()
        signal.signal(signal.SIGINT, before)
        if wrong is None and late > LATEST:
            wrong = f"the call went on for {late:.1f} s of processor time after the signal"
        return wrong

    def _send(self) -> None:
        if not self._over.wait(self.delay):
            self.sent = time.process_time()
            os.kill(os.getpid(), signal.SIGINT)

    def _raise(self, *_: Any) -> None:
        if self.armed:
            raise KeyboardInterrupt


def interrupt_once(kind: str, fitted: bool, jobs: int, share: float) -> str | None:
    seconds, before, after, threads = undisturbed(kind, fitted, jobs)
    one, files = subject(kind, fitted, jobs), scratch()
    wrong = Interrupt(share * seconds).run(one.act)
    if wrong is None and one.state() not in (before, after):
        wrong = f"neither the old state nor the new: {one.state()}, expected {before} or {after}"
    if wrong is None and scratch() - files:
        wrong = f"files left behind: {len(scratch() - files)}"
    end = time.monotonic() + 10
    while wrong is None and n_threads() > threads:
        if time.monotonic() > end:
            wrong = f"{n_threads()} threads, expected {threads}"
        time.sleep(0.01)
    if wrong is None and kind not in ("update", "forget"):  # those change what they find
        one.act()
        if one.state() != after:
            wrong = f"the same call again gives {one.state()}, expected {after}"
    return wrong


# ---- the command line ---------------------------------------------------------------------------------------


@cache
def command_seconds() -> tuple[float, str]:
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        status, _ = run_command(Path(folder), None)
        assert status == 0, status
        return time.perf_counter() - begin, model_state(hornbeam.load(Path(folder) / "m.hornbeam"))


def run_command(folder: Path, delay: float | None) -> tuple[int, str]:
    command = [
        sys.executable,
        "-m",
        "hornbeam",
        "fit",
        parquet(),
        "--target",
        "y",
        "-o",
        str(folder / "m.hornbeam"),
    ]
    with subprocess.Popen(
        [*command, "--max-depth", "6"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(folder)},
    ) as child:
        if delay is not None:
            time.sleep(delay)
            child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=120)
        return child.returncode, said


def interrupt_command(share: float) -> str | None:
    seconds, digest = command_seconds()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        status, said = run_command(folder, share * seconds)
        began = "import" not in said  # before that, the interpreter alone speaks
        # An interrupt while the interpreter ends ends it by the signal; bash reports that as 130, too.
        if began and status not in (0, 130, -signal.SIGINT):
            return f"exit status {status}: {said.strip().splitlines()[-1:]}"
        if began and "Traceback" in said:
            return "a traceback on the screen"
        left = sorted(file.name for file in folder.iterdir())
        if left not in ([], ["m.hornbeam"]):
            return f"files left behind: {left}"
        if left and model_state(hornbeam.load(folder / "m.hornbeam")) != digest:
            return "another model"
        return None


# ---- cases -------------------------------------------------------------------------------------------------


def draw(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "kind": str(rng.choice([*KINDS, "command"])),
        "fitted": bool(rng.integers(2)),
        "n_jobs": int(rng.integers(1, 3)),
        "moments": [round(float(rng.uniform(0, 1.05)), 3)],
    }


def judge(case: dict[str, Any]) -> str | None:
    kind, jobs = case.get("kind"), case.get("n_jobs", 1)
    if kind not in (*KINDS, "command") or jobs not in (1, 2):
        return None
    for share in case.get("moments", []):
        if kind == "command":
            wrong = interrupt_command(share)
        else:
            wrong = interrupt_once(kind, bool(case.get("fitted")), jobs, share)
        if wrong:
            return f"{kind}: {wrong}"
    return None
