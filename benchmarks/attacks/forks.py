"""Calls in several threads at once, and processes forked in the midst of them: every result is that of a call alone."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np

from benchmarks.attacks.limits import in_a_fork
from benchmarks.attacks.subjects import KINDS, Subject, subject, undisturbed

HEAVY, IN_CI = True, 6
LIMIT, PATIENCE = 120.0, 300.0


def draw(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "kinds": [str(kind) for kind in rng.choice(KINDS, rng.integers(1, 4))],
        "n_jobs": int(rng.integers(1, 3)),
        "forks": [
            [str(rng.choice(KINDS)), round(float(rng.random()), 3)] for _ in range(int(rng.integers(0, 3)))
        ],
    }


def judge(case: dict[str, Any]) -> str | None:
    jobs = 2 if case.get("n_jobs") == 2 else 1
    kinds = [kind for kind in case.get("kinds", []) if kind in KINDS]
    forks = [fork for fork in case.get("forks", []) if len(fork) == 2 and fork[0] in KINDS]
    known = {kind: undisturbed(kind, False, jobs) for kind in [*kinds, *(kind for kind, _ in forks)]}
    calls = [Call(kind, jobs) for kind in kinds]
    for call in calls:
        call.start()
    wrong = None
    for kind, share in forks:
        time.sleep(share * max((known[other][0] for other in kinds), default=0.0))
        wrong = wrong or in_a_fork(lambda kind=kind: check_call(subject(kind, False, jobs), known[kind][2]))
        wrong = wrong and f"{kind} in a fork: {wrong}"
    for call in calls:
        call.join()
        wrong = wrong or call.wrong or check_state(call.subject, known[call.kind][2])
    return wrong


class Call(threading.Thread):
    """A call in a thread of its own."""

    def __init__(self, kind: str, jobs: int) -> None:
        super().__init__()
        self.kind, self.subject = kind, subject(kind, False, jobs)
        self.wrong: str | None = None

    def run(self) -> None:
        try:
            self.subject.act()
        except Exception as error:
            self.wrong = f"{self.kind} in a thread: {type(error).__name__}: {error}"


def check_call(one: Subject, after: str) -> str | None:
    one.act()
    return check_state(one, after)


def check_state(one: Subject, after: str) -> str | None:
    state = one.state()
    return None if state == after else f"another result: {state}, expected {after}"
