"""Trees from and for scikit-learn."""

from __future__ import annotations

from typing import Any
from warnings import warn

import numpy as np

from hornbeam.checks import check_choice
from hornbeam.data.fixed_point import fixed_point_weights
from hornbeam.data.schema import Schema, generated_names, numeric_features
from hornbeam.errors import HornbeamWarning, InteropError
from hornbeam.interop.imported_tree import ImportedTree, check_index, skeleton_from_binary
from hornbeam.interop.input_conventions import InputConventions, at_most
from hornbeam.tree.evidence.means import variances
from hornbeam.tree.skeleton import EVERY_CHILD, Skeleton
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.unwrap import HasTree, single_tree, unwrap
from hornbeam.tree.walk import pull_up, push_down
from hornbeam.typing import Bools, Counts, Floats

_INTEGER_TOLERANCE = 1e-9  # relative rounding error of a fraction times a weight
_EVIDENCE_TOLERANCE = 1e-6  # largest relative error of rounding and fixed point


def from_sklearn(model: Any, *, index: int | None = None) -> Tree:
    """Convert a fitted scikit-learn tree, or one tree of a forest, with its class counts.

    Parameters
    ----------
    model : DecisionTreeClassifier, ExtraTreeClassifier, RandomForestClassifier, ExtraTreesClassifier or \
            BaggingClassifier
        Fitted, with one output. Bagged trees must use all features.
    index : int, optional
        Number of the tree in ``model.estimators_``, for a model of several trees.

    Returns
    -------
    Tree
        It sends every row, in float64 or float32, to the same leaf as scikit-learn, missing values included, and its
        raw frequencies are scikit-learn's probabilities. Weights are stored in fixed point. A tree of a forest has the
        class counts of its bootstrap sample.

    Raises
    ------
    InteropError
        If the model has no fitted classification trees, several outputs, or no tree of this number.

    See Also
    --------
    hornbeam.TreeClassifier.from_tree : gives the tree the methods of an estimator.

    Notes
    -----
    scikit-learn rounds every value to float32 before the comparison with a float64 threshold. So each threshold is
    replaced by the largest float64 value that scikit-learn sends left.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from hornbeam.smoothing import HGS
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "no"]
    >>> tree = from_sklearn(DecisionTreeClassifier(max_depth=1).fit(X, y))
    >>> tree.evidence.tolist()
    [[3, 1], [2, 0], [1, 1]]
    >>> HGS()(tree).belief[1].round(3).tolist()
    [0.812, 0.188]

    >>> from sklearn.ensemble import RandomForestClassifier
    >>> forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    >>> [from_sklearn(forest, index=at).n_leaves for at in range(3)]
    [3, 1, 3]
    """
    inner = unwrap(model)
    if inner.before is not None:
        raise InteropError(f"This is {inner.pipeline_error}.")
    trees = imported_trees(inner.model)
    if index is None and len(trees) > 1:
        raise InteropError(
            f"{type(inner.model).__name__} has {len(trees)} trees; expected the index of one of them: pass index=0."
        )
    tree = trees[check_index(0 if index is None else index, len(trees))].tree
    assert tree is not None
    return tree


def import_sklearn(estimator: Any) -> ImportedTree:
    """Import a fitted scikit-learn tree, with scikit-learn's node numbers."""
    return _imported_tree(estimator, _schema(estimator))


def imported_trees(estimator: Any) -> tuple[ImportedTree, ...]:
    """Import the trees of a fitted tree or forest."""
    if not hasattr(estimator, "estimators_"):
        return (import_sklearn(estimator),)
    schema = _schema(estimator)
    for drawn in getattr(estimator, "estimators_features_", ()):
        if not np.array_equal(drawn, np.arange(schema.n_features)):
            raise InteropError(
                f"A tree of {type(estimator).__name__} was given the features {np.asarray(drawn).tolist()} alone, "
                "expected all, in order. Fit it with max_features=1.0 and bootstrap_features=False."
            )
    return tuple(_imported_tree(member, schema) for member in np.ravel(estimator.estimators_))


def _schema(estimator: Any) -> Schema:
    classes = getattr(estimator, "classes_", None)
    if classes is None or not hasattr(estimator, "n_features_in_") or isinstance(classes, list):
        raise InteropError(
            f"{estimator!r} is not a fitted classification tree with one output. Fit a DecisionTreeClassifier, "
            "an ExtraTreeClassifier or a forest of them first, on one column of labels."
        )
    names = getattr(estimator, "feature_names_in_", generated_names(estimator.n_features_in_))
    return Schema(numeric_features(tuple(map(str, names))), tuple(classes.tolist()))


