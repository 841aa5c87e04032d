"""Settings of growing, constraints among them: checks, and what follows from them for a schema."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from math import inf
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.binning.bins import Bins
from hornbeam.data.schema import Schema
from hornbeam.errors import ParameterError, TreeError, shown
from hornbeam.growing.criterion import Criterion, Missing, Nominal
from hornbeam.growing.forced_splits import check_forced, forced_skeleton
from hornbeam.kernels.subtree import PathRules
from hornbeam.tree.feature_costs import PricedItems, check_items
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Step

#: those that a tree with a teacher can have too
CONSTRAINTS = ("monotonic_cst", "interaction_cst", "once_per_path", "forbidden_below")
_UNSET = (
    "min_samples_missing", "interaction_cst", "once_per_path", "forbidden_below", "forced_splits", "feature_costs",
    "feature_cost_weight",
)  # fmt: skip
_KINDS: dict[str, type[StrEnum]] = {"criterion": Criterion, "nominal_split": Nominal, "missing": Missing}
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
    ("feature_cost_weight", 0, inf, Real),
)
_TOO_LARGE = 2**62


def check_monotone(monotone: Any) -> None:
    """Refuse constraints other than 1, -1 and 0."""
    signs = () if monotone is None else monotone
    if not isinstance(signs, tuple) or any(type(sign) is not int or abs(sign) > 1 for sign in signs):
        raise ParameterError(
            f"monotonic_cst={shown(monotone)}: expected for each feature 1 (rises), -1 (falls) or 0 (free). "
            "Pass None for no constraints."
        )


def monotone_array(monotone: tuple[int, ...] | None, schema: Schema) -> NDArray[np.int8] | None:
    """Return the constraint of each feature as the kernels expect them; None without constraints."""
    if monotone is None or not any(monotone):
        return None
    if schema.n_classes != 2 and not schema.is_regression:
        raise ParameterError(
            f"monotonic_cst is about the probability of the second of two classes; found "
            f"{schema.n_classes} classes. Leave it out, or train a tree for each class against the rest."
        )
    if len(monotone) != schema.n_features:
        raise ParameterError(
            f"monotonic_cst has {len(monotone)} entries for {schema.n_features} features; expected "
            "one each. Pass a dict from feature names to leave out those that are free."
        )
    for sign, feature in zip(monotone, schema.features, strict=True):
        if sign and feature.is_nominal:
            raise ParameterError(
                f"monotonic_cst constrains {feature.name!r}, which is nominal; expected features with an "
                "order. Make it an ordered category, or leave it free (0)."
            )
    return np.array(monotone, dtype=np.int8)


def refuse_fractional(monotone: tuple[int, ...] | None) -> None:
    """Refuse constraints where rows are divided among children: the bounds of a constraint would not hold."""
    if monotone is not None and any(monotone):
        raise ParameterError(
            "Monotone constraints do not hold for missing='fractional' where values are missing: "
            "expected missing='own' or 'learned', or no constraints."
        )


# ---- features of a path, from the root to a node ----------------------------------------------------------------

type Interactions = tuple[tuple[int, ...], ...] | Literal["pairwise", "no_interactions"] | None
"""Groups of features that may occur together on a path: their indices, all pairs, each feature alone, or no limit."""


def check_interactions(value: Interactions) -> None:
    """Refuse anything but groups of features and the words for all pairs and for none."""
    if not isinstance(value, str):
        check_features("interaction_cst", value)
    elif value not in ("pairwise", "no_interactions"):
        raise ParameterError(
            f"interaction_cst={value!r}: expected 'pairwise', 'no_interactions', or groups of features by index."
        )


def check_features(name: str, lists: Iterable[tuple[int, ...]] | None) -> None:
    """Refuse anything but indices of features."""
    groups = [()] if lists is None else [lists] if not isinstance(lists, (tuple, list)) else lists
    if any(
        not isinstance(group, (tuple, list)) or any(type(f) is not int or f < 0 for f in group)
        for group in groups
    ):
        raise ParameterError(f"{name}={shown(lists)}: expected indices of features, from 0.")


type PathLists = tuple[list[list[int]], list[list[int]]]
"""Groups of features, of which one has all of a path, and for each feature those that may not be used below it."""


def path_lists(
    schema: Schema,
    interactions: Interactions,
    forbidden_below: tuple[tuple[int, int], ...] | None,
    *,
    once_per_path: bool,
) -> PathLists:
    """Return the lists of `PathRules`."""
    n = schema.n_features
    groups = _given_groups(interactions, n)
    for features in (*groups, *(forbidden_below or ())):
        if features and max(features) >= n:
            raise ParameterError(
                f"a constraint names feature {max(features)}; expected 0 to {n - 1}, for {n} features."
            )
    below: list[list[int]] = [[f] if once_per_path else [] for f in range(n)]
    for above, other in forbidden_below or ():
        below[above].append(other)
    return _with_rest(groups, n), below


def make_path_rules(
    schema: Schema,
    interactions: Interactions,
    forbidden_below: tuple[tuple[int, int], ...] | None,
    *,
    once_per_path: bool,
    items: PricedItems | None = None,
) -> PathRules | None:
    """Return the rules for the kernels; None if every feature may split every node, and all are free."""
    if interactions is None and not forbidden_below and not once_per_path and not items:
        return None
    lists = path_lists(schema, interactions, forbidden_below, once_per_path=once_per_path)
    _check_within(items or (), schema.n_features)
    return PathRules(schema.n_features, *lists, [(price, list(features)) for price, features in items or ()])


def _check_within(items: PricedItems, n: int) -> None:
    for _, features in items:
        if max(features) >= n:
            raise ParameterError(
                f"feature_costs has a price of feature {max(features)}; expected 0 to {n - 1}, for {n} features."
            )


def _given_groups(interactions: Interactions, n: int) -> list[list[int]]:
    if interactions == "no_interactions" or (interactions == "pairwise" and n < 2):
        return [[f] for f in range(n)]
    if interactions == "pairwise":
        return [list(pair) for pair in combinations(range(n), 2)]
    return [sorted(set(group)) for group in interactions or ()]


def _with_rest(groups: list[list[int]], n: int) -> list[list[int]]:
    """Add a group of the features in none; without groups all features form one."""
    rest = sorted(set(range(n)).difference(*groups))
    return [*groups, rest] if rest else groups


def _member(kind: type[StrEnum], name: str, value: str) -> StrEnum:
    """Return the member of an enumeration, given as itself or as its value."""
    try:
        return kind(value)
    except ValueError:
        known = ", ".join(repr(one.value) for one in kind)
        raise ParameterError(f"{name}={value!r}: expected one of {known}.") from None


@dataclass(frozen=True, slots=True)
class GrowthSettings:
    """The parameters of a `Grower`, which documents them."""

    criterion: Criterion = Criterion.ENTROPY
    nominal_split: Nominal = Nominal.SUBSET
    missing: Missing = Missing.OWN
    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_samples_missing: int = 0
    min_weight_leaf: float = 0.0
    min_weight_fraction_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    max_leaf_nodes: int | None = None
    monotonic_cst: tuple[int, ...] | None = None
    max_features: int | None = None
    corrected: bool = False
    design_effect: float = 1.0
    interaction_cst: Interactions = None
    once_per_path: bool = False
    forbidden_below: tuple[tuple[int, int], ...] | None = None
    forced_splits: tuple[Any, ...] | None = None
    feature_costs: PricedItems | None = None
    feature_cost_weight: float = 0.0

    def __post_init__(self) -> None:
        for name, kind in _KINDS.items():
            object.__setattr__(self, name, _member(kind, name, getattr(self, name)))
        for name, least, most, number in _RANGES:
            value = getattr(self, name)
            if value is None and name.startswith("max"):
                continue
            usual = type(value) is int or (type(value) is float and number is not Integral)
            fits = usual or (isinstance(value, number) and not isinstance(value, bool))
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
        check_monotone(self.monotonic_cst)
        check_interactions(self.interaction_cst)
        check_features("forbidden_below", self.forbidden_below)
        check_items(self.feature_costs)

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
            monotone_array(settings.monotonic_cst, schema)
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
        if schema.is_regression != self.criterion.is_numeric:
            numeric = ("numeric", "'squared_error', 'poisson' or 'gamma'")
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
        if self.forced_splits is None:
            return None
        skeleton = forced_skeleton(self.forced_splits)
        check_forced(skeleton, schema, self.max_depth, self.monotonic_cst, self.path_rules(schema))
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
            schema,
            self.interaction_cst,
            self.forbidden_below,
            once_per_path=self.once_per_path,
            items=self.feature_costs,
        )
