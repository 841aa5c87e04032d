"""The kernel of small trees: a search with lookahead."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.kernels import _native
from hornbeam.kernels.subtree import PathRules
from hornbeam.typing import Bools, Indices

MOST_CODES = 255  #: codes of a feature, without that of a missing value
UNIT_VALUE = 256  #: value of an indicator, and largest absolute value of a numeric feature


class LeafRules(NamedTuple):
    """Settings of the model of a leaf.

    At most ``most_terms`` terms; each must explain ``least_share`` of the squared distance of the leaf. ``ridge`` is
    relative to the variance of a term. ``cut_off`` is the share of the values of a leaf that are clipped at either end.
    """

    most_terms: int
    least_share: float = 0.02
    ridge: float = 0.01
    cut_off: float = 0.05


class SearchRules(NamedTuple):
    """Settings of the search.

    A branch has at least ``min_weight``, of which at least ``min_counted`` is counted. ``n_candidates`` cuts are
    compared at a node, at most ``per_feature`` of one feature, which differ by ``apart`` of the weight. Their
    completions are grown to ``overgrowth`` times the number of leaves.
    """

    max_leaves: int
    max_depth: int
    min_weight: int
    min_counted: int = 0
    n_candidates: int = 8
    per_feature: int = 2
    apart: float = 0.12
    overgrowth: int = 3


class SoftRows(NamedTuple):
    """Encoded rows with a share of each channel: a class, or the mean of a numeric target.

    Weights and shares are in integer steps. ``counted`` is the part of the weight that counts towards the minimum of a
    branch. ``value`` has an entry for each code of each feature, the missing one last:
    the value of a code of a numeric feature, from -256 to 256.
    """

    codes: NDArray[np.uint8]
    weight: Indices
    counted: Indices
    share: NDArray[np.int32]
    n_codes: Indices
    nominal: Bools
    value: NDArray[np.int16]

    def take(self, rows: NDArray[np.intp]) -> "SoftRows":
        """Copy some rows."""
        return self._replace(
            codes=self.codes[rows],
            weight=self.weight[rows],
            counted=self.counted[rows],
            share=self.share[rows],
        )

    def search(
        self, rules: SearchRules, leaf: LeafRules, n_jobs: int = 1, paths: PathRules | None = None
    ) -> tuple[Indices, Bools]:
        """Find the tree that explains most of the shares.

        `paths` has the features that may follow each other; None: all may.

        Returns the feature of each node in preorder, -1 for a leaf, and whether each code goes left, of shape (n_nodes,
        256).
        """
        feature, left = _native.search_tree(
            *self,
            *leaf,
            min_weight=rules.min_weight,
            min_counted=rules.min_counted,
            max_leaves=rules.max_leaves,
            max_depth=rules.max_depth,
            n_candidates=rules.n_candidates,
            per_feature=rules.per_feature,
            apart=rules.apart,
            overgrowth=rules.overgrowth,
            paths=paths,
            n_threads=n_jobs,
        )
        return feature, left.view(np.bool_)
