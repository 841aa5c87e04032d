"""Small trees of other libraries at a number of leaves or a depth, and larger models as ceilings.

Most of these take numbers without gaps only: categories are one column each, a missing category too, and a missing
number is the median of the training rows. Trees that search over binary features get ten quantiles of every column.
Needs imodels, interpret-core, licketysplit, lightgbm, linear-tree, pycontree and pystreed (Python 3.12 has wheels of
all of them), and for LMT JPype1, Java and Weka.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import validate_data

from benchmarks.quality.studies.j48 import instances, java
from benchmarks.quality.studies.methods import Group, Outcome, timed
from benchmarks.quality.studies.sets import SEED, Fold

type Floats = NDArray[np.float64]

LEAVES = (4, 8, 16, 32)
DEPTHS = (3, 4, 5)
SIZES = (*(f"leaves-{n}" for n in LEAVES), *(f"depth-{d}" for d in DEPTHS))
PENALTIES = np.geomspace(0.1, 0.0005, 12)  # of a leaf, for LicketySPLIT, which has no limit of leaves
CEILINGS = ("forest-100", "lightgbm", "lightgbm-stopped", "logistic", "mlp", "ebm")
SECONDS = 3  # for one tree of STreeD; the search returns the best tree it has


def limit(size: str) -> dict[str, int]:
    """The parameter of scikit-learn that a size is.

    >>> limit("leaves-16"), limit("depth-3")
    ({'max_leaf_nodes': 16}, {'max_depth': 3})
    """
    kind, number = size.split("-")
    return {"max_leaf_nodes" if kind == "leaves" else "max_depth": int(number)}


def encoded(fold: Fold) -> tuple[Floats, Floats]:
    """Training and test rows as numbers without gaps."""
    columns = []
    for name in fold.data.X:
        column = fold.data.X[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            codes = column.cat.codes.to_numpy()
            columns += [(codes == code).astype(float) for code in np.unique(codes)]
        else:
            values = column.to_numpy(float)
            known = values[fold.train][np.isfinite(values[fold.train])]
            columns.append(np.where(np.isfinite(values), values, np.median(known) if len(known) else 0.0))
    matrix = np.column_stack(columns)
    return matrix[fold.train], matrix[fold.test]


def binary(fold: Fold) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Training and test rows by "at most this quantile?"."""
    train, test = encoded(fold)
    cuts = [
        (j, cut) for j, column in enumerate(train.T) for cut in np.unique(np.quantile(column, np.arange(0.05, 1, 0.1)))
        if (column > cut).any()
    ]  # fmt: skip
    return tuple(np.column_stack([X[:, j] <= cut for j, cut in cuts]) for X in (train, test))  # type: ignore[return-value]


def sized(make: Callable[[str], Any], sizes: tuple[str, ...]) -> Callable[..., Iterator[Outcome]]:
    """A group's run: one model of scikit-learn's kind for each size, on encoded rows in random order."""

    def run(fold: Fold, wanted: frozenset[str]) -> Iterator[Outcome]:
        train, test = encoded(fold)
        order = np.random.default_rng(SEED).permutation(len(train))  # some cross-validate without shuffling
        labels = np.searchsorted(fold.seen, fold.y_train)[order]
        for size in sizes:
            if size in wanted:
                try:
                    model, seconds = timed(lambda size=size: make(size).fit(train[order], labels))
                    answer = fold.spread(model.predict_proba(test))
                except (ValueError, IndexError, RuntimeError, TypeError) as error:
                    yield Outcome(size, None, reason=f"{type(error).__name__}: {error}".splitlines()[0][:120])
                else:
                    yield Outcome(
                        size,
                        answer,
                        seconds,
                        leaves=_n_leaves(model),
                        numbers=_n_numbers(model, answer.shape[1]),
                    )

    return run


def _n_leaves(model: Any) -> int | None:
    for name in ("get_n_leaves", "get_num_leaf_nodes"):
        if hasattr(model, name):
            return int(getattr(model, name)())
    return None


