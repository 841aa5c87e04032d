"""Shares of the children in missing values, against the router."""

import numpy as np
from hypothesis import given

from hornbeam.data.schema import Feature, Schema
from hornbeam.data.table import Table
from hornbeam.tree import Skeleton
from hornbeam.tree.evidence.fractional import child_shares
from hornbeam.tree.route import predict_rows
from hornbeam.tree.skeleton import EVERY_CHILD, STOP
from hornbeam.tree.tree import Tree
from support.strategies import trees

SCHEMA = Schema((Feature("x"),), ("a", "b"))
STUMP = Skeleton.of([2, 0, 0], [0, -1, -1], [0.5, np.nan, np.nan], missing_slot=[EVERY_CHILD, STOP, STOP])


def test_shares_are_the_weights_of_the_router():
    tree = Tree.raw(SCHEMA, STUMP, np.array([[9, 2], [2, 1], [7, 1]]))
    share = child_shares(tree)[0]
    expected = 0.0 + share[1] * tree.belief[1] + share[2] * tree.belief[2]
    assert predict_rows(tree, Table.read([[np.nan]], schema=SCHEMA)).tolist() == [expected.tolist()]


def test_children_without_evidence_have_no_share():
    assert child_shares(Tree.raw(SCHEMA, STUMP, np.array([[9, 2], [9, 2], [0, 0]]))) == {0: {1: 1.0}}
    assert child_shares(Tree.raw(SCHEMA, STUMP, np.array([[9, 2], [0, 0], [0, 0]]))) == {}


@given(trees())
def test_only_fractional_nodes_have_shares_and_they_add_up_to_one(tree):
    shares = child_shares(tree)
    assert tree.skeleton.is_fractional or not shares
    for node, share in shares.items():
        assert tree.skeleton.missing_slot[node] == EVERY_CHILD
        assert (tree.skeleton.parent[list(share)] == node).all()
        np.testing.assert_allclose(sum(share.values()), 1.0)
