"""``hornbeam study``: which method suits one's own rows, by cross-validation."""

from collections.abc import Callable, Iterator
from typing import Any

import click

from hornbeam.cli.rows import data_argument, reading, target_option
from hornbeam.cli.screen import give, laid_out, manners, progress
from hornbeam.cli.training import Training, read_training, training
from hornbeam.errors import DataError

__all__ = ["study"]

_OURS: dict[str, dict[str, Any]] = {
    "hornbeam": {},
    "CART, cost-complexity": {"preset": "cart", "pruning": "cost-complexity"},
    "C4.5": {"preset": "c4.5", "pruning": "error-based"},
}
_PEER = "scikit-learn"
_MEASURES = {"rmse": "RMSE", "log_loss": "log loss", "zero_one_loss": "0-1 loss"}


@click.command(short_help="Compare methods on your own rows.")
@data_argument
@target_option
@training
@click.option("--folds", type=click.IntRange(min=2), default=5, show_default=True, help="Of the cross-validation.")
@click.option("--seed", type=int, default=0, show_default=True, help="Deals the rows to folds.")
@click.option("--jobs", type=int, default=-1, metavar="N", help="Threads; default all cores.")
@reading
@manners
def study(
    data: str,
    target: str,
    text: dict[str, Any],
    asked: dict[str, Any],
    folds: int,
    seed: int,
    jobs: int,
    **_: Any,
) -> None:
    """Compare Hornbeam's default with CART, C4.5 and scikit-learn's tree on the rows of DATA.

    Every row is answered once, by trees that have not seen it. The last column counts the folds in which a method's
    RMSE is less than that of the default, equal, and more. Needs scikit-learn's tree, which takes nominal columns
    one-hot.

    \b
    hornbeam study adult.csv --target income
    """
    import numpy as np

    from hornbeam.data.labels import read_labels
    from hornbeam.data.table import Table
    from hornbeam.evaluation import Comparison

    rows = read_training(data, target, text, **asked)
    table = _table(rows)
    if folds > table.n_rows:
        raise DataError(f"{folds} folds of {table.n_rows} rows: expected a row in each fold at least.")
    methods = dict(_methods(jobs, seed))
    tallies: dict[str, list[Any]] = {name: [] for name in methods}
    leaves: dict[str, list[int]] = {name: [] for name in methods}
    fold_of = _folds(table.target, folds, seed)
    with progress("comparing", folds * len(methods)) as listener:
        for fold in range(folds):
            train, test = (table.take(np.flatnonzero(part)) for part in (fold_of != fold, fold_of == fold))
            for name, method in methods.items():
                tally, size = method(train, test)
                tallies[name].append(tally)
                leaves[name].append(size)
                if listener is not None:
                    listener(sum(map(len, leaves.values())))
    losses = np.array([[one.rmse for one in tallies[name]] for name in methods]).T
    comparison = Comparison(tuple(methods), tuple(f"fold {at}" for at in range(1, folds + 1)), losses, "RMSE")
    _give(comparison, tallies, leaves)


def _table(rows: Training) -> Any:
    from hornbeam.data.labels import read_labels
    from hornbeam.data.table import Table

    weight = None if rows.weight is None else rows.table[rows.weight].to_numpy()
    return Table.read(rows.table.select(rows.features), read_labels(rows.table[rows.target]), sample_weight=weight)
