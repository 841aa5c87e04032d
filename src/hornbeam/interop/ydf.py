"""Trees from YDF (Yggdrasil Decision Forests)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.errors import InteropError
from hornbeam.interop.imported_tree import ImportedTree, check_index, not_fitted_error, skeleton_from_binary
from hornbeam.interop.input_conventions import OTHER_CATEGORY, InputConventions, below
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.walk import pull_up
from hornbeam.typing import Category, Counts

_INTEGER_TOLERANCE = 1e-6  # a count farther than this from an integer is a sum of weights


def from_ydf(model: Any, *, index: int = 0) -> ImportedTree:
    """Import one tree of a YDF model.

    Parameters
    ----------
    model : ydf model
        CART, random forest or gradient boosted trees.
    index : int, default 0
        Number of the tree.

    Returns
    -------
    ImportedTree
        It sends every row to the same leaf as the model: YDF rounds numbers to float32, sends missing values to the
        side that each split stores, and reads values outside its dictionary as one category, here `OTHER_CATEGORY`.
        The `tree` has the class counts of the leaves if they are integers: for CART and random forests that were
        trained without weights. The `nodes` are the numbers that ``predict_leaves`` returns, -1 for inner nodes. The
        schema has the model's input features, in its order.

    Raises
    ------
    InteropError
        If the tree does not exist, or splits on sets, vectors, sums of features or integerized categories.

    Examples
    --------
    >>> import numpy as np
    >>> import ydf
    >>> verbosity = ydf.verbose(0)
    >>> data = {"dose": np.repeat([0.0, 1.0], 10), "ill": np.repeat(["no", "yes"], 10)}
    >>> model = ydf.CartLearner(label="ill", min_examples=1, validation_ratio=0.0).train(data)
    >>> from_ydf(model).tree.evidence.tolist()
    [[10, 10], [10, 0], [0, 10]]
    """
    if not hasattr(model, "get_tree"):
        raise not_fitted_error(model, "a trained model of YDF")
    index = check_index(index, model.num_trees())
    return _imported_tree(model, model.get_tree(index), _conventions(model))


def imported_trees(model: Any) -> tuple[ImportedTree, ...]:
    """Import all trees of a YDF model."""
    conventions = _conventions(model)
    return tuple(_imported_tree(model, tree, conventions) for tree in model.iter_trees())


def n_rounds(model: Any) -> int:
    """Return the number of boosting rounds, 1 for a forest."""
    if model.name() != "GRADIENT_BOOSTED_TREES":
        return 1
    n_classes = len(model.label_classes()) if model.task().name == "CLASSIFICATION" else 1
    return int(model.num_trees()) // (n_classes if n_classes > 2 else 1)


def _conventions(model: Any) -> InputConventions:
    columns = model.data_spec().columns
    features = tuple(_feature(columns[i.column_idx], i.semantic.name) for i in model.input_features())
    label = columns[model.label_col_idx()]
    classes: tuple[Category, ...] = ()
    if model.task().name == "CLASSIFICATION":
        classes = tuple(_value(label, text) for text in model.label_classes())
    return InputConventions(Schema(features, classes))


def _feature(column: Any, semantic: str) -> Feature:
    if semantic in ("NUMERICAL", "DISCRETIZED_NUMERICAL"):
        return Feature(column.name)
    if semantic == "BOOLEAN":
        return Feature(column.name, Kind.NOMINAL, (False, True))
    if semantic == "CATEGORICAL" and not column.categorical.is_already_integerized:
        entries = sorted((entry.index, text) for text, entry in column.categorical.items.items())
        # The first entry of the dictionary stands for unseen values; here it is the last category.
        return Feature(
            column.name, Kind.NOMINAL, (*(_value(column, text) for _, text in entries[1:]), OTHER_CATEGORY)
        )
    raise InteropError(
        f"Feature {column.name!r} is {semantic} to YDF; expected numbers, booleans or categories with a "
        "dictionary. Train the model without it."
    )


def _value(column: Any, text: str) -> Category:
    """Convert a value that YDF stores as text to the type of the column."""
    name = column.DESCRIPTOR.fields_by_name["dtype"].enum_type.values_by_number[column.dtype].name
    if "INT" in name:
        return int(text)
    return text == "true" if "BOOL" in name else text


class _Node(NamedTuple):
    """A node in YDF's order: depth first, negative child first."""

    node: Any
    parent: int
    positive: bool


