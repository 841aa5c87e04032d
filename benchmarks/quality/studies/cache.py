"""What has been measured, in small files: one for each set, fold and group, so that a study can be killed any time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hornbeam.evaluation.scores import ScoreSums


@dataclass(frozen=True, slots=True)
class Result:
    """The tally of a method on a fold, or the reason why it is missing; the fields are those of `Outcome`."""

    tally: ScoreSums | None
    seconds: float = 0.0
    size: int | None = None
    reason: str | None = None
    leaves: int | None = None
    depth: int | None = None
    steps: int | None = None
    numbers: int | None = None
    costs: Mapping[str, float] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        tally = None
        if self.tally is not None:
            tally = asdict(self.tally) | {"bins": np.round(self.tally.bins, 6).tolist()}
        return {name: getattr(self, name) for name in self.__slots__} | {"tally": tally}

    @classmethod
    def of_plain(cls, plain: dict[str, Any]) -> Result:
        """Read what `plain` wrote; what it wrote before there were leaves, depth, steps, numbers and costs has none."""
        tally = plain["tally"]
        if tally is not None:
            tally = ScoreSums(**tally | {"bins": np.array(tally["bins"])})
        return cls(**plain | {"tally": tally})


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder of results."""

    folder: Path

    def path(self, key: str, group: str, fold: int) -> Path:
        return self.folder / key / f"{group}.{fold}.json"

    def read(self, key: str, group: str, fold: int) -> dict[str, Result]:
        """Results by method; none if the fold has not been run."""
        path = self.path(key, group, fold)
        if not path.exists():
            return {}
        plain = json.loads(path.read_text(encoding="utf-8"))
        return {method: Result.of_plain(result) for method, result in plain.items()}

    def add(self, key: str, group: str, fold: int, results: dict[str, Result]) -> None:
        """Keep results beside those already there; a reader sees all of them or none."""
        path = self.path(key, group, fold)
        path.parent.mkdir(parents=True, exist_ok=True)
        merged = self.read(key, group, fold) | results
        text = json.dumps({method: result.plain() for method, result in merged.items()})
        draft = path.with_suffix(".draft")
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)

    def forget(self, group: str, methods: frozenset[str]) -> None:
        """Drop what some methods of a group gave, so that they are run again."""
        for path in self.folder.glob(f"*/{group}.*.json"):
            plain = json.loads(path.read_text(encoding="utf-8"))
            kept = {method: result for method, result in plain.items() if method not in methods}
            if kept:
                path.write_text(json.dumps(kept), encoding="utf-8")
            else:
                path.unlink()
