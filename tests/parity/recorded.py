"""The recorded trees and the data they were grown from.

The UCI collection is not part of the repository: its folder is named by the environment variable
HORNBEAM_DATA, or is `../shared/data/uci` seen from the repository's root.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

from dataset import Dataset

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]


@cache
def recording(mode: str) -> dict[str, Any]:
    """The recording of the UCI sets in one mode: unpruned, pruned or reduced_error."""
    recorded: dict[str, Any] = json.loads(gzip.decompress((HERE / "j48" / f"{mode}.json.gz").read_bytes()))
    return recorded


@cache
def small_recording() -> dict[str, Any]:
    """The recording of the small sets, all modes, rows included."""
    recorded: dict[str, Any] = json.loads((HERE / "j48" / "small.json").read_text(encoding="utf-8"))
    return recorded


@cache
def small_set(name: str) -> Dataset:
    entry = small_recording()["sets"][name]
    return Dataset.of_rows(name, entry["header"], entry["rows"])


def uci_folder() -> Path:
    """Where the UCI collection is looked for; it need not exist."""
    named = os.environ.get("HORNBEAM_DATA")
    return Path(named) if named else REPOSITORY.parent / "shared" / "data" / "uci"


def why_not(name: str, sha256: str) -> str | None:
    """Why a recorded UCI set cannot be read here, or None when it can."""
    path = uci_folder() / f"{name}.parquet"
    if not path.exists():
        return f"no {path}: set HORNBEAM_DATA to the folder of the UCI collection"
    if hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
        return f"{path} is not the file the tree was recorded from: its checksum differs"
    return None


def uci_set(name: str) -> Dataset:
    return Dataset.of_parquet(uci_folder() / f"{name}.parquet")


def first_difference(recorded: dict[str, Any], grown: dict[str, Any]) -> str | None:
    """Where two trees part, in level order: tests and labels exactly, weights up to rounding of the sums."""
    for i, (feature, threshold, child, label) in enumerate(_nodes(recorded)):
        if i == len(grown["feature"]):
            return f"only {i} nodes of {len(recorded['feature'])}"
        own = grown["feature"][i], grown["threshold"][i], grown["first_child"][i], grown["label"][i]
        if (feature, threshold, child, label) != own:
            return f"node {i}: recorded {(feature, threshold, child, label)}, grown {own}"
        for kind in ("weight", "pruning_weight"):
            if kind in recorded and not _close(recorded[kind][i], grown[kind][i]):
                return f"node {i}: recorded {kind} {recorded[kind][i]}, grown {grown[kind][i]}"
    extra = len(grown["feature"]) - len(recorded["feature"])
    return f"{extra} nodes too many" if extra else None


def _nodes(tree: dict[str, Any]) -> zip[tuple[int, float | None, int, int]]:
    return zip(tree["feature"], tree["threshold"], tree["first_child"], tree["label"], strict=True)


def _close(one: list[float], other: list[float]) -> bool:
    return all(abs(a - b) <= 1e-9 * max(1.0, abs(a)) for a, b in zip(one, other, strict=True))
