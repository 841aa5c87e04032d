"""Little memory, no threads, small stacks, few files, full disks: what the system refuses.

A call under such limits gives the right result, a MemoryError, an OSError of the system or a HornbeamError; never an
abort of ours, a hang, or half a result. Without the limits the same call then gives the right result. Where OpenBLAS
or the C library ends the process itself, or CPython waits for a thread that had no memory to start
(`threading.Thread.start`), that is theirs, and passes.
"""

from __future__ import annotations

import errno
import faulthandler
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.attacks.subjects import KINDS, Subject, n_threads, scratch, subject, undisturbed
from hornbeam.errors import HornbeamError

HEAVY, IN_CI = True, 8
LIMIT, PATIENCE = 60.0, 300.0
PROCESSOR_SECONDS, CLOCK_SECONDS = 30, 40
NOBODY = 65534
SYSTEM = {errno.ENOMEM, errno.ENOSPC, errno.EFBIG, errno.EAGAIN, errno.EMFILE, errno.EDQUOT}
UPSTREAM = re.compile(
    r"OpenBLAS|static TLS|cannot allocate memory for thread-local data|libgcc_s|threading.py\", line \d+ in start\n"
)
LADDERS: dict[str, list[float]] = {
    "memory": [0.25, 0.5, 1, 2, 4, 6, 8, 12, 16, 24, 32, 64, 128],  # MB beyond what is there
    "threads": [0, 1],  # beyond those that run
    "stack": [64, 128, 256],  # kB of the thread that makes the call
    "recursion": [20, 40, 60, 100],  # calls beyond those that run
    "file": [0, 1000, 4096, 20_000, 100_000],  # bytes a file may have
    "open": [0, 1, 2, 4],  # files beyond those that are open
    "disk": [4, 16, 64, 256],  # kB of the disk for temporary files and models
}
TO_DISK = ("files", "save", "save tensors")


# ---- in a process of its own --------------------------------------------------------------------------------


class Limits:
    """The limits of a case, set on this process; soft ones, so that they can be lifted."""

    def __init__(self, limits: list[Any]) -> None:
        self.limits = dict(limits)
        self.soft: list[tuple[int, tuple[int, int]]] = []
        self.depth = sys.getrecursionlimit()

    def before(self) -> None:
        """What must be set up before the subject is made."""
        if "disk" in self.limits:
            folder = Path(tempfile.gettempdir()) / "small"
            folder.mkdir(exist_ok=True)
            os.unshare(os.CLONE_NEWNS)  # the mount ends with this process
            size = f"size={max(4, int(self.limits['disk']))}k"
            private = ["mount", "--make-rprivate", "/"]
            subprocess.run(private, check=True, capture_output=True)
            mount = ["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(folder)]
            subprocess.run(mount, check=True, capture_output=True)
            tempfile.tempdir = str(folder)

    def set(self) -> None:
        told = self.limits
        if "file" in told:
            sys.dont_write_bytecode = True  # Python would keep the cut bytecode of a module
            self._limit(resource.RLIMIT_FSIZE, int(told["file"]))
        if "open" in told:
            self._limit(
                resource.RLIMIT_NOFILE, len(list(Path("/proc/self/fd").iterdir())) - 1 + int(told["open"])
            )
        if "threads" in told:
            if os.getuid() == 0:  # the superuser has no such limit
                os.setgroups([])
                os.setresgid(NOBODY, NOBODY, NOBODY)
                os.setresuid(NOBODY, NOBODY, NOBODY)
            self._limit(resource.RLIMIT_NPROC, n_threads() + int(told["threads"]))
        if "recursion" in told:
            sys.setrecursionlimit(_depth() + int(told["recursion"]))
        if "memory" in told:
            size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            self._limit(resource.RLIMIT_AS, size + int(told["memory"] * 2**20))

    def lift(self) -> None:
        sys.setrecursionlimit(self.depth)
        for kind, limits in self.soft:
            resource.setrlimit(kind, limits)

    def run(self, act: Callable[[], Any]) -> str | None:
        """Make the call; what came of it that should not have."""
        if "stack" not in self.limits:
            return self._run(act)
        said: list[str | None] = []
        threading.stack_size(max(32, int(self.limits["stack"])) * 1024)
        thread = threading.Thread(target=lambda: said.append(self._run(act)))
        thread.start()
        thread.join()
        threading.stack_size(0)
        return said[0] if said else "the thread ended without an answer"

    def _run(self, act: Callable[[], Any]) -> str | None:
        try:
            self.set()
            act()
        except (MemoryError, HornbeamError):
            return None
        except OSError as error:
            return None if error.errno in SYSTEM else f"OSError {error.errno}: {error}"
        except RecursionError as error:
            return None if "recursion" in self.limits else f"RecursionError: {error}"
        except BaseException as error:
            return f"{type(error).__name__}: {error}"
        finally:
            self.lift()
        return None

    def _limit(self, kind: int, soft: int) -> None:
        before = resource.getrlimit(kind)
        self.soft.append((kind, before))
        resource.setrlimit(kind, (soft, before[1]))


def _depth() -> int:
    frame, n = sys._getframe(), 0
    while frame is not None:
        frame, n = frame.f_back, n + 1  # type: ignore[assignment]
    return n


def limited(limits: Limits, made: Callable[[], Subject], after: str) -> str | None:
    """Make a call under limits, then without."""
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS + 5))
    try:
        limits.before()
        one = made()
    except (OSError, subprocess.CalledProcessError):
        return None  # no right to mount a small disk here, or no room on it for the old file
    before, files = one.state(), scratch()
    wrong = limits.run(one.act)
    if wrong is None and one.state() not in (before, after):
        wrong = f"neither the old state nor the new: {one.state()}, expected {before} or {after}"
    if wrong is None and "threads" not in limits.limits and scratch() - files:  # another user cannot look
        wrong = "files left behind"
    if wrong is None and "disk" not in limits.limits and one.state() == before:
        one.act()
        if one.state() != after:
            wrong = f"without limits the same call gives {one.state()}, expected {after}"
    return wrong


