"""An ONNX model predicts in onnxruntime as the tree does."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the extra 'test' brings onnx")
pytest.importorskip("onnxruntime", reason="the extra 'test' brings onnxruntime")

from databases import assert_same, codes
from model_runners import columns, run_onnx, run_session
from random_models import batches, models

from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.table import Table
from hornbeam.errors import ExportError, ParameterError
from hornbeam.export import to_onnx
from hornbeam.tree import Skeleton
from hornbeam.tree.tree import Tree
from support.strategies import chain

nan = np.nan


@batches
@pytest.mark.parametrize(
    ("tree_operators", "dtype"),
    [(5, "float64"), (5, "float32"), (3, "float64"), (3, "float32"), (1, "float32")],
)
def test_onnxruntime_predicts_the_same_bits(tree_operators, dtype, first, compare):
    cases = models(first, np.dtype(dtype).type, shared=False)
    found = run_onnx(cases, dtype=dtype, tree_operators=tree_operators)
    bound = 2.0**-25 if dtype == "float32" else 0.0  # half the distance of two float32 below 1
    compare(f"ONNX, ai.onnx.ml {tree_operators}, {dtype}", "onnxruntime", cases, found, bound=bound)


@batches
@pytest.mark.parametrize("tree_operators", [5, 3])
def test_column_inputs_accept_text(tree_operators, first, compare):
    cases = models(first, shared=False)
    found = run_onnx(cases, inputs="columns", tree_operators=tree_operators)
    compare(f"ONNX, ai.onnx.ml {tree_operators}, columns", "onnxruntime", cases, found)


def test_inputs_have_the_names_of_the_features():
    tree, _ = models(0, shared=False)[0]
    model = to_onnx(tree, inputs="columns")
    assert [field.name for field in model.graph.input] == list(tree.schema.names)


def test_names_of_tensors_are_unique():
    features = (Feature(""), Feature("leaf"), Feature("_"), Feature("matrix"))
    skeleton = Skeleton.of([2, 0, 0], [1, -1, -1], [0.5, nan, nan])
    tree = Tree.raw(Schema(features, ("a", "b")), skeleton, np.array([[2, 2], [2, 0], [0, 2]]))
    model = to_onnx(tree, inputs="columns")
    assert [field.name for field in model.graph.input] == ["_", "leaf", "__", "matrix"]
    table = Table(tree.schema, tuple(np.array([[0.0, 1.0, nan]] * 4)))
    assert_same(tree, table, *run_session(model, columns(model, tree, table)))


def test_float32_thresholds_are_rounded_down():
    # 0.1 lies between two float32, of which the nearer one is above it.
    tree = Tree.raw(
        Schema((Feature("x"),), ("a", "b")),
        Skeleton.of([2, 0, 0], [0, -1, -1], [0.1, nan, nan]),
        np.array([[2, 2], [2, 0], [0, 2]]),
    )
    near = np.float32(0.1)
    X = np.array([[near], [np.nextafter(near, np.float32(0))]], np.float32)
    assert float(near) > 0.1
    assert run_session(to_onnx(tree, dtype="float32"), {"X": X})[0].tolist() == [2, 1]


@pytest.mark.parametrize("tree_operators", [5, 3])
def test_a_single_leaf_and_a_long_chain(tree_operators):
    leaf = Tree.raw(Schema((), (1.5, None)), Skeleton.leaf(), np.array([[1, 3]]))
    found = run_session(to_onnx(leaf, tree_operators=tree_operators), {"X": np.zeros((2, 1))})
    assert [part.tolist() for part in found] == [[0, 0], [1, 1], [[0.25, 0.75]] * 2]
    deep = chain(2_000)
    tree = Tree.raw(Schema((Feature("x"),), ("a",)), deep, np.zeros((deep.n_nodes, 1), np.int64))
    table = Table(tree.schema, (np.array([-1.0, 0.25, 500.0, 999.5, 1e9, nan]),))
    found = run_session(to_onnx(tree, tree_operators=tree_operators), {"X": codes(table)})
    assert_same(tree, table, *found)


def test_trees_that_onnx_cannot_express_raise():
    skeleton = Skeleton.of([2, 0, 0], [0, -1, -1], [0.5, nan, nan], missing_slot=[-2, -1, -1])
    schema = Schema((Feature("x"),), ("a",))
    with pytest.raises(ExportError, match="Node 0 sends a missing value to every child"):
        to_onnx(Tree.raw(schema, skeleton, np.array([[2], [1], [1]])))
    # Without evidence in the children the value stops.
    empty = Tree.raw(schema, skeleton, np.zeros((3, 1), np.int64))
    assert run_session(to_onnx(empty), {"X": np.array([[nan], [1.0]])})[0].tolist() == [0, 2]
    mixed = Schema((Feature("m", Kind.NOMINAL, (1, "1")),), ("a",))
    with pytest.raises(ExportError, match="two categories that are the same as text"):
        to_onnx(Tree.raw(mixed, Skeleton.leaf(), np.array([[1]])), inputs="columns")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dtype": "float16"}, "dtype='float16'"),
        ({"inputs": "rows"}, "inputs='rows'"),
        ({"tree_operators": 4}, "tree_operators is 4"),
        ({"tree_operators": 1}, "takes only dtype='float32' and inputs='matrix'"),
    ],
)
def test_invalid_settings_raise(options, message):
    tree = Tree.raw(Schema((), ("a",)), Skeleton.leaf(), np.array([[1]]))
    with pytest.raises(ParameterError, match=message):
        to_onnx(tree, **options)
