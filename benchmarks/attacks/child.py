"""A process that judges cases and may crash: crashes, hangs and too much memory are reported by name.

The parent asks for a range of cases, or for one case that it has. The number of the case at work is in memory that
outlives the child. Processor time is limited by the kernel (SIGPROF), for code that no Python handler can
interrupt; time by the clock and memory by the parent.
"""

from __future__ import annotations

import faulthandler
import json
import mmap
import os
import resource
import shutil
import signal
import struct
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.attacks.areas import Area, Case

ANSWER = 0.25  # seconds after which a child reports its progress
LARGEST = 4096  # MB at which the parent ends a child


class Child:
    """A forked process with one area."""

    def __init__(self, area: Area, seed: int) -> None:
        self.area, self.seed = area, seed
        self.progress = mmap.mmap(-1, 16)  # the case at work, and how many were begun
        self.folder = Path(tempfile.mkdtemp(prefix="hornbeam-attack-"))
        self.log = self.folder / "log"
        self.asked: Case | range = range(0)
        self._begun, self._since = 0, time.monotonic()
        self._ended_by = ""
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.close(self._out)
                os.close(self._in)
                self._serve(theirs_in, theirs_out)
            finally:
                os._exit(1)
        os.close(theirs_in)
        os.close(theirs_out)
        self._answers = os.fdopen(self._in)

    # ---- in the parent ------------------------------------------------------------------------------------

    def fileno(self) -> int:
        return self._in

    def ask(self, what: Case | range) -> None:
        """Have cases judged: those of a range of indices, or one as it is."""
        self.asked, self._since = what, time.monotonic()
        said = {"range": [what.start, what.stop]} if isinstance(what, range) else {"case": what}
        with suppress(BrokenPipeError):  # the child is dead, which reading its results will show
            os.write(self._out, json.dumps(said).encode() + b"\n")

    def answer(self) -> dict[str, Any]:
        """How many were judged; of the last one its index, its case and what went wrong, if anything did."""
        line = self._answers.readline()
        if line:
            self._since = time.monotonic()
            return json.loads(line)  # type: ignore[no-any-return]
        return self._how_it_ended()

    def _how_it_ended(self) -> dict[str, Any]:
        _, status = os.waitpid(self.pid, 0)
        number = os.waitstatus_to_exitcode(status)
        at, _ = self._state()
        self.pid = 0
        if number == -signal.SIGPROF:
            verdict = f"hang: more than {self.area.limit:g} s of processor time"
        else:
            verdict = self._ended_by or f"crash: exit status {number}{self._last_error_line()}"
        if not isinstance(self.asked, range):
            return {"done": 1, "verdict": verdict, "case": self.asked, "dead": True}
        case = self.area.case(self.seed, at)
        return {
            "done": at - self.asked.start + 1,
            "index": at,
            "verdict": verdict,
            "case": case,
            "dead": True,
        }

    def watch(self) -> None:
        """End it if it is too large, or if its case takes too long by the clock."""
        _, begun = self._state()
        if begun != self._begun:
            self._begun, self._since = begun, time.monotonic()
        patience = self.area.patience + (self.area.warm_up if begun <= 1 else 0)
        if time.monotonic() - self._since > patience:
            self._end(f"hang: no answer in {patience:g} s")
        elif self.size() > LARGEST:
            self._end(f"memory: more than {LARGEST} MB")

    def size(self) -> float:
        """MB in memory now."""
        try:
            pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        except (OSError, IndexError):
            return 0.0
        return pages * resource.getpagesize() / 2**20

    def close(self) -> None:
        """End it and all that it started."""
        if self.pid:
            self._end("closed")
            os.waitpid(self.pid, 0)
        os.close(self._out)
        self._answers.close()
        self.progress.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _end(self, why: str) -> None:
        self._ended_by = why
        for end in (os.killpg, os.kill):
            with suppress(ProcessLookupError, PermissionError):
                end(self.pid, signal.SIGKILL)

    def _state(self) -> tuple[int, int]:
        return struct.unpack_from("<qq", self.progress)  # type: ignore[return-value]

    def _last_error_line(self) -> str:
        """What a sanitizer or the C library said at the end."""
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        telling = [line for line in lines if "ERROR" in line or "rror:" in line or "what()" in line]
        return f", {(telling or lines)[-1].strip()[:200]}" if lines else ""

    # ---- in the child -------------------------------------------------------------------------------------

    def _serve(self, asks: int, answers: int) -> None:
        os.setpgid(0, 0)  # what it starts is ended with it
        log = os.open(self.log, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        faulthandler.enable()
        temporary = self.folder / "tmp"
        temporary.mkdir()
        os.environ["TMPDIR"] = tempfile.tempdir = str(temporary)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        with os.fdopen(asks) as lines:
            for line in lines:
                asked = json.loads(line)
                told = (
                    self._judge_range(range(*asked["range"]))
                    if "range" in asked
                    else self._one(asked["case"], 0)
                )
                os.write(answers, json.dumps(told).encode() + b"\n")
        os._exit(0)

    def _judge_range(self, indices: range) -> dict[str, Any]:
        begin, told = time.monotonic(), {}
        for done, index in enumerate(indices, start=1):
            told = self._one(self.area.case(self.seed, index), index) | {"done": done, "index": index}
            if told["verdict"] is not None or time.monotonic() - begin > ANSWER:
                break
        return told if told.get("verdict") else {"done": told["done"], "verdict": None, "peak": told["peak"]}

    def _one(self, case: Case, index: int) -> dict[str, Any]:
        _, begun = self._state()
        struct.pack_into("<qq", self.progress, 0, index, begun + 1)
        before, extra = _peak(), 0.0 if begun else self.area.warm_up
        signal.setitimer(signal.ITIMER_PROF, self.area.limit + extra)
        verdict = judged(self.area, case)
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        peak = _peak()
        if verdict is None and not extra and peak - before > self.area.memory:
            verdict = f"memory: {peak - before:.0f} MB more for one case"
        return {"done": 1, "verdict": verdict, "case": case, "peak": peak}


def judged(area: Area, case: Case) -> str | None:
    """What the area says; an exception that leaves `judge` counts as a failure."""
    try:
        return area.judge(case)
    except BaseException as error:
        return f"{type(error).__name__} left judge: {error}"[:300]


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
