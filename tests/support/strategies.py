"""Hypothesis strategies for schemas, skeletons, tables and trees of every shape the specification allows.

Schemas mix numeric, nominal and ordinal features and have 1 to 20 classes. Skeletons range from a single leaf
over multiway, subset and third-child splits to deep chains; missing values stop, take a branch, have their
own, or go to every child. Trees may have leaves no row ever reached.
"""

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from numpy.typing import NDArray

from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.table import Table
from hornbeam.tree import Skeleton, Slopes, Step, with_slopes
from hornbeam.tree.tree import Tree, raw_belief
from hornbeam.tree.walk import pull_up

__all__ = ["chain", "schemas", "skeletons", "slopes_of", "tables", "trees", "trees_with_slopes"]

_names = st.text(max_size=5)
_categories = st.one_of(
    st.lists(st.text(max_size=4), min_size=2, max_size=6, unique=True),
    st.lists(st.integers(-9, 9), min_size=2, max_size=6, unique=True).map(sorted),
    st.just([False, True]),
)
_thresholds = st.sampled_from([-2.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, 1e300, np.inf])


@st.composite
def _features(draw: DrawFn, name: str) -> Feature:
    kind = draw(st.sampled_from(Kind))
    return Feature(name, kind, () if kind is Kind.NUMERIC else tuple(draw(_categories)))


@st.composite
def schemas(draw: DrawFn, max_features: int = 4, max_classes: int = 20) -> Schema:
    """At least one feature, and 1 to `max_classes` classes that are all words or all numbers."""
    names = draw(st.lists(_names, min_size=1, max_size=max_features, unique=True))
    n_classes = draw(st.one_of(st.integers(1, 3), st.integers(1, max_classes)))
    labels = draw(st.sampled_from([range(n_classes), [f"class {k}" for k in range(n_classes)]]))
    return Schema(tuple(draw(_features(name)) for name in names), tuple(labels))


def chain(depth: int, feature: int = 0) -> Skeleton:
    """A list in the shape of a tree: every right child splits again."""
    n_children = np.array([2, *[0, 2] * (depth - 1), 0, 0]) if depth else np.array([0])
    inner = n_children > 0
    threshold = np.where(inner, np.arange(len(inner)) / 2, np.nan)
    return Skeleton.of(n_children, np.where(inner, feature, -1), threshold)


@st.composite
def skeletons(draw: DrawFn, schema: Schema, max_inner: int = 12, fractional: bool = True) -> Skeleton:
    """A skeleton whose tests fit `schema`, drawn node by node in level order."""
    numeric = [f for f, feature in enumerate(schema.features) if feature.kind is not Kind.NOMINAL]
    if numeric and draw(st.integers(0, 9)) == 0:
        return chain(draw(st.integers(1, 60)), draw(st.sampled_from(numeric)))
    n_inner = draw(st.integers(0, max_inner))
    nodes: list[tuple[int, int, float, int, list[int]]] = []
    born = 1
    while len(nodes) < born:
        # The last open node must split if splits are left, or the tree would end here.
        splits = n_inner > 0 and (born == len(nodes) + 1 or draw(st.booleans()))
        node = draw(_tests(schema, fractional)) if splits else (0, -1, np.nan, -1, [])
        n_inner -= splits
        born += node[0]
        nodes.append(node)
    n_children, feature, threshold, missing_slot, runs = zip(*nodes, strict=True)
    return Skeleton.of(
        n_children,
        feature,
        threshold,
        missing_slot=missing_slot,
        slot_start=np.cumsum([0, *map(len, runs)]),
        slot_of=[slot for run in runs for slot in run],
    )


@st.composite
def _tests(draw: DrawFn, schema: Schema, fractional: bool) -> tuple[int, int, float, int, list[int]]:
    """One inner node: number of children, feature, threshold, missing slot, slots of the categories."""
    feature = draw(st.integers(0, schema.n_features - 1))
    own_branch = draw(st.booleans())
    run: list[int] = []
    threshold = np.nan
    if schema.features[feature].kind is Kind.NOMINAL:
        n_categories = len(schema.features[feature].categories)
        seen = draw(st.integers(1 if own_branch else 2, n_categories))
        branches = draw(st.integers(1 if own_branch else 2, seen))
        slots = [*range(branches), *draw(st.lists(st.integers(0, branches - 1), max_size=seen - branches))]
        run = list(draw(st.permutations((slots + [-1] * n_categories)[:n_categories])))
    else:
        branches, threshold = 2, draw(_thresholds)
    if own_branch:
        return branches + 1, feature, threshold, branches, run
    return branches, feature, threshold, draw(st.integers(-2 if fractional else -1, branches - 1)), run


