"""The two ways to grow a tree: in memory, and level by level through an engine."""

from collections.abc import Callable
from os import PathLike

from hornbeam.data.binning.bins import Bins
from hornbeam.data.encoded_rows import EncodedSource, EncodedTable
from hornbeam.data.engine import Engine
from hornbeam.data.schema import Schema
from hornbeam.data.sources import Source
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError
from hornbeam.growing.forced_splits import ForcedTop
from hornbeam.growing.levelwise.nodes import attach_subtrees
from hornbeam.growing.parallel import ParallelGrower
from hornbeam.growing.search import search_table
from hornbeam.growing.settings import GrowthSettings
from hornbeam.growing.tree_builder import build_tree_of_table
from hornbeam.growing.watch import PassReport, Watch
from hornbeam.kernels import subtree
from hornbeam.kernels.pool import Pool
from hornbeam.kernels.subtree import GrowthSpec, NodeRange, Nodes, Rows
from hornbeam.tree.evidence.count import recount
from hornbeam.tree.tree import Step, Tree
from hornbeam.typing import Codes, Floats

QUICK_CODES = 1_000_000  # with fewer the kernel ends before an interrupt matters


class Grower(GrowthSettings):
    """Parameters and procedure of growing a tree.

    Parameters
    ----------
    criterion : Criterion or str
        Measure of the gain of a split.
    nominal_split : Nominal or str
        How nominal features split.
    missing : Missing or str
        Where a row goes whose tested value is missing.
    max_depth : int or None
        Maximum depth of the tree. None: no limit.
    min_samples_split, min_samples_leaf : int
        Minimum number of rows of a node that is split, and of each child. A multiway split needs two such children.
    min_samples_missing : int
        Minimum number of rows of a branch of missing values of its own; a row of weight 2 is two rows, and weights
        that are not whole count as shares of all rows. With fewer at a node, missing values go to the child where the
        gain is larger. Not for a multiway split, where they are a category.
    min_weight_leaf : float
        Minimum weight of each child (C4.5's minimum number of objects).
    min_weight_fraction_leaf : float
        Minimum weight of each child, as a share of the weight of all rows.
    min_impurity_decrease : float
        Minimum of the gain times the node's share of all weight.
    max_leaf_nodes : int or None
        Largest number of leaves; the splits with the largest gain are kept. None: no limit.
    monotonic_cst : tuple of int or None
        For two classes: +1 where the probability of the second class must not fall as the feature rises, -1 where
        it must not rise, 0 elsewhere. For a numeric target: the same for the mean.
    max_features : int or None
        Number of features that a node tries, drawn anew for each node from the `key` of `grow`. If none of them has a
        valid split, further features are drawn one by one. None: all features.
    corrected : bool
        Whether features are compared by the S-values of their best splits instead of the gains. An S-value is -log2 of
        the probability that a search over the same number of cuts or subsets reaches this gain by chance, so that
        features with many values have no advantage. Without sampling, features with many categories have one order of
        them for the whole tree. C4.5's gain ratio has its own correction and ignores this.
    design_effect : float
        Number of rows of weight 1 that count as one independent row: above 1 for rows drawn with replacement. Only the
        correction uses it.
    interaction_cst : tuple of tuples of int, "pairwise", "no_interactions" or None
        Groups of features that may occur together on a path: one group must contain all features of a path. Features
        in no group form one more group. "pairwise": all pairs; "no_interactions": each feature alone; None: all may
        occur together.
    once_per_path : bool
        Whether a feature splits at most one node of a path.
    forbidden_below : tuple of pairs of int or None
        Pairs of features, of which the second may not split a node below a split of the first.
    feature_costs : tuple of pairs or None
        Prices, each with the indices of the features that need it: ``((3.0, (0, 2)),)``. A path pays a price once, at
        its first split on one of these features. The gain of a split, also the one that the tree records, is less what
        it pays; a split that pays something must have gain left.
    feature_cost_weight : float
        Share of the loss of predicting the same for every row, in per cent, that one unit of price takes off a gain. 0:
        prices are only recorded.
    forced_splits : tuple of ForcedSplit or None
        The splits that the tree begins with (`hornbeam.growing.forced_splits.forced_splits` of a skeleton); growing
        goes on from its leaves. They are kept whatever their gain and the sizes of their children.

    Notes
    -----
    Ties go to the first feature and to its lowest cut. All sums are integers: neither the order of rows nor the number
    of threads or partitions changes the tree.

    Within a feature the split with the largest gain is taken; the correction decides between features, and between the
    treatments of missing values. If the best S-value is below log2 of the number of features, a value that chance alone
    reaches, the search among up to five categories is not penalised.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.data.binning.bins import Bins
    >>> from hornbeam.data.sources import MemorySource
    >>> from hornbeam.engines import LocalEngine
    >>> from hornbeam.tree import Table
    >>> table = Table.read(np.array([[1.0], [2.0], [3.0], [4.0]]), ["a", "a", "b", "b"])
    >>> bins = Bins.fit(MemorySource(table), LocalEngine(), max_bins=None)
    >>> Grower().grow(table, bins).n_leaves
    2
    """

    __slots__ = ()

    def grow(
        self,
        table: Table | EncodedTable,
        bins: Bins | None = None,
        codes: Codes | None = None,
        *,
        n_jobs: int = 1,
        key: int = 0,
        on_progress: Callable[[int], None] | None = None,
    ) -> Tree:
        """Grow a tree from a table in memory.

        Parameters
        ----------
        table : Table or EncodedTable
            Rows with their target. Class weights change the choice of splits only, not the evidence. An encoded table
            stays as it is: its codes are copied before they are reordered.
        bins : Bins, optional
            Bin edges and category codes; not given with an encoded table.
        codes : array, optional
            ``bins.encode(table)``, if it is known already; its rows are reordered in place.
        n_jobs : int
            Threads; the tree does not depend on them.
        key : int
            Seed of the features that each node draws, with `max_features`: 64 bits, for example
            `hornbeam.kernels.subtree.child_key` of a seed and the number of the tree.
        on_progress : callable or None
            Called about ten times a second with the number of rows that have reached their leaf.

        Returns
        -------
        Tree
            With the evidence of the rows at their own weights, and raw frequencies as belief.
        """
        if isinstance(table, EncodedTable):
            bins, codes, table = table.bins, table.codes.copy(), table.table
        elif bins is None:
            raise ParameterError("bins=None: expected the bins of the table. Pass them, or an EncodedTable.")
        elif codes is not None:
            EncodedTable(table, bins, codes)  # checks the codes
        watch = Watch(on_progress)
        return grow_in_memory(self, table, bins, codes, n_jobs=n_jobs, key=key, watch=watch)

    def grow_by_level(
        self,
        source: EncodedSource,
        bins: Bins,
        schema: Schema,
        engine: Engine,
        *,
        unit: float | Floats = 1.0,
        class_weight: Floats | None = None,
        target: Source | None = None,
        gather_rows: int | None = None,
        budget: int = 2**28,
        checkpoint: str | PathLike[str] | None = None,
        on_progress: Callable[[PassReport], None] | None = None,
    ) -> Tree:
        """Grow the tree that `grow` grows, from sums that an engine computes.

        Parameters
        ----------
        source : EncodedSource
            Units of encoded rows.
        bins : Bins
            The bins that encoded the rows.
        schema : Schema
            Features and target.
        engine : Engine
            Runs the passes over the rows.
        unit : float, or float64 array of shape (3,)
            Value of one integer step of the rows' weight; for a numeric target those of weight, sum and sum of
            squares (`hornbeam.tree.evidence.count.evidence_units`).
        class_weight : array of shape (n_classes,), optional
            Factor of each class. Class weights change the choice of splits only, not the evidence.
        target : Source, optional
            For a numeric target: the rows that were encoded, in the same partitions. Splits need sums only; a last
            pass reads the target again to add up its squares at each leaf.
        gather_rows : int, optional
            A node of at most this many rows is finished by the local kernel, where its rows are gathered.
            Default: the number of rows that take a quarter of `budget`, for nodes that may grow four more levels;
            for fewer levels counting is cheaper than moving rows. All rows, if they fit.
        budget : int, default 2**28
            Largest size in bytes of the histograms of one task, and of the rows that are gathered for each parallel
            task of the engine. The tree does not depend on it.
        checkpoint : path, optional
            File that holds the tree so far after every pass. If it exists, growing continues from it; it is
            deleted at the end.
        on_progress : callable, optional
            Called with a `PassReport` after every pass.

        Returns
        -------
        Tree
            The tree that `grow` grows from the same rows.

        Raises
        ------
        ParameterError
            If the checkpoint belongs to other data or parameters.
        StorageError
            If the file is not a valid checkpoint.
        """
        # Imported here because growing in memory does not need it, and start-up is faster without it.
        from hornbeam.growing.levelwise import phase

        return phase.grow(
            self,
            source,
            bins,
            schema,
            engine,
            unit=unit,
            class_weight=class_weight,
            target=target,
            gather_rows=gather_rows,
            budget=budget,
            checkpoint=checkpoint,
            on_progress=on_progress,
        )


