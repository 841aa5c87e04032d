"""What exported models answer in the libraries that serve them."""

from importlib.util import find_spec
from shutil import which

import numpy as np
import pytest
from databases import codes, rows_of
from pmml_reader import evaluate
from tally import Answers

from hornbeam.data import Table
from hornbeam.export import to_onnx, to_pmml, to_treelite
from hornbeam.tree import Tree

__all__ = ["ask_jpmml", "ask_onnx", "ask_pmml", "ask_treelite", "columns", "evaluate", "needs_jpmml", "run"]

needs_jpmml = pytest.mark.skipif(
    find_spec("jpmml_evaluator") is None or which("java") is None,
    reason="`nox -s exports` brings JPMML, which needs Java",
)

type Asked = list[tuple[Tree, Table]]


def ask_onnx(asked: Asked, *, inputs="matrix", dtype="float64", **options) -> Answers:
    """Run each model in onnxruntime."""
    for turn, (tree, table) in enumerate(asked):
        model = to_onnx(tree, inputs=inputs, dtype=dtype, **options)
        if inputs == "columns":
            given = columns(model, tree, table)
        else:  # any number that is no position is an unseen category
            given = {"X": codes(table, 1000 + turn if turn % 2 else -1).astype(dtype)}
        leaf, label, p = run(model, given)
        yield leaf, _class_codes(tree, label), p


def run(model, given):
    """What onnxruntime answers to inputs, of a model that the checker finds nothing wrong with."""
    import onnx
    import onnxruntime

    onnx.checker.check_model(model, full_check=True)
    return onnxruntime.InferenceSession(model.SerializeToString()).run(None, given)


def columns(model, tree: Tree, table: Table) -> dict[str, np.ndarray]:
    """The rows as inputs of a model, by the order of its inputs; text where the model takes it."""
    import onnx

    given = {}
    matrix, rows = codes(table), rows_of(table)
    for i, field in enumerate(model.graph.input):
        if field.type.tensor_type.elem_type == onnx.TensorProto.STRING:
            given[field.name] = np.array([["" if row[i] is None else row[i]] for row in rows], object)
        else:
            given[field.name] = matrix[:, [i]]
    return given


def ask_treelite(asked: Asked) -> Answers:
    """Run each model in treelite's own predictor, which tells no node."""
    import treelite

    for turn, (tree, table) in enumerate(asked):
        X = codes(table, 1000 + turn if turn % 2 else -1)
        p = treelite.gtil.predict(to_treelite(tree), X, nthread=1)[:, 0]
        yield None, tree.decision(p), p


def ask_pmml(asked: Asked) -> Answers:
    """Read each model with the small reader."""
    for tree, table in asked:
        leaf, label, p = evaluate(to_pmml(tree), rows_of(table))
        yield leaf, _class_codes(tree, label), p


def ask_jpmml(asked: Asked) -> Answers:
    """Run each model in JPMML, in a Java process: inside ours, Java leaves other libraries a short stack."""
    import pandas as pd
    from jpmml_evaluator import make_backend, make_evaluator

    java = make_backend("py4j")
    try:
        for tree, table in asked:
            evaluator = make_evaluator(to_pmml(tree).encode(), backend=java).verify()
            rows = zip(tree.schema.names, zip(*rows_of(table), strict=True), strict=True)
            given = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in rows})
            label, leaf, *p = (column.to_numpy() for _, column in evaluator.evaluateAll(given).items())
            yield leaf.astype(int), _class_codes(tree, label), np.stack(p, axis=1).astype(np.float64)
    finally:
        process = java.gateway.java_process
        java.destroyGateway()
        process.communicate()


def _class_codes(tree: Tree, labels) -> np.ndarray:
    code = {label: k for k, label in enumerate(tree.schema.classes)}
    return np.array([code[label] for label in labels])