def _imported_tree(estimator: Any, schema: Schema) -> ImportedTree:
    arrays: Any = getattr(estimator, "tree_", None)
    if not hasattr(arrays, "value") or arrays.value.shape[1:] != (1, schema.n_classes):
        raise InteropError(
            f"{type(estimator).__name__} holds no fitted classification tree of {schema.n_classes} classes. "
            "Pass a tree, or a forest of classification trees; boosted regression trees have no class counts."
        )
    skeleton, order = skeleton_from_binary(
        arrays.children_left,
        arrays.children_right,
        arrays.feature,
        at_most(arrays.threshold),
        arrays.missing_go_to_left.astype(np.bool_),
        {},
    )
    weight = arrays.value[order, 0] * arrays.weighted_n_node_samples[order, None]
    rows = arrays.n_node_samples[order].astype(np.int64)
    weighted = not np.array_equal(arrays.n_node_samples, arrays.weighted_n_node_samples)
    evidence, unit = _evidence(skeleton, weight, weighted=weighted)
    tree = Tree.raw(schema, skeleton, evidence, unit=unit, rows=rows, history=(Step.of("scikit-learn"),))
    return ImportedTree("scikit-learn", InputConventions(schema), skeleton, order.astype(np.int32), tree)


def _evidence(skeleton: Skeleton, weight: Floats, *, weighted: bool) -> tuple[Counts, float]:
    """Convert the weight of the leaves to integers, and sum it for the inner nodes."""
    leaf, total = skeleton.is_leaf, weight.sum(axis=1, keepdims=True)
    nearest = np.rint(weight)
    whole = bool((np.abs(weight - nearest) <= _INTEGER_TOLERANCE * total).all())
    steps, unit = np.zeros(weight.shape, np.int64), 1.0
    if whole:
        steps[leaf] = nearest[leaf]
    else:
        some = leaf[:, None] & (weight > 0)
        held, unit = fixed_point_weights(weight[some], int(np.ceil(total[0, 0] / weight[some].max())))
        steps[some] = 1 if held is None else held
    evidence = pull_up(skeleton, steps)
    # Without weights counts are integers, and a node has the sum of its children.
    if not (whole or weighted) or (np.abs(evidence * unit - weight) > _EVIDENCE_TOLERANCE * total).any():
        raise InteropError(
            "tree_.value does not hold the class frequencies of the rows the tree was grown from; it may have "
            "been smoothed already. Fit the tree anew."
        )
    return evidence, unit


def to_sklearn(model: Tree | HasTree, *, on_missing: str = "majority") -> Any:
    """Convert a tree to a fitted scikit-learn tree with the same node numbers and predictions.

    Parameters
    ----------
    model : Tree, or fitted TreeClassifier or TreeRegressor
        With numeric splits.
    on_missing : {"majority", "error"}, default="majority"
        What to do with a split that stops missing values because training had none there, which scikit-learn does not
        have: send them to the child with more rows, as scikit-learn does, or refuse the tree. All other missing values
        go where the tree sends them.

    Returns
    -------
    DecisionTreeClassifier or DecisionTreeRegressor
        Its probabilities, or predictions, are the tree's belief. It rounds values to float32 before it compares them:
        every float32 row reaches the same leaf, and so do other rows unless a value is within that rounding of a
        threshold. A split with a child for missing values becomes two: its node compares with infinity, so that
        only missing values go right, and a node after all others has the threshold. Its `predict` takes the
        most probable class. If the tree decides by costs or class weights, there is a `HornbeamWarning`.

    Raises
    ------
    InteropError
        If a split is nominal, or sends missing values to every child; or if the tree has slopes.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> from sklearn.tree import export_text
    >>> clf = TreeClassifier(smoothing="hgs").fit([[0.0], [1.0], [2.0]], ["no", "no", "yes"])
    >>> converted = to_sklearn(clf)
    >>> converted.predict_proba([[2.0]]).round(3).tolist()
    [[0.389, 0.611]]
    >>> print(export_text(converted, feature_names=["dose"]))
    |--- dose <= 1.50
    |   |--- class: no
    |--- dose >  1.50
    |   |--- class: yes
    <BLANKLINE>
    """
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    tree = single_tree(model)
    schema = tree.schema
    if len(tree.slopes):
        raise InteropError(
            f"Node {tree.slopes.node[0]} has slopes, so its prediction changes with the values of a row, which no "
            "scikit-learn tree does. Convert a tree without slopes."
        )
    left = _missing_left(tree, on_missing)
    if not tree.decision.is_default:
        warn(
            "The tree decides by costs or class weights, and predict of a scikit-learn tree takes the most probable "
            "class. Decide with tree.decision(converted.predict_proba(X)), which gives the codes of the classes.",
            HornbeamWarning,
            stacklevel=2,
        )
    converted = DecisionTreeRegressor() if tree.is_regression else DecisionTreeClassifier()
    converted.tree_, converted.n_outputs_ = _arrays(tree, left), 1
    if not tree.is_regression:
        converted.classes_, converted.n_classes_ = np.array(schema.classes), schema.n_classes
    converted.n_features_in_ = converted.max_features_ = schema.n_features
    if not schema.has_generated_names:
        converted.feature_names_in_ = np.array(schema.names, dtype=object)
    return converted


