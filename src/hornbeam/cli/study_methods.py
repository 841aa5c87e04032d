"""Methods that ``hornbeam study`` compares: from training rows and test rows to probabilities."""

from collections.abc import Callable
from functools import partial

from hornbeam.data.table import Table
from hornbeam.estimators.parameters.fields import TreeClassifierParameters
from hornbeam.estimators.parameters.recipes import tree_fitter
from hornbeam.estimators.parameters.threads import n_threads
from hornbeam.tree.route import predict_rows
from hornbeam.typing import Floats

__all__ = ["methods"]

type Method = Callable[[Table, Table], tuple[Floats, int]]


def methods(seed: int, n_jobs: int) -> dict[str, Method]:
    """Return all methods by name, the default first; each returns probabilities and the number of leaves.

    Examples
    --------
    >>> list(methods(0, 1))
    ['hornbeam', 'CART, cost-complexity', 'C4.5', 'scikit-learn']
    """
    settings = {
        "hornbeam": TreeClassifierParameters(random_state=seed),
        "CART, cost-complexity": TreeClassifierParameters(
            "cart", pruning="cost-complexity", random_state=seed
        ),
        "C4.5": TreeClassifierParameters("c4.5"),
    }
    ours = {name: partial(_hornbeam, one, n_threads(n_jobs)) for name, one in settings.items()}
    return {**ours, "scikit-learn": partial(_scikit_learn, seed)}


def _hornbeam(
    settings: TreeClassifierParameters, n_jobs: int, train: Table, test: Table
) -> tuple[Floats, int]:
    tree = tree_fitter(settings, train).fit(train, n_jobs=n_jobs)
    return predict_rows(tree, test, n_jobs), tree.n_leaves


def _scikit_learn(seed: int, train: Table, test: Table) -> tuple[Floats, int]:
    """scikit-learn's tree with default parameters, on one-hot encoded categories."""
    import numpy as np
    from sklearn.tree import DecisionTreeClassifier

    weight = None if train.weight is None else train.weight * train.unit
    tree = DecisionTreeClassifier(random_state=seed).fit(_one_hot(train), train.target, weight)
    belief = np.zeros((test.n_rows, test.schema.n_classes))
    belief[:, tree.classes_] = tree.predict_proba(_one_hot(test))
    return belief, int(tree.get_n_leaves())


def _one_hot(table: Table) -> Floats:
    """Numeric columns unchanged, nominal columns one-hot encoded."""
    import numpy as np

    parts = []
    for column, feature in zip(table.columns, table.schema.features, strict=True):
        nominal = feature.is_nominal
        parts.append(column[:, None] == np.arange(len(feature.categories)) if nominal else column[:, None])
    return np.hstack(parts).astype(np.float32)
