"""Hornbeam's compiled kernels: arrays in, arrays out."""

import enum
from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy
from numpy.typing import NDArray

def beta_cdf(
    a: NDArray[numpy.float64], b: NDArray[numpy.float64], x: NDArray[numpy.float64]
) -> NDArray[numpy.float64]: ...
def beta_quantile(
    a: NDArray[numpy.float64], b: NDArray[numpy.float64], p: float
) -> NDArray[numpy.float64]: ...

class Census:
    def __init__(self, n_features: int, limit: int) -> None: ...
    def add(self, columns: tuple[Any, ...]) -> None: ...
    def merge(self, other: Census) -> None: ...
    def entries(self) -> tuple[Any, ...]: ...
    def restore(
        self,
        missing: NDArray[numpy.int64],
        zeros: NDArray[numpy.int64],
        ones: NDArray[numpy.uint64],
        some: NDArray[numpy.uint64],
        full: NDArray[numpy.bool_],
        starts: NDArray[numpy.int64],
        keys: NDArray[numpy.uint64],
        counts: NDArray[numpy.int64],
    ) -> None: ...

def count_parts(
    columns: tuple[Any, ...],
    starts: NDArray[numpy.int64],
    low: NDArray[numpy.uint64],
    high: NDArray[numpy.uint64],
    digit_shift: NDArray[numpy.int64],
    digits: NDArray[numpy.int64],
    counts: NDArray[numpy.int64],
    ones: NDArray[numpy.uint64],
    some: NDArray[numpy.uint64],
) -> None: ...
def midpoint(left: NDArray[numpy.float64], right: NDArray[numpy.float64]) -> NDArray[numpy.float64]: ...
def shortest_between(
    left: NDArray[numpy.float64], right: NDArray[numpy.float64]
) -> NDArray[numpy.float64]: ...
def count_distinct(columns: tuple[Any, ...]) -> NDArray[numpy.int64]: ...
def compare_rows(
    columns: tuple[Any, ...], inside: NDArray[numpy.int64], outside: NDArray[numpy.int64]
) -> NDArray[numpy.float64]: ...
def rank_columns(
    columns: tuple[Any, ...], at: NDArray[numpy.int32], out: NDArray[numpy.uint16]
) -> tuple[Any, ...]: ...
def equal_bins(counts: NDArray[numpy.int64], max_bins: int) -> NDArray[numpy.int64]: ...
def encode_uint8(
    columns: tuple[Any, ...],
    edges: NDArray[numpy.float64],
    starts: NDArray[numpy.int64],
    n_codes: NDArray[numpy.int32],
    nominal: NDArray[numpy.bool_],
    begin: int,
    end: int,
    out: NDArray[numpy.uint8],
) -> int: ...
def encode_uint16(
    columns: tuple[Any, ...],
    edges: NDArray[numpy.float64],
    starts: NDArray[numpy.int64],
    n_codes: NDArray[numpy.int32],
    nominal: NDArray[numpy.bool_],
    begin: int,
    end: int,
    out: NDArray[numpy.uint16],
) -> int: ...

class StackedTrees:
    def __init__(
        self,
        parent: NDArray[numpy.int32],
        evidence: NDArray[numpy.float64],
        held: NDArray[numpy.float64] | None,
        impurity: NDArray[numpy.float64] | None,
    ) -> None: ...
    def probabilities(self, strengths: NDArray[numpy.float64]) -> tuple[Any, ...]: ...
    def loss(self, strengths: NDArray[numpy.float64]) -> tuple[Any, ...]: ...

def exp(values: NDArray[numpy.float64]) -> NDArray[numpy.float64]: ...
def exp2(values: NDArray[numpy.float64]) -> NDArray[numpy.float64]: ...
def log(values: NDArray[numpy.float64]) -> NDArray[numpy.float64]: ...
def log2(values: NDArray[numpy.float64]) -> NDArray[numpy.float64]: ...
def dot(one: NDArray[numpy.float64], other: NDArray[numpy.float64]) -> float: ...
def minimise(
    function: Callable[[NDArray[numpy.float64]], tuple[float, NDArray[numpy.float64]]],
    start: NDArray[numpy.float64],
    low: float,
    high: float,
    tolerance: float,
    gradient_tolerance: float,
    max_steps: int,
) -> NDArray[numpy.float64]: ...