def grow_in_memory(
    settings: GrowthSettings,
    table: Table,
    bins: Bins,
    codes: Codes | None = None,
    *,
    n_jobs: int = 1,
    key: int = 0,
    watch: Watch | None = None,
    quick_codes: int = QUICK_CODES,
    serial_rows: int = 50_000,
    smallest_grain: int = 8_192,
) -> Tree:
    """Grow a tree from a table, as `Grower.grow` describes; the codes must be valid.

    Three thresholds decide about threads. With fewer codes than `quick_codes` the kernel runs in the calling thread: it
    ends before an interrupt matters. With fewer rows than `serial_rows` one thread is faster than several. A node of at
    most `smallest_grain` rows is grown by a single thread.
    """
    settings.check_target(table.schema)
    codes = bins.encode(table, n_jobs) if codes is None else codes
    progress = Watch() if watch is None else watch
    rows, search = search_table(settings, table, bins, codes)
    spec = search.spec
    rows, top = forced_top(settings, table.schema, bins, spec, rows, key)

    fractional = spec.rules.missing == subtree.Missing.fractional
    if n_jobs == 1 or rows.n_rows < serial_rows or rows.codes.size < quick_codes or fractional:
        nodes = grow_serially(rows, spec, top, key, progress, quick_codes)
    else:
        with Pool(n_jobs) as pool:
            parallel = ParallelGrower(rows, spec, n_jobs, pool, key, smallest_grain, top)
            nodes = progress.run(lambda: parallel.grow(progress))
    thresholds = {} if top is None else top.thresholds
    tree = build_tree_of_table(settings, nodes, bins, table, spec.rules.unit, thresholds)
    return tree if table.class_weight is None else recount(tree, table, class_weights_step(table))


