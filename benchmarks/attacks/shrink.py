"""The smallest case, of plain JSON values, that still fails for the same reason."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any


def shrink[T](case: T, fails: Callable[[T], bool], seconds: float = 60.0, tries: int = 2000) -> T:
    """Take smaller values for as long as `fails` says that they still fail."""
    end = time.monotonic() + seconds
    best, going = case, True
    while going:
        going = False
        for smaller in candidates(best):
            tries -= 1
            if tries < 0 or time.monotonic() > end:
                return best
            if fails(smaller):
                best, going = smaller, True
                break
    return best


def candidates(value: Any) -> Iterator[Any]:
    """Values that are a little smaller, those that take away most first."""
    if isinstance(value, dict):
        yield from _of_dict(value)
    elif isinstance(value, list):
        yield from _of_list(value)
    elif isinstance(value, str):
        yield from _of_text(value)
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, (int, float)):
        yield from _of_number(value)


def _of_dict(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for key in value:
        yield {other: inner for other, inner in value.items() if other != key}
    for key, inner in value.items():
        for smaller in candidates(inner):
            yield value | {key: smaller}


def _of_list(value: list[Any]) -> Iterator[list[Any]]:
    size = len(value)
    while size:
        for begin in range(0, len(value), size):
            yield value[:begin] + value[begin + size :]
        size //= 2
    for at, inner in enumerate(value):
        for smaller in candidates(inner):
            yield [*value[:at], smaller, *value[at + 1 :]]


def _of_text(value: str) -> Iterator[str]:
    size = len(value)
    while size:
        for begin in range(0, len(value), size):
            yield value[:begin] + value[begin + size :]
        size //= 2


def _of_number(value: float) -> Iterator[float]:
    if value != value or value in (float("inf"), float("-inf")):
        yield 0
        return
    tried: list[float] = [0, 1, int(value), -value if value < 0 else value, int(value / 2)]
    if isinstance(value, int):
        tried.append(value - 1 if value > 0 else value + 1)
    seen = {value}
    for smaller in tried:
        if smaller not in seen and abs(smaller) <= abs(value):
            seen.add(smaller)
            yield smaller


def kind_of(verdict: str) -> str:
    """What two failures of the same kind have in common: their words without numbers and quotations."""
    return re.sub(r"'[^']*'|\"[^\"]*\"|-?[0-9][0-9a-fx.e+-]*", "#", verdict)[:60]
