"""The kernels of terms at any node of a tree: their selection, their slopes, and the bases of nodes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.kernels import _native
from hornbeam.typing import Bools, Counts, Floats, Indices

_BASE_STEPS = 100


class Fitting(NamedTuple):
    """Settings of a fit.

    ``ridge`` is the penalty of squared slopes, relative to the rows of a term. There are at most this many ``steps``;
    the last one decreases the loss by a part of ``tolerance`` at most.
    """

    ridge: float = 0.001
    steps: int = 50
    tolerance: float = 1e-8


class Selecting(NamedTuple):
    """Settings of a selection.

    At most ``most_terms`` terms are added in ``rounds``; each must explain ``least_share`` of the distance to the
    labels of a tree without terms, and decrease the mean loss by ``least_gain``. ``steps`` are those of the fit after
    each round.
    """

    most_terms: int
    rounds: int = 6
    least_share: float = 0.003
    least_gain: float = 0.0
    steps: int = 10


class CodedColumns(NamedTuple):
    """Codes of the features of some rows.

    ``value`` has an entry for each code of each feature, missing ones left out: a number, or for a category 1 if it can
    have a term, else 0. ``sign`` has that of the slope of the last output of each feature: 1, -1, or 0 for any.
    ``allowed`` says at which node a feature can have terms, of shape (n_nodes, n_features).
    """

    codes: NDArray[np.uint8]
    n_codes: Indices
    nominal: Bools
    value: Floats
    sign: NDArray[np.int8]
    allowed: NDArray[np.uint8]


class FoundTerms(NamedTuple):
    """Selected terms: a node, a feature, a category (-1: a number) and the range of its values."""

    node: Indices
    feature: Indices
    category: Indices
    low: Floats
    high: Floats


class EndedRows(NamedTuple):
    """Rows with soft labels, sorted by the node where they end, with weights that sum to 1.

    The rows of ``node_of_end[i]`` are those from ``start[i]`` up to ``start[i + 1]``; ``parent`` has the parent of each
    node, -1 for the root. Labels are class probabilities, or means in one column.
    """

    label: Floats
    weight: Floats
    parent: Indices
    node_of_end: Indices
    start: Counts

    def select(self, columns: CodedColumns, selecting: Selecting, ridge: float) -> FoundTerms:
        """Select terms, in the order in which they are found."""
        found = _native.select_node_terms(
            *columns,
            **self._asdict(),
            most_terms=selecting.most_terms,
            rounds=selecting.rounds,
            least_share=selecting.least_share,
            least_gain=selecting.least_gain,
            ridge=ridge,
            steps=selecting.steps,
        )
        return FoundTerms(*found)

    def slopes(
        self,
        values: Floats,
        node_of_term: Indices,
        sign_of_term: NDArray[np.int8],
        fitting: Fitting,
        offset: Floats | None = None,
        *,
        fixed_bases: bool = False,
    ) -> Floats:
        """Fit the slope of each term for each output, of shape (n_terms, n_outputs).

        The ridge is that of `values`, of shape (n_rows, n_terms), as they are. The slope of the last output has the
        sign of the term, or is 0; with the sign 0 it is any. `offset` is a known part of the scores; every node where
        rows end has a base of its own beside it, or none if the bases are fixed.
        """
        return _native.fit_node_terms(
            values,
            node_of_term,
            sign_of_term,
            np.zeros_like(self.label) if offset is None else offset,
            fixed_bases,
            **self._asdict(),
            **fitting._asdict(),
        )


def fit_base(score: Floats, label: Floats, weight: Floats, tolerance: float = 1e-8) -> Floats:
    """Fit the base that is added to the scores of rows so that their mean prediction is their mean label."""
    return _native.fit_base(score, label, weight, _BASE_STEPS, tolerance)
