"""Hypothesis strategies for growing: small tables full of ties and holes, and growers of every kind."""

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from numpy.typing import NDArray

from hornbeam.data.binning.bins import Bins
from hornbeam.data.engine import LocalEngine
from hornbeam.data.fixed_point import fixed_point_weights
from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.growing.criterion import Criterion, Missing, Nominal
from hornbeam.growing.grower import Grower
from hornbeam.growing.search import search_table
from hornbeam.kernels.subtree import GrowthSpec

__all__ = [
    "OF_CLASSES",
    "OF_NUMBERS",
    "bins_of",
    "growers",
    "path_constraints",
    "random_table",
    "regression_tables",
    "spec_of",
    "training_tables",
]

OF_CLASSES = [criterion for criterion in Criterion if not criterion.is_numeric]
OF_NUMBERS = [criterion for criterion in Criterion if criterion.is_numeric]


def bins_of(table: Table, max_bins: int | None = None) -> Bins:
    """Exact bins of a table, or at most this many."""
    return Bins.fit(MemorySource(table), LocalEngine(), max_bins=max_bins)


def spec_of(grower: Grower, table: Table, bins: Bins) -> GrowthSpec:
    """The rules of growing from a table."""
    _, search = search_table(grower, table, bins, bins.encode(table))
    return search.spec


def random_table(
    seed: int,
    *,
    n_rows: int = 40,
    n_classes: int = 2,
    n_numeric: int = 2,
    n_nominal: int = 1,
    n_categories: int = 5,
    n_values: int = 6,
    missing: float = 0.1,
    weights: str = "none",
    noise: float = 0.5,
) -> Table:
    """Rows whose class leans on their features; few distinct values, so that ties abound.

    `weights` are "none", "whole" (1, 2, 3) or "real".
    """
    rng = np.random.default_rng(seed)
    features = [Feature(f"n{f}") for f in range(n_numeric)]
    columns: list[NDArray[Any]] = [rng.integers(0, n_values, n_rows) / 2 for _ in range(n_numeric)]
    names = tuple("abcdefghijklmnopqrstuvwxyz"[:n_categories])
    features += [Feature(f"c{f}", Kind.NOMINAL, names) for f in range(n_nominal)]
    columns += [rng.integers(0, n_categories, n_rows, dtype=np.int32) for _ in range(n_nominal)]
    lean = sum((column * (at + 1) for at, column in enumerate(columns)), start=np.zeros(n_rows))
    blurred = rng.random(n_rows) < noise
    target = np.where(blurred, rng.integers(0, n_classes, n_rows), lean.astype(int) % n_classes)
    for column in columns:
        column[rng.random(n_rows) < missing] = np.nan if column.dtype == np.float64 else -1
    weight, unit = None, 1.0
    if weights == "whole":
        weight = rng.integers(1, 4, n_rows)
    elif weights == "real":
        weight, unit = fixed_point_weights(rng.exponential(size=n_rows) + 0.01)
    schema = Schema(tuple(features), tuple(range(n_classes)))
    return Table(schema, tuple(columns), target.astype(np.int32), weight, unit, None)


@st.composite
def training_tables(draw: DrawFn, *, max_rows: int = 40, max_classes: int = 6, missing: bool = True) -> Table:
    """Tables of numeric and nominal features, 1 to `max_classes` classes, weights or none, holes or none."""
    return random_table(
        draw(st.integers(0, 2**32 - 1)),
        n_rows=draw(st.integers(1, max_rows)),
        n_classes=draw(st.one_of(st.just(2), st.integers(1, max_classes))),
        n_numeric=draw(st.integers(0, 3)),
        n_nominal=draw(st.integers(1, 2)),
        n_categories=draw(st.integers(2, 7)),
        n_values=draw(st.sampled_from([2, 6, 1000])),
        missing=draw(st.sampled_from([0.0, 0.1, 0.5])) if missing else 0.0,
        weights=draw(st.sampled_from(["none", "whole", "real"])),
        noise=draw(st.sampled_from([0.1, 0.5, 1.0])),
    )


