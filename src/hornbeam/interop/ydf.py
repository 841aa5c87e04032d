"""Trees from YDF (Yggdrasil Decision Forests)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.errors import InteropError
from hornbeam.interop.imported_tree import ImportedTree, skeleton_from_binary
from hornbeam.interop.input_conventions import OTHER_CATEGORY, InputConventions
from hornbeam.interop.rounding import below
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.walk import pull_up
from hornbeam.typing import Category, Counts

__all__ = ["from_ydf"]

_WHOLE = 1e-6  # a count that far from a whole number is a sum of weights


def from_ydf(model: Any, tree: int = 0) -> ImportedTree:
    """Take one tree out of a YDF model.

    Parameters
    ----------
    model : ydf model
        CART, random forest or gradient boosted trees.
    tree : int, default 0
        Which tree.

    Returns
    -------
    ImportedTree
        It sends every row where the model does; YDF rounds numbers to float32, sends missing values where
        each test says, and takes values outside its dictionary for one category, here `OTHER_CATEGORY`. Its `tree`
        has the class counts of the leaves if they are whole numbers: of CART and random forests that were
        trained without weights. Its `nodes` are the numbers that ``predict_leaves`` gives, -1 on inner
        nodes. The schema has the model's input features, in its order.

    Raises
    ------
    InteropError
        If there is no such tree, or it tests sets, vectors, sums of features or integerized categories.

    Examples
    --------
    >>> import numpy as np
    >>> import ydf
    >>> loudness = ydf.verbose(0)
    >>> data = {"dose": np.repeat([0.0, 1.0], 10), "ill": np.repeat(["no", "yes"], 10)}
    >>> model = ydf.CartLearner(label="ill", min_examples=1, validation_ratio=0.0).train(data)
    >>> from_ydf(model).tree.evidence.tolist()
    [[10, 10], [10, 0], [0, 10]]
    """
    n_trees = model.num_trees()
    if not 0 <= tree < n_trees:
        raise InteropError(f"The model has no tree {tree}, expected one of its {n_trees}, counted from 0.")
    return _imported_tree(model, model.get_tree(tree), _conventions(model))


def imported_trees(model: Any) -> tuple[ImportedTree, ...]:
    """Take every tree out of a YDF model."""
    reading = _conventions(model)
    return tuple(_imported_tree(model, tree, reading) for tree in model.iter_trees())


def n_rounds(model: Any) -> int:
    """Count the rounds of boosting; a forest has one."""
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
        known = sorted((entry.index, text) for text, entry in column.categorical.items.items())
        # The first of the dictionary is for all that are not in it; here it is the last.
        return Feature(
            column.name, Kind.NOMINAL, (*(_value(column, text) for _, text in known[1:]), OTHER_CATEGORY)
        )
    raise InteropError(
        f"Feature {column.name!r} is {semantic} to YDF; expected numbers, booleans or categories with a "
        "dictionary. Train the model without it."
    )


def _value(column: Any, text: str) -> Category:
    """The value that YDF keeps as text, as the column held it."""
    name = column.DESCRIPTOR.fields_by_name["dtype"].enum_type.values_by_number[column.dtype].name
    if "INT" in name:
        return int(text)
    return text == "true" if "BOOL" in name else text


class _Node(NamedTuple):
    """A node in YDF's order, depth first and negative child first, where children follow their parents."""

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


def _imported_tree(model: Any, tree: Any, reading: InputConventions) -> ImportedTree:
    found = list(_nodes(tree.root))
    n = len(found)
    children = np.full((2, n), -1)  # negative, positive
    for i, (_, parent, positive) in enumerate(found[1:], 1):
        children[int(positive), parent] = i
    place = {feature.column_idx: i for i, feature in enumerate(model.input_features())}
    feature, missing_left = np.full(n, -1), np.zeros(n, np.bool_)
    threshold, slots = np.zeros(n), {}
    for i, (node, _, _) in enumerate(found):
        if node.is_leaf:
            continue
        test = _test(node.condition, model.data_spec().columns, reading.schema, place)
        feature[i], missing_left[i] = test.feature, not test.missing
        if test.slots is None:
            threshold[i] = test.threshold
        else:
            slots[i] = test.slots
    skeleton, order = skeleton_from_binary(children[0], children[1], feature, threshold, missing_left, slots)
    leaf = np.array([node.is_leaf for node, _, _ in found])
    nodes = np.where(leaf, np.cumsum(leaf) - 1, -1)[order].astype(np.int32)
    evidence = _evidence(skeleton, [found[i].node for i in order], reading.schema.n_classes)
    made = None
    if evidence is not None:
        made = Tree.raw(reading.schema, skeleton, evidence, history=(Step.of("ydf"),))
    return ImportedTree("ydf", reading, skeleton, nodes, made)


class _Test(NamedTuple):
    """A test whose slot 1 is YDF's positive child."""

    feature: int
    missing: bool  #: whether a missing value is positive
    threshold: float = np.nan
    slots: NDArray[Any] | None = None


def _test(condition: Any, columns: Any, schema: Schema, place: dict[int, int]) -> _Test:
    kind = type(condition).__name__
    if not hasattr(condition, "attribute") or condition.attribute not in place:
        raise _unknown(kind)
    at, missing = place[condition.attribute], bool(condition.missing)
    width = len(schema.features[at].categories)
    match kind:
        case "NumericalHigherThanCondition":
            return _Test(at, missing, _lower(condition.threshold))
        case "DiscretizedNumericalHigherThanCondition":
            bounds = columns[condition.attribute].discretized_numerical.boundaries
            return _Test(at, missing, _lower(bounds[condition.threshold_idx - 1]))
        case "IsTrueCondition":
            return _Test(at, missing, slots=np.array([0, 1]))
        case "CategoricalIsInCondition":
            return _Test(at, missing, slots=np.roll(np.isin(np.arange(width), condition.mask), -1))
        case "IsMissingInCondition":
            return _Test(at, True, np.inf, np.zeros(width, np.int32) if width else None)
    raise _unknown(kind)


def _lower(threshold: float) -> float:
    return float(below(np.array([threshold], np.float32))[0])


def _unknown(kind: str) -> InteropError:
    return InteropError(
        f"The tree asks a {kind}, which no test here can; expected tests of one number, boolean or category. "
        "Train the model with axis-aligned splits."
    )


def _evidence(skeleton: Skeleton, nodes: list[Any], n_classes: int) -> Counts | None:
    """The class counts, added up from the leaves; None where they are no counts."""
    counts = np.zeros((len(nodes), n_classes))
    for i, node in enumerate(nodes):
        if node.is_leaf:
            if not hasattr(node.value, "probability"):
                return None
            counts[i] = np.array(node.value.probability) * node.value.num_examples
    whole = np.rint(counts)
    if not (np.abs(counts - whole) <= _WHOLE * np.maximum(1.0, counts)).all():
        return None
    return pull_up(skeleton, whole.astype(np.int64))
