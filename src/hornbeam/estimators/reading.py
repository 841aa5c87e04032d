"""What every fitted estimator does with rows like those it was fitted to: read them by its schema."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hornbeam.data.schema import Schema
from hornbeam.data.sheet import renamed
from hornbeam.data.table import Table
from hornbeam.estimators.warning import warn

__all__ = ["Reading"]


class Reading:
    """Reads rows by the schema of what was fitted; names are handled as scikit-learn does."""

    _fitted = "tree_"  # the attribute that has it

    def __sklearn_tags__(self) -> Any:
        """Say that missing values, categories, strings and sparse matrices are accepted."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        return tags

    @property
    def _schema(self) -> Schema:
        if not hasattr(self, self._fitted):
            check_is_fitted(self, self._fitted)
        return getattr(self, self._fitted).schema  # type: ignore[no-any-return]

    def _read(self, X: Any, y: Any = None) -> Table:
        schema = self._schema
        if isinstance(X, Table):  # a unit of a source, read by its schema
            return X
        table = Table.read(X, y, schema=schema)
        named = hasattr(self, "feature_names_in_")
        if named != (table.names is not None):
            own = type(self).__name__
            warn(
                f"X does not have valid feature names, but {own} was fitted with feature names"
                if named
                else f"X has feature names, but {own} was fitted without feature names"
            )
        elif named and table.names != schema.names:
            raise renamed(table.names or (), schema.names)
        return table

    def _remember(self, fitted: Any, names: tuple[str, ...] | None) -> None:
        """Keep a fitted tree or forest, and the names its columns came with."""
        setattr(self, self._fitted, fitted)
        self.n_features_in_ = fitted.schema.n_features
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
