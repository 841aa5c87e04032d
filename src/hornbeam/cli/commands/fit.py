"""``hornbeam fit``: fit a model to a file of rows and save it."""

from dataclasses import fields
from typing import Any

import click

from hornbeam.cli.console import check_output, common_options, emit, message, progress, save_model
from hornbeam.cli.rows import (
    FilePath,
    Rows,
    costs_by_label,
    costs_option,
    data_argument,
    jobs_option,
    reading,
    target_option,
)
from hornbeam.cli.training import (
    ColumnOptions,
    memory_option,
    monotonic_option,
    n_held_out,
    preset_option,
    read_training,
    split_rows,
    training,
    with_doubts,
)


def _step(_context: Any, _option: Any, name: str) -> str | None:
    return None if name == "none" else name


def _groups(_context: Any, _option: Any, given: tuple[str, ...]) -> list[list[str]] | None:
    return [[name.strip() for name in group.split(",")] for group in given] or None


def _below(_context: Any, _option: Any, given: tuple[tuple[str, str], ...]) -> dict[str, list[str]] | None:
    below: dict[str, list[str]] = {}
    for above, other in given:
        below.setdefault(above, []).append(other)
    return below or None


def _prices(_context: Any, _option: Any, given: tuple[tuple[str, float], ...]) -> dict[str, Any] | None:
    prices: dict[str, Any] = {}
    for columns, price in given:
        names = [name.strip() for name in columns.split(",")]
        prices[columns] = price if len(names) == 1 else (price, names)
    return prices or None


def _read_splits(_context: Any, _option: Any, path: str | None) -> Any:
    """Read the splits to begin with from a file."""
    if path is None:
        return None
    import json
    from pathlib import Path

    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise click.UsageError(
            f"--forced-splits {path} is not a file of JSON; expected an object with feature and threshold."
        ) from None


