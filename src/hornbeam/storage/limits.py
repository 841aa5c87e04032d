"""Kind, version and sizes of a model file, checked against limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from hornbeam.errors import StorageError
from hornbeam.storage import earlier
from hornbeam.storage.values import show

VERSION = (1, 5)  # a reader of 1.x reads every 1.y, and ignores what 1.y added
KINDS = (
    "tree",
    "regression tree",
    "rules",
    "trees",
    "regression trees",
    "tree with slopes",
    "regression tree with slopes",
    "trees with slopes",
    "regression trees with slopes",
)
WITH_SLOPES = " with slopes"  # the end of the names of these kinds
REGRESSION = (*[kind for kind in KINDS if kind.startswith("regression")], *earlier.KINDS)
SLOPED = tuple(kind for kind in KINDS if kind.endswith(WITH_SLOPES))
SEVERAL = (*[kind for kind in KINDS if kind.removesuffix(WITH_SLOPES).endswith("trees")], earlier.KINDS[1])

MOST_NODES = 2**24  # per tree
MOST = {"n_nodes": MOST_NODES, "n_classes": 2**16, "n_features": 2**17, "n_slots": 2**28}
MOST_OF_SEVERAL = MOST | {"n_nodes": 2**26, "n_trees": 2**16}
MOST_OF_SLOPES = {"n_terms": 2**24}
MOST_CELLS = 2**28  # nodes x classes, terms x classes
MOST_COLUMNS = 2**27  # trees x features
DEEPEST = 2**16
_KEYS = {"format", "version", "kind", "features", "classes", "history", "estimator"}
_OPTIONAL = {"sha256", "decision"}


class Sizes(NamedTuple):
    """The sizes from which all array lengths follow."""

    n_nodes: int
    n_classes: int
    n_features: int
    n_slots: int
    n_trees: int = 1  # absent if there is one
    n_terms: int = 0  # of slopes; absent without slopes

    @property
    def n_channels(self) -> int:
        """Columns of evidence: one per class; for regression weight, sum and sum of squares."""
        return self.n_classes or 3

    @property
    def n_outputs(self) -> int:
        """Columns of belief: one per class; for regression the mean."""
        return self.n_classes or 1


def limits(kind: str) -> dict[str, int]:
    """Return the sizes of a file of this kind with their limits."""
    most = MOST_OF_SEVERAL if kind in SEVERAL else MOST
    return most | MOST_OF_SLOPES if kind in SLOPED else most


def sizes_of(header: Mapping[str, Any]) -> Sizes:
    """Read the sizes of a file after checking its format and version."""
    if header.get("format") != "hornbeam":
        raise StorageError(
            f"format is {show(header.get('format'))}; expected 'hornbeam': it is not a Hornbeam model"
        )
    match header.get("version"):
        case [int(major), int(minor)] if bool not in (type(major), type(minor)) and minor >= 0:
            pass
        case version:
            raise StorageError(f"version is {show(version)}; expected two numbers like {list(VERSION)}")
    if major != VERSION[0]:
        raise StorageError(
            f"version is {major}.{minor}; this Hornbeam reads {VERSION[0]}.x: load it with the Hornbeam that "
            "wrote it, or a newer one"
        )
    kind = header.get("kind")
    if not isinstance(kind, str) or kind not in (*KINDS, *earlier.KINDS):
        raise StorageError(
            f"kind is {show(kind)}; expected {', '.join(map(repr, KINDS))}: a newer Hornbeam may know it"
        )
    most = limits(kind)
    _check_keys(header, _KEYS | most.keys(), (major, minor))
    sizes = Sizes(**{name: header[name] for name in most})
    check_sizes(sizes, most)
    if kind in REGRESSION and sizes.n_classes:
        raise StorageError(
            f"n_classes is {sizes.n_classes}; expected 0: the target of a "
            f"{kind.removesuffix(WITH_SLOPES).rstrip('s')} is a number"
        )
    return sizes


def _check_keys(header: Mapping[str, Any], keys: set[str], version: tuple[int, int]) -> None:
    missing = keys - header.keys()
    if missing:
        raise StorageError(f"{min(missing)} is missing; expected {', '.join(sorted(keys))}")
    unknown = header.keys() - keys - _OPTIONAL
    if unknown and version <= VERSION:
        raise StorageError(
            f"{show(min(unknown))} is no key of version {version[0]}.{version[1]}: delete it if you added it"
        )


def check_sizes(sizes: Sizes, most: Mapping[str, int]) -> None:
    """Raise `StorageError` if a size, or a product of two, exceeds its limit."""
    for name, limit in most.items():
        size = getattr(sizes, name)
        if type(size) is not int or not 0 <= size <= limit:
            raise StorageError(f"{name} is {show(size)}; expected a whole number from 0 to {limit:,}")
    if sizes.n_terms * sizes.n_classes > MOST_CELLS:
        raise StorageError(
            f"n_terms times n_classes is {sizes.n_terms * sizes.n_classes:,}; expected at most {MOST_CELLS:,}"
        )
    cells, columns = sizes.n_nodes * sizes.n_classes, sizes.n_trees * sizes.n_features
    if cells > MOST_CELLS:
        raise StorageError(f"n_nodes times n_classes is {cells:,}; expected at most {MOST_CELLS:,}")
    if columns > MOST_COLUMNS:
        raise StorageError(f"n_trees times n_features is {columns:,}; expected at most {MOST_COLUMNS:,}")
