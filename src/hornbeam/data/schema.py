"""The schema: names, kinds and categories of the features, and the class labels."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import lru_cache
from typing import Any, Self

from hornbeam.errors import DataError, ParameterError, SchemaError, shown
from hornbeam.typing import Category, Label

# The codes of a feature and its missing code must fit 16 bits.
MAX_CATEGORIES = 65_534
MAX_CLASSES = 65_535


class Kind(StrEnum):
    """Kind of a feature: numbers, categories, or categories with an order; shown as a plain string."""

    NUMERIC = "numeric"
    NOMINAL = "nominal"
    ORDINAL = "ordinal"

    def __repr__(self) -> str:
        return str.__repr__(self)


@dataclass(frozen=True, slots=True)
class Feature:
    """One column: its name, its kind and, unless numeric, its categories by value.

    Parameters
    ----------
    name : str
        The name of the column.
    kind : {"numeric", "nominal", "ordinal"}
        Numbers, categories without an order, or categories in their declared order.
    categories : tuple of str, int, float or bool
        Empty for a numeric feature. The code of a category is its position here.

    Examples
    --------
    >>> Feature("age")
    Feature(name='age', kind='numeric', categories=())
    >>> Feature("size", "ordinal", ("small", "large")).categories.index("large")
    1
    """

    name: str
    kind: Kind = Kind.NUMERIC
    categories: tuple[Category, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise SchemaError(
                f"A feature is named {self.name!r}; expected a string. Rename it, e.g. {str(self.name)!r}."
            )
        object.__setattr__(self, "kind", kind_of(self.kind, f"Feature {self.name!r} has the kind"))
        if self.categories:
            self._check_categories()

    @property
    def is_numeric(self) -> bool:
        """Whether it has numbers and no categories."""
        return self.kind is Kind.NUMERIC

    @property
    def is_nominal(self) -> bool:
        """Whether it has categories without an order: its columns hold codes, all others hold floats."""
        return self.kind is Kind.NOMINAL

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), (self.name, self.kind, self.categories)  # so that unpickling runs the checks

    def _check_categories(self) -> None:
        if self.kind is Kind.NUMERIC:
            raise SchemaError(
                f"Numeric feature {self.name!r} has categories; expected none. "
                "Make it nominal or ordinal, or drop them."
            )
        if not isinstance(self.categories, (tuple, list)):
            raise SchemaError(
                f"Feature {self.name!r} has the categories {shown(self.categories)}; expected a tuple: ('a', 'b')."
            )
        for category in self.categories:
            is_allowed = isinstance(category, (str, int, float))
            if not is_allowed or (isinstance(category, float) and math.isnan(category)):
                raise SchemaError(
                    f"Feature {self.name!r} has the category {category!r}; expected strings, numbers or "
                    "booleans, and no NaN. Leave missing values out and convert the others, e.g. with str."
                )
        if len(set(self.categories)) < len(self.categories):
            repeated = _first_repeated(self.categories)
            raise SchemaError(
                f"Feature {self.name!r} lists the category {repeated!r} twice. List each value once."
            )
        if len(self.categories) > MAX_CATEGORIES:
            raise DataError(
                f"Feature {self.name!r} has {len(self.categories)} categories; at most {MAX_CATEGORIES} are "
                "supported. Merge the rare ones, drop the column if it only names rows, or make it numeric."
            )


@dataclass(frozen=True, slots=True)
class Schema:
    """The features in the order of the columns, and the class labels in the order of their codes.

    Parameters
    ----------
    features : tuple of Feature
        One per column, with different names.
    classes : tuple of hashable
        The class labels; empty without a target, and for a numeric one.
    target_kind : {"nominal", "numeric"}
        Nominal: the target is one of `classes` (classification). Numeric: it is a number (regression).

    Examples
    --------
    >>> schema = Schema((Feature("age"), Feature("smoker", "nominal", (False, True))), ("ill", "well"))
    >>> schema.names, schema.n_features, schema.n_classes
    (('age', 'smoker'), 2, 2)
    """

    features: tuple[Feature, ...]
    classes: tuple[Label, ...] = ()
    target_kind: Kind = Kind.NOMINAL

    def __post_init__(self) -> None:
        object.__setattr__(self, "target_kind", kind_of(self.target_kind, "The target has the kind"))
        names = _read_names(self.features)
        if len(set(names)) < len(names):
            raise SchemaError(
                f"Two columns are named {_first_repeated(names)!r}; expected different names. "
                "Rename one of them."
            )
        if not _are_hashable(self.classes):
            raise SchemaError(
                f"classes is {shown(self.classes)}; expected a tuple of labels. Pass ('no', 'yes'), say."
            )
        if len(set(self.classes)) < len(self.classes):
            repeated = _first_repeated(self.classes)
            raise SchemaError(f"The class {repeated!r} is listed twice. List each label once.")
        if self.target_kind is Kind.ORDINAL or (self.is_regression and self.classes):
            raise SchemaError(
                f"The target is {self.target_kind} and has {len(self.classes)} classes; expected a nominal target with "
                "classes, or a numeric one without."
            )

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        # So that unpickling runs the checks.
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features, in order."""
        return tuple([feature.name for feature in self.features])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.features)

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for regression."""
        return len(self.classes)

    @property
    def is_regression(self) -> bool:
        """Whether the target is numeric."""
        return self.target_kind is Kind.NUMERIC

    @property
    def n_channels(self) -> int:
        """Number of evidence columns of a tree: the classes, or 3 (weight, sum and sum of squares)."""
        return 3 if self.is_regression else len(self.classes)

    @property
    def n_outputs(self) -> int:
        """Number of columns of a prediction: the classes, or the mean and the quantiles."""
        return 1 + len(self.quantiles) if self.is_regression else len(self.classes)

    @property
    def quantiles(self) -> tuple[float, ...]:
        """Levels of the quantiles of the target that are predicted beside its mean."""
        return ()

    @property
    def number_names(self) -> list[str]:
        """The names of the columns of a numeric prediction: the mean, and each quantile, such as q10 and q2_5."""
        return ["mean", *[f"q{100 * q:.10g}".replace(".", "_") for q in self.quantiles]]

    @property
    def is_numeric(self) -> bool:
        """Whether every feature is numeric, so that a float matrix can store all columns."""
        return all(feature.is_numeric for feature in self.features)

    @property
    def has_generated_names(self) -> bool:
        """Whether the names are x0, x1, ...: those given to columns without names."""
        return self.names == generated_names(len(self.features))

    def select(self, features: Iterable[int]) -> "Schema":
        """Return the schema of some features, in the given order.

        Examples
        --------
        >>> Schema((Feature("age"), Feature("dose"))).select([1]).names
        ('dose',)
        """
        try:
            chosen = tuple([self.features[feature] for feature in features])
        except (TypeError, IndexError) as error:
            raise ParameterError(
                f"features is {shown(features)}; expected positions of features, below {self.n_features}."
            ) from error
        return Schema(chosen, self.classes, self.target_kind)


@dataclass(frozen=True, slots=True)
class QuantileSchema(Schema):
    """A schema of a numeric target of which quantiles are predicted beside its mean: for exports, never in a file."""

    levels: tuple[float, ...] = ()

    @property
    def quantiles(self) -> tuple[float, ...]:
        """The levels of the quantiles."""
        return self.levels


def kind_of(value: Any, where: str) -> Kind:
    """Convert the name of a kind; `where` begins the error message."""
    try:
        return Kind(value)
    except ValueError:
        raise SchemaError(f"{where} {value!r}; expected one of {[kind.value for kind in Kind]}.") from None


def default_kind(target_kind: str | None, schema: Schema | None) -> Kind:
    """Return the kind of a target: as given, that of the schema, or nominal."""
    if schema is not None and not isinstance(schema, Schema):
        raise SchemaError(
            f"schema is a {type(schema).__name__}; expected a Schema, such as model.tree_.schema."
        )
    if target_kind is None:
        return Kind.NOMINAL if schema is None else schema.target_kind
    if target_kind not in ("nominal", "numeric"):
        raise SchemaError(f"target_kind is {shown(target_kind)}; expected 'nominal' or 'numeric'.")
    return Kind(target_kind)


def _read_names(features: Any) -> tuple[str, ...]:
    """Return the names of the features of a schema."""
    try:
        return tuple([feature.name for feature in features])
    except (TypeError, AttributeError) as error:
        raise SchemaError(
            f"features is {shown(features)}; expected a tuple of Feature. Pass (Feature('age'),), say."
        ) from error


def _are_hashable(values: Any) -> bool:
    """Whether a value is a collection of hashable ones."""
    try:
        set(values)
    except TypeError:
        return False
    return True


def _first_repeated(values: Iterable[Label]) -> Label:
    first: dict[Label, int] = {}
    return next(value for at, value in enumerate(values) if first.setdefault(value, at) != at)


def sorted_categories(values: Iterable[Category]) -> tuple[Category, ...]:
    """Return the distinct values in canonical order: booleans and numbers by value, then strings."""
    return tuple(sorted(set(values), key=lambda value: (isinstance(value, str), value)))


@lru_cache(maxsize=64)
def generated_names(n_features: int) -> tuple[str, ...]:
    """Return names for columns without names, as scikit-learn generates them."""
    return tuple([f"x{i}" for i in range(n_features)])


@lru_cache(maxsize=64)
def numeric_features(names: tuple[str, ...]) -> tuple[Feature, ...]:
    """Return numeric features with these names; cached, because creating them is slow for small fits."""
    return tuple([Feature(name) for name in names])