@click.command(short_help="Fit a tree to the rows of a file.")
@data_argument
@target_option
@click.option(
    "-o",
    "--output",
    required=True,
    type=FilePath(allow_dash=True),
    help="The model file, model.hornbeam say.",
)
@training
@click.option(
    "--kind",
    type=click.Choice(["classification", "regression"]),
    help="What the target is; default: a number if it has more than 30 different ones, else classes.",
)
@preset_option
@click.option(
    "--smoothing",
    default="auto",
    callback=_step,
    metavar="NAME",
    help="cross-fitted, laplace, hgs, hdp, raw, ...",
)
@click.option(
    "--pruning",
    default="auto",
    callback=_step,
    metavar="NAME",
    help="bayes-risk, cost-complexity, error-based, none, ...",
)
@click.option(
    "--tolerance",
    default=0.0,
    metavar="SHARE",
    help="The smallest tree with at most this much more loss on held-out rows: 0.02 for 2 %.",
)
@click.option(
    "--slopes",
    type=click.IntRange(0, 3),
    metavar="N",
    help="Terms at most, 0 to 3 for each leaf; 2 with --preset readable, else 0.",
)
@click.option("--max-depth", type=int, metavar="N", help="Tests on a path at most.")
@click.option("--max-leaf-nodes", type=int, metavar="N", help="Leaves at most.")
@click.option("--min-samples-leaf", type=int, default=1, metavar="N", help="Rows each leaf must hold.")
@click.option(
    "--interaction-cst",
    multiple=True,
    callback=_groups,
    metavar="COL,COL,...",
    help="Columns that may occur together on a path; repeatable, the others form one more group.",
)
@monotonic_option
@click.option("--once-per-path", is_flag=True, help="Test a column at most once on a path.")
@click.option(
    "--forbidden-below",
    type=(str, str),
    multiple=True,
    callback=_below,
    metavar="ABOVE BELOW",
    help="No split on the second column below a split on the first; repeatable.",
)
@click.option(
    "--forced-splits",
    type=FilePath(exists=True, dir_okay=False),
    callback=_read_splits,
    metavar="FILE",
    help='JSON of the splits to begin with: {"feature": "income", "threshold": 50000, "left": {...}}.',
)
@click.option(
    "--feature-costs",
    type=(str, float),
    multiple=True,
    callback=_prices,
    metavar="COL,COL,... PRICE",
    help="What the column costs in a prediction, or what several columns cost together; repeatable.",
)
@click.option(
    "--feature-cost-weight",
    type=click.FloatRange(0),
    metavar="PERCENT",
    help="How much of the loss, in per cent, one unit of price must save; default: 1.",
)
@click.option(
    "--distribution", is_flag=True, help="Count the values of a number too: quantiles, and ranges of rows."
)
@costs_option
@click.option(
    "--class-weight",
    type=click.Choice(["balanced"]),
    help="balanced: decide as if all classes were equally frequent.",
)
@click.option(
    "--test-share",
    type=click.FloatRange(0, 1, True, True),
    metavar="SHARE",
    help="Hold rows out of the fit, and score on them: 0.2 for 20 %.",
)
@click.option(
    "--seed", "random_state", type=int, metavar="N", help="Deals the rows to folds, and draws the test rows."
)
@jobs_option
@memory_option
@reading
@common_options
def fit(
    data: str, target: str, output: str, text: dict[str, Any], column_options: ColumnOptions, **options: Any
) -> None:
    """Fit one tree to the rows of DATA (CSV, TSV, Parquet, - for stdin) and save it.

    Numbers are numeric features; texts and booleans are nominal ones. Dates, constants, row numbers and names
    are left out, with a message.

    \b
    hornbeam fit adult.csv --target income -o income.hornbeam
    hornbeam fit adult.csv --target income -o income.hornbeam --test-share 0.2
    hornbeam fit homes.csv --target price -o price.hornbeam --kind regression
    hornbeam fit credit.tsv --target state -o m.hornbeam --nominal zip --drop id --costs bad good 5
    """
    from hornbeam.cli.commands.score import scores_dict
    from hornbeam.evaluation import scores
    from hornbeam.tree.feature_costs import FeatureCosts
    from hornbeam.tree.words import pluralise
    from hornbeam.tuning.size_path import size_path

    check_output(output, model=True)
    found = read_training(
        data,
        target,
        text,
        column_options,
        kind=options["kind"],
        memory=options["memory"],
        why_at_once=None if options["test_share"] is None else "--test-share",
    )
    if found.is_regression and (options["costs"] or options["class_weight"]):
        raise click.UsageError(
            "--costs and --class-weight are for classes, and the target is a number: --kind says which."
        )
    if options["distribution"] and not found.is_regression:
        raise click.UsageError(
            "--distribution is for numbers, and the target is classes: --kind says which. Their probabilities "
            "are the distribution."
        )
    source = found.open(class_weight=options["class_weight"], jobs=options["jobs"]) if found.files else None
    table = found.table() if source is None else found.sample(source, options["jobs"])
    roles = with_doubts(found.roles, table, (*column_options.nominal, *column_options.numeric))
    if source is None:
        kept, held = _split(found.rows, table, options["test_share"], options["random_state"])
        n_rows, model = kept.table.num_rows, _fitted(kept, found.kind, options)
    else:
        held, n_rows, model = None, source.n_rows, _fitted_large(source, options)
    tree = model.tree
    save_model(model, output)
    message(f"model     {pluralise(tree.n_leaves, 'leaf', 'leaves')}, depth {tree.depth}, saved as {output}")
    if (costs := FeatureCosts.of(tree)) is not None:
        message(f"price     {costs.mean(tree):.4g} on average for the columns of a prediction")
    path = size_path(tree)
    # The tree of another pruner is none of the sizes that were compared.
    if path is not None and path.n_leaves[0] > 1 and options["pruning"] == "auto":
        message(_sizes(path, tree.n_leaves))
    result = {
        "model": output,
        "digest": tree.digest,
        "rows": n_rows,
        "leaves": tree.n_leaves,
        "depth": tree.depth,
        "sizes": None if path is None else path.to_dict(),
        **({} if costs is None else {"mean_price": costs.mean(tree)}),
        "classes": tree.schema.classes,
        "numeric": roles.numeric,
        "nominal": roles.nominal,
        "left_out": roles.left_out,
        "doubts": roles.doubts,
    }
    words = ""
    if held is not None:
        X, y, weight = held.columns
        found_scores = scores(tree, X, y, sample_weight=weight)
        result, words = result | {"held_out": scores_dict(found_scores)}, repr(found_scores)
    emit(result, words, aside=output == "-")