def _n_numbers(model: Any, n_classes: int) -> int | None:
    """Count the numbers of a model that can be written down: as in `sizes`, of a tree, scores or coefficients."""
    outputs = n_classes - 1
    if isinstance(model, Pipeline):
        return _n_numbers(model[-1], n_classes)
    if hasattr(model, "term_scores_"):
        return int(sum(np.size(scores) for scores in model.term_scores_))
    if hasattr(model, "coefs_"):
        return int(sum(array.size for array in (*model.coefs_, *model.intercepts_)))
    if hasattr(model, "coef_"):
        return int(model.coef_.size + model.intercept_.size)
    leaves = _n_leaves(model)
    return None if leaves is None else leaves - 1 + leaves * outputs


class Stopped:
    """LightGBM with as many rounds as lower the loss of every seventh row of each class, fitted to the others."""

    def fit(self, X: Floats, y: NDArray[np.intp]) -> Any:
        from lightgbm import LGBMClassifier, early_stopping

        of_class = [np.flatnonzero(y == label) for label in np.unique(y)]
        train = np.concatenate([rows[np.arange(len(rows)) % 7 != 6] for rows in of_class])
        held_out = np.setdiff1d(np.arange(len(y)), train)
        model = LGBMClassifier(n_estimators=1000, learning_rate=0.05, random_state=SEED, n_jobs=1, verbose=-1)
        if not len(held_out):
            return model.set_params(n_estimators=100).fit(X, y)
        stop = early_stopping(50, verbose=False)
        return model.fit(X[train], y[train], eval_set=[(X[held_out], y[held_out])], callbacks=[stop])


def _cart(size: str) -> Any:
    return DecisionTreeClassifier(**limit(size), random_state=SEED)


def _shrunk(size: str) -> Any:
    from imodels import HSTreeClassifierCV

    return HSTreeClassifierCV(_cart(size))


def _sum_of_trees(size: str) -> Any:
    from imodels import FIGSClassifier

    return FIGSClassifier(max_rules=limit(size)["max_leaf_nodes"] - 1, random_state=SEED)


def _streed(size: str) -> Any:
    from pystreed import STreeDClassifier

    return STreeDClassifier(**limit(size), time_limit=SECONDS, n_thresholds=5, n_categories=5)


def _contree(size: str) -> Any:
    from pycontree import ConTree

    return ConTree(**limit(size))  # its limit is of the clock; CPU seconds are limited by the study


def ceiling(name: str) -> Any:
    """A model without a limit of size, by its name."""
    if name == "forest-100":
        return RandomForestClassifier(100, random_state=SEED, n_jobs=1)
    if name == "lightgbm":
        from lightgbm import LGBMClassifier

        return LGBMClassifier(random_state=SEED, n_jobs=1, verbose=-1)
    if name == "lightgbm-stopped":
        return Stopped()
    if name == "logistic":
        return make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    if name == "mlp":
        return make_pipeline(StandardScaler(), MLPClassifier(max_iter=500, random_state=SEED))
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(outer_bags=4, random_state=SEED, n_jobs=1)


def licketysplit(fold: Fold, wanted: frozenset[str]) -> Iterator[Outcome]:
    """Depth 6, and for each number of leaves the largest tree of a grid of penalties that has no more."""
    from licketysplit import LicketySPLITClassifier

    train, test = binary(fold)
    labels = np.searchsorted(fold.seen, fold.y_train)

    def trees() -> list[tuple[int, Floats]]:
        found = []
        for penalty in PENALTIES:
            model = LicketySPLITClassifier(lambda_leaf=float(penalty), depth_budget=6)
            model.fit(train.astype(np.uint8), labels)
            found.append(
                (len(model.leaf_paths()), np.asarray(model.predict_proba(test.astype(np.uint8)), float))
            )
            if found[-1][0] > max(LEAVES):
                break
        return found

    candidates, seconds = timed(trees)
    for n in LEAVES:
        within = [tree for tree in candidates if tree[0] <= n]
        if within and f"leaves-{n}" in wanted:
            leaves, answer = max(within, key=lambda tree: tree[0])
            yield Outcome(f"leaves-{n}", fold.spread(answer), seconds, leaves=leaves)


