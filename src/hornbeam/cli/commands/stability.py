"""``hornbeam stability``: what changes if a model is fitted to other rows, or with other seeds."""

from typing import Any

import click

from hornbeam.cli.console import common_options, emit, progress
from hornbeam.cli.rows import (
    ModelFile,
    data_argument,
    jobs_option,
    model_argument,
    reading,
    target_option,
    weight_option,
)


@click.command(short_help="Say what changes if the model is fitted to other rows.")
@model_argument
@data_argument
@target_option
@weight_option
@click.option("--groups", metavar="COL", help="A column, such as the patient: rows of a group stay together.")
@click.option(
    "--refits", type=click.IntRange(min=2), default=20, show_default=True, help="How often it is fitted."
)
@click.option("--only-seeds", is_flag=True, help="Fit to all rows, with other seeds only.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, metavar="N", help="Draws the rows."
)
@jobs_option
@reading
@common_options
def stability(
    model: str,
    data: str,
    target: str,
    weight: str | None,
    groups: str | None,
    refits: int,
    only_seeds: bool,
    seed: int,
    jobs: int,
    text: dict[str, Any],
    **_: Any,
) -> None:
    """Fit MODEL again to halves of DATA, the rows it was fitted to, and compare decisions and probabilities.

    \b
    hornbeam stability income.hornbeam train.csv --target income
    hornbeam stability income.hornbeam train.csv --target income --only-seeds
    """
    from hornbeam import load
    from hornbeam.evaluation import stability as stability_of

    estimator = load(model)
    fitted = getattr(estimator, getattr(estimator, "_fitted", ""), estimator)  # it has the schema
    rows = ModelFile(fitted, data, text, target, weight, groups).read()
    X, y, sample_weight = rows.columns
    with progress("fitting", refits) as listener:
        found = stability_of(
            estimator,
            X,
            y,
            sample_weight=sample_weight,
            groups=None if groups is None else rows.table[groups].to_numpy(),
            n_refits=refits,
            only_seeds=only_seeds,
            random_state=seed,
            n_jobs=jobs,
            on_progress=listener,
        )
    emit(found.summary(), repr(found))
