"""A tree as an ONNX model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from hornbeam.checks import check_choice
from hornbeam.data.schema import Feature, Kind
from hornbeam.errors import ExportError, ParameterError, import_extra
from hornbeam.export.checks import check_not_fractional, check_text
from hornbeam.export.runtime.binary_splits import binary_splits
from hornbeam.export.runtime.onnx_operators import SlopeOperators, tree_ensemble, tree_ensemble_regressor
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import HasTree, with_quantiles
from hornbeam.typing import Label

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, ValueInfoProto

# Versions of one release: the tree operators, the other operators and the file format.
_VERSIONS = {5: (18, 9), 3: (15, 8), 1: (9, 4)}
_LARGEST_FLOAT32_ID = 2**24


def to_onnx(
    model: Tree | HasTree,
    *,
    dtype: Literal["float64", "float32"] = "float64",
    inputs: Literal["matrix", "columns"] = "matrix",
    tree_operators: Literal[5, 3, 1] = 5,
    quantiles: Sequence[float] | None = None,
) -> ModelProto:
    """Write a tree as an ONNX model with the outputs ``leaf``, ``label`` and ``probabilities``, or ``mean``.

    Parameters
    ----------
    model : Tree, or fitted TreeClassifier or TreeRegressor
    dtype : {"float64", "float32"}
        The type of the input numbers and of the probabilities.
    inputs : {"matrix", "columns"}
        ``"matrix"``: one input ``X`` of shape (rows, features); a category is its position among the feature's
        categories, NaN is missing, any other number is an unseen category. ``"columns"``: one input of shape
        (rows, 1) for each feature, by its name; features with text among their categories take strings, and
        the empty string is missing unless it is a category.
    tree_operators : {5, 3, 1}
        The version of the operator set ``ai.onnx.ml``. 5 has ``TreeEnsemble`` with set membership; 3 and 1 are
        for old runtimes and use ``TreeEnsembleRegressor``, 1 only with float32 matrices.
    quantiles : sequence of float, optional
        Levels, such as ``[0.1, 0.5, 0.9]``: the quantiles of `TreeRegressor.predict_quantile`, beside the mean, of a
        `TreeRegressor` that was fitted with ``distribution=True``.

    Returns
    -------
    onnx.ModelProto
        Save it with ``onnx.save``. ``leaf`` is the node where a row stops, ``label`` the class of `predict`, with
        costs and class weights: as text or whole number if all classes are, else as its position. For a numeric
        target the outputs are ``leaf``, ``mean`` and, if asked for, ``quantiles``. The metadata hold names, categories
        and classes as JSON.

    Raises
    ------
    ExportError
        If missing values go to every child, which ONNX cannot express, if a name is not valid Unicode, or if leaves
        have slopes and `tree_operators` is 1.
    MissingExtraError
        Without the package onnx: ``pip install 'hornbeam[onnx]'``.

    Notes
    -----
    The operator only finds the node, and a table holds the probabilities: they are the tree's own bits, or the nearest
    float32. For float32, thresholds are rounded down: no float32 lies between a threshold and the largest float32 not
    above it, so every float32 row takes the same path as in the tree. With slopes the scores are computed in
    float64, so labels are the tree's; probabilities use the runtime's exponential function, and differ by less than
    1e-12 before they are rounded to float32.

    Examples
    --------
    >>> import numpy as np
    >>> import onnxruntime
    >>> from hornbeam import TreeClassifier
    >>> from hornbeam.export import to_onnx
    >>> clf = TreeClassifier("cart").fit([[0]] * 5 + [[1]] * 5, ["ill"] * 4 + ["well"] * 5 + ["ill"])
    >>> session = onnxruntime.InferenceSession(to_onnx(clf).SerializeToString())
    >>> leaf, label, probabilities = session.run(None, {"X": np.array([[0.0], [1.0], [np.nan]])})
    >>> leaf.tolist(), label.tolist(), probabilities.tolist()
    ([1, 2, 0], ['ill', 'well', 'ill'], [[0.8, 0.2], [0.2, 0.8], [0.5, 0.5]])
    """
    tree = with_quantiles(model, quantiles)
    import_extra("onnx", "onnx")
    _check_settings(dtype, inputs, tree_operators)
    check_not_fractional(tree, "ONNX")
    for name in _text(tree, columns=inputs == "columns"):
        check_text(name)
    from onnx import helper

    number = np.dtype(dtype)
    if len(tree.slopes) and tree_operators == 1:
        raise ExportError(
            "This tree has slopes; the operators of that time have no gathering of elements. Expected "
            "tree_operators=3 or 5."
        )
    if tree.n_nodes > _LARGEST_FLOAT32_ID and (number == np.float32 or tree_operators < 5):
        raise ExportError(
            f"The tree has {tree.n_nodes} nodes; a float32 counts to {_LARGEST_FLOAT32_ID} at most. "
            "Use dtype='float64' and tree_operators=5, or prune the tree."
        )
    names = _Names(tree.schema.names if inputs == "columns" else ("X",))
    graph_inputs, readers, matrix = _input_nodes(tree, number, names, columns=inputs == "columns")
    raw = names.new("raw leaf")
    operator = tree_ensemble if tree_operators == 5 else tree_ensemble_regressor
    lookups, outputs, tables = _output_nodes(tree, number, names, raw, matrix)
    graph = helper.make_graph(
        [*readers, operator(binary_splits(tree.skeleton), number, matrix, raw), *lookups],
        "hornbeam",
        graph_inputs,
        outputs,
        tables,
    )
    opset, ir_version = _VERSIONS[tree_operators]
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", tree_operators)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=ir_version, producer_name="hornbeam")
    helper.set_model_props(model, _metadata(tree))
    return model


def _check_settings(dtype: str, inputs: str, tree_operators: int) -> None:
    check_choice("dtype", dtype, ("float64", "float32"))
    check_choice("inputs", inputs, ("matrix", "columns"))
    if tree_operators not in tuple(_VERSIONS):
        raise ParameterError(f"tree_operators is {tree_operators!r}, expected one of {sorted(_VERSIONS)}")
    if tree_operators == 1 and (dtype, inputs) != ("float32", "matrix"):
        raise ParameterError(
            f"tree_operators is 1 with dtype={dtype!r} and inputs={inputs!r}; that operator set takes "
            "only dtype='float32' and inputs='matrix'. Use tree_operators=3."
        )


def _text(tree: Tree, *, columns: bool) -> Iterator[str]:
    """List the text of the model outside its metadata, which JSON escapes."""
    yield from (label for label in tree.schema.classes if isinstance(label, str))
    for feature in tree.schema.features if columns else ():
        yield feature.name
        yield from (category for category in feature.categories if isinstance(category, str))


class _Names:
    """Unique names of tensors, none empty; the inputs get theirs first."""

    def __init__(self, inputs: Iterable[str]) -> None:
        self.taken = {""}
        self.inputs = [self.new(name) for name in inputs]

    def new(self, name: str) -> str:
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name


def _input_nodes(
    tree: Tree, number: np.dtype[Any], names: _Names, *, columns: bool
) -> tuple[list[ValueInfoProto], list[NodeProto], str]:
    """Make the inputs, and the nodes that turn them into one matrix."""
    from onnx import TensorProto, helper

    kind = helper.np_dtype_to_tensor_dtype(number)
    if not columns:
        shape: list[str | int | None] = ["rows", max(tree.schema.n_features, 1)]
        return [helper.make_tensor_value_info("X", kind, shape)], [], "X"
    inputs, nodes, parts = [], [], []
    for feature, name in zip(tree.schema.features, names.inputs, strict=True):
        text = any(isinstance(category, str) for category in feature.categories)
        inputs.append(helper.make_tensor_value_info(name, TensorProto.STRING if text else kind, ["rows", 1]))
        if text:
            code, cast = names.new("code"), names.new("number")
            nodes.append(_encoder(feature, name, code))
            nodes.append(helper.make_node("Cast", [code], [cast], to=kind))
            name = cast
        parts.append(name)
    matrix = names.new("matrix")
    nodes.append(helper.make_node("Concat", parts, [matrix], axis=1))
    return inputs, nodes, matrix


def _encoder(feature: Feature, name: str, code: str) -> NodeProto:
    """Make the node that turns text into category positions; an undeclared ordinal value is missing, as in the tree."""
    from onnx import helper

    texts = [str(category) for category in feature.categories]
    if len(set(texts)) < len(texts):
        raise ExportError(
            f"Feature {feature.name!r} has two categories that are the same as text. Use inputs='matrix'."
        )
    position = {"": np.nan} | {text: float(code) for code, text in enumerate(texts)}
    return helper.make_node(
        "LabelEncoder",
        [name],
        [code],
        domain="ai.onnx.ml",
        keys_strings=list(position),
        values_floats=list(position.values()),
        default_float=np.nan if feature.kind is Kind.ORDINAL else -1.0,
    )


def _output_nodes(
    tree: Tree, number: np.dtype[Any], names: _Names, raw: str, matrix: str
) -> tuple[list[Any], list[Any], list[Any]]:
    """Make the nodes that look up the predictions of a leaf in tables, or compute them from its slopes."""
    from onnx import TensorProto, helper, numpy_helper

    leaf, whole, flat = (names.new(name) for name in ("leaf", "node", "flat"))
    nodes = [
        helper.make_node("Cast", [raw], [whole], to=TensorProto.INT64),
        helper.make_node("Reshape", [whole, flat], [leaf]),
    ]
    outputs = [helper.make_tensor_value_info(leaf, TensorProto.INT64, ["rows"])]
    tables = [numpy_helper.from_array(np.array([-1]), flat)]
    if len(tree.slopes):
        slopes = SlopeOperators(tree, names.new, leaf, matrix)
        computed = _computed(tree, number, names, slopes)
        return [*nodes, *slopes.nodes], [*outputs, *computed], [*tables, *slopes.tables]
    for name, values, kind in _predictions(tree, number):
        table, output = names.new(f"{name} of a node"), names.new(name)
        nodes.append(helper.make_node("Gather", [table, leaf], [output], axis=0))
        outputs.append(helper.make_tensor_value_info(output, kind, ["rows", *values.shape[1:]]))
        tables.append(numpy_helper.from_array(values, table))
    return nodes, outputs, tables


def _computed(
    tree: Tree, number: np.dtype[Any], names: _Names, slopes: SlopeOperators
) -> list[ValueInfoProto]:
    """Make the outputs of a tree with slopes; their operators are added to `slopes`."""
    from onnx import helper, numpy_helper

    exact, kind = slopes.predictions(), helper.np_dtype_to_tensor_dtype(number)
    if tree.is_regression:
        numbers, outputs = names.new("numbers"), []
        slopes.nodes.append(helper.make_node("Cast", [exact], [numbers], to=kind))
        for name, values, _ in _predictions(tree, number):
            output, which = names.new(name), names.new("columns")
            place = np.arange(1, tree.schema.n_outputs) if values.ndim > 1 else np.array(0)
            slopes.tables.append(numpy_helper.from_array(place, which))
            slopes.nodes.append(helper.make_node("Gather", [numbers, which], [output], axis=1))
            outputs.append(helper.make_tensor_value_info(output, kind, ["rows", *values.shape[1:]]))
        return outputs
    classes, text = _labels(tree.schema.classes)
    table, label, probabilities = (names.new(name) for name in ("label of a class", "label", "probabilities"))
    slopes.tables.append(numpy_helper.from_array(classes, table))
    slopes.nodes.append(helper.make_node("Gather", [table, slopes.classes(exact)], [label], axis=0))
    slopes.nodes.append(helper.make_node("Cast", [exact], [probabilities], to=kind))
    return [
        helper.make_tensor_value_info(label, text, ["rows"]),
        helper.make_tensor_value_info(probabilities, kind, ["rows", tree.n_classes]),
    ]


def _predictions(tree: Tree, number: np.dtype[Any]) -> Iterator[tuple[str, NDArray[Any], int]]:
    """List the outputs beside the leaf: name, value of every node, and ONNX type."""
    from onnx import helper

    belief, kind = tree.belief.astype(number), helper.np_dtype_to_tensor_dtype(number)
    if tree.is_regression:
        yield "mean", belief[:, 0], kind
        if tree.schema.quantiles:
            yield "quantiles", belief[:, 1:], kind
        return
    classes, text = _labels(tree.schema.classes)
    yield "label", classes[tree.decided], text
    yield "probabilities", belief, kind


def _labels(classes: tuple[Label, ...]) -> tuple[NDArray[Any], int]:
    from onnx import TensorProto

    if all(isinstance(label, str) for label in classes):
        return np.array(classes, object), TensorProto.STRING
    whole = all(isinstance(label, int) and -(2**63) <= label < 2**63 for label in classes)
    return np.array(classes if whole else range(len(classes)), np.int64), TensorProto.INT64


def _metadata(tree: Tree) -> dict[str, str]:
    features = [
        {"name": feature.name, "kind": str(feature.kind), "categories": list(feature.categories)}
        for feature in tree.schema.features
    ]
    classes = [label if isinstance(label, (str, int, float)) else str(label) for label in tree.schema.classes]
    levels = {"quantiles": json.dumps(tree.schema.quantiles)} if tree.schema.quantiles else {}
    return {"features": json.dumps(features), "classes": json.dumps(classes), **levels, "digest": tree.digest}
