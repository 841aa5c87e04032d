"""Rows as the float matrix that exported models read."""

from __future__ import annotations

from typing import Any

import numpy as np

from hornbeam.data.rows import read_rows
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import HasTree, single_tree
from hornbeam.typing import Floats


def to_matrix(model: Tree | HasTree, X: Any) -> Floats:
    """Convert rows to the float matrix that the models of `to_onnx`, `to_treelite` and `to_shap` read.

    Parameters
    ----------
    model : Tree, or fitted TreeClassifier or TreeRegressor
    X : array-like or data frame of shape (n_rows, n_features)
        Rows like those the tree was fitted to.

    Returns
    -------
    float64 array of shape (n_rows, n_features)
        A category is its position among the feature's categories, -2 if it is not among them; NaN is missing.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier().fit([[30, "red"], [40, "blue"]], ["no", "yes"]).tree_
    >>> to_matrix(tree, [[35, "red"], [None, "green"], [36, None]]).tolist()
    [[35.0, 1.0], [nan, -2.0], [36.0, nan]]
    """
    tree = single_tree(model)
    table = read_rows(X, schema=tree.schema)
    matrix = np.column_stack(table.columns).astype(np.float64, copy=False)
    for at, feature in enumerate(tree.schema.features):
        if feature.is_nominal:
            matrix[table.columns[at] == -1, at] = np.nan
    return matrix
