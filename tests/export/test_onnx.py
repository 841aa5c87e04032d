"""A tree as ONNX answers in onnxruntime as the tree does."""

import json

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the extra 'test' brings onnx")
onnxruntime = pytest.importorskip("onnxruntime", reason="the extra 'test' brings onnxruntime")
duckdb = pytest.importorskip("duckdb", reason="the extra 'test' brings duckdb")

from databases import assert_same, codes, models, rows_of  # noqa: E402

from hornbeam.data import Table  # noqa: E402
from hornbeam.data.schema import Feature, Kind, Schema  # noqa: E402
from hornbeam.errors import ExportError, ParameterError  # noqa: E402
from hornbeam.export import to_onnx  # noqa: E402
from hornbeam.tree import Skeleton, Tree  # noqa: E402
from parity import MODELS, random_model, random_rows, renamed  # noqa: E402
from strategies import chain  # noqa: E402

onnx = pytest.importorskip("onnx", reason="ONNX needs the extra onnx")
onnxruntime = pytest.importorskip("onnxruntime", reason="a runtime to try models in")

nan = np.nan


def run(model, rows):
    onnx.checker.check_model(model, full_check=True)
    return onnxruntime.InferenceSession(model.SerializeToString()).run(None, rows)


@pytest.mark.parametrize("first", range(0, MODELS, 20))
@pytest.mark.parametrize(
    ("tree_operators", "dtype"),
    [(5, "float64"), (5, "float32"), (3, "float64"), (3, "float32"), (1, "float32")],
)
def test_onnxruntime_gives_the_very_bits(tree_operators, dtype, first):
    number = np.dtype(dtype).type
    for unseen, (tree, table) in enumerate(models(first, 20, number, shared=False), start=1000):
        model = to_onnx(tree, dtype=dtype, tree_operators=tree_operators)
        X = codes(table, unseen if unseen % 2 else -1)
        assert_same(tree, table, *run(model, {"X": X.astype(number)}), dtype=number)


def columns(model, tree, table):
    """The rows as inputs of a model, by the order of its inputs; text where the model takes it."""
    given = {}
    matrix, rows = codes(table), rows_of(table)
    for i, field in enumerate(model.graph.input):
        if field.type.tensor_type.elem_type == onnx.TensorProto.STRING:
            given[field.name] = np.array([["" if row[i] is None else row[i]] for row in rows], object)
        else:
            given[field.name] = matrix[:, [i]]
    return given


@pytest.mark.parametrize("tree_operators", [5, 3])
def test_columns_take_text_as_it_is(tree_operators):
    for tree, table in models(0, 20, shared=False):
        model = to_onnx(tree, inputs="columns", tree_operators=tree_operators)
        assert [field.name for field in model.graph.input] == list(tree.schema.names)
        assert_same(tree, table, *run(model, columns(model, tree, table)))


@pytest.mark.parametrize("seed", [seed for seed in range(100, 112) if seed % 3 < 2])
def test_hostile_names(seed):
    tree = renamed(random_model(seed, max_rows=80), seed)
    model = to_onnx(tree, inputs="columns")
    table = random_rows(tree, seed, 200)
    # Where the empty string is a category, there is no text left for a missing value.
    told = [
        "" not in feature.categories or not (column == -1).any()
        for feature, column in zip(tree.schema.features, table.columns, strict=True)
    ]
    if all(told):
        assert_same(tree, table, *run(model, columns(model, tree, table)))
    assert_same(tree, table, *run(to_onnx(tree), {"X": codes(table)}))
    [features] = [entry.value for entry in model.metadata_props if entry.key == "features"]
    assert [feature["name"] for feature in json.loads(features)] == list(tree.schema.names)


def test_names_that_are_taken():
    features = (Feature(""), Feature("leaf"), Feature("_"), Feature("matrix"))
    skeleton = Skeleton.of([2, 0, 0], [1, -1, -1], [0.5, nan, nan])
    tree = Tree.raw(Schema(features, ("a", "b")), skeleton, np.array([[2, 2], [2, 0], [0, 2]]))
    model = to_onnx(tree, inputs="columns")
    assert [field.name for field in model.graph.input] == ["_", "leaf", "__", "matrix"]
    table = Table(tree.schema, tuple(np.array([[0.0, 1.0, nan]] * 4)))
    assert_same(tree, table, *run(model, columns(model, tree, table)))


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
    assert run(to_onnx(tree, dtype="float32"), {"X": X})[0].tolist() == [2, 1]


@pytest.mark.parametrize("tree_operators", [5, 3])
def test_a_single_leaf_and_a_long_chain(tree_operators):
    leaf = Tree.raw(Schema((), (1.5, None)), Skeleton.leaf(), np.array([[1, 3]]))
    found = run(to_onnx(leaf, tree_operators=tree_operators), {"X": np.zeros((2, 1))})
    assert [part.tolist() for part in found] == [[0, 0], [1, 1], [[0.25, 0.75]] * 2]
    deep = chain(2_000)
    tree = Tree.raw(Schema((Feature("x"),), ("a",)), deep, np.zeros((deep.n_nodes, 1), np.int64))
    table = Table(tree.schema, (np.array([-1.0, 0.25, 500.0, 999.5, 1e9, nan]),))
    found = run(to_onnx(tree, tree_operators=tree_operators), {"X": codes(table)})
    assert_same(tree, table, *found)


def test_what_onnx_cannot_say():
    skeleton = Skeleton.of([2, 0, 0], [0, -1, -1], [0.5, nan, nan], missing_slot=[-2, -1, -1])
    schema = Schema((Feature("x"),), ("a",))
    with pytest.raises(ExportError, match="Node 0 sends a missing value to every child"):
        to_onnx(Tree.raw(schema, skeleton, np.array([[2], [1], [1]])))
    # Without evidence in the children there is nothing to share: the value stops.
    empty = Tree.raw(schema, skeleton, np.zeros((3, 1), np.int64))
    assert run(to_onnx(empty), {"X": np.array([[nan], [1.0]])})[0].tolist() == [0, 2]
    mixed = Schema((Feature("m", Kind.NOMINAL, (1, "1")),), ("a",))
    with pytest.raises(ExportError, match="two categories that are the same as text"):
        to_onnx(Tree.raw(mixed, Skeleton.leaf(), np.array([[1]])), inputs="columns")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dtype": "float16"}, "dtype is 'float16'"),
        ({"inputs": "rows"}, "inputs is 'rows'"),
        ({"tree_operators": 4}, "tree_operators is 4"),
        ({"tree_operators": 1}, "takes dtype='float32' and inputs='matrix' alone"),
    ],
)
def test_settings_make_sense(options, message):
    tree = Tree.raw(Schema((), ("a",)), Skeleton.leaf(), np.array([[1]]))
    with pytest.raises(ParameterError, match=message):
        to_onnx(tree, **options)