@st.composite
def regression_tables(draw: DrawFn, *, max_rows: int = 40) -> Table:
    """The same columns with a numeric target: a few whole numbers full of ties, or any numbers, far from 0 or not.

    Scales are exact in binary, so equal means stay equal: 1e-6 is not, and a split of groups whose means differ by the
    rounding of 1e-6 alone has a gain in one kernel and none in another.
    """
    table = draw(training_tables(max_rows=max_rows))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    assert table.target is not None
    few = draw(st.booleans())
    noise = rng.integers(-2, 3, table.n_rows) if few else rng.normal(size=table.n_rows)
    values = (table.target + noise) * draw(st.sampled_from([1.0, 2.0**-20, 1e9])) + draw(
        st.sampled_from([0.0, 1e3])
    )
    schema = replace(table.schema, classes=(), target_kind=Kind.NUMERIC)
    measured = NumericTarget.of(values, table.weight, table.unit)
    return replace(table, schema=schema, target=None, numeric_target=measured)


@st.composite
def growers(draw: DrawFn, table: Table, *, criteria: Any = OF_CLASSES, missing: Any = Missing) -> Grower:
    """Growers for a table; monotone only where it has two classes or a number, on features with an order."""
    free, any_sign = st.just(0), st.sampled_from([-1, 0, 1])
    signs = st.tuples(*(free if f.kind is Kind.NOMINAL else any_sign for f in table.schema.features))
    kept = draw(st.sampled_from(list(missing)))
    if table.numeric_target is not None:
        positive = table.numeric_target.values.min(initial=1.0) > 0
        criteria = OF_NUMBERS if positive else [Criterion.SQUARED_ERROR]
        kept = Missing.OWN if kept is Missing.FRACTIONAL else kept
    may_bind = (
        table.schema.n_classes == 2 or table.numeric_target is not None
    ) and kept is not Missing.FRACTIONAL
    constrained = may_bind and draw(st.integers(0, 3)) == 0
    paths = draw(path_constraints(table.schema.n_features)) if draw(st.integers(0, 3)) == 0 else {}
    return Grower(
        criterion=draw(st.sampled_from(list(criteria))),
        nominal_split=draw(st.sampled_from(Nominal)),
        missing=kept,
        max_depth=draw(st.sampled_from([None, None, 1, 3])),
        min_samples_split=draw(st.sampled_from([2, 2, 5])),
        min_samples_leaf=draw(st.sampled_from([1, 1, 3])),
        min_samples_missing=draw(st.sampled_from([0, 0, 3])),
        min_weight_leaf=draw(st.sampled_from([0.0, 2.0])),
        min_impurity_decrease=draw(st.sampled_from([0.0, 0.0, 0.013])),
        monotonic_cst=draw(signs) if constrained else None,
        corrected=draw(st.booleans()),
        **paths,
        **(draw(prices(table.schema.n_features)) if draw(st.integers(0, 3)) == 0 else {}),
    )


@st.composite
def path_constraints(draw: DrawFn, n_features: int) -> dict[str, Any]:
    """Constraints on the features of a path, as parameters of a grower; at least one."""
    feature = st.integers(0, n_features - 1)
    groups = st.lists(st.lists(feature, min_size=1, max_size=3).map(tuple), min_size=1, max_size=3)
    pairs = st.lists(st.tuples(feature, feature), min_size=1, max_size=4)
    drawn = {
        "interaction_cst": draw(st.none() | groups.map(tuple)),
        "forbidden_below": draw(st.none() | pairs.map(tuple)),
    }
    return {**drawn, "once_per_path": drawn == dict.fromkeys(drawn) or draw(st.booleans())}


@st.composite
def prices(draw: DrawFn, n_features: int) -> dict[str, Any]:
    """Prices of features and of groups of them, as parameters of a grower."""
    group = st.lists(st.integers(0, n_features - 1), min_size=1, max_size=3, unique=True).map(tuple)
    price = st.sampled_from([0.0, 0.2537, 1.0173, 3.0191, 39.8711])  # no gain is equal to them
    items = draw(st.lists(st.tuples(price, group), min_size=1, max_size=4).map(tuple))
    return {"feature_costs": items, "feature_cost_weight": draw(st.sampled_from([0.0, 0.7, 1.0, 8.0]))}
