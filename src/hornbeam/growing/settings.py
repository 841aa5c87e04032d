"""Settings of growing, their checks, and what follows from them for a schema."""

from dataclasses import dataclass
from enum import StrEnum
from math import inf
from numbers import Integral, Real
from typing import Any, Self

import numpy as np

from hornbeam.data.binning.bins import Bins
from hornbeam.data.schema import Schema
from hornbeam.errors import ParameterError, TreeError, shown
from hornbeam.growing.constraints import (
    Interactions,
    check_features,
    check_interactions,
    check_monotone,
    make_path_rules,
    monotone_array,
)
from hornbeam.growing.criterion import Criterion, Missing, Nominal
from hornbeam.growing.forced_splits import check_forced, forced_skeleton
from hornbeam.kernels.subtree import PathRules
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Step

__all__ = ["GrowthSettings"]

_UNSET = ("min_samples_missing", "interactions", "once_per_path", "forbidden_below", "forced")
_KINDS: dict[str, type[StrEnum]] = {"criterion": Criterion, "nominal": Nominal, "missing": Missing}
_RANGES = (
    ("max_depth", 1, inf, Integral),
    ("max_leaf_nodes", 2, inf, Integral),
    ("max_features", 1, inf, Integral),
    ("min_samples_split", 2, inf, Integral),
    ("min_samples_leaf", 1, inf, Integral),
    ("min_samples_missing", 0, inf, Real),
    ("min_weight_leaf", 0, inf, Real),
    ("min_weight_fraction_leaf", 0, 0.5, Real),
    ("min_impurity_decrease", 0, inf, Real),
    ("design_effect", 1, inf, Real),
)
_TOO_LARGE = 2**62


def _member(kind: type[StrEnum], name: str, value: str) -> StrEnum:
    """Return the member of an enumeration, given as itself or as its value."""
    try:
        return kind(value)
    except ValueError:
        known = ", ".join(repr(one.value) for one in kind)
        raise ParameterError(f"{name}={value!r}: expected one of {known}.") from None


@dataclass(frozen=True, slots=True)
class GrowthSettings:
    """The parameters of a `hornbeam.growing.Grower`, which documents them."""

    criterion: Criterion = Criterion.ENTROPY
    nominal: Nominal = Nominal.SUBSET
    missing: Missing = Missing.OWN
    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_samples_missing: int = 0
    min_weight_leaf: float = 0.0
    min_weight_fraction_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    max_leaf_nodes: int | None = None
    monotone: tuple[int, ...] | None = None
    max_features: int | None = None
    corrected: bool = False
    design_effect: float = 1.0
    interactions: Interactions = None
    once_per_path: bool = False
    forbidden_below: tuple[tuple[int, int], ...] | None = None
    forced: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        for name, kind in _KINDS.items():
            object.__setattr__(self, name, _member(kind, name, getattr(self, name)))
        for name, least, most, number in _RANGES:
            value = getattr(self, name)
            if value is None and name.startswith("max"):
                continue
            fits = isinstance(value, number) and not isinstance(value, bool)
            if not fits or not least <= value <= most or value >= _TOO_LARGE:
                whole = "whole " * (number is Integral)
                expected = f"of at least {least}" if most == inf else f"from {least} to {most}"
                unlimited = ", or None for no limit" if name.startswith("max") else ""
                raise ParameterError(
                    f"{name}={shown(value)}: expected a {whole}number {expected}{unlimited}. "
                    f"Pass {name}={least} for the smallest."
                )
        for name in ("corrected", "once_per_path"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise ParameterError(f"{name}={shown(getattr(self, name))}: expected True or False.")
        check_monotone(self.monotone)
        check_interactions(self.interactions)
        check_features("forbidden_below", self.forbidden_below)

    @classmethod
    def recorded(cls, step: Step, schema: Schema) -> Self:
        """Return the settings of a step of a history, which may come from a file.

        Raises
        ------
        TreeError
            If they are not settings of growing, or do not fit the schema.
        """
        try:
            settings = cls(**dict(step.parameters))
            monotone_array(settings.monotone, schema)
            settings.path_rules(schema)
            settings.forced_skeleton(schema)
        except (TypeError, ValueError) as error:
            raise TreeError(
                f"the history has a step 'grow' that cannot be repeated: {error!s:.200}"
            ) from error
        return settings

    def as_step(self) -> Step:
        """Return the settings as an entry of a tree's history, without constraints that are not set."""
        values = {name: getattr(self, name) for name in GrowthSettings.__slots__}
        plain = {name: value.value if isinstance(value, StrEnum) else value for name, value in values.items()}
        return Step.of(
            "grow", **{name: value for name, value in plain.items() if name not in _UNSET or value}
        )

    def check_target(self, schema: Schema) -> None:
        """Refuse a classification criterion for a numeric target, and the reverse."""
        if schema.is_regression != (self.criterion is Criterion.SQUARED_ERROR):
            numeric = ("numeric", "'squared_error'")
            target, expected = numeric if schema.is_regression else ("categorical", "'entropy', for example")
            raise ParameterError(
                f"criterion={self.criterion.value!r}, and the target is {target}; expected criterion={expected}."
            )
        if schema.is_regression and self.missing is Missing.FRACTIONAL:
            raise ParameterError(
                "missing='fractional' shares out rows of classes, and the target is numeric; expected 'own' or "
                "'learned'. Choose one of these."
            )

    @property
    def compares_all_rows(self) -> bool:
        """Whether every node compares all features on rows that were not drawn: not so in a forest."""
        return self.max_features is None and self.design_effect == 1.0

    def forced_skeleton(self, schema: Schema) -> Skeleton | None:
        """Return the splits that the tree begins with; None if there are none.

        Raises
        ------
        ParameterError
            If they do not fit the features of the rows, or break another parameter.
        """
        if self.forced is None:
            return None
        skeleton = forced_skeleton(self.forced)
        check_forced(skeleton, schema, self.max_depth, self.monotone, self.path_rules(schema))
        return skeleton

    def refine(self, bins: Bins, schema: Schema) -> Bins:
        """Return bins whose edges include the thresholds of the forced splits."""
        skeleton = self.forced_skeleton(schema)
        if skeleton is None:
            return bins
        numeric = np.flatnonzero(np.isfinite(skeleton.threshold)).tolist()
        return bins.with_edges(
            [(skeleton.feature.item(node), skeleton.threshold.item(node)) for node in numeric]
        )

    def path_rules(self, schema: Schema) -> PathRules | None:
        """Return which features may follow each other on a path; None if all may.

        Raises
        ------
        ParameterError
            If a constraint names a feature that the schema does not have.
        """
        return make_path_rules(
            schema, self.interactions, self.forbidden_below, once_per_path=self.once_per_path
        )
