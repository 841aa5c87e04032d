"""A whole fit on a source: rows that do not fit memory, or that stay with an engine."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Literal

from hornbeam.data.binning.bins import Bins
from hornbeam.data.encoded_rows import EncodedSource, EncodingSource
from hornbeam.data.engine import Engine, LocalEngine
from hornbeam.data.files.cache import EncodedCache
from hornbeam.data.files.scratch import scratch_folder
from hornbeam.data.sources import Source
from hornbeam.out_of_core.count import count_on_all
from hornbeam.out_of_core.plan import Fitted, Plan
from hornbeam.out_of_core.sample import draw_sample
from hornbeam.recipe import Recipe
from hornbeam.tree.tree import Tree
from hornbeam.tuning import CrossFitted

__all__ = ["fit"]

type Cache = str | PathLike[str] | Literal[False] | None
type Listener = Callable[[int], None] | None


def fit(
    source: Source,
    recipe: Fitted,
    engine: Engine | None = None,
    *,
    grow_rows: int | None = None,
    memory: int | None = None,
    cache: Cache = None,
    checkpoint: str | PathLike[str] | None = None,
    on_progress: Listener = None,
    n_jobs: int = 1,
) -> Tree:
    """Make the tree of a source.

    Parameters
    ----------
    source : Source
        Rows with their target.
    recipe : Recipe, CrossValidated or CrossFitted
        How the tree is made.
    engine : Engine, optional
        Where rows are read and counted; default: `n_jobs` threads of this process. The tree does not depend on
        it.
    grow_rows : int, optional
        Grow on a sample of so many rows, then count all; on all rows, if there are no more. Default: all rows
        where they fit `memory` or are at most 20 million, a sample otherwise (`Plan`).
    memory : int, optional
        Bytes that rows may take in this process; 2**29 by default.
    cache : path, False or None, default None
        Growing level by level reads rows again and again: the folder where their codes are kept. None: a
        temporary one, which needs threads of this process for its engine; others read the source each time,
        as all do with False.
    checkpoint : path, optional
        Where growing level by level keeps the tree so far, and goes on from.
    on_progress : callable, optional
        Called with the number of rows that have reached their leaf, of all rows.
    n_jobs : int, default 1
        Threads for what is done in memory.

    Returns
    -------
    Tree
        If all rows are grown on, by a recipe without cross-fitting, the tree that `Recipe.fit` makes of them
        in memory, bit for bit. Of rows that came home it is the same in any case.

    Notes
    -----
    Of a sample everything is learnt that needs rows: bins, tests, a pruner to be chosen, how much to borrow,
    the price of leaves and what rows are worth. Then every row is counted, and the tree is pruned and
    smoothed by that evidence. Rules of the grower that count rows, such as ``min_samples_leaf``, count those
    of the sample.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam.data import MemorySource, Table
    >>> from hornbeam.recipe import PRESETS
    >>> table = Table.read(*load_breast_cancer(return_X_y=True))
    >>> tree = fit(MemorySource(table, block=100), PRESETS["cart"], memory=10_000)
    >>> tree.digest == PRESETS["cart"].fit(table).digest
    True
    >>> fit(MemorySource(table), PRESETS["default"], grow_rows=200).rows[0]
    np.int64(569)
    """
    engine = LocalEngine(n_jobs) if engine is None else engine
    plan = Plan.of(source, recipe, grow_rows, memory)
    if plan.way == "home":
        return recipe.fit(draw_sample(source, engine, plan.rows), n_jobs=n_jobs, on_progress=on_progress)
    if plan.way == "sample":
        return _fit_sample(
            source, recipe, engine, plan, _scaled(on_progress, source.n_rows, plan.rows), n_jobs
        )
    chosen = recipe.recipe if isinstance(recipe, CrossFitted) else recipe
    assert isinstance(chosen, Recipe)  # the plan has seen to it
    bins = Bins.fit(source, engine, max_bins=chosen.bins_for(source.n_rows))
    with _coded(source, bins, cache, engine) as coded:
        tree = chosen.grower.grow_by_level(
            coded,
            bins,
            source.schema,
            engine,
            unit=source.unit,
            class_weight=source.class_weight,
            budget=_budget(engine, plan.memory),
            checkpoint=checkpoint,
            on_progress=None if on_progress is None else lambda done: on_progress(done.n_settled),
        )
    if not isinstance(recipe, CrossFitted):
        return chosen.finish(tree)
    some = draw_sample(source, engine, recipe.rows, recipe.seed)
    lesson = recipe.learn(chosen, some, bins, bins.encode(some, n_jobs), n_jobs=n_jobs)
    return lesson.apply(tree, n_jobs)


def _fit_sample(
    source: Source, recipe: Fitted, engine: Engine, plan: Plan, on_progress: Listener, n_jobs: int
) -> Tree:
    """Grow on a sample, count all rows, and finish the tree by their evidence."""
    table = draw_sample(source, engine, plan.rows, 0 if isinstance(recipe, Recipe) else recipe.seed)
    chosen = recipe if isinstance(recipe, Recipe) else recipe.choose(table, n_jobs=n_jobs)
    bins = chosen.bin(table, n_jobs)
    codes = bins.encode(table, n_jobs)
    lesson = None
    if isinstance(recipe, CrossFitted):
        lesson = recipe.learn(chosen, table, bins, codes, n_jobs=n_jobs)
    tree = chosen.grower.grow(table, bins, codes, n_jobs=n_jobs, on_progress=on_progress)
    del table, codes  # the pass over all rows needs their memory
    tree = count_on_all(tree, source, engine)
    return chosen.finish(tree) if lesson is None else lesson.apply(tree, n_jobs)


def _budget(engine: Engine, memory: int) -> int:
    """Bytes each task may take for sums and for rows it brings together, if all run in this process."""
    at_once = engine.parallelism if isinstance(engine, LocalEngine) else 1
    return max(1, memory // (2 * at_once))


@contextmanager
def _coded(source: Source, bins: Bins, cache: Cache, engine: Engine) -> Iterator[EncodedSource]:
    """The rows as codes: from a cache that is kept, one that is not, or encoded whenever they are read."""
    if cache is False or (cache is None and not isinstance(engine, LocalEngine)):
        yield EncodingSource(source, bins)
    elif cache is None:
        with scratch_folder() as folder:
            yield EncodedCache.write(source, bins, folder, engine)
    else:
        yield EncodedCache.write(source, bins, cache, engine)


def _scaled(on_progress: Listener, n_rows: int, n_grown: int) -> Listener:
    """Speak of all rows where a sample is grown on."""
    if on_progress is None:
        return None
    return lambda n_settled: on_progress(n_settled * n_rows // n_grown)
