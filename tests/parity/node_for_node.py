"""Our tree and scikit-learn's, walked at once."""

import numpy as np
import pytest

from hornbeam.tree.tree import Tree

__all__ = ["assert_node_for_node"]


def assert_node_for_node(tree: Tree, other, X, **gain_within) -> None:
    """Compare rows, predictions, tests and gains; left is slot 0. The tolerance of gains goes to `pytest.approx`.

    scikit-learn cuts at the midpoint of two neighbouring values, we at a short decimal between the same two.
    """
    skeleton = tree.skeleton
    assert (tree.n_nodes, tree.n_leaves, tree.depth) == (other.node_count, other.n_leaves, other.max_depth)
    pairs = [(0, 0, np.arange(len(X)))]
    for mine, theirs, rows in pairs:
        assert tree.rows[mine] == other.n_node_samples[theirs]
        assert tree.belief[mine] == pytest.approx(other.value[theirs, 0], rel=1e-12)
        left = int(other.children_left[theirs])
        if left < 0:
            assert skeleton.n_children[mine] == 0
            continue
        assert skeleton.feature[mine] == other.feature[theirs]
        x = X[rows, skeleton.feature[mine]]
        left_values, right_values = x[x <= skeleton.threshold[mine]], x[x > skeleton.threshold[mine]]
        assert left_values.max() <= other.threshold[theirs]
        # A test may ask whether the value is known: then no known value is on its right.
        assert (right_values > other.threshold[theirs]).all()
        if skeleton.missing_slot[mine] >= 0:
            assert skeleton.missing_slot[mine] == 1 - other.missing_go_to_left[theirs]
        right = int(other.children_right[theirs])
        share = other.weighted_n_node_samples[[left, right]] / other.weighted_n_node_samples[theirs]
        decrease = other.impurity[theirs] - share @ other.impurity[[left, right]]
        assert tree.gain[mine] == pytest.approx(decrease, **gain_within)
        first = int(skeleton.first_child[mine])
        goes_left = x <= skeleton.threshold[mine]
        if skeleton.missing_slot[mine] == 0:
            goes_left |= np.isnan(x)
        pairs += [(first, left, rows[goes_left]), (first + 1, right, rows[~goes_left])]
