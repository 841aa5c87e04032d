"""The two tree operators of ONNX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.export.runtime.binary_splits import BinarySplit
from hornbeam.typing import Floats

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["tree_ensemble", "tree_ensemble_regressor"]

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
