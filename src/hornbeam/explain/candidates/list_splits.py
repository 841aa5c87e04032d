"""The function that lists the candidate splits at a node: it reads the rows, and makes the table."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hornbeam.data.engine import Engine
from hornbeam.data.rows import is_source_like, unpack_rows
from hornbeam.data.schema import Schema
from hornbeam.errors import ParameterError, shown
from hornbeam.explain.candidates.counted_candidates import candidates_of
from hornbeam.explain.candidates.held_out_gain import HeldOut
from hornbeam.explain.candidates.node_rows import NodeRows
from hornbeam.explain.candidates.source_rows import SourceRows
from hornbeam.explain.candidates.table import CandidateSplits
from hornbeam.explain.candidates.training_rows import TrainingRows
from hornbeam.growing.grower import Grower
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import unwrap


def candidate_splits(
    model: Any,
    X: Any,
    y: Any,
    node: int = 0,
    *,
    feature: str | int | None = None,
    sample_weight: Any = None,
    grower: Grower | None = None,
    held_out: Any = None,
    engine: Engine | None = None,
) -> CandidateSplits:
    """List the candidate splits at a node of a tree; parameters as in `TreeClassifier.candidate_splits`.

    `grower` has other growth settings than those in the history of the tree. From a `Tree` the number of bins is
    unknown: it is taken to be every value up to 20,000 rows, and 255 bins beyond.

    The table follows from the histogram of the node, whose integers are added up in any order. The passes over files
    are one for the histogram, a few before it for bins and weights, one for held-out rows, and one for each split above
    that sends parts of missing values to every child (C4.5).
    """
    tree, rows = SourceRows.of(model, X, y, sample_weight, grower, engine)
    check_node(tree, node)
    column = None if feature is None else find_column(tree.schema, feature)
    unseen = HeldOut.open(tree.schema, held_out, engine)
    [counted] = rows.count(tree, [int(node)])
    return candidates_of(counted, column, unseen)


def candidates_at(
    tree: Tree,
    rows: TrainingRows,
    node: int,
    feature: str | int | None = None,
    held_out: HeldOut | None = None,
) -> CandidateSplits:
    """List the best split of each feature at a node, or all splits of one feature, of encoded rows."""
    check_node(tree, node)
    column = None if feature is None else find_column(tree.schema, feature)
    here = NodeRows.of(tree, rows.encoded, rows.grower, node)
    return candidates_of(here.count(), column, held_out)


def competitors(
    model: Any, training: Any, nodes: Sequence[int], held_out: HeldOut | None = None
) -> list[CandidateSplits]:
    """List the best split of every feature at some nodes; files are read once for all nodes.

    `training` are the rows of the fit, before the steps of a pipeline: X, y and possibly weights, or the paths of
    Parquet files and the names of the columns of the target and the weights. `held_out` are rows for a second gain.
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


def check_node(tree: Tree, node: object) -> None:
    """Raise `ParameterError` if a tree has no such node."""
    if not _is_index(node, tree.n_nodes):
        raise ParameterError(
            f"node={shown(node)}: expected a node of the tree, from 0 to {tree.n_nodes - 1}."
        )


def _is_index(value: object, n: int) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and 0 <= int(value) < n


def find_column(schema: Schema, feature: str | int) -> int:
    """Return the index of a feature, given by its name or index."""
    if isinstance(feature, str):
        if feature in schema.names:
            return schema.names.index(feature)
    elif _is_index(feature, schema.n_features):
        return int(feature)
    names = ", ".join(map(repr, schema.names[:10])) + ", …" * (schema.n_features > 10)
    raise ParameterError(
        f"feature={shown(feature)}: expected one of {names}, or an index from 0 to {schema.n_features - 1}."
    )