class HdpChain:
    def __init__(
        self,
        parent: NDArray[numpy.int32],
        own: NDArray[numpy.int64],
        group: NDArray[numpy.int32],
        root_concentration: float,
        concentration: float,
        sampled: bool,
        shape: float,
        rate: float,
        seed: int,
    ) -> None: ...
    def run(self, sweeps: int, record: bool) -> None: ...
    def means(self) -> tuple[Any, ...]: ...

def lambdas(
    score: NDArray[numpy.float64],
    gain: NDArray[numpy.float64],
    rows: NDArray[numpy.int64],
    starts: NDArray[numpy.int64],
    sigma: float,
    truncation: int,
    normalize: bool,
) -> tuple[Any, ...]: ...

class BoostingRows:
    def __init__(self, codes: NDArray[numpy.uint8] | NDArray[numpy.uint16], columns: Columns) -> None: ...
    def grow(
        self,
        numerator: NDArray[numpy.float64],
        denominator: NDArray[numpy.float64] | None,
        times: NDArray[numpy.int32] | None,
        order: NDArray[numpy.int32] | None,
        n_train: int,
        rules: Rules,
        numerator_scale: float,
        denominator_scale: float,
        shift: int,
        least_denominator: float,
        dispersion: float,
        max_leaves: int,
        key: int,
        n_threads: int,
    ) -> tuple[Any, ...]: ...

def descend(
    codes: NDArray[numpy.uint8] | NDArray[numpy.uint16],
    columns: Columns,
    feature: NDArray[numpy.int32],
    first_child: NDArray[numpy.int32],
    left: NDArray[numpy.int32],
    missing_slot: NDArray[numpy.int32],
    map_start: NDArray[numpy.int64],
    map: NDArray[numpy.int32],
    node: NDArray[numpy.int32],
    seen: int,
) -> None: ...
def count_open(
    codes: NDArray[numpy.uint8] | NDArray[numpy.uint16],
    label: NDArray[numpy.uint16],
    weight: NDArray[numpy.int64] | None,
    numerator: NDArray[numpy.int64] | None,
    columns: Columns,
    feature: NDArray[numpy.int32],
    first_child: NDArray[numpy.int32],
    left: NDArray[numpy.int32],
    missing_slot: NDArray[numpy.int32],
    map_start: NDArray[numpy.int64],
    map: NDArray[numpy.int32],
    node: NDArray[numpy.int32],
    seen: int,
    slot_of_node: NDArray[numpy.int32],
    cells: object,
    squares: NDArray[numpy.int64] | None = None,
) -> None: ...
def add_squares(
    numerator: NDArray[numpy.int64],
    weight: NDArray[numpy.int64] | None,
    node: NDArray[numpy.int32],
    slot_of_node: NDArray[numpy.int32],
    parts: NDArray[numpy.int64],
) -> None: ...
def variance_of_squares(
    parts: NDArray[numpy.int64], evidence: NDArray[numpy.int64], rules: Rules
) -> float: ...
def search_tree(
    codes: NDArray[numpy.uint8],
    weight: NDArray[numpy.int32],
    counted: NDArray[numpy.int32],
    share: NDArray[numpy.int32],
    n_codes: NDArray[numpy.int32],
    nominal: NDArray[numpy.bool_],
    value: NDArray[numpy.int16],
    most_terms: int,
    least_share: float,
    ridge: float,
    cut_off: float,
    min_weight: int,
    min_counted: int,
    max_leaves: int,
    max_depth: int,
    n_candidates: int,
    per_feature: int,
    apart: float,
    overgrowth: int,
    paths: PathRules | None,
    n_threads: int,
) -> tuple[Any, ...]: ...
def gradients_of_log_loss(
    score: NDArray[numpy.float64],
    target: NDArray[numpy.int32],
    gradient: NDArray[numpy.float64],
    hessian: NDArray[numpy.float64],
) -> None: ...
def gradients_of_softmax(
    scores: NDArray[numpy.float64],
    target: NDArray[numpy.int32],
    factor: float,
    gradient: NDArray[numpy.float64],
    hessian: NDArray[numpy.float64],
) -> None: ...
def add_values(
    scores: NDArray[numpy.float64], values: NDArray[numpy.float64], node: NDArray[numpy.int32]
) -> float: ...

