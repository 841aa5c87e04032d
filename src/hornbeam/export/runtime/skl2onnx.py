"""The converter of skl2onnx for pipelines with a tree."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Literal

from hornbeam.errors import ExportError, MissingExtraError
from hornbeam.export.runtime.onnx import to_onnx
from hornbeam.tree.unwrap import single_tree


def register_skl2onnx() -> None:
    """Register `TreeClassifier` and `TreeRegressor` with skl2onnx, which then converts pipelines with them.

    Call it once in a process, before ``skl2onnx.to_onnx``. The input of a tree is one matrix of numbers, in which a
    category is its position, as in `to_onnx`; or one column of numbers or text for each feature.

    Raises
    ------
    MissingExtraError
        Without the package skl2onnx: ``pip install skl2onnx``.

    See Also
    --------
    to_onnx : writes a tree without a pipeline, and needs no skl2onnx.

    Notes
    -----
    A tree with float32 inputs is written for float32, any other for float64. If the steps before the tree compute in
    float32, a value within that rounding of a threshold may go to its other side: then pass float64 rows as the
    example, ``skl2onnx.to_onnx(pipeline, X[:1].astype("float64"))``.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.export import register_skl2onnx
    >>> register_skl2onnx()  # doctest: +SKIP
    >>> model = skl2onnx.to_onnx(pipeline, X[:1], options={"zipmap": False})  # doctest: +SKIP
    """
    try:
        from skl2onnx import update_registered_converter
    except ImportError as error:
        raise MissingExtraError(
            "Converting pipelines to ONNX needs skl2onnx. Install it: pip install skl2onnx."
        ) from error
    from hornbeam.estimators.tree_classifier import TreeClassifier  # estimators import this package
    from hornbeam.estimators.tree_regressor import TreeRegressor

    of_classes = {"zipmap": [True, False, "columns"], "output_class_labels": [False, True], "nocl": [False]}
    for kind, options in ((TreeClassifier, of_classes), (TreeRegressor, None)):
        update_registered_converter(
            kind, f"Hornbeam{kind.__name__}", _set_types, _add_operators, options=options
        )


def _set_types(operator: Any) -> None:
    """Set the types of the outputs: label and probabilities, or mean."""
    from skl2onnx.common.data_types import (
        DoubleTensorType,
        FloatTensorType,
        Int64TensorType,
        StringTensorType,
    )

    schema, rows = single_tree(operator.raw_operator).schema, operator.inputs[0].get_first_dimension()
    double = _number(operator) == "float64"
    if not schema.is_regression:  # ZipMap, the default of skl2onnx, takes float32 alone
        double &= (
            operator.scope_inst.get_options(operator.raw_operator, {"zipmap": True})["zipmap"] is not True
        )
    number = DoubleTensorType if double else FloatTensorType
    if schema.is_regression:
        operator.outputs[0].set_type(number([rows, 1]))
        return
    text = all(isinstance(label, str) for label in schema.classes)
    if not (text or all(isinstance(label, int) for label in schema.classes)):
        raise ExportError(
            "The classes are neither all text nor all whole numbers, and labels of ONNX are; fit the pipeline with "
            "such labels."
        )
    operator.outputs[0].set_type((StringTensorType if text else Int64TensorType)([rows]))
    operator.outputs[1].set_type(number([rows, schema.n_classes]))


def _number(operator: Any) -> Literal["float64", "float32"]:
    """Return the type of numbers: float32 if all numbers of the input are."""
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType

    single = all(isinstance(one.type, (FloatTensorType, StringTensorType)) for one in operator.inputs)
    return "float32" if single else "float64"


def _add_operators(scope: Any, operator: Any, container: Any) -> None:
    """Add the operators of a tree to the model that skl2onnx makes."""
    from onnx import TensorProto
    from skl2onnx.helpers import add_onnx_graph

    tree, given = single_tree(operator.raw_operator), operator.inputs
    if len(given) not in (1, tree.schema.n_features):
        raise ExportError(
            f"The tree has {tree.schema.n_features} features and {len(given)} inputs in the pipeline; expected one "
            "matrix, or one column for each feature. Declare the initial types so."
        )
    model = to_onnx(
        tree,
        dtype=_number(operator),
        inputs="matrix" if len(given) == 1 and not _is_text(given[0]) else "columns",
        tree_operators=3,  # the newest that skl2onnx writes
    )
    del model.graph.output[0]  # the leaf
    for node in model.graph.node:
        node.name = node.output[0]  # a unique name, which skl2onnx requires

    def new() -> Any:
        return SimpleNamespace(onnx_name=scope.get_unique_variable_name("number"))

    inputs = []
    for one, field in zip(given, model.graph.input, strict=True):
        inputs.append(one if _is_text(one) else new())
        if not _is_text(one):
            to = field.type.tensor_type.elem_type
            container.add_node("Cast", [one.onnx_name], [inputs[-1].onnx_name], to=to)
    numbers, shaped, last = new(), new(), operator.outputs[-1]
    # skl2onnx has a column of means, where a tree has a vector.
    shape = scope.get_unique_variable_name("shape")
    container.add_initializer(shape, TensorProto.INT64, [2], [-1, tree.schema.n_outputs])
    container.add_node("Reshape", [numbers.onnx_name, shape], [shaped.onnx_name])
    to = last.type.to_onnx_type().tensor_type.elem_type
    container.add_node("Cast", [shaped.onnx_name], [last.onnx_name], to=to)
    outputs = [*operator.outputs[:-1], numbers]
    add_onnx_graph(scope, SimpleNamespace(inputs=inputs, outputs=outputs), container, model)


def _is_text(variable: Any) -> bool:
    from skl2onnx.common.data_types import StringTensorType

    return isinstance(variable.type, StringTensorType)
