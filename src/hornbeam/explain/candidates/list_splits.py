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
from hornbeam.growing import Grower
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
    """List the candidate splits at a node of a fitted tree, with the gain and the children of each.

    Parameters
    ----------
    model : TreeClassifier, TreeRegressor or Tree
        Growth settings are those of the fit. From a `Tree` the number of bins is unknown: it is taken to be every value
        up to 20,000 rows, and 255 bins beyond.
    X : array-like or data frame of shape (n_rows, n_features), Table, path, paths or Source
        All rows the tree was fitted to; those that reach the node are counted. Other rows are allowed: the gains are
        then those of these rows. Parquet files and the rows of a `Source` need not fit memory.
    y : array-like of shape (n_rows,), str or None
        Their classes, or a numeric target; the name of its column if X is files. None if X is a `Table` or a `Source`,
        which has its target and weights.
    node : int, default 0
        Number of the node; 0 is the root. A leaf has candidates too.
    feature : str or int, optional
        Name or index of a feature: list all its splits. If not given, the best split of every feature.
    sample_weight : array-like of shape (n_rows,) or str, default=None
        A row of weight 2 counts as two rows. The name of a column if X is files.
    grower : Grower, optional
        Other growth settings, or the settings for a tree that was not grown by Hornbeam.
    held_out : tuple of X and y, Table or Source, optional
        Rows that the tree was not grown from: each split then has its gain on those that reach the node, with the
        standard error. A third entry of the tuple is their weights. Files are passed as a tuple of paths, the name of
        the target, and possibly that of the weights; a `Source` is accepted too.
    engine : Engine, optional
        Reads and counts the rows of files and sources; default: this thread. The result does not depend on it.

    Returns
    -------
    CandidateSplits
        A sequence of `CandidateSplit`: print it, or convert it with `to_dict`. A feature with a single value at the
        node has no split.

    Raises
    ------
    ParameterError
        If the node or the feature does not exist, or the growth settings are unknown.
    DataError
        If no row reaches the node, or `y` is None.
    SchemaError
        If the columns or the classes are not those of the tree.

    See Also
    --------
    hornbeam.impurity : impurity of class counts.

    Notes
    -----
    The kernel that grows trees computes the gains, so the split of a tree has the gain in `Tree.gain`. With
    `max_features` all features are listed, not only those drawn.

    The table follows from the histogram of the node, whose integers are added up in any order: rows in files give the
    same table as rows in memory, bit for bit, with any engine. The passes over the files are one for the histogram, a
    few before it for bins and weights, one for held-out rows, and one for each split above that sends parts of missing
    values to every child (C4.5).

    Examples
    --------
    >>> import hornbeam
    >>> X, y = [[1, 5], [2, 6], [3, 5], [4, 6]], ["no", "no", "yes", "no"]
    >>> clf = hornbeam.TreeClassifier("id3").fit(X, y)
    >>> hornbeam.candidate_splits(clf, X, y)
    node 0: 4 rows, entropy 0.8113 bits
    rank    gain  split            no yes in each child
      1*  0.3113  x0 ≤ 2.5 | > 2.5  2 0 | 1 1
      2   0.3113  x1 ≤ 5.5 | > 5.5  1 1 | 2 0
    * the split of the tree
    >>> [(split.threshold, round(split.gain, 3)) for split in hornbeam.candidate_splits(clf, X, y, feature="x0")]
    [(1.5, 0.123), (2.5, 0.311), (3.5, 0.123)]
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
