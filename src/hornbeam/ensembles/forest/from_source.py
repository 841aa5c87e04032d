"""A forest from a source: rows in files, or more rows than fit memory."""

from collections.abc import Callable
from typing import NamedTuple

from hornbeam.data.engine import Engine, resolve_engine
from hornbeam.data.sources import MemorySource, Source
from hornbeam.data.table import Table
from hornbeam.ensembles.forest.trainer import ForestResult, ForestTrainer
from hornbeam.logger import log_progress, logger
from hornbeam.out_of_core.plan import Plan
from hornbeam.out_of_core.sample import draw_sample
from hornbeam.tree.evidence.count import count_trees_on_all


class SourceForest(NamedTuple):
    """A forest with its out-of-bag predictions and smoother, and the rows that it was grown on."""

    result: ForestResult
    table: Table


def fit_forest(
    source: Source,
    trainer: ForestTrainer,
    engine: Engine | None = None,
    *,
    plan: Plan | None = None,
    n_jobs: int = 1,
    on_progress: Callable[[int], None] | None = None,
) -> SourceForest:
    """Grow a forest from a source of rows with their target.

    The `engine` reads and counts rows, and grows the trees; default: `n_jobs` threads of this process. The forest does
    not depend on it. The default `plan` is ``Plan.of(source, None)``. If all rows fit memory, the forest is that of
    `ForestTrainer.fit` for the same rows, bit for bit.

    With a sample, bins, splits, smoother and temperature are those of the sample. Then every row is counted in all
    trees by one pass, and the trees are smoothed with that evidence. Out-of-bag predictions are those of the sampled
    rows, before all rows are counted.
    """
    reader = resolve_engine(engine, n_jobs)
    plan = Plan.of(source, None) if plan is None else plan
    all_rows = plan.rows >= source.n_rows
    if all_rows and isinstance(source, MemorySource):
        table = source.table
    else:
        plan.log(source, reader, n_jobs, forest=True)
        table = draw_sample(source, reader, plan.rows, trainer.seed)
    log = log_progress()

    def listen(n_trees: int) -> None:
        log("%d of %d trees", n_trees, trainer.n_trees)
        if on_progress is not None:
            on_progress(n_trees)

    grown = trainer.grow(table, engine=engine, n_jobs=n_jobs, on_progress=listen)
    if not all_rows:
        logger.info("counting all rows")
        grown = grown._replace(trees=count_trees_on_all(grown.trees, source, reader))
    return SourceForest(grown.finish(n_jobs), table)
