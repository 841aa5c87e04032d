"""`fit_tree`, `fit_forest`: parameters and rows to a fitted tree or forest, for estimators and the command line.

They do not import scikit-learn, whose import takes longer than most fits of the command line.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from hornbeam.data.sources import MemorySource, Source, names_of
from hornbeam.data.table import Table
from hornbeam.data.threads import n_threads
from hornbeam.estimators.inputs.fit_warnings import warn_about_pruning
from hornbeam.estimators.parameters.fields import (
    ForestParameters,
    TreeClassifierParameters,
    TreeParameters,
    TreeRegressorParameters,
)
from hornbeam.estimators.parameters.validators import boolean
from hornbeam.tree.decision import DecisionRule
from hornbeam.tree.edit import record_groups, with_decision
from hornbeam.tree.evidence.count import integer_weights
from hornbeam.tree.evidence.fractional import known_weight
from hornbeam.tree.tree import Tree
from hornbeam.typing import Counts, Floats

if TYPE_CHECKING:
    from hornbeam.ensembles.distillation.taught import OwnTeacher
    from hornbeam.ensembles.forest.trainer import ForestResult
    from hornbeam.recipe import Fitter
    from hornbeam.smoothing.distribution import Distribution


_MOST_LEARNED = 30_000  # rows of files that the distribution of the target is learned from


class Fitted(NamedTuple):
    """A fitted tree, and what estimators and files keep beside it.

    `names` are those of the columns, if the rows had any; `shares` the weights that distribute fractional rows;
    `distribution` that of a numeric target, if it was asked for.
    """

    tree: Tree
    names: tuple[str, ...] | None
    class_weight: Floats | None = None
    shares: Counts | None = None
    distribution: Distribution | None = None


def fit_tree(
    parameters: TreeParameters,
    rows: Table | Source,
    *,
    engine: Any = None,
    grow_rows: int | None = None,
    memory: int | None = None,
    cache: Any = None,
    n_jobs: int | None = None,
    on_progress: Callable[[int], None] | None = None,
    warn: Callable[[Table | Source, Fitter], None] | None = None,
    own_teacher: OwnTeacher | None = None,
) -> Fitted:
    """Fit a tree, of classification or regression by the target of the rows.

    Parameters
    ----------
    parameters : TreeParameters
        `TreeClassifierParameters` for classes.
    rows : Table or Source
        Rows with a target, and with the class weights of the parameters.
    engine, grow_rows, memory, cache
        As in `TreeClassifier.fit`, which documents them.
    n_jobs : int, optional
        Number of threads of this fit; the `n_jobs` of the parameters is only saved with the model.
    on_progress : callable, optional
        Called with the number of rows that have reached their leaf.
    warn : callable, optional
        Called with the rows and the fitter when the parameters are checked.
    own_teacher : OwnTeacher, optional
        The estimator that is the parameter `teacher`.

    Examples
    --------
    >>> table = Table.read([[0.0], [1.0]], ["no", "yes"])
    >>> fit_tree(TreeClassifierParameters(smoothing="laplace"), table).tree.n_leaves
    2
    """
    from hornbeam.estimators.parameters.recipes import (
        tree_fitter,  # imports all that fits, which predictions need not
    )

    fitter, threads = tree_fitter(parameters, rows, own_teacher=own_teacher), n_threads(n_jobs)
    has_distribution = isinstance(parameters, TreeRegressorParameters) and boolean(
        "distribution", parameters.distribution
    )
    warn_about_pruning(fitter)
    if warn is not None:
        warn(rows, fitter)
    if isinstance(rows, Table) and grow_rows is None:
        tree = fitter.fit(rows, n_jobs=threads, on_progress=on_progress)
        tree, sample = record_groups(tree, rows.n_groups), rows
    else:
        from hornbeam.out_of_core.fit import fit  # imported only for sources: it is slow to import
        from hornbeam.out_of_core.plan import Plan

        source, memory = (MemorySource(rows), sys.maxsize) if isinstance(rows, Table) else (rows, memory)
        plan = Plan.of(source, fitter, grow_rows, memory)
        if plan.rows < source.n_rows:  # parameters that are shares of all rows are shares of the sample
            fitter = tree_fitter(parameters, source, plan.rows)
        tree = fit(source, fitter, engine, plan=plan, cache=cache, on_progress=on_progress, n_jobs=threads)
        if has_distribution:
            from hornbeam.data.engine import resolve_engine
            from hornbeam.out_of_core.sample import draw_sample

            limits = fitter.limits
            n_rows = plan.rows if plan.mode != "level-wise" else limits.rows_to_learn or _MOST_LEARNED
            sample = draw_sample(source, resolve_engine(engine, threads), n_rows, limits.seed)
    if has_distribution:
        from hornbeam.tuning.distribution import fit_distribution  # imported only when needed

        distribution = fit_distribution(tree, rows, sample, fitter, engine, n_jobs=threads)
        return Fitted(tree, names_of(rows), distribution=distribution)
    if not isinstance(parameters, TreeClassifierParameters):
        return Fitted(tree, names_of(rows))
    tree = with_decision(tree, DecisionRule.of(parameters.costs, rows.class_weight, rows.schema.classes))
    shares = known_shares(tree, rows) if isinstance(rows, Table) else None
    return Fitted(tree, names_of(rows), rows.class_weight, shares)


def fit_forest(
    parameters: ForestParameters,
    rows: Table | Source,
    *,
    engine: Any = None,
    grow_rows: int | None = None,
    memory: int | None = None,
    n_jobs: int | None = None,
    on_progress: Callable[[int], None] | None = None,
    warn: Callable[[Table | Source, Any], None] | None = None,
) -> tuple[ForestResult, Table]:
    """Fit a forest, and return it with the rows that it was grown on.

    The parameters are those of `fit_tree`; `on_progress` is called with the number of trees.
    """
    from hornbeam.estimators.parameters.forest import forest_trainer  # imported only for forests

    if isinstance(rows, Table):
        rows, memory = MemorySource(rows), sys.maxsize
    trainer, threads = forest_trainer(parameters, rows), n_threads(n_jobs)
    if warn is not None:
        warn(rows.table if isinstance(rows, MemorySource) else rows, trainer)
    if isinstance(rows, MemorySource) and grow_rows is None:
        return trainer.fit(rows.table, engine=engine, n_jobs=threads, on_progress=on_progress), rows.table
    from hornbeam.ensembles.forest import from_source
    from hornbeam.out_of_core.plan import Plan

    plan = Plan.of(rows, None, grow_rows, memory)
    if plan.rows < rows.n_rows:  # parameters that are shares of all rows are shares of the sample
        trainer = forest_trainer(parameters, rows, plan.rows)
    return from_source.fit_forest(rows, trainer, engine, plan=plan, n_jobs=threads, on_progress=on_progress)


def known_shares(tree: Tree, table: Table) -> Counts | None:
    """Return the weight of known values per node, which distributes fractional rows; None without fractional rows.

    It must not change after `fit`: otherwise later rows would be distributed in other shares, and could not be
    removed again exactly.
    """
    if not tree.skeleton.is_fractional:
        return None
    return known_weight(tree.skeleton, table, integer_weights(table, tree.unit.item(0)))
