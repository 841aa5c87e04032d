"""A maximum number of leaves: best-first growing, done after the tree is grown.

A split does not depend on other parts of the tree. So the result of best-first growing is the full tree cut back to the
splits of largest gain times weight, parents before children.
"""

import heapq

import numpy as np

from hornbeam.tree.edit import collapse
from hornbeam.tree.tree import Step, Tree

__all__ = ["keep_best_leaves"]


def keep_best_leaves(tree: Tree, max_leaf_nodes: int) -> Tree:
    """Keep the splits that best-first growing makes with at most ``max_leaf_nodes`` leaves.

    Of tied splits the first in level order is kept; splits of unknown gain come last. A multiway split with too many
    children ends the growing.
    """
    if tree.n_leaves <= max_leaf_nodes:
        return tree
    skeleton = tree.skeleton
    priority = np.nan_to_num(tree.gain) * tree.weight
    kept = np.zeros(tree.n_nodes, dtype=bool)
    frontier = [(-float(priority[0]), 0)]
    n_leaves = 1
    while frontier:
        _, node = heapq.heappop(frontier)
        n_children = int(skeleton.n_children[node])
        if n_leaves + n_children - 1 > max_leaf_nodes:
            break
        kept[node] = True
        n_leaves += n_children - 1
        first = int(skeleton.first_child[node])
        for child in range(first, first + n_children):
            if skeleton.n_children[child]:
                heapq.heappush(frontier, (-float(priority[child]), child))
    return collapse(
        tree, ~kept & ~skeleton.is_leaf, Step.of("keep_best_leaves", max_leaf_nodes=max_leaf_nodes)
    )