def linear_tree() -> Any:
    """The classifier of linear-tree 0.3.5 with what scikit-learn took out of its own classes since."""
    from lineartree import LinearTreeClassifier

    class LinearTree(LinearTreeClassifier):  # type: ignore[misc]
        def _validate_data(
            self, *data: Any, reset: bool, dtype: str, force_all_finite: bool, **_: Any
        ) -> Any:
            return validate_data(self, *data, reset=reset, dtype=dtype, ensure_all_finite=force_all_finite)

    return LinearTree(LogisticRegression(max_iter=200), criterion="crossentropy", max_depth=max(DEPTHS))


def linear_trees(fold: Fold, wanted: frozenset[str]) -> Iterator[Outcome]:
    """Trees of logistic regressions: a split does not depend on later ones, so one fit has the trees of all depths."""
    train, test = encoded(fold)
    scale = StandardScaler().fit(train)
    labels = np.searchsorted(fold.seen, fold.y_train)
    model = linear_tree()
    _, seconds = timed(lambda: model.fit(scale.transform(train), labels))
    leaves, nodes = model._leaves, model._nodes | model._leaves  # by path: "", "L", "LR"
    for depth in DEPTHS:
        if f"depth-{depth}" in wanted:
            model._leaves = {
                path: node
                for path, node in nodes.items()
                if len(path) == depth or (len(path) < depth and path in leaves)
            }
            answer = fold.spread(model.predict_proba(scale.transform(test)))
            inside = [_n_numbers(leaf.model, len(fold.seen)) for leaf in model._leaves.values()]
            numbers = len(inside) - 1 + sum(len(fold.seen) - 1 if n is None else n for n in inside)
            yield Outcome(f"depth-{depth}", answer, seconds, leaves=len(inside), numbers=numbers)


def n_numbers_of_lmt(text: str, n_classes: int) -> int:
    """Count cuts, intercepts and coefficients in what Weka prints; of two classes, one is the other's negative."""
    numbers = len(re.findall(r"^Class .* :$", text, re.MULTILINE)) + len(
        re.findall(r"^\[.*\] \* ", text, re.MULTILINE)
    )
    cuts = len(re.findall(r"LM_\d+:\d+/\d+ \(", text)) - 1
    return cuts + (numbers // 2 if n_classes == 2 else numbers)


def lmt(fold: Fold, wanted: frozenset[str]) -> Iterator[Outcome]:
    """Weka's logistic model tree, which chooses its size itself."""
    jpype = java()
    rows = instances(fold.data)
    train = jpype.JClass("weka.core.Instances")(rows, len(fold.train))
    for row in fold.train.tolist():
        train.add(rows.instance(row))
    tree = jpype.JClass("weka.classifiers.trees.LMT")()
    _, seconds = timed(lambda: tree.buildClassifier(train))
    answer = np.array([tree.distributionForInstance(rows.instance(row)) for row in fold.test.tolist()])
    numbers = n_numbers_of_lmt(str(tree), fold.n_classes)
    yield Outcome("lmt", answer, seconds, leaves=int(tree.measureNumLeaves()), numbers=numbers)


_OF_LEAVES, _OF_DEPTH = SIZES[: len(LEAVES)], SIZES[len(LEAVES) :]

PEERS = (
    Group("cart", SIZES, sized(_cart, SIZES)),
    Group("hstree", SIZES, sized(_shrunk, SIZES)),
    Group("figs", _OF_LEAVES, sized(_sum_of_trees, _OF_LEAVES)),
    Group("licketysplit", _OF_LEAVES, licketysplit),
    Group("streed", _OF_DEPTH, sized(_streed, _OF_DEPTH)),
    Group("contree", _OF_DEPTH, sized(_contree, _OF_DEPTH)),
    Group("linear-tree", _OF_DEPTH, linear_trees),
    Group("weka", ("lmt",), lmt),
    *(Group(name, (name,), sized(ceiling, (name,))) for name in CEILINGS),
)
