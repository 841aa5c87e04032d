"""Selection of columns by name, for rows that do not come from the training data."""

from __future__ import annotations

from typing import Any

import numpy as np

from hornbeam.data.reading.frame import select_columns
from hornbeam.data.schema import Schema


class ColumnsByName:
    """A fitted estimator that selects its columns by name."""

    @property
    def _schema(self) -> Schema:
        """Schema of the training data."""
        raise NotImplementedError

    def _used_features(self) -> frozenset[str]:
        """Names of the features that the model uses."""
        raise NotImplementedError

    def select_columns(self, X: Any) -> Any:
        """Select the columns that the model was fitted to, by name.

        Use it for rows from another place than the training data, such as a request to a service: the columns may be
        in another order, there may be additional ones, and columns that the model does not use may be absent.

        Parameters
        ----------
        X : data frame
            Rows with at least the columns that the model uses. Arrays have no names, and dicts are always read by
            name: both are returned unchanged.

        Returns
        -------
        data frame of the same library
            The columns of `fit` in their order; absent columns that the model does not use have missing values.

        Raises
        ------
        SchemaError
            If X lacks columns that the model uses; the message names them.

        Examples
        --------
        >>> import pandas as pd
        >>> from hornbeam import TreeClassifier
        >>> X = pd.DataFrame({"heat": [36.6, 36.8, 39.0, 39.5], "room": [1, 2, 1, 2]})
        >>> clf = TreeClassifier("cart").fit(X, ["well", "well", "ill", "ill"])
        >>> arrived = pd.DataFrame({"ward": ["A"], "heat": [39.1]})
        >>> clf.predict(clf.select_columns(arrived)).tolist()
        ['ill']
        """
        return select_columns(X, self._schema.names, self._used_features())


def required_columns(fitted: Any) -> frozenset[str]:
    """Return the names of the features that a tree, several trees or a list of rules use."""
    names = np.array(fitted.schema.names, dtype=object)
    if hasattr(fitted, "rules"):
        tested = {condition.feature.name for rule in fitted.rules for condition in rule.conditions}
        return frozenset(tested.union(*(names[rule.slopes.feature] for rule in fitted.rules)))
    trees = getattr(fitted, "trees", (fitted,))
    used = [array for tree in trees for array in (tree.skeleton.feature, tree.slopes.feature)]
    features = np.unique(np.concatenate(used)) if used else np.zeros(0, int)
    return frozenset(names[features[features >= 0]].tolist())
