"""Hierarchical shrinkage as imodels does it, recorded and, where it is installed, live."""

import json

import numpy as np
import pytest
from record_imodels import RECORDING, cases, shrink

from hornbeam import Tree
from hornbeam.smoothing import HierarchicalShrinkage
from hornbeam.tree import Feature, Schema, Skeleton
from hornbeam.tree.level_order import level_order

TREES = json.loads(RECORDING.read_text(encoding="utf-8"))["trees"]


def agree(recorded, strength):
    parent, counts = np.array(recorded["parent"]), np.array(recorded["counts"])
    order = level_order(parent, np.array(recorded["right"]))
    n_children = np.bincount(parent[1:], minlength=len(parent))[order]
    inner = n_children > 0
    skeleton = Skeleton.of(n_children, np.where(inner, 0, -1), np.where(inner, 0.5, np.nan))
    schema = Schema((Feature("x"),), tuple(range(counts.shape[1])))
    tree = HierarchicalShrinkage(strength)(Tree.raw(schema, skeleton, counts[order]))
    np.testing.assert_allclose(tree.belief, np.array(recorded["shrunken"])[order], rtol=0, atol=1e-12)


@pytest.mark.parametrize("recorded", TREES, ids=lambda tree: f"{tree['name']}-{tree['strength']:g}")
def test_recorded_trees_are_shrunk_alike(recorded):
    agree(recorded, recorded["strength"])


@pytest.mark.parametrize("name", cases())
def test_trees_are_shrunk_alike_today(name):
    pytest.importorskip("imodels")
    agree(shrink(*cases()[name], strength=3.0), 3.0)
