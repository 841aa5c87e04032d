"""Missing values that go to every child, and how much of them each child gets."""

import numpy as np

from hornbeam.tree import Tree

__all__ = ["missing_shares"]


def missing_shares(tree: Tree) -> dict[int, dict[int, float]]:
    """Give, for each node that spreads missing values, the share of every child that gets any.

    A node whose children have no evidence spreads nothing: a missing value stops there.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.data.schema import Feature, Schema
    >>> from hornbeam.tree import Skeleton, Tree
    >>> stump = Skeleton.of([2, 0, 0], [0, -1, -1], [0.5, np.nan, np.nan], missing_slot=[-2, -1, -1])
    >>> schema = Schema((Feature("dose"),), ("ill", "well"))
    >>> missing_shares(Tree.raw(schema, stump, np.array([[4, 4], [2, 0], [2, 4]])))
    {0: {1: 0.25, 2: 0.75}}
    """
    skeleton = tree.skeleton
    weight = tree.weight.astype(np.float64).tolist()
    found = {}
    for node in np.flatnonzero(skeleton.missing_slot == -2).tolist():
        first = skeleton.first_child.item(node)
        heard = [child for child in range(first, first + skeleton.n_children.item(node)) if weight[child] > 0]
        total = sum(weight[child] for child in heard)
        if heard:
            found[node] = {child: weight[child] / total for child in heard}
    return found
