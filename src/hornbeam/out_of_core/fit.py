"""A fit to a source: rows that do not fit memory, or that stay with an engine."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Literal

from hornbeam.data.binning.bins import Bins
from hornbeam.data.encoded_rows import EncodedSource, EncodingSource
from hornbeam.data.engine import Engine, LocalEngine, resolve_engine
from hornbeam.data.files.cache import EncodedCache
from hornbeam.data.files.scratch import scratch_folder
from hornbeam.data.hashes import fingerprint
from hornbeam.data.sources import Source
from hornbeam.growing.grower import Grower
from hornbeam.logger import log_progress, logger
from hornbeam.out_of_core.plan import Plan
from hornbeam.out_of_core.sample import draw_sample
from hornbeam.recipe import Finisher, Fitter, Listener, RecipeFitter
from hornbeam.tree.edit import record_groups
from hornbeam.tree.evidence.count import count_on_all, evidence_units
from hornbeam.tree.tree import Tree

type Cache = str | PathLike[str] | Literal[False] | None


def fit(
    source: Source,
    fitter: Fitter,
    engine: Engine | None = None,
    *,
    plan: Plan | None = None,
    cache: Cache = None,
    checkpoint: str | PathLike[str] | None = None,
    on_progress: Listener = None,
    n_jobs: int = 1,
) -> Tree:
    """Fit a tree to a source.

    Parameters
    ----------
    source : Source
        Rows with their target.
    fitter : Recipe, CrossValidated or CrossFitted
        The settings of the fit.
    engine : Engine, optional
        Reads and counts rows; default: `n_jobs` threads of this process. The tree does not depend on it.
    plan : Plan, optional
        How many rows are grown on, and where; default: ``Plan.of(source, fitter)``.
    cache : path, False or None, default None
        Folder for the codes of the rows, which level-wise growing reads in every pass. None: a temporary folder if the
        engine is `LocalEngine`; other engines encode the source in every pass, as all do with False.
    checkpoint : path, optional
        File with the state of level-wise growing; an interrupted fit continues from it. Default: one in the folder
        `cache`, if that is named.
    on_progress : callable, optional
        Called with the number of rows that have reached their leaf, of all rows.
    n_jobs : int, default 1
        Threads for the work in memory.

    Returns
    -------
    Tree
        If all rows are grown on by a fitter without cross-fitting, it is bit for bit the tree of `Recipe.fit` in
        memory. If all rows fit memory, this holds for every fitter.

    Notes
    -----
    With a sample everything that needs rows is learnt from it: bins, splits, the choice of a pruner, the strengths of
    smoothing, the price of a leaf and the calibration of intervals. Then every row is counted, and the tree is pruned
    and smoothed with that evidence. `hornbeam.pruning.ErrorBased` raises no branch then: a raised branch would need
    another pass over all rows. Parameters of the grower that count rows, such as ``min_samples_leaf``, count rows of
    the sample.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam.data.sources import MemorySource
    >>> from hornbeam.tree import Table
    >>> from hornbeam.recipe import PRESETS
    >>> table = Table.read(*load_breast_cancer(return_X_y=True))
    >>> source, recipe = MemorySource(table, block=100), PRESETS["cart"]
    >>> tree = fit(source, recipe, plan=Plan.of(source, recipe, memory=10_000))
    >>> tree.digest == recipe.fit(table).digest
    True
    >>> fit(source, recipe, plan=Plan.of(source, recipe, grow_rows=200)).rows[0]
    np.int64(569)
    """
    engine = resolve_engine(engine, n_jobs)
    plan = Plan.of(source, fitter) if plan is None else plan
    plan.log(source, engine, n_jobs)
    tree = _fit(source, fitter, engine, plan, cache, checkpoint, _logged(on_progress, source.n_rows), n_jobs)
    logger.info("fitted: %s leaves, depth %d", f"{tree.n_leaves:,}", tree.depth)
    return tree


def _fit(
    source: Source,
    fitter: Fitter,
    engine: Engine,
    plan: Plan,
    cache: Cache,
    checkpoint: str | PathLike[str] | None,
    on_progress: Callable[..., None],
    n_jobs: int,
) -> Tree:
    if plan.mode == "in-memory":
        table = draw_sample(source, engine, plan.rows)
        tree = fitter.fit(table, n_jobs=n_jobs, on_progress=on_progress)
        return record_groups(tree, table.n_groups)
    if plan.mode == "sample":
        logger.info("reading the sample")
        drawn = [draw_sample(source, engine, plan.rows, fitter.limits.seed)]
        n_groups = drawn[0].n_groups

        def count(tree: Tree) -> Tree:
            logger.info("counting all rows")
            return count_on_all(tree, source, engine)

        tree = fitter.fit_sample(
            drawn.pop(),  # so that the fit can free its memory
            count,
            n_jobs=n_jobs,
            on_progress=lambda rows_done: on_progress(rows_done * source.n_rows // plan.rows),
        )
        return record_groups(tree, n_groups)
    limits = fitter.limits
    recipe = limits.recipe
    assert recipe is not None  # the plan would be a sample
    logger.info("choosing bins")
    bins = recipe.bin_source(source, engine)
    with _encoded(source, bins, cache, engine) as encoded:
        tree = recipe.grower.grow_by_level(
            encoded,
            bins,
            source.schema,
            engine,
            unit=evidence_units(source),
            class_weight=source.class_weight,
            target=source if source.schema.is_regression else None,
            budget=_budget(engine, plan.memory),
            checkpoint=_checkpoint_in(cache, encoded, recipe.grower) if checkpoint is None else checkpoint,
            on_progress=lambda done: on_progress(
                done.rows_done, f"level {done.level}, {done.n_nodes:,} nodes"
            ),
        )
    finisher: Finisher = recipe
    n_groups = None
    if limits.rows_to_learn:
        assert isinstance(fitter, RecipeFitter)
        logger.info("choosing strengths and size on a sample")
        sample = draw_sample(source, engine, limits.rows_to_learn, limits.seed)
        finisher = fitter.learn(recipe, sample, bins, bins.encode(sample, n_jobs), n_jobs=n_jobs)
        n_groups = sample.n_groups
    return record_groups(finisher.finish(tree, n_jobs=n_jobs), n_groups)


def _budget(engine: Engine, memory: int) -> int:
    """Return the bytes that each task may use for sums and gathered rows, if all run in this process."""
    at_once = engine.parallelism if isinstance(engine, LocalEngine) else 1
    return max(1, memory // (2 * at_once))


@contextmanager
def _encoded(source: Source, bins: Bins, cache: Cache, engine: Engine) -> Iterator[EncodedSource]:
    """Provide the codes of the rows: from a permanent or a temporary cache, or encoded at every read."""
    if cache is False or (cache is None and not isinstance(engine, LocalEngine)):
        yield EncodingSource(source, bins)
        return
    logger.info("writing the codes of all rows to the cache")
    if cache is None:
        with scratch_folder() as folder:
            yield EncodedCache.write(source, bins, folder, engine)
    else:
        yield EncodedCache.write(source, bins, cache, engine)


def _checkpoint_in(cache: Cache, encoded: EncodedSource, grower: Grower) -> Path | None:
    """Return the file in a permanent cache from which growing continues, named by rows, bins and settings."""
    if not isinstance(cache, (str, PathLike)):
        return None
    key = fingerprint(encoded.fingerprint, repr(grower.as_step()))
    return Path(cache).expanduser() / f"growing-{key[:32]}.checkpoint"


def _logged(on_progress: Listener, n_rows: int) -> Callable[..., None]:
    """Return a listener that also logs the progress."""
    log = log_progress()

    def listen(rows_done: int, where: str = "growing") -> None:
        log("%s: %s of %s rows have reached their leaf", where, f"{rows_done:,}", f"{n_rows:,}")
        if on_progress is not None:
            on_progress(rows_done)

    return listen