# ---- cases -------------------------------------------------------------------------------------------------


def draw(rng: np.random.Generator) -> dict[str, Any]:
    limit = str(rng.choice(list(LADDERS), p=[0.4, 0.2, 0.1, 0.05, 0.1, 0.05, 0.1]))
    kinds = TO_DISK if limit in ("file", "disk") else KINDS
    return {
        "kind": str(rng.choice(kinds)),
        "fitted": bool(rng.integers(2)),
        "n_jobs": int(rng.integers(1, 3)),
        "limits": [[limit, float(rng.choice(LADDERS[limit]))]],
    }


def judge(case: dict[str, Any]) -> str | None:
    kind, jobs, fitted = case.get("kind"), case.get("n_jobs", 1), bool(case.get("fitted"))
    limits = [limit for limit in case.get("limits", []) if len(limit) == 2 and limit[0] in LADDERS]
    if kind not in KINDS or jobs not in (1, 2) or not limits:
        return None
    if "threads" in dict(limits) and kind in TO_DISK:
        return None  # another user has no right to our files
    after = undisturbed(kind, fitted, jobs)[2]
    wrong = in_a_fork(lambda: limited(Limits(limits), lambda: subject(kind, fitted, jobs), after))
    return None if wrong is None else f"{kind}, {limits[0][0]}: {wrong}"


def in_a_fork(call: Callable[[], str | None]) -> str | None:
    """What the call says in a process of its own, or how that ended."""
    with tempfile.TemporaryFile() as log:
        pipe, theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.dup2(log.fileno(), 2)
            faulthandler.dump_traceback_later(CLOCK_SECONDS, exit=True)
            try:
                answer = call() or "fine"
            except BaseException as error:
                answer = f"{type(error).__name__} after the call: {error}"
            os.write(theirs, answer.encode()[:4000])
            os._exit(0)
        os.close(theirs)
        status = _wait(pid)
        said = os.read(pipe, 4096).decode(errors="replace")
        os.close(pipe)
        if said:
            return None if said == "fine" else said
        log.seek(0)
        words = log.read().decode(errors="replace")
    if UPSTREAM.search(words):
        return None
    if status == -signal.SIGXCPU:
        return f"hang: more than {PROCESSOR_SECONDS} s of processor time"
    if status is None or "Timeout (" in words:
        return f"hang: no answer in {CLOCK_SECONDS} s"
    return f"ended with status {status}: {(words.strip().splitlines() or [''])[-1][:200]}"


def _wait(pid: int) -> int | None:
    """How a process ended; None if it had to be ended."""
    end = time.monotonic() + CLOCK_SECONDS + 10
    while time.monotonic() < end:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None
