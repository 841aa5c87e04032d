"""Run exported models in onnxruntime, treelite and PMML readers."""

from importlib.util import find_spec
from shutil import which

import numpy as np
import pytest
from databases import codes, rows_of
from differences import Predictions
from pmml_reader import evaluate

from hornbeam.data.table import Table
from hornbeam.export import to_onnx, to_pmml, to_treelite
from hornbeam.tree.tree import Tree

__all__ = [
    "columns",
    "evaluate",
    "needs_jpmml",
    "run_jpmml",
    "run_onnx",
    "run_pmml",
    "run_session",
    "run_treelite",
]

needs_jpmml = pytest.mark.skipif(
    find_spec("jpmml_evaluator") is None or which("java") is None,
    reason="`nox -s exports` brings JPMML, which needs Java",
)

type Cases = list[tuple[Tree, Table]]


def run_onnx(cases: Cases, *, inputs="matrix", dtype="float64", **options) -> Predictions:
    """Run each model in onnxruntime."""
    for number, (tree, table) in enumerate(cases):
        model = to_onnx(tree, inputs=inputs, dtype=dtype, **options)
        if inputs == "columns":
            tensors = columns(model, tree, table)
        else:  # any number that is not a position is an unseen category
            tensors = {"X": codes(table, 1000 + number if number % 2 else -1).astype(dtype)}
        leaf, label, p = run_session(model, tensors)
        yield leaf, _class_codes(tree, label), p


def run_session(model, inputs):
    """Check a model, and run it in onnxruntime."""
    import onnx
    import onnxruntime

    onnx.checker.check_model(model, full_check=True)
    return onnxruntime.InferenceSession(model.SerializeToString()).run(None, inputs)


def columns(model, tree: Tree, table: Table) -> dict[str, np.ndarray]:
    """The rows as inputs of a model, as text where the model expects text."""
    import onnx

    inputs = {}
    matrix, rows = codes(table), rows_of(table)
    for i, field in enumerate(model.graph.input):
        if field.type.tensor_type.elem_type == onnx.TensorProto.STRING:
            inputs[field.name] = np.array([["" if row[i] is None else row[i]] for row in rows], object)
        else:
            inputs[field.name] = matrix[:, [i]]
    return inputs


def run_treelite(cases: Cases) -> Predictions:
    """Run each model in treelite's own predictor, which returns no node."""
    import treelite

    for number, (tree, table) in enumerate(cases):
        X = codes(table, 1000 + number if number % 2 else -1)
        p = treelite.gtil.predict(to_treelite(tree), X, nthread=1)[:, 0]
        yield None, tree.decision(p), p


def run_pmml(cases: Cases) -> Predictions:
    """Read each model with the small reader."""
    for tree, table in cases:
        leaf, label, p = evaluate(to_pmml(tree), rows_of(table))
        yield leaf, _class_codes(tree, label), p


def run_jpmml(cases: Cases, class_codes=None) -> Predictions:
    """Run each model in JPMML in a Java process: inside this process Java would leave other libraries a short stack."""
    import pandas as pd
    from jpmml_evaluator import make_backend, make_evaluator

    java = make_backend("py4j")
    try:
        for tree, table in cases:
            evaluator = make_evaluator(to_pmml(tree).encode(), backend=java).verify()
            rows = zip(tree.schema.names, zip(*rows_of(table), strict=True), strict=True)
            inputs = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in rows})
            label, leaf, *p = (column.to_numpy() for _, column in evaluator.evaluateAll(inputs).items())
            codes_of = _class_codes if class_codes is None else class_codes
            yield leaf.astype(int), codes_of(tree, label), np.stack(p, axis=1).astype(np.float64)
    finally:
        process = java.gateway.java_process
        java.destroyGateway()
        process.communicate()


def _class_codes(tree: Tree, labels) -> np.ndarray:
    code = {label: k for k, label in enumerate(tree.schema.classes)}
    return np.array([code[label] for label in labels])