def _sizes(path: Any, n_leaves: int) -> str:
    """Compare the size of the tree with that at tolerance 0, or with smaller ones."""
    from hornbeam.tree.words import pluralise

    full = int(path.n_leaves[0])
    if n_leaves < full:
        increase = path.increase[abs(path.n_leaves - n_leaves).argmin()]
        change = f"{100 * abs(increase):.1f} % {'more' if increase >= 0 else 'less'}"
        return f"size      {change} {path.measure} on held-out rows than {full:,} leaves"
    smaller = [(size, f"{100 * share:g} %") for share, size in path.milestones().items() if share][:4]
    if not smaller:
        return f"smaller   no tree with at most 50 % more {path.measure} on held-out rows"
    (size, share), *others = smaller
    first = f"{pluralise(size, 'leaf', 'leaves')} for at most {share} more {path.measure}"
    return (
        f"smaller   {', '.join([first, *(f'{size:,} for {share}' for size, share in others)])} (--tolerance)"
    )


def _split(rows: Rows, table: Any, share: float | None, seed: int | None) -> tuple[Rows, Rows | None]:
    """Split the rows of a table into training rows and test rows; these are None without --test-share."""
    from hornbeam.data.groups import read_groups

    if share is None:
        return rows, None
    group = None if rows.groups is None else read_groups(table.group, table.n_rows)
    return split_rows(rows, n_held_out(table.n_rows, share), seed, group)


def _fitted(rows: Rows, kind: Any, options: dict[str, Any]) -> Any:
    """Fit a tree to rows in memory."""
    from hornbeam.data.labels import read_labels
    from hornbeam.data.rows import read_rows
    from hornbeam.data.schema import Kind

    X, y, weight = rows.columns
    labels = None if kind is Kind.NUMERIC else read_labels(y)
    table = read_rows(
        X,
        y if labels is None else labels,
        weight,
        class_weight=options["class_weight"],
        groups=rows.group,
        target_kind=kind,
    )
    with progress("growing", rows.table.num_rows) as listener:
        return _model(table, options, listener, None if labels is None else labels.classes)


def _fitted_large(rows: Any, options: dict[str, Any]) -> Any:
    """Fit a tree to rows that stay in their files."""
    import numpy as np

    from hornbeam.data.labels import read_labels

    classes = None
    if not rows.schema.is_regression:
        # Strings as objects, as in columns read into memory: otherwise the bytes of the model would differ.
        text = any(isinstance(label, str) for label in rows.schema.classes)
        classes = read_labels(np.array(rows.schema.classes, dtype=object if text else None)).classes
    with progress("growing", rows.n_rows, logged=True) as listener:
        return _model(rows, options, listener, classes)


def _model(rows: Any, options: dict[str, Any], listener: Any, classes: Any) -> Any:
    """Fit a tree to rows, in memory or in files; `classes` is None for a number."""
    from hornbeam.estimators.fit_tree import fit_tree
    from hornbeam.estimators.parameters.fields import (
        TreeClassifierParameters,
        TreeParameters,
        TreeRegressorParameters,
    )
    from hornbeam.estimators.persistence.codec import tree_model

    given = {
        field.name: options[field.name]
        for field in fields(TreeParameters)
        if options.get(field.name) is not None or field.name in ("smoothing", "pruning")
    }
    parameters: TreeParameters = TreeRegressorParameters(**given, distribution=options["distribution"])
    if classes is not None:
        parameters = TreeClassifierParameters(
            **given,
            costs=costs_by_label(options["costs"], classes.tolist()),
            class_weight=options["class_weight"],
        )
    fitted = fit_tree(
        parameters, rows, memory=options["memory"], n_jobs=options["jobs"], on_progress=listener
    )
    return tree_model(vars(parameters), fitted, classes)
