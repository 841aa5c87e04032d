"""What every estimator with a tree does with rows like those it was fitted to."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_is_fitted

from hornbeam.data.sheet import renamed
from hornbeam.data.table import Table
from hornbeam.estimators.rows import by_unit
from hornbeam.estimators.threads import n_threads
from hornbeam.tree.route import decision_path, route
from hornbeam.tree.tree import Tree
from hornbeam.typing import Indices

__all__ = ["Routing"]

_HERE = (str(Path(__file__).parent),)  # a warning points to who called us


class Routing:
    """Reads rows by the schema of the fitted tree, and sends them down."""

    tree_: Tree
    n_jobs: int | None

    @by_unit
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

    def _read(self, X: Any, y: Any = None) -> Table:
        """Read rows like those of `fit`; names are handled as scikit-learn does."""
        if not hasattr(self, "tree_"):
            check_is_fitted(self, "tree_")
        if isinstance(X, Table):  # a unit of a source, read by its schema
            return X
        table = Table.read(X, y, schema=self.tree_.schema)
        named = hasattr(self, "feature_names_in_")
        if named != (table.names is not None):
            own = type(self).__name__
            warnings.warn(
                f"X does not have valid feature names, but {own} was fitted with feature names"
                if named
                else f"X has feature names, but {own} was fitted without feature names",
                skip_file_prefixes=_HERE,
            )
        elif named and table.names != self.tree_.schema.names:
            raise renamed(table.names or (), self.tree_.schema.names)
        return table

    def _remember(self, tree: Tree, names: tuple[str, ...] | None) -> None:
        """Keep a fitted tree, and the names its columns came with."""
        self.tree_ = tree
        self.n_features_in_ = tree.schema.n_features
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
