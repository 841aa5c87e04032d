"""The check of slopes against monotone constraints, against predictions on a grid."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.tree import Skeleton, Slopes, Tree, with_belief, with_slopes
from hornbeam.tree.monotone_slopes import slopes_are_monotone
from hornbeam.tree.route import predict_rows

nan = np.nan
STUMP = Skeleton.of([2, 0, 0], [0, -1, -1], [0.0, nan, nan])
GRID = np.array([-3.0, -1.0, -0.4, 0.0, 1e-9, 0.5, 1.0, 3.0])


def stump(numeric):
    features = (Feature("x"), Feature("z"))
    if numeric:
        schema = Schema(features, (), Kind.NUMERIC)
        return Tree.raw(schema, STUMP, np.array([[4, 4, 4], [2, 1, 2], [2, 3, 2]]))
    return Tree.raw(Schema(features, ("no", "yes")), STUMP, np.array([[5, 5], [4, 1], [1, 4]]))


def predicted(tree):
    rows = np.array(list(product(GRID, GRID)))
    table = Table(tree.schema, tuple(rows.T.copy()))
    return predict_rows(tree, table)[:, -1].reshape(len(GRID), len(GRID))


@given(st.booleans(), st.integers(0, 2**32 - 1), st.sampled_from([-1, 0, 1]), st.sampled_from([-1, 0, 1]))
def test_what_passes_is_monotone(numeric, seed, sign_x, sign_z):
    rng = np.random.default_rng(seed)
    tree = stump(numeric)
    slope = rng.normal(scale=0.3, size=(4, tree.schema.n_outputs)) * rng.integers(0, 2, (4, 1))
    tree = with_slopes(
        tree, Slopes.of([1, 1, 2, 2], [0, 1, 0, 1], [-1] * 4, [1] * 4, [0, 0.2, 0.1, 0], slope)
    )
    if slopes_are_monotone(tree, (sign_x, sign_z)):
        p = predicted(tree)
        assert (np.diff(p, axis=0) * sign_x >= -1e-12).all()
        assert (np.diff(p, axis=1) * sign_z >= -1e-12).all()


@pytest.mark.parametrize("numeric", [False, True])
def test_slopes_by_hand(numeric):
    tree = stump(numeric)
    n = tree.schema.n_outputs

    def judged(node, feature, change, signs=(1, 0)):
        slope = np.zeros((1, n))
        slope[0, -1] = change
        return slopes_are_monotone(
            with_slopes(tree, Slopes.of([node], [feature], [-1], [1], [0], slope)), signs
        )

    assert slopes_are_monotone(tree, (1, 0))
    assert not slopes_are_monotone(tree, (-1, 0))
    assert judged(1, 0, 0.1)
    assert not judged(1, 0, -0.1)
    assert judged(1, 0, -0.1, (0, 0))
    assert not judged(1, 0, 5.0)  # the left leaf passes the right one
    assert not judged(1, 1, 5.0)  # with another feature too
    assert judged(2, 1, 0.1, (1, 1))


def test_certain_leaves():
    tree = stump(False)
    certain = with_belief(tree, np.array([[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]]), tree.borrowed)
    slopes = Slopes.of([1, 2], [1, 1], [-1, -1], [1, 1], [0, 0], [[0.0, 50.0], [0.0, -50.0]])
    assert slopes_are_monotone(with_slopes(certain, slopes), (1, 0))


def test_signs_are_checked():
    with pytest.raises(ParameterError, match="there are 1 signs for 2 features and 2 classes"):
        slopes_are_monotone(stump(False), [1])
    three = Tree.raw(Schema((Feature("x"),), ("a", "b", "c")), Skeleton.leaf(), np.array([[1, 1, 1]]))
    with pytest.raises(ParameterError, match="two classes"):
        slopes_are_monotone(three, [1])