def _nodes(root: Any) -> Iterator[_Node]:
    waiting, n = [_Node(root, -1, False)], 0
    while waiting:
        yield (at := waiting.pop())
        if not at.node.is_leaf:
            waiting += [_Node(at.node.pos_child, n, True), _Node(at.node.neg_child, n, False)]
        n += 1


def _imported_tree(model: Any, tree: Any, conventions: InputConventions) -> ImportedTree:
    nodes = list(_nodes(tree.root))
    n = len(nodes)
    children = np.full((2, n), -1)  # negative, positive
    for i, (_, parent, positive) in enumerate(nodes[1:], 1):
        children[int(positive), parent] = i
    place = {feature.column_idx: i for i, feature in enumerate(model.input_features())}
    feature, missing_left = np.full(n, -1), np.zeros(n, np.bool_)
    threshold, slots = np.zeros(n), {}
    for i, (node, _, _) in enumerate(nodes):
        if node.is_leaf:
            continue
        split = _split(node.condition, model.data_spec().columns, conventions.schema, place)
        feature[i], missing_left[i] = split.feature, not split.missing
        if split.slots is None:
            threshold[i] = split.threshold
        else:
            slots[i] = split.slots
    skeleton, order = skeleton_from_binary(children[0], children[1], feature, threshold, missing_left, slots)
    leaf = np.array([node.is_leaf for node, _, _ in nodes])
    leaf_numbers = np.where(leaf, np.cumsum(leaf) - 1, -1)[order].astype(np.int32)
    evidence = _evidence(skeleton, [nodes[i].node for i in order], conventions.schema.n_classes)
    counted = None
    if evidence is not None:
        counted = Tree.raw(conventions.schema, skeleton, evidence, history=(Step.of("ydf"),))
    return ImportedTree("ydf", conventions, skeleton, leaf_numbers, counted)


class _Split(NamedTuple):
    """A split whose slot 1 is YDF's positive child."""

    feature: int
    missing: bool  #: whether missing values go to the positive child
    threshold: float = np.nan
    slots: NDArray[Any] | None = None


def _split(condition: Any, columns: Any, schema: Schema, place: dict[int, int]) -> _Split:
    kind = type(condition).__name__
    if not hasattr(condition, "attribute") or condition.attribute not in place:
        raise _unsupported_error(kind)
    at, missing = place[condition.attribute], bool(condition.missing)
    width = len(schema.features[at].categories)
    match kind:
        case "NumericalHigherThanCondition":
            return _Split(at, missing, _lower(condition.threshold))
        case "DiscretizedNumericalHigherThanCondition":
            bounds = columns[condition.attribute].discretized_numerical.boundaries
            return _Split(at, missing, _lower(bounds[condition.threshold_idx - 1]))
        case "IsTrueCondition":
            return _Split(at, missing, slots=np.array([0, 1]))
        case "CategoricalIsInCondition":
            return _Split(at, missing, slots=np.roll(np.isin(np.arange(width), condition.mask), -1))
        case "IsMissingInCondition":
            return _Split(at, True, np.inf, np.zeros(width, np.int32) if width else None)
    raise _unsupported_error(kind)


def _lower(threshold: float) -> float:
    return float(below(np.array([threshold], np.float32))[0])


def _unsupported_error(kind: str) -> InteropError:
    return InteropError(
        f"The tree has a {kind}, which is not supported; expected splits on one number, boolean or category. "
        "Train the model with axis-aligned splits."
    )


def _evidence(skeleton: Skeleton, nodes: list[Any], n_classes: int) -> Counts | None:
    """Sum the class counts of the leaves; None if they are not counts."""
    counts = np.zeros((len(nodes), n_classes))
    for i, node in enumerate(nodes):
        if node.is_leaf:
            if not hasattr(node.value, "probability"):
                return None
            counts[i] = np.array(node.value.probability) * node.value.num_examples
    whole = np.rint(counts)
    if not (np.abs(counts - whole) <= _INTEGER_TOLERANCE * np.maximum(1.0, counts)).all():
        return None
    return pull_up(skeleton, whole.astype(np.int64))
