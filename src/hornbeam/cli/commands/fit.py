"""``hornbeam fit``: fit a model to a file of rows and save it."""

from typing import Any

import click

from hornbeam.cli.console import common_options, emit, message, progress
from hornbeam.cli.holdout import n_held_out, split_holdout
from hornbeam.cli.large_files import doubtful_in, large_files, open_large
from hornbeam.cli.memory import memory_option
from hornbeam.cli.rows import FilePath, data_argument, reading, target_option
from hornbeam.cli.saving import check_output, save_model
from hornbeam.cli.training import (
    ColumnOptions,
    Training,
    doubtful_columns,
    read_training,
    training,
    with_doubts,
)

__all__ = ["fit"]

_PRESETS = ("default", "readable", "cart", "c4.5", "c4.4", "id3")


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
@click.option(
    "--preset",
    type=click.Choice(_PRESETS),
    help="The recipe to start from: default unless you name another.",
)
@click.option("--smoothing", default="auto", metavar="NAME", help="cross-fitted, laplace, hgs, hdp, raw, ...")
@click.option(
    "--pruning", default="auto", metavar="NAME", help="bayes-risk, cost-complexity, error-based, none, ..."
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
    help="Slopes of each leaf at most, 0 to 3; 2 with --preset readable, else 0.",
)
@click.option("--max-depth", type=int, metavar="N", help="Tests on a path at most.")
@click.option("--max-leaves", type=int, metavar="N", help="Leaves at most.")
@click.option("--min-leaf", type=int, default=1, metavar="N", help="Rows each leaf must hold.")
@click.option(
    "--interact",
    multiple=True,
    metavar="COL,COL,...",
    help="Columns that may occur together on a path; repeatable, the others form one more group.",
)
@click.option("--once-per-path", is_flag=True, help="Test a column at most once on a path.")
@click.option(
    "--forbid-below",
    type=(str, str),
    multiple=True,
    metavar="ABOVE BELOW",
    help="No split on the second column below a split on the first; repeatable.",
)
@click.option(
    "--forced-splits",
    type=FilePath(exists=True, dir_okay=False),
    metavar="FILE",
    help='JSON of the splits to begin with: {"feature": "income", "threshold": 50000, "left": {...}}.',
)
@click.option(
    "--costs",
    type=(str, str, float),
    multiple=True,
    metavar="TRUE PREDICTED COST",
    help="What it costs to predict one class where another is true; repeatable, others cost 1.",
)
@click.option("--balanced", is_flag=True, help="Decide as if all classes were as common as each other.")
@click.option(
    "--holdout", type=click.FloatRange(0, 1, True, True), metavar="SHARE", help="Keep rows to score on."
)
@click.option("--seed", type=int, metavar="N", help="Deals the rows to folds and to the holdout.")
@click.option(
    "--jobs", type=int, default=-1, metavar="N", help="Threads; default all cores. The tree stays the same."
)
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
    hornbeam fit adult.csv --target income -o income.hornbeam --holdout 0.2
    hornbeam fit homes.csv --target price -o price.hornbeam --kind regression
    hornbeam fit credit.tsv --target state -o m.hornbeam --nominal zip --drop id --costs bad good 5
    """
    from hornbeam.cli.commands.score import format_scores
    from hornbeam.data.table import Table
    from hornbeam.evaluation.tree_scores import scores_beside_base
    from hornbeam.export.wording import pluralise
    from hornbeam.tuning import size_path

    check_output(output)
    memory, forced = options["memory"], (*column_options.nominal, *column_options.numeric)
    large = large_files(data, memory, None if options["holdout"] is None else "--holdout")
    rows = read_training(data, target, text, column_options, kind=options["kind"], large=large, memory=memory)
    held = None
    if rows.large is None:
        rows = rows._replace(roles=with_doubts(rows.roles, doubtful_columns(rows), forced))
        kept, held = _split(rows, options["holdout"], options["seed"])
        model, n_rows = _fitted(kept, rows, options), kept.num_rows
    else:
        files, jobs = (rows.large, target, rows.weight, rows.groups, rows.features), options["jobs"]
        _refuse_costs(rows, options)
        large_rows = open_large(
            *files, options["balanced"], rows.is_regression, jobs, column_options.missing_columns
        )
        rows = rows._replace(roles=with_doubts(rows.roles, doubtful_in(large_rows, jobs), forced))
        model, n_rows = _fitted_large(large_rows, options), large_rows.n_rows
    tree = model.tree
    save_model(model, output)
    message(f"model     {pluralise(tree.n_leaves, 'leaf', 'leaves')}, depth {tree.depth}, saved as {output}")
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
        "classes": tree.schema.classes,
        "numeric": rows.roles.numeric,
        "nominal": rows.roles.nominal,
        "left_out": rows.roles.left_out,
        "doubts": rows.roles.doubts,
    }
    if held is not None:
        table = Table.read(held.select(list(tree.schema.names)), held[target], schema=tree.schema)
        scores = scores_beside_base(tree, [table])
        emit(result | {"holdout": scores}, format_scores(scores), aside=output == "-")
    else:
        emit(result, "", aside=output == "-")


def _sizes(path: Any, n_leaves: int) -> str:
    """Compare the size of the tree with that at tolerance 0, or with smaller ones."""
    from hornbeam.export.wording import pluralise

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


def _split(rows: Training, share: float | None, seed: int | None) -> tuple[Any, Any]:
    """Split the rows into training rows and holdout; the holdout is None without --holdout."""
    table = rows.table
    if share is None:
        return table, None
    return split_holdout(table, n_held_out(table.num_rows, share), seed, rows.group_numbers())


def _parameters(options: dict[str, Any]) -> dict[str, Any]:
    """The parameters of the estimator from the options."""
    parameters = {
        "smoothing": _step(options["smoothing"]),
        "pruning": _step(options["pruning"]),
        "tolerance": options["tolerance"],
        "max_depth": options["max_depth"],
        "max_leaf_nodes": options["max_leaves"],
        "min_samples_leaf": options["min_leaf"],
        "random_state": options["seed"],
    }
    parameters |= _path_constraints(options)
    if options["slopes"] is not None:
        parameters["slopes"] = options["slopes"]
    if options["preset"] is not None:
        parameters["preset"] = options["preset"]
    return parameters


def _path_constraints(options: dict[str, Any]) -> dict[str, Any]:
    groups = [[name.strip() for name in group.split(",")] for group in options["interact"]]
    below: dict[str, list[str]] = {}
    for above, other in options["forbid_below"]:
        below.setdefault(above, []).append(other)
    return {
        "interaction_cst": groups or None,
        "once_per_path": options["once_per_path"],
        "forbidden_below": below or None,
        "forced_splits": _forced_splits(options["forced_splits"]),
    }


def _forced_splits(path: str | None) -> Any:
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


def _refuse_costs(rows: Training, options: dict[str, Any]) -> None:
    if rows.is_regression and (options["costs"] or options["balanced"]):
        raise click.UsageError(
            "--costs and --balanced are for classes, and the target is a number: --kind says which."
        )


def _fitted(table: Any, rows: Training, options: dict[str, Any]) -> Any:
    """Fit a tree to rows in memory."""
    from hornbeam.data.labels import read_labels
    from hornbeam.data.schema import Kind
    from hornbeam.data.table import Table

    _refuse_costs(rows, options)
    labels = None if rows.is_regression else read_labels(table[rows.target])
    read = Table.read(
        table.select(rows.features),
        table[rows.target] if labels is None else labels,
        sample_weight=None if rows.weight is None else table[rows.weight].to_numpy(),
        class_weight="balanced" if options["balanced"] else None,
        groups=rows.groups_of(table),
        target=Kind.NUMERIC if labels is None else Kind.NOMINAL,
    )
    with progress("growing", table.num_rows) as listener:
        return _model(read, options, listener, None if labels is None else labels.classes)


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
    from hornbeam.estimators.parameters.fields import TreeClassifierParameters, TreeParameters
    from hornbeam.estimators.persistence.codec import tree_model

    parameters = TreeParameters(**_parameters(options))
    if classes is not None:
        parameters = TreeClassifierParameters(
            **_parameters(options),
            costs=_costs(options["costs"], classes.tolist()),
            class_weight="balanced" if options["balanced"] else None,
        )
    fitted = fit_tree(
        parameters, rows, memory=options["memory"], n_jobs=options["jobs"], on_progress=listener
    )
    return tree_model(vars(parameters), fitted, classes)


def _step(name: str) -> str | None:
    return None if name == "none" else name


def _costs(parameters: tuple[tuple[str, str, float], ...], classes: list[Any]) -> dict[Any, float] | None:
    """The costs by label; labels from the command line are strings."""
    label_of = {str(label): label for label in classes}
    pairs = {
        (label_of.get(true, true), label_of.get(predicted, predicted)): cost
        for true, predicted, cost in parameters
    }
    return pairs or None
