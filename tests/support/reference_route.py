"""Routing, one row and one node at a time: the slow twin of the compiled router, and trees to try both on."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from hypothesis import strategies as st

MISSING, UNSEEN = -1, -2
STOP, EVERY_CHILD = -1, -2


@dataclass
class Arrays:
    """The arrays of a skeleton, unchecked."""

    first_child: np.ndarray
    n_children: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    slot_start: np.ndarray
    slot_of: np.ndarray
    missing_slot: np.ndarray

    def copies(self) -> dict[str, np.ndarray]:
        return {field.name: getattr(self, field.name).copy() for field in fields(self)}

    def is_nominal(self, node):
        return self.slot_start[node] < self.slot_start[node + 1]


def is_missing(tree, row, node):
    value = row[tree.feature[node]]
    return value == MISSING if tree.is_nominal(node) else bool(np.isnan(value))


def next_node(tree, row, node):
    """The child a row goes to, or None where it stops."""
    if tree.n_children[node] == 0:
        return None
    value = row[tree.feature[node]]
    if is_missing(tree, row, node):
        slot = tree.missing_slot[node]
    elif tree.is_nominal(node):
        run = tree.slot_of[tree.slot_start[node] : tree.slot_start[node + 1]]
        slot = run[value] if 0 <= value < len(run) else STOP
    else:
        slot = 0 if value <= tree.threshold[node] else 1
    return None if slot < 0 else int(tree.first_child[node] + slot)


def stop(tree, row, node=0):
    while (child := next_node(tree, row, node)) is not None:
        node = child
    return node


def answer(tree, row, belief, weight):
    """The belief where a row stops; where it spreads, a sum over the children, depth first."""
    total = np.zeros(belief.shape[1])
    spreading = False
    open_ = [(0, 1.0)]
    while open_:
        node, fraction = open_.pop()
        node = stop(tree, row, node)
        children = range(tree.first_child[node], tree.first_child[node] + tree.n_children[node])
        evidence = 0.0
        if children and is_missing(tree, row, node) and tree.missing_slot[node] == EVERY_CHILD:
            for child in children:
                evidence += weight[child]
        if evidence > 0:
            spreading = True
            heard = [child for child in reversed(children) if weight[child] > 0]
            open_ += [(child, fraction * (weight[child] / evidence)) for child in heard]
        elif spreading:
            total += fraction * belief[node]
        else:
            return belief[node].copy()
    return total


@st.composite
def trees(draw, kinds=(2, 0, 0, 5, 3), max_inner=12, missing=("slot", "own", "stop", "all")):
    """A random tree over features with the given number of categories (0: numeric), grown level by level."""
    n_inner = draw(st.integers(0, max_inner))
    seed = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_children, feature, threshold, runs, missing_slot = [], [], [], [], []
    pending = 1
    while pending:
        pending -= 1
        inner = len([n for n in n_children if n]) < n_inner and (pending == 0 or seed.random() < 0.7)
        policy = missing[seed.integers(len(missing))]
        f = int(seed.integers(len(kinds)))
        if not inner:
            size, f, t, run, away = 0, -1, np.nan, [], -1
        elif kinds[f] == 0:
            t, run = float(np.round(seed.normal(), 1)), []
            size = 3 if policy == "own" else 2
            away = {"slot": int(seed.integers(2)), "own": 2, "stop": STOP, "all": EVERY_CHILD}[policy]
        else:
            size, t = int(seed.integers(2, 5)), np.nan
            run = seed.integers(-1, size, kinds[f]).tolist()
            away = {"slot": int(seed.integers(size)), "own": size - 1, "stop": STOP, "all": EVERY_CHILD}[
                policy
            ]
        for array, value in zip(
            (n_children, feature, threshold, runs, missing_slot), (size, f, t, run, away), strict=True
        ):
            array.append(value)
        pending += size
    return arrays(n_children, feature, threshold, runs, missing_slot)


def arrays(n_children, feature, threshold, runs, missing_slot):
    n_children = np.array(n_children, np.int32)
    first_child = (1 + np.cumsum(n_children) - n_children).astype(np.int32)
    first_child[n_children == 0] = -1
    return Arrays(
        first_child,
        n_children,
        np.array(feature, np.int32),
        np.array(threshold, np.float64),
        np.cumsum([0, *map(len, runs)]).astype(np.int32),
        np.array([slot for run in runs for slot in run], np.int32),
        np.array(missing_slot, np.int32),
    )


def numeric_tree(n_children, feature, threshold, missing_slot):
    """A tree without nominal tests."""
    return arrays(n_children, feature, threshold, [[]] * len(n_children), missing_slot)


def columns(tree, kinds, n_rows, seed):
    """Values on and beside the tree's thresholds, and every special one; codes seen, unseen and missing."""
    rng = np.random.default_rng(seed)
    cuts = tree.threshold[~np.isnan(tree.threshold)]
    with np.errstate(over="ignore", under="ignore"):
        beside = [np.nextafter(cuts, -np.inf), np.nextafter(cuts, np.inf), -cuts]
    pool = np.concatenate([cuts, *beside, [np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324]])
    made = []
    for n_categories in kinds:
        if n_categories:
            made.append(rng.integers(UNSEEN, n_categories + 1, n_rows).astype(np.int32))
        else:
            chosen = rng.choice(pool, n_rows)
            made.append(np.where(rng.random(n_rows) < 0.5, chosen, rng.normal(size=n_rows)))
    return made
