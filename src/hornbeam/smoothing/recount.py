"""New counts for a tree whose splits were edited."""

from typing import Any

from hornbeam.data.table import Table
from hornbeam.smoothing.replay import replay, smoothers_of
from hornbeam.tree import edit
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.unwrap import single_tree

__all__ = ["recount"]


def recount(tree: Tree, X: Any, y: Any, *, sample_weight: Any = None) -> Tree:
    """Replace the counts of a tree by those of some rows, and smooth with the smoothers in its history.

    Use it after splits were edited, by hand in the file or with `dataclasses.replace`: the tree still has the counts
    of its old splits.

    Parameters
    ----------
    tree : Tree, or fitted estimator of one tree
        Its splits stay as they are.
    X : array-like or data frame of shape (n_rows, n_features)
        Rows with the columns of the tree.
    y : array-like of shape (n_rows,)
        Their classes, or a numeric target.
    sample_weight : array-like of shape (n_rows,), default=None
        A row of weight 2 counts as two rows.

    Returns
    -------
    Tree
        With the splits, the gains and the decision rule of `tree`, and the counts of these rows alone.
        Probabilities are estimated by the smoothers in its history, with the strengths found in the fit.

    Raises
    ------
    SchemaError
        If the columns or the classes are not those of the tree.

    See Also
    --------
    hornbeam.tree.add_rows : adds the counts of more rows.

    Examples
    --------
    >>> from dataclasses import replace
    >>> import numpy as np
    >>> import hornbeam
    >>> X, y = [[20], [25], [40], [50]], ["no", "yes", "yes", "yes"]
    >>> tree = hornbeam.TreeClassifier("cart", max_depth=1).fit(X, y).tree_
    >>> tree.skeleton.threshold.item(0), tree.evidence.tolist()
    (22.0, [[1, 3], [1, 0], [0, 3]])
    >>> skeleton = replace(tree.skeleton, threshold=np.array([30.0, np.nan, np.nan]))
    >>> hornbeam.recount(replace(tree, skeleton=skeleton), X, y).evidence.tolist()
    [[1, 3], [1, 1], [0, 2]]
    """
    tree = single_tree(tree)
    table = Table.read(X, y, sample_weight=sample_weight, schema=tree.schema)
    step = Step.of("recount", rows=table.n_rows)
    return replay(smoothers_of(tree.history), edit.recount(tree, table, step))
