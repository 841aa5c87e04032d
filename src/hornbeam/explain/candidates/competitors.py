"""The candidate splits of several nodes at once."""

from collections.abc import Sequence
from typing import Any

from hornbeam.data.rows import is_source_like, unpack_rows
from hornbeam.errors import ParameterError
from hornbeam.explain.candidates.counted_candidates import candidates_of
from hornbeam.explain.candidates.held_out_gain import HeldOut
from hornbeam.explain.candidates.source_rows import SourceRows
from hornbeam.explain.candidates.table import CandidateSplits
from hornbeam.tree.unwrap import unwrap

__all__ = ["competitors"]


def competitors(
    model: Any, training: Any, nodes: Sequence[int], held_out: HeldOut | None = None
) -> list[CandidateSplits]:
    """List the best split of every feature at some nodes.

    Parameters
    ----------
    model : estimator or Tree
        As for `candidate_splits`, also inside a pipeline.
    training : tuple, Table or Source
        The rows of the fit: X, y and possibly weights, before the steps of a pipeline; or the paths of Parquet files
        and the names of the columns of the target and the weights.
    nodes : sequence of int
    held_out : HeldOut, optional
        Rows for a second gain.

    Returns
    -------
    list of CandidateSplits
        For each node the table of `candidate_splits`. Files are read once for all nodes.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> X, y = [[1, 5], [2, 6], [3, 5], [4, 6]], ["no", "no", "yes", "no"]
    >>> [found] = competitors(TreeClassifier("id3").fit(X, y), (X, y), [0])
    >>> [split.feature for split in found]
    ['x0', 'x1']
    """
    X, y, weight = unpack_rows(training, "training")
    inner = unwrap(model)
    if inner.before is not None:
        if is_source_like(X):
            raise ParameterError(
                f"training is files, and the model is {inner.pipeline_error}. Or pass the rows in memory."
            )
        X = inner.before.transform(X)
    tree, rows = SourceRows.of(inner.model, X, y, weight, None, None)
    return [candidates_of(counted, None, held_out) for counted in rows.count(tree, nodes)]