def _arrays(tree: Tree, left: Bools) -> Any:
    """Make scikit-learn's arrays of a tree; `left` is whether missing values go left at each node."""
    from sklearn.tree._tree import Tree as Arrays  # scikit-learn has no public constructor

    # The split of known values, where missing ones have a child, is a node of its own after all others.
    n, skeleton = tree.n_nodes, tree.skeleton
    apart = np.flatnonzero(skeleton.n_children == 3)
    missing = skeleton.first_child[apart] + 2
    source = np.concatenate([np.arange(n), apart])
    known = np.arange(n, len(source))
    nodes = np.zeros(len(source), Arrays(1, np.array([1], np.intp), 1).__getstate__()["nodes"].dtype)
    leaf, first = skeleton.is_leaf[source], skeleton.first_child[source]
    nodes["left_child"] = first
    nodes["right_child"] = np.where(leaf, -1, first + 1)
    nodes["feature"] = np.where(leaf, -2, skeleton.feature[source])
    nodes["threshold"] = np.where(leaf, -2.0, skeleton.threshold[source])
    impurity = (
        variances(tree.evidence, tree.unit) if tree.is_regression else 1.0 - (tree.belief**2).sum(axis=1)
    )
    nodes["impurity"] = impurity[source]
    for name, counts in (("n_node_samples", tree.rows), ("weighted_n_node_samples", tree.weight_in_rows)):
        nodes[name] = counts[source]
        nodes[name][known] -= counts[missing]
    nodes["missing_go_to_left"] = left[source]
    nodes["left_child"][apart], nodes["right_child"][apart] = known, missing
    nodes["threshold"][apart] = np.inf
    tests = (np.arange(n) > 0).astype(np.int64) + (skeleton.n_children[skeleton.parent] == 3)
    tests[missing] = 1
    arrays = Arrays(tree.schema.n_features, np.array([tree.schema.n_outputs], np.intp), 1)
    arrays.__setstate__(
        {
            "max_depth": int(push_down(skeleton, tests).max()),
            "node_count": len(nodes),
            "nodes": nodes,
            "values": np.ascontiguousarray(tree.belief[source, None, :]),
        }
    )
    return arrays


def _missing_left(tree: Tree, on_missing: str) -> Bools:
    """Return whether missing values go left at each node; refuse splits that scikit-learn does not have."""
    check_choice("on_missing", on_missing, ("error", "majority"))
    skeleton = tree.skeleton
    inner = np.flatnonzero(skeleton.n_children)
    other = {
        "splits on categories": np.isnan(skeleton.threshold[inner]),
        "sends missing values to every child": skeleton.missing_slot[inner] == EVERY_CHILD,
        "stops missing values": (skeleton.missing_slot[inner] == -1) & (on_missing == "error"),
    }
    for what, where in other.items():
        if where.any():
            advice = " Pass on_missing='majority'." if what.startswith("stops") else ""
            raise InteropError(
                f"Node {inner[where.argmax()]} {what}, which trees of scikit-learn 1.9 cannot do.{advice}"
            )
    left: Bools = skeleton.missing_slot == 0
    first = skeleton.first_child[inner]
    larger = tree.rows[first] > tree.rows[first + 1]
    left[inner] |= (skeleton.missing_slot[inner] == -1) & larger
    return left
