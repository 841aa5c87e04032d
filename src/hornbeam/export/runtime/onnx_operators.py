"""The two operators of ONNX that walk trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.export.runtime.binary_splits import BinarySplit
from hornbeam.typing import Floats

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["tree_ensemble", "tree_ensemble_regressor"]

_LEQ, _MEMBER = 0, 6  # as TreeEnsemble counts its modes


def tree_ensemble(asked: list[BinarySplit], number: np.dtype[Any], matrix: str, raw: str) -> NodeProto:
    """Write questions as the ``TreeEnsemble`` of ai.onnx.ml 5, with set membership.

    Parameters
    ----------
    asked : list of BinarySplit
    number : dtype
        Of the matrix that goes in and the number that comes out.
    matrix, raw : str
        The tensors that go in and come out.

    Returns
    -------
    onnx.NodeProto
        Its output is the node where a row stops, as a number.

    Examples
    --------
    >>> stump = [BinarySplit(0, 30.5, (), ~1, ~2, missing=False)]
    >>> tree_ensemble(stump, np.dtype(np.float64), "X", "leaf").op_type
    'TreeEnsemble'
    """
    from onnx import helper, numpy_helper

    # A single leaf is a question whose answer does not matter.
    asked = asked or [BinarySplit(0, 0.0, (), ~0, ~0, False)]
    stops: list[int] = []

    def ways(targets: list[int]) -> tuple[list[int], list[int]]:
        at = []
        for target in targets:
            at.append(target if target >= 0 else len(stops))
            stops.extend([~target] if target < 0 else [])
        return at, [int(target < 0) for target in targets]

    yes, yes_is_leaf = ways([question.yes for question in asked])
    no, no_is_leaf = ways([question.no for question in asked])
    # Each set ends with NaN.
    members = [code for question in asked if question.among for code in (*question.among, np.nan)]
    sets = {"membership_values": numpy_helper.from_array(np.array(members, number))} if members else {}
    modes = np.array([_MEMBER if question.among else _LEQ for question in asked], np.uint8)
    return helper.make_node(
        "TreeEnsemble",
        [matrix],
        [raw],
        domain="ai.onnx.ml",
        n_targets=1,
        tree_roots=[0],
        nodes_featureids=[question.feature for question in asked],
        nodes_modes=numpy_helper.from_array(modes),
        nodes_splits=numpy_helper.from_array(_cuts(asked, number)),
        nodes_missing_value_tracks_true=[int(question.missing) for question in asked],
        nodes_truenodeids=yes,
        nodes_trueleafs=yes_is_leaf,
        nodes_falsenodeids=no,
        nodes_falseleafs=no_is_leaf,
        leaf_targetids=[0] * len(stops),
        leaf_weights=numpy_helper.from_array(np.array(stops, number)),
        **sets,
    )


def tree_ensemble_regressor(
    asked: list[BinarySplit], number: np.dtype[Any], matrix: str, raw: str
) -> NodeProto:
    """Write questions as the ``TreeEnsembleRegressor`` of ai.onnx.ml 1 and 3, sets as one equality a member.

    Parameters
    ----------
    asked, number, matrix, raw
        As of `tree_ensemble`.

    Returns
    -------
    onnx.NodeProto
        Its output is the node where a row stops, as a float32.

    Notes
    -----
    The equalities of a set share the node that a yes leads to, as LightGBM's models do; onnxruntime takes
    that.

    Examples
    --------
    >>> stump = [BinarySplit(0, 30.5, (), ~1, ~2, missing=False)]
    >>> tree_ensemble_regressor(stump, np.dtype(np.float32), "X", "leaf").op_type
    'TreeEnsembleRegressor'
    """
    from onnx import helper, numpy_helper

    cuts = _cuts(asked, number)
    # A set of categories takes as many places as it has members; leaves stand behind all questions.
    place = np.cumsum([0, *(max(1, len(question.among)) for question in asked)]).tolist()
    rows: list[tuple[int, str, float, int, int, int]] = []
    stops: list[int] = []

    def way(target: int) -> int:
        if target >= 0:
            return int(place[target])
        stops.append(~target)
        return int(place[-1]) + len(stops) - 1

    for question, cut in zip(asked, cuts.tolist(), strict=True):
        yes, no = way(question.yes), way(question.no)
        missing = int(question.missing)
        if question.among:
            *others, last = question.among
            for code in others:
                rows.append((question.feature, "BRANCH_EQ", code, yes, len(rows) + 1, missing))
            rows.append((question.feature, "BRANCH_EQ", last, yes, no, missing))
        else:
            rows.append((question.feature, "BRANCH_LEQ", cut, yes, no, missing))
    if not asked:
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
        target_nodeids=list(range(place[-1], len(rows))),
        target_ids=[0] * len(stops),
        **_weights(stops, number),
        **(wide if number == np.float64 else {"nodes_values": [float(value) for value in values]}),
    )


def _weights(stops: list[int], number: np.dtype[Any]) -> dict[str, Any]:
    from onnx import numpy_helper

    if number == np.float64:
        return {"target_weights_as_tensor": numpy_helper.from_array(np.array(stops, number))}
    return {"target_weights": [float(stop) for stop in stops]}


def _cuts(asked: list[BinarySplit], number: np.dtype[Any]) -> NDArray[Any]:
    """The thresholds, rounded down."""
    exact: Floats = np.array([0.0 if question.among else question.at_most for question in asked])
    with np.errstate(over="ignore", under="ignore"):
        near = exact.astype(number)
        return np.where(near > exact, np.nextafter(near, number.type(-np.inf)), near)
