"""Settings, tables and names that all parts of a C file use; identifiers, strings and comments of C."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from hornbeam.export.source.c.numbers import Number
from hornbeam.export.source.lookup_tables import LookupTables
from hornbeam.tree.tree import Tree
from hornbeam.tree.words import plain_label
from hornbeam.typing import Floats

OWN_NAMES = (
    "CLASSES",
    "DECLARATIONS_ONLY",
    "DECLARED",
    "FEATURES",
    "MISSING",
    "MISSING_CODE",
    "NODES",
    "ONE",
    "QUANTILES",
    "TEST",
    "UNKNOWN",
    "UNKNOWN_CODE",
)
# Prefix, feature, category and a number then have fewer than the 63 significant characters of C99.
_MAX_PART = 16
_MAX_LITERAL = 4000  # C99 guarantees 4,095 characters
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _.,:;+-=<>()[]{}#%&!@$^|~'")


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A tree with the settings and names of its C file.

    `name` is the prefix of all names in the file; in capitals, of its constants. The stops of `flat` are numbered from
    the first place where a row can stop: small numbers make small code. `number` is the type of the values of a row;
    `layout` is "if", "table" or "bins", `probability` "double", "float", "uint16" or "uint8". `complete`: rows have no
    missing values. `features`, `classes` and `categories` are identifiers.
    """

    name: str
    tree: Tree
    flat: LookupTables
    number: Number
    layout: str
    probability: str
    complete: bool
    features: list[str]
    categories: list[list[str]]
    classes: list[str]

    @classmethod
    def of(cls, tree: Tree, name: str, number: Number, layout: str, probability: str, complete: bool) -> Self:
        """Compute the tables, and an identifier for every feature, category and class."""
        names = Identifiers(name.upper(), [f"{name.upper()}_{own}" for own in OWN_NAMES])
        features = [names.new(feature.name) for feature in tree.schema.features]
        categories = [
            [names.new(feature.name, str(plain_label(category))) for category in feature.categories]
            for feature in tree.schema.features
        ]
        classes = [names.new("class", str(plain_label(label))) for label in tree.schema.classes]
        flat = _without_unused(LookupTables.of(tree), complete)
        return cls(name, tree, flat, number, layout, probability, complete, features, categories, classes)

    @property
    def prefix(self) -> str:
        """The name in capitals."""
        return self.name.upper()

    @property
    def sizes(self) -> list[int]:
        """Number of categories of each nominal feature; 0 for other features."""
        return [len(f.categories) if f.is_nominal else 0 for f in self.tree.schema.features]

    @property
    def nominal(self) -> bool:
        """Whether some split tests a category."""
        return bool(np.isnan(self.flat.threshold).any())

    @property
    def is_regression(self) -> bool:
        """Whether the prediction is a mean instead of probabilities."""
        return self.tree.is_regression

    @property
    def is_fractional(self) -> bool:
        """Whether a missing value may go to every branch."""
        return self.flat.fractional and not self.complete

    @property
    def has_slopes(self) -> bool:
        """Whether predictions of nodes change with the values of a row."""
        return len(self.tree.slopes) > 0

    @property
    def cuts(self) -> list[Floats]:
        """The thresholds of each feature, in ascending order."""
        flat = self.flat
        compared = [(flat.feature == f) & ~np.isnan(flat.threshold) for f in range(len(self.features))]
        return [np.unique(flat.threshold[splits]) for splits in compared]


def _without_unused(flat: LookupTables, complete: bool) -> LookupTables:
    """Leave out the predictions of inner nodes if no row stops at one, with a missing value or an unseen category."""
    missing = flat.lead[flat.start[1:] - 1]
    inside = (missing < 0) & (~missing < flat.n_inner) & (not complete)
    first = 0 if np.isnan(flat.threshold).any() or inside.any() else flat.n_inner
    lead = np.where(flat.lead < -first, flat.lead + first, flat.lead)
    return replace(
        flat,
        node=flat.node[first:],
        belief=flat.belief[first:],
        decided=flat.decided[first:],
        terms=flat.terms.of_nodes(first, len(flat.node)),
        score=flat.score[first:],
        lead=lead,
    )


class Identifiers:
    """A generator of unique identifiers that begin with `prefix` and are not `taken` by the file itself."""

    def __init__(self, prefix: str, taken: list[str]) -> None:
        self._prefix = prefix
        self._taken = set(taken)

    def new(self, *names: str) -> str:
        """Make an identifier from some names that was not made before."""
        wanted = "_".join([self._prefix, *map(_part, names)])
        found, number = wanted, 1
        while found in self._taken:
            number += 1
            found = f"{wanted}_{number}"
        self._taken.add(found)
        return found


def _part(name: str) -> str:
    letters = unicodedata.normalize("NFKD", name[:256]).encode("ascii", "ignore").decode()
    return re.sub("[^A-Z0-9]+", "_", letters.upper()).strip("_")[:_MAX_PART].strip("_") or "N"


def comment(name: str, max_letters: int = 60) -> str:
    """Write a name so that it cannot end, begin or continue a comment."""
    safe = "".join(
        c if c in _SAFE else ascii(c)[1:-1] if ord(c) > 126 else f"\\x{ord(c):02x}"
        for c in name[:max_letters]
    )
    return safe + "..." * (len(name) > max_letters)


def string(name: str) -> str:
    """Write a name as a C string of UTF-8 bytes."""
    raw = name.encode("utf-8", "surrogatepass")
    cells = [chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in raw]
    if len(raw) <= _MAX_LITERAL:
        return f'"{"".join(cells)}"'
    quoted = ["'\\''" if cell == "'" else f"'{cell}'" for cell in cells]
    return f"(const char[]){{{','.join(quoted)},0}}"
