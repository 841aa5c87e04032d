"""The areas of attack: every module of this folder that defines `draw` and `judge`.

    IN_CI = 1000                                    # how many cases CI tries; 0: CI leaves the area out
    def draw(rng: np.random.Generator) -> dict      # a case, as plain JSON values
    def judge(case: dict) -> str | None             # None: used or properly refused; else what went wrong

An area may also define:

    NEEDS = ("distributed",)    packages without which the area is left out
    HEAVY = True                a case takes seconds: left out unless it is asked for
    LIMIT = 1.0                 seconds of processor time a case may take
    PATIENCE = 60.0             seconds by the clock a case may take without a result
    MEMORY = 256                MB that a case may add to the largest size of its process
    WARM_UP = 30.0              seconds more for the first case of a process, which builds what all cases share
    prepare()                   what is done once, before processes are forked
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

type Case = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Area:
    """A name, how its cases are drawn and judged, and what a case may cost."""

    name: str
    draw: Callable[[np.random.Generator], Case]
    judge: Callable[[Case], str | None]
    prepare: Callable[[], None] = lambda: None
    needs: tuple[str, ...] = ()
    heavy: bool = False
    in_ci: int = 0
    limit: float = 1.0
    patience: float = 60.0
    memory: float = 256.0
    warm_up: float = 30.0

    def missing(self) -> list[str]:
        """The packages that it needs and that are not installed."""
        return [name for name in self.needs if importlib.util.find_spec(name) is None]

    def case(self, seed: int, index: int) -> Case:
        """The case of an index: the same whatever was drawn before."""
        return self.draw(np.random.default_rng([seed, crc32(self.name.encode()), index]))


def names() -> list[str]:
    """The modules of this folder that are areas."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return [file.stem for file in files if _defines(file.read_text(), "draw", "judge")]


def _defines(text: str, *functions: str) -> bool:
    return all(f"\ndef {function}(" in text for function in functions)


def load(name: str) -> Area:
    """An area by its name."""
    module = importlib.import_module(f"benchmarks.attacks.{name}")
    told = {
        field: getattr(module, field.upper())
        for field in ("needs", "heavy", "limit", "patience", "memory", "warm_up")
        if hasattr(module, field.upper())
    }
    if hasattr(module, "prepare"):
        told["prepare"] = module.prepare
    return Area(name, module.draw, module.judge, in_ci=module.IN_CI, **told)
