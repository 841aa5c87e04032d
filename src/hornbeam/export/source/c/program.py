"""Settings, tables and names that all parts of a C file use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from hornbeam.data.schema import Kind
from hornbeam.export.source.c.names import Identifiers
from hornbeam.export.source.c.numbers import Number
from hornbeam.export.source.lookup_tables import LookupTables
from hornbeam.export.wording import plain_label
from hornbeam.tree import Tree
from hornbeam.typing import Floats

__all__ = ["OWN_NAMES", "Program"]

OWN_NAMES = (
    "CLASSES",
    "DECLARATIONS_ONLY",
    "DECLARED",
    "FEATURES",
    "MISSING",
    "MISSING_CODE",
    "NODES",
    "ONE",
    "TEST",
    "UNKNOWN",
    "UNKNOWN_CODE",
)


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
        return [len(f.categories) if f.kind is Kind.NOMINAL else 0 for f in self.tree.schema.features]

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
        """Whether predictions of leaves change with the values of a row."""
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
        term_start=flat.term_start[first:],
        score=flat.score[first:],
        lead=lead,
    )
