"""The operators of ONNX: two for trees, and those of slopes in leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.export.runtime.binary_splits import BinarySplit
from hornbeam.export.source.lookup_tables import node_scores
from hornbeam.tree import Costs
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto

_LEQ, _MEMBER = 0, 6  # codes of the modes of TreeEnsemble


def tree_ensemble(splits: list[BinarySplit], number: np.dtype[Any], matrix: str, raw: str) -> NodeProto:
    """Write binary splits as the ``TreeEnsemble`` of ai.onnx.ml 5, with set membership.

    `number` is the type of the tensor `matrix` and of the output `raw`: the node where a row stops, as a float.
    """
    from onnx import helper, numpy_helper

    # A single leaf becomes a split whose two branches lead to it.
    splits = splits or [BinarySplit(0, 0.0, (), ~0, ~0, False)]
    stops: list[int] = []

    def ids(targets: list[int]) -> tuple[list[int], list[int]]:
        found = []
        for target in targets:
            found.append(target if target >= 0 else len(stops))
            stops.extend([~target] if target < 0 else [])
        return found, [int(target < 0) for target in targets]

    yes, yes_is_leaf = ids([split.yes for split in splits])
    no, no_is_leaf = ids([split.no for split in splits])
    # NaN ends each set.
    members = [code for split in splits if split.among for code in (*split.among, np.nan)]
    sets = {"membership_values": numpy_helper.from_array(np.array(members, number))} if members else {}
    modes = np.array([_MEMBER if split.among else _LEQ for split in splits], np.uint8)
    return helper.make_node(
        "TreeEnsemble",
        [matrix],
        [raw],
        domain="ai.onnx.ml",
        n_targets=1,
        tree_roots=[0],
        nodes_featureids=[split.feature for split in splits],
        nodes_modes=numpy_helper.from_array(modes),
        nodes_splits=numpy_helper.from_array(_cuts(splits, number)),
        nodes_missing_value_tracks_true=[int(split.missing) for split in splits],
        nodes_truenodeids=yes,
        nodes_trueleafs=yes_is_leaf,
        nodes_falsenodeids=no,
        nodes_falseleafs=no_is_leaf,
        leaf_targetids=[0] * len(stops),
        leaf_weights=numpy_helper.from_array(np.array(stops, number)),
        **sets,
    )


def tree_ensemble_regressor(
    splits: list[BinarySplit], number: np.dtype[Any], matrix: str, raw: str
) -> NodeProto:
    """Write binary splits as the ``TreeEnsembleRegressor`` of ai.onnx.ml 1 and 3, sets as one equality per member.

    The output is the node where a row stops, as a float32. The equalities of a set have the same true branch, as in
    converted LightGBM models; onnxruntime accepts that.
    """
    from onnx import helper, numpy_helper

    cuts = _cuts(splits, number)
    # A set of categories takes one node per member; leaves come after all splits.
    begin = np.cumsum([0, *(max(1, len(split.among)) for split in splits)]).tolist()
    rows: list[tuple[int, str, float, int, int, int]] = []
    stops: list[int] = []

    def node_id(target: int) -> int:
        if target >= 0:
            return int(begin[target])
        stops.append(~target)
        return int(begin[-1]) + len(stops) - 1

    for split, cut in zip(splits, cuts.tolist(), strict=True):
        yes, no = node_id(split.yes), node_id(split.no)
        missing = int(split.missing)
        if split.among:
            *others, last = split.among
            for code in others:
                rows.append((split.feature, "BRANCH_EQ", code, yes, len(rows) + 1, missing))
            rows.append((split.feature, "BRANCH_EQ", last, yes, no, missing))
        else:
            rows.append((split.feature, "BRANCH_LEQ", cut, yes, no, missing))
    if not splits:
        stops.append(0)
    rows += [(0, "LEAF", 0.0, 0, 0, 0)] * len(stops)
    features, modes, values, yes_ids, no_ids, missing_ids = map(list, zip(*rows, strict=True))
    wide = {"nodes_values_as_tensor": numpy_helper.from_array(np.array(values, number))}
    return helper.make_node(
        "TreeEnsembleRegressor",
        [matrix],
        [raw],
        domain="ai.onnx.ml",
        n_targets=1,
        nodes_treeids=[0] * len(rows),
        nodes_nodeids=list(range(len(rows))),
        nodes_featureids=features,
        nodes_modes=modes,
        nodes_truenodeids=yes_ids,
        nodes_falsenodeids=no_ids,
        nodes_missing_value_tracks_true=missing_ids,
        target_treeids=[0] * len(stops),
        target_nodeids=list(range(begin[-1], len(rows))),
        target_ids=[0] * len(stops),
        **_weights(stops, number),
        **(wide if number == np.float64 else {"nodes_values": [float(value) for value in values]}),
    )


def _weights(stops: list[int], number: np.dtype[Any]) -> dict[str, Any]:
    from onnx import numpy_helper

    if number == np.float64:
        return {"target_weights_as_tensor": numpy_helper.from_array(np.array(stops, number))}
    return {"target_weights": [float(stop) for stop in stops]}


def _cuts(splits: list[BinarySplit], number: np.dtype[Any]) -> NDArray[Any]:
    """Round the thresholds down to the type of the matrix."""
    exact: Floats = np.array([0.0 if split.among else split.at_most for split in splits])
    with np.errstate(over="ignore", under="ignore"):
        near = exact.astype(number)
        return np.where(near > exact, np.nextafter(near, number.type(-np.inf)), near)


class SlopeOperators:
    """Operators and tables from the leaf and the values of each row to its scores, probabilities and class.

    Everything is computed in float64, the terms one after the other, so scores have the tree's own bits. `leaf` and
    `matrix` are the names of the tensors with the node where each row stops, and the values of the rows; `new_name`
    makes a name unique. `nodes` and `tables` are the operators and constants so far.
    """

    def __init__(self, tree: Tree, new_name: Callable[[str], str], leaf: str, matrix: str) -> None:
        from onnx import TensorProto

        self.nodes: list[NodeProto] = []
        self.tables: list[TensorProto] = []
        self._tree, self._new, self._leaf = tree, new_name, leaf
        self._double, self._whole = TensorProto.DOUBLE, TensorProto.INT64
        self._scores = self._add_terms(self._op("Cast", matrix, to=self._double))

    def predictions(self) -> str:
        """Return the name of the probabilities, or means: float64 of shape (rows, outputs)."""
        if self._tree.is_regression:
            return self._scores
        powers = self._op("Softmax", self._scores, axis=1)
        return self._op("Where", self._has_terms(), powers, self._scores)

    def classes(self, probabilities: str) -> str:
        """Return the name of the codes of the decided classes: int64 of shape (rows,)."""
        loss = self._tree.decision.loss
        if loss is None:
            return self._first_largest(self._scores)
        flat = self._constant(np.array([-1]))
        terms = self._op("Reshape", self._has_terms(), flat)
        return self._op(
            "Where", terms, self._cheapest(loss, probabilities), self._of_leaf(self._tree.decided)
        )

    def _add_terms(self, matrix: str) -> str:
        slopes, n = self._tree.path_slopes, self._tree.n_nodes
        start = slopes.starts(n)
        most = int(np.diff(start).max())

        def by_position(values: NDArray[Any], fill: float) -> NDArray[Any]:
            """The values of the terms of each path, in columns; `fill` where a node has fewer terms."""
            table = np.full((n, most, *values.shape[1:]), fill, values.dtype)
            for node in slopes.nodes.tolist():
                terms = slopes.of_node(node)
                table[node, : len(terms)] = values[terms.start : terms.stop]
            return table

        value = self._op(
            "GatherElements", matrix, self._of_leaf(by_position(slopes.feature.astype(np.int64), 0)), axis=1
        )
        category = self._of_leaf(by_position(slopes.category.astype(np.float64), -1.0))
        low, high = (self._of_leaf(by_position(limit, 0.0)) for limit in (slopes.low, slopes.high))
        zero, one = self._constant(np.array(0.0)), self._constant(np.array(1.0))
        clipped = self._op("Min", self._op("Max", value, low), high)
        chosen = self._op("Where", self._op("Equal", value, category), one, zero)
        known = self._op("Where", self._op("Less", category, zero), clipped, chosen)
        distance = self._op("Sub", known, self._of_leaf(by_position(slopes.centre, 0.0)))
        distance = self._op("Where", self._op("IsNaN", value), zero, distance)
        slope = by_position(slopes.slope, 0.0)
        scores = self._of_leaf(node_scores(self._tree))
        for j in range(most):
            one_distance = self._op("Gather", distance, self._constant(np.array([j])), axis=1)
            scores = self._op("Add", scores, self._op("Mul", self._of_leaf(slope[:, j]), one_distance))
        return scores

    def _has_terms(self) -> str:
        return self._of_leaf(np.isin(np.arange(self._tree.n_nodes), self._tree.path_slopes.node)[:, None])

    def _first_largest(self, numbers: str) -> str:
        return self._op("ArgMax", numbers, axis=1, keepdims=0)

    def _cheapest(self, loss: Costs, probabilities: str) -> str:
        """The first class of least expected cost; costs that differ by rounding are equal."""
        cost = self._op("MatMul", probabilities, self._constant(loss.matrix))
        gain = self._op("Neg", cost)
        largest = self._op("TopK", gain, self._constant(np.array([1])), axis=1, outputs=2)
        bound = self._op("Sub", largest, self._constant(np.array(loss.slack)))
        within = self._op("Not", self._op("Less", gain, bound))
        return self._first_largest(self._op("Cast", within, to=self._double))

    def _of_leaf(self, table: NDArray[Any]) -> str:
        """The row of a table, one per node, at the leaf of each row."""
        return self._op("Gather", self._constant(table), self._leaf, axis=0)

    def _constant(self, values: NDArray[Any]) -> str:
        from onnx import numpy_helper

        name = self._new("table")
        self.tables.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def _op(self, operator: str, *inputs: str, outputs: int = 1, **attributes: Any) -> str:
        """Add an operator; return the name of its first output."""
        from onnx import helper

        names = [self._new(operator.lower()) for _ in range(outputs)]
        self.nodes.append(helper.make_node(operator, list(inputs), names, **attributes))
        return names[0]
