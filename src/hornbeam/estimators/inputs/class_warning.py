"""The warning of `fit` about a target with nearly as many classes as rows."""

from hornbeam.data.table import Table
from hornbeam.estimators.inputs.warning import warn

__all__ = ["warn_of_classes"]

_MANY_CELLS = 100_000_000  # numbers in one array of a tree: 0.8 GB
_FEW_ROWS = 10  # a class


def warn_of_classes(table: Table) -> None:
    """Warn before a tree is grown that may need gigabytes: it has a number for each node and class.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> table = Table.read(np.zeros((8000, 1)), np.arange(8000))
    >>> with warnings.catch_warnings(record=True, action="always") as heard:
    ...     warn_of_classes(table)
    >>> print(heard[0].message)
    y has 8,000 classes in 8,000 rows. A tree has a number for each node and class, here up to 127,992,000
    in each of its arrays: 1.0 GB. If y is a number, use a regressor. Else join rare classes, or limit max_depth
    or min_samples_leaf.
    """
    n_rows, n_classes = table.n_rows, table.schema.n_classes
    cells = (2 * n_rows - 1) * n_classes
    if n_rows < _FEW_ROWS * n_classes and cells > _MANY_CELLS:
        warn(
            f"y has {n_classes:,} classes in {n_rows:,} rows. A tree has a number for each node and class, here up to "
            f"{cells:,} in each of its arrays: {8e-9 * cells:.1f} GB. If y is a number, use a regressor. Else join "
            "rare classes, or limit max_depth or min_samples_leaf."
        )