def forced_top(
    settings: GrowthSettings, schema: Schema, bins: Bins, spec: GrowthSpec, rows: Rows, key: int
) -> tuple[Rows, ForcedTop | None]:
    """Return the rows in the order of the leaves of the forced splits, and those splits; None without any."""
    skeleton = settings.forced_skeleton(schema)
    if skeleton is None:
        return rows, None
    top, rows = ForcedTop.count(skeleton, bins, spec, rows, key)
    return rows, top


def grow_serially(
    rows: Rows, spec: GrowthSpec, top: ForcedTop | None, key: int, progress: Watch, quick_codes: int
) -> Nodes:
    """Grow the nodes of one tree by one thread, below the forced splits if there are any.

    With fewer codes than `quick_codes` it is the calling thread.
    """

    def grow() -> Nodes:
        if top is None:
            root = NodeRange.root(rows.n_rows, spec, key)
            return subtree.grow(rows, spec, root, progress.progress_slot())
        return attach_subtrees(
            top.node_list.nodes(),
            [
                (leaf.node, subtree.grow(rows, spec, leaf.node_range, progress.progress_slot()))
                for leaf in top.leaves
            ],
        )

    if rows.codes.size < quick_codes and spec.rules.missing != subtree.Missing.fractional:
        return grow()
    return progress.run(grow)


def class_weights_step(table: Table) -> Step:
    """Return the step that counts rows at their own weights, where class weights have chosen the splits."""
    assert table.class_weight is not None
    return Step.of("recount", class_weight=tuple(table.class_weight.tolist()))