class Router:
    def __init__(
        self,
        first_child: NDArray[Any],
        n_children: NDArray[Any],
        feature: NDArray[Any],
        threshold: NDArray[Any],
        slot_start: NDArray[Any],
        slot_of: NDArray[Any],
        missing_slot: NDArray[Any],
        n_roots: int = 1,
    ) -> None: ...
    @property
    def n_nodes(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def depth(self) -> int: ...
    @property
    def nominal(self) -> bool: ...
    @property
    def fractional(self) -> bool: ...
    def fill_nodes(self, X: object, out: NDArray[Any]) -> None: ...
    def fill_ends(
        self, X: object, n_rows: int, rows: NDArray[Any], start: NDArray[Any], out: NDArray[Any]
    ) -> None: ...
    def fill_predictions(
        self, X: object, belief: NDArray[Any], weight: NDArray[Any] | None, out: NDArray[Any]
    ) -> None: ...
    def node_of_row(self, row: object) -> int: ...
    def predict_row(
        self, row: object, belief: NDArray[Any], weight: NDArray[Any] | None
    ) -> tuple[Any, ...]: ...

class SlopedTree:
    def __init__(
        self,
        router: Router,
        parent: NDArray[Any],
        belief: NDArray[Any],
        node: NDArray[Any],
        feature: NDArray[Any],
        category: NDArray[Any],
        low: NDArray[Any],
        high: NDArray[Any],
        centre: NDArray[Any],
        slope: NDArray[Any],
        regression: bool,
    ) -> None: ...
    def fill_predictions(self, X: object, out: NDArray[Any]) -> None: ...
    def fill_terms(self, X: object, out: NDArray[Any]) -> None: ...
    def fill_classes(self, X: object, out: NDArray[Any]) -> None: ...
    def predict_row(self, row: object) -> tuple[Any, ...]: ...

def best_split(
    cells: object,
    cell_kind: int,
    columns: Columns,
    criterion: int,
    rules: Rules,
    evidence: NDArray[numpy.int64],
    n_rows: int,
    lower: float,
    upper: float,
    key: int,
    variance: float = 0.0,
    allowed: NDArray[numpy.uint8] | None = None,
    price: NDArray[numpy.float64] | None = None,
) -> Any: ...
def best_per_feature(
    cells: object,
    cell_kind: int,
    columns: Columns,
    criterion: int,
    rules: Rules,
    evidence: NDArray[numpy.int64],
    n_rows: int,
    lower: float,
    upper: float,
    variance: float = 0.0,
    allowed: NDArray[numpy.uint8] | None = None,
    price: NDArray[numpy.float64] | None = None,
) -> tuple[Any, ...]: ...
def choose_split(
    numbers: NDArray[numpy.float64],
    cell_kind: int,
    columns: Columns,
    criterion: int,
    rules: Rules,
    evidence: NDArray[numpy.int64],
    n_rows: int,
    variance: float = 0.0,
    allowed: NDArray[numpy.uint8] | None = None,
) -> int: ...

class Missing(enum.Enum):
    own = 0
    learned = 1
    fractional = 2

class Nominal(enum.Enum):
    multiway = 0
    subset = 1

class Rules:
    def __init__(self) -> None: ...
    @property
    def nominal(self) -> Nominal: ...
    @nominal.setter
    def nominal(self, arg: Nominal, /) -> None: ...
    @property
    def missing(self) -> Missing: ...
    @missing.setter
    def missing(self, arg: Missing, /) -> None: ...
    @property
    def gain_ratio(self) -> bool: ...
    @gain_ratio.setter
    def gain_ratio(self, arg: bool, /) -> None: ...
    @property
    def corrected(self) -> bool: ...
    @corrected.setter
    def corrected(self, arg: bool, /) -> None: ...
    @property
    def rows_per_step(self) -> float: ...
    @rows_per_step.setter
    def rows_per_step(self, arg: float, /) -> None: ...
    @property
    def rows_per_row(self) -> float: ...
    @rows_per_row.setter
    def rows_per_row(self, arg: float, /) -> None: ...
    @property
    def dispersion(self) -> float: ...
    @dispersion.setter
    def dispersion(self, arg: float, /) -> None: ...
    @property
    def min_rows_split(self) -> int: ...
    @min_rows_split.setter
    def min_rows_split(self, arg: int, /) -> None: ...
    @property
    def min_rows_leaf(self) -> int: ...
    @min_rows_leaf.setter
    def min_rows_leaf(self, arg: int, /) -> None: ...
    @property
    def min_rows_missing(self) -> float: ...
    @min_rows_missing.setter
    def min_rows_missing(self, arg: float, /) -> None: ...
    @property
    def min_weight_leaf(self) -> int: ...
    @min_weight_leaf.setter
    def min_weight_leaf(self, arg: int, /) -> None: ...
    @property
    def max_depth(self) -> int: ...
    @max_depth.setter
    def max_depth(self, arg: int, /) -> None: ...
    @property
    def min_decrease(self) -> float: ...
    @min_decrease.setter
    def min_decrease(self, arg: float, /) -> None: ...
    @property
    def unit(self) -> float: ...
    @unit.setter
    def unit(self, arg: float, /) -> None: ...
    @property
    def total_weight(self) -> int: ...
    @total_weight.setter
    def total_weight(self, arg: int, /) -> None: ...
    @property
    def total_rows(self) -> int: ...
    @total_rows.setter
    def total_rows(self, arg: int, /) -> None: ...
    @property
    def numerator_unit(self) -> float: ...
    @numerator_unit.setter
    def numerator_unit(self, arg: float, /) -> None: ...
    @property
    def ridge(self) -> float: ...
    @ridge.setter
    def ridge(self, arg: float, /) -> None: ...
    @property
    def rounding(self) -> float: ...
    @rounding.setter
    def rounding(self, arg: float, /) -> None: ...
    @property
    def max_features(self) -> int: ...
    @max_features.setter
    def max_features(self, arg: int, /) -> None: ...
    @property
    def price_unit(self) -> float: ...
    @price_unit.setter
    def price_unit(self, arg: float, /) -> None: ...
    def __getstate__(self) -> dict[str, Any]: ...
    def __setstate__(self, arg: dict[str, Any], /) -> None: ...

class PathRules:
    def __init__(
        self,
        n_features: int,
        groups: Sequence[Sequence[int]],
        below: Sequence[Sequence[int]],
        items: Sequence[tuple[float, Sequence[int]]] = [],
    ) -> None: ...
    def allowed(self, path: Sequence[int]) -> NDArray[numpy.uint8]: ...
    def prices(self, path: Sequence[int]) -> NDArray[numpy.float64] | None: ...
    def __getstate__(self) -> tuple[int, list[list[int]], list[list[int]], list[tuple[float, list[int]]]]: ...
    def __setstate__(
        self,
        arg: tuple[
            int, Sequence[Sequence[int]], Sequence[Sequence[int]], Sequence[tuple[float, Sequence[int]]]
        ],
        /,
    ) -> None: ...

class Columns:
    def __init__(
        self,
        n_codes: NDArray[numpy.int32],
        nominal: NDArray[numpy.uint8],
        monotone: NDArray[numpy.int8] | None,
        value: NDArray[numpy.float64] | None,
        n_classes: int,
        position: NDArray[numpy.int32] | None = None,
        reliability: NDArray[numpy.float64] | None = None,
    ) -> None: ...

def check_codes(
    codes: NDArray[numpy.uint8] | NDArray[numpy.uint16],
    label: NDArray[numpy.uint16],
    weight: NDArray[numpy.int64] | None,
    numerator: NDArray[numpy.int64] | None,
    columns: Columns,
) -> None: ...
def grow(
    codes: NDArray[numpy.uint8] | NDArray[numpy.uint16],
    label: NDArray[numpy.uint16],
    weight: NDArray[numpy.int64] | None,
    numerator: NDArray[numpy.int64] | None,
    columns: Columns,
    criterion: int,
    rules: Rules,
    begin: int,
    end: int,
    depth: int,
    lower: float,
    upper: float,
    key: int,
    path: Sequence[int],
    paths: PathRules | None,
    progress: NDArray[numpy.int64],
) -> tuple[Any, ...]: ...
def grow_each(
    codes: NDArray[numpy.uint8] | NDArray[numpy.uint16],
    label: NDArray[numpy.uint16],
    weight: NDArray[numpy.int64] | None,
    numerator: NDArray[numpy.int64] | None,
    columns: Sequence[object],
    criterion: int,
    rules: Sequence[Rules],
    begin: NDArray[numpy.int64],
    lower: float,
    upper: float,
    paths: PathRules | None,
    progress: NDArray[numpy.int64],
) -> tuple[Any, ...]: ...
def histogram(
    codes: NDArray[numpy.uint8] | NDArray[numpy.uint16],
    label: NDArray[numpy.uint16],
    weight: NDArray[numpy.int64] | None,
    numerator: NDArray[numpy.int64] | None,
    columns: Columns,
    slots: NDArray[numpy.int32] | None,
    begin: int,
    end: int,
    cells: object,
) -> None: ...
def partition(
    codes: NDArray[numpy.uint8] | NDArray[numpy.uint16],
    label: NDArray[numpy.uint16],
    weight: NDArray[numpy.int64] | None,
    numerator: NDArray[numpy.int64] | None,
    columns: Columns,
    begin: int,
    end: int,
    feature: int,
    slot_of: NDArray[numpy.int32],
    n_slots: int,
) -> NDArray[numpy.int64]: ...
def target_variance(
    numerator: NDArray[numpy.int64], weight: NDArray[numpy.int64] | None, begin: int, end: int, rules: Rules
) -> float: ...
def child_key(key: int, slot: int) -> int: ...
def least_costs(
    belief: NDArray[numpy.float64],
    costs: NDArray[numpy.float64],
    least: NDArray[numpy.float64],
    action: NDArray[numpy.int32],
) -> None: ...
def level_order(parent: NDArray[numpy.int32], rank: NDArray[numpy.int32]) -> NDArray[numpy.int64]: ...
def pull_up(
    first_child: NDArray[numpy.int32],
    n_children: NDArray[numpy.int32],
    values: NDArray[numpy.float64] | NDArray[numpy.int64],
) -> None: ...
def frontiers(first_child: NDArray[numpy.int32], n_children: NDArray[numpy.int32]) -> tuple[Any, ...]: ...
def prune_shape(
    first_child: NDArray[numpy.int32],
    n_children: NDArray[numpy.int32],
    cut: NDArray[numpy.bool_],
    node: NDArray[numpy.int64],
    new_parent: NDArray[numpy.int32],
    new_first_child: NDArray[numpy.int32],
    new_n_children: NDArray[numpy.int32],
) -> int: ...
def weakest_links(
    first_child: NDArray[numpy.int32],
    n_children: NDArray[numpy.int32],
    as_leaf: NDArray[numpy.float64],
    staying: NDArray[numpy.float64],
) -> tuple[Any, ...]: ...

class PruneSweep:
    @overload
    def __init__(
        self,
        first_child: NDArray[numpy.int32],
        n_children: NDArray[numpy.int32],
        as_leaf: NDArray[numpy.float64],
        staying: NDArray[numpy.float64],
        slack: float,
        relative: float,
        value: NDArray[numpy.float64],
        cut: NDArray[numpy.bool_],
    ) -> None: ...
    @overload
    def __init__(
        self,
        first_child: NDArray[numpy.int32],
        n_children: NDArray[numpy.int32],
        evidence: NDArray[numpy.int64],
        unit: float,
        belief: NDArray[numpy.float64],
        costs: NDArray[numpy.float64],
        slack: float,
        relative: float,
        value: NDArray[numpy.float64],
        cut: NDArray[numpy.bool_],
    ) -> None: ...
    def decide(self, begin: int, end: int) -> None: ...

def select_node_terms(
    codes: NDArray[numpy.uint8],
    n_codes: NDArray[numpy.int32],
    nominal: NDArray[numpy.bool_],
    value: NDArray[numpy.float64],
    sign: NDArray[numpy.int8],
    allowed: NDArray[numpy.uint8],
    label: NDArray[numpy.float64],
    weight: NDArray[numpy.float64],
    parent: NDArray[numpy.int32],
    node_of_end: NDArray[numpy.int32],
    start: NDArray[numpy.int64],
    most_terms: int,
    rounds: int,
    least_share: float,
    least_gain: float,
    ridge: float,
    steps: int,
) -> tuple[Any, ...]: ...
def fit_node_terms(
    values: NDArray[numpy.float64],
    node_of_term: NDArray[numpy.int32],
    sign: NDArray[numpy.int8],
    offset: NDArray[numpy.float64],
    fixed_bases: bool,
    label: NDArray[numpy.float64],
    weight: NDArray[numpy.float64],
    parent: NDArray[numpy.int32],
    node_of_end: NDArray[numpy.int32],
    start: NDArray[numpy.int64],
    ridge: float,
    steps: int,
    tolerance: float,
) -> NDArray[numpy.float64]: ...
def fit_base(
    score: NDArray[numpy.float64],
    label: NDArray[numpy.float64],
    weight: NDArray[numpy.float64],
    steps: int,
    tolerance: float,
) -> NDArray[numpy.float64]: ...
