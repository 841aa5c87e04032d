"""The leaf budget: best-first growing as a replay over gains.

A node's split does not depend on what happens elsewhere in the tree, so the tree a best-first grower would
stop at is the full tree cut back: open the nodes in order of their gain times their weight, parents before
children.
"""

import heapq

import numpy as np

from hornbeam.tree.edit import collapse
from hornbeam.tree.tree import Step, Tree

__all__ = ["keep_best_leaves"]


def keep_best_leaves(tree: Tree, max_leaf_nodes: int) -> Tree:
    """Keep the splits a best-first grower makes until the tree has ``max_leaf_nodes`` leaves.

    Ties go to the node that comes first in level order; splits of unknown gain come last. A multiway split
    that would overrun the budget ends the growing.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.data.schema import Feature, Schema
    >>> from hornbeam.tree.skeleton import Skeleton
    >>> test = [0.0, np.nan, 1.0, np.nan, np.nan]
    >>> skeleton = Skeleton.of([2, 0, 2, 0, 0], [0, -1, 0, -1, -1], test)
    >>> evidence = np.array([[3, 3], [2, 0], [1, 3], [1, 0], [0, 3]])
    >>> tree = Tree.raw(Schema((Feature("age"),), ("no", "yes")), skeleton, evidence)
    >>> keep_best_leaves(tree, 2)
    Tree(3 nodes, 2 leaves, depth 1, 2 classes)
    """
    if tree.n_leaves <= max_leaf_nodes:
        return tree
    skeleton = tree.skeleton
    worth = np.nan_to_num(tree.gain) * tree.weight
    opened = np.zeros(tree.n_nodes, dtype=bool)
    frontier = [(-float(worth[0]), 0)]
    n_leaves = 1
    while frontier:
        _, node = heapq.heappop(frontier)
        n_children = int(skeleton.n_children[node])
        if n_leaves + n_children - 1 > max_leaf_nodes:
            break
        opened[node] = True
        n_leaves += n_children - 1
        first = int(skeleton.first_child[node])
        for child in range(first, first + n_children):
            if skeleton.n_children[child]:
                heapq.heappush(frontier, (-float(worth[child]), child))
    return collapse(
        tree, ~opened & ~skeleton.is_leaf, Step.of("keep_best_leaves", max_leaf_nodes=max_leaf_nodes)
    )