@st.composite
def tables(
    draw: DrawFn, schema: Schema, max_rows: int = 30, weights: bool = True, unseen: bool = True
) -> Table:
    """Rows of `schema` with ties, missing values and, if `unseen`, categories the schema lacks."""
    n = draw(st.integers(1, max_rows))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))  # a draw per cell would take too long
    columns: list[NDArray[Any]] = []
    for feature in schema.features:
        size = len(feature.categories)
        if feature.kind is Kind.NOMINAL:
            columns.append(rng.integers(-2 if unseen else -1, size, n, dtype=np.int32))
        else:
            known = np.arange(size) if size else [-1.0, -0.0, 0.0, 0.5, 1.0, 1e308, np.inf, -np.inf]
            columns.append(rng.choice([*known, np.nan, np.nan], n))
    target = rng.integers(0, schema.n_classes, n, dtype=np.int32)
    if not (weights and draw(st.booleans())):
        return Table(schema, tuple(columns), target, None, 1.0, None)
    weight = rng.integers(1, draw(st.sampled_from([3, 2**20, 2**44])), n, endpoint=True)
    return Table(schema, tuple(columns), target, weight, draw(st.sampled_from([1.0, 2.0**-20])), None)


@st.composite
def trees(
    draw: DrawFn, schema: SearchStrategy[Schema] | None = None, max_inner: int = 12, fractional: bool = True
) -> Tree:
    """A tree with any evidence: empty leaves, rows that stopped on the way, beliefs raw or smoothed."""
    given_schema = draw(schemas() if schema is None else schema)
    skeleton = draw(skeletons(given_schema, max_inner, fractional))
    n, k = skeleton.n_nodes, given_schema.n_classes
    most = draw(st.sampled_from([0, 1, 5, 2**40]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    # Rows may stop on the way where missing values stop; elsewhere all of them reach a leaf.
    own = rng.integers(0, most, (n, k), endpoint=True) * rng.integers(0, 1, (n, 1), endpoint=True)
    own[(skeleton.n_children > 0) & (skeleton.missing_slot != -1)] = 0
    evidence = pull_up(skeleton, own)
    belief, borrowed = raw_belief(skeleton, evidence), np.zeros(n)
    if draw(st.booleans()):
        belief, borrowed = (belief + 1 / k) / 2, rng.exponential(size=n)
    return Tree(
        schema=given_schema,
        skeleton=skeleton,
        evidence=evidence,
        unit=np.full(k, draw(st.sampled_from([1.0, 2.0**-20]))),
        rows=pull_up(skeleton, np.einsum("ij->i", own)),
        gain=np.where(skeleton.is_leaf | (rng.random(n) < 0.2), np.nan, rng.random(n)),
        belief=belief,
        borrowed=borrowed,
        history=tuple(Step.of(f"not {name}", seed=1) for name in draw(st.lists(_names, max_size=2))),
    )


def slopes_of(tree: Tree, rng: np.random.Generator, share: float = 0.7, scale: float = 1.0) -> Slopes:
    """Random terms: about `share` of the leaves, and in half of the trees of the inner nodes, have some."""
    anywhere = tree.skeleton.is_leaf | (rng.random() < 0.5)
    nodes = np.flatnonzero(anywhere & (rng.random(tree.n_nodes) < share))
    terms: list[tuple[int, int, int, float, float, float]] = []
    for node in nodes.tolist():
        for f, feature in enumerate(tree.schema.features):
            size = len(feature.categories)
            if feature.kind is Kind.NOMINAL:
                codes = np.flatnonzero(rng.random(size) < 0.3).tolist()
                terms += [(node, f, code, 0.0, 1.0, float(rng.random())) for code in codes]
            elif rng.random() < 0.5:
                low, centre, high = np.sort(
                    rng.normal(size=3) if size == 0 else rng.random(3) * size
                ).tolist()
                terms.append((node, f, -1, low, high, centre))
    slope = scale * rng.normal(size=(len(terms), tree.schema.n_outputs))
    if not terms:
        return Slopes.none(tree.schema.n_outputs)
    node_of, feature_of, category, low_, high_, centre_ = zip(*terms, strict=True)
    return Slopes.of(node_of, feature_of, low_, high_, centre_, slope, category)


@st.composite
def trees_with_slopes(
    draw: DrawFn, schema: SearchStrategy[Schema] | None = None, max_inner: int = 12
) -> Tree:
    """A tree of `trees` with random terms; with very steep ones now and then."""
    tree = draw(trees(schema, max_inner, fractional=False))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scale = draw(st.sampled_from([1.0, 1.0, 0.0, 1e-3, 300.0, 1e90]))
    return with_slopes(tree, slopes_of(tree, rng, draw(st.sampled_from([0.3, 1.0])), scale))
