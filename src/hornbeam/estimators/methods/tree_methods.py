"""What every estimator with a tree does with rows like those it was fitted to."""

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from hornbeam.estimators.inputs.sources import accepts_source
from hornbeam.estimators.methods.reads_rows import ReadsRows
from hornbeam.estimators.parameters.threads import n_threads
from hornbeam.tree.route import decision_path, route
from hornbeam.tree.tree import Tree
from hornbeam.typing import Indices

__all__ = ["TreeMethods"]


class TreeMethods(ReadsRows):
    """Reads rows by the schema of the fitted tree, and sends them down."""

    tree_: Tree
    n_jobs: int | None

    @accepts_source
    def apply(self, X: Any) -> Indices:
        """Find the node that answers for each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.

        Returns
        -------
        ndarray of int32 of shape (n_rows,)
            A leaf; an inner node where a row stops early.
        """
        table = self._read(X)
        return route(self.tree_.skeleton, table, n_threads(self.n_jobs))

    def decision_path(self, X: Any) -> csr_matrix:
        """Mark the nodes each row passes, from the root to the one that answers.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows like those of `fit`.

        Returns
        -------
        sparse matrix of shape (n_rows, n_nodes)
            1 where a row passes a node.
        """
        table = self._read(X)
        indptr, indices = decision_path(self.tree_.skeleton, table, n_threads(self.n_jobs))
        ones = np.ones(len(indices), dtype=np.int64)
        return csr_matrix((ones, indices, indptr), shape=(table.n_rows, self.tree_.n_nodes))
