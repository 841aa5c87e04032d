"""Record the trees that imodels shrinks, node for node, as test data.

imodels must be at hand when recording, never when testing:

    python tests/parity/record_imodels.py
"""

from __future__ import annotations

import datetime
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

RECORDING = Path(__file__).parent / "imodels_shrinkage.json"
STRENGTHS = (0.0, 0.1, 1.0, 10.0, 500.0)


def cases() -> dict[str, tuple[Any, Any, Any, int]]:
    """Rows, labels, weights (or None) and the number of leaves."""
    from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

    weight = np.random.default_rng(0).integers(1, 5, 178)
    return {
        "iris": (*load_iris(return_X_y=True), None, 9),
        "wine, weighted": (*load_wine(return_X_y=True), weight, 12),
        "breast cancer": (*load_breast_cancer(return_X_y=True), None, 20),
        "digits": (*load_digits(return_X_y=True), None, 15),
    }


def shrink(X: Any, y: Any, weight: Any, n_leaves: int, strength: float) -> dict[str, Any]:
    """A scikit-learn tree before shrinking (parents before children), and its probabilities after."""
    from imodels import HSTreeClassifier
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(max_leaf_nodes=n_leaves, random_state=0).fit(X, y, sample_weight=weight)
    tree = model.tree_
    parent = np.full(tree.node_count, -1)
    for children in (tree.children_left, tree.children_right):
        parent[children[children >= 0]] = np.flatnonzero(children >= 0)
    counts = np.rint(tree.value[:, 0] * tree.weighted_n_node_samples[:, None]).astype(int)
    shrunken = HSTreeClassifier(estimator_=model, reg_param=strength).estimator_.tree_
    return {
        "parent": parent.tolist(),
        "right": np.isin(np.arange(tree.node_count), tree.children_right).astype(int).tolist(),
        "counts": counts.tolist(),
        "shrunken": shrunken.value[:, 0].tolist(),
    }


def main() -> None:
    about = {
        "imodels": version("imodels"),
        "scikit-learn": version("scikit-learn"),
        "date": str(datetime.date.today()),
    }
    trees = [
        {"name": name, "strength": strength, **shrink(*case, strength)}
        for name, case in cases().items()
        for strength in (STRENGTHS if name == "iris" else (1.0, 10.0))
    ]
    lines = ",\n".join(json.dumps(tree) for tree in trees)
    RECORDING.write_text(f'{{"about": {json.dumps(about)},\n"trees": [\n{lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
