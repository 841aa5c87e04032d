"""``hornbeam compare``: several models on the same rows."""

from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import click

from hornbeam.cli.console import check_output, common_options, emit, message, write_output
from hornbeam.cli.roles import no_such_column
from hornbeam.cli.rows import (
    FilePath,
    ModelFile,
    Rows,
    costs_by_label,
    costs_option,
    data_argument,
    level_option,
    reading,
    target_option,
    tell_unlabelled,
    weight_option,
)
from hornbeam.errors import DataError, SchemaError

_PICTURES = (".png", ".pdf", ".svg")
probability_option = click.option(
    "--probability",
    "columns",
    multiple=True,
    metavar="COL",
    help="A column of DATA with the probability that any other model gave; repeatable.",
)


@click.command(short_help="Compare several models on the same rows.")
@click.argument("models", nargs=-1, metavar="[MODEL]...", type=FilePath())
@data_argument
@target_option
@probability_option
@click.option("--positive", metavar="CLASS", help="The class of interest; default: the second of two.")
@click.option(
    "--groups", metavar="COL", help="A column, such as the patient: groups are independent, rows not."
)
@click.option("--subgroups", metavar="COL", help="A column: scores are also those of the rows of each value.")
@costs_option
@click.option(
    "--threshold",
    "thresholds",
    multiple=True,
    type=click.FloatRange(0, 1, True, True),
    metavar="P",
    help="Net benefit and alerts if rows from this probability on are alerts; repeatable.",
)
@click.option("--reference", metavar="NAME", help="What others are compared with; default: the first model.")
@weight_option
@level_option
@click.option("--plot", type=FilePath(), metavar="FILE", help="A picture to write: .png, .pdf or .svg.")
@reading
@common_options
def compare(
    models: tuple[str, ...],
    data: str,
    target: str,
    columns: tuple[str, ...],
    positive: str | None,
    groups: str | None,
    subgroups: str | None,
    costs: tuple[tuple[str, str, float], ...],
    thresholds: tuple[float, ...],
    reference: str | None,
    weight: str | None,
    level: float,
    plot: str | None,
    text: dict[str, Any],
    **_: Any,
) -> None:
    """Compare MODELs of classes, of any kind, and columns of probabilities on the rows of DATA.

    Each score has an interval, and so has its difference from the first model, row by row. A model is named by its
    file, a column by itself.

    \b
    hornbeam compare tree.hornbeam forest.hornbeam test.csv --target income
    hornbeam compare tree.hornbeam test.csv -t state --probability p_old --positive bad --threshold 0.2
    hornbeam compare scored.csv -t ill --probability tree --probability nurse --groups patient
    """
    from hornbeam.evaluation import compare as compare_models

    if not models and not columns:
        raise click.UsageError("Nothing to compare: name files of models, or columns by --probability COL.")
    if data == "-" and len(models) + bool(columns) > 1:
        raise click.UsageError("DATA is read once for each model, so it cannot be -: name a file.")
    if plot is not None:
        if Path(plot).suffix not in _PICTURES:
            raise click.UsageError(f"--plot {plot}: expected a name that ends in {', '.join(_PICTURES)}.")
        check_output(plot)
    others = [*filter(None, (weight, groups, subgroups))]
    rows, predicted, classes, label = predict_all(models, data, text, target, columns, positive, others)
    found = compare_models(
        rows.y,
        predicted,
        positive=label,
        labels=classes,
        groups=None if groups is None else rows.table[groups].to_numpy(),
        subgroups=None if subgroups is None else rows.table[subgroups].to_numpy(),
        costs=costs_by_label(costs, classes),
        thresholds=thresholds,
        reference=reference,
        sample_weight=None if weight is None else rows.table[weight].to_numpy(),
        level=level,
    )
    if plot is not None:
        drawn = BytesIO()
        found.plot().savefig(drawn, format=Path(plot).suffix[1:])
        write_output(drawn.getvalue(), plot)
        message(f"saved as {plot}")
    facts = {"rows": rows.table.num_rows, "reference": found.reference, "level": found.level}
    emit(facts | {"scores": found.to_dict()}, repr(found))


def predict_all(
    models: tuple[str, ...],
    data: str,
    text: dict[str, Any],
    target: str,
    columns: tuple[str, ...],
    positive: str | None,
    others: Iterable[str] = (),
) -> tuple[Any, dict[str, Any], tuple[Any, ...], Any]:
    """Return the rows that have a label, the probabilities of models and of columns, the classes, that of interest."""
    from hornbeam.data.labels import read_labels
    from hornbeam.tree.decision import class_number, parse_class

    others = [*others, *columns]
    predicted: dict[str, Any] = {}
    classes: tuple[Any, ...] = ()
    for name, path in zip(_names(models), models, strict=True):
        own, rows, p = _predict(path, data, text, target, others)
        if classes and own != classes:
            raise SchemaError(
                f"{path!r} predicts the classes {[*own]} and {models[0]!r} {[*classes]}; expected the same."
            )
        classes, predicted[name] = own, p
    if not models:
        rows = _read(data, text, target, others)
        classes = tuple(read_labels(rows.y).classes.tolist())
    label = None if positive is None else parse_class(classes, positive)
    if columns:
        if len(classes) != 2 and label is None:
            raise click.UsageError(f"--probability needs --positive, one of the {len(classes)} classes.")
        code = class_number(classes, label)
        predicted = {name: p[:, code] for name, p in predicted.items()}
        predicted |= {column: rows.table[column].to_numpy() for column in columns}
    return rows, predicted, classes, label


def _names(models: tuple[str, ...]) -> Iterator[str]:
    """The names of files without folders and endings; whole paths if two are the same."""
    stems = [Path(path).stem for path in models]
    for stem, path in zip(stems, models, strict=True):
        yield stem if stems.count(stem) == 1 else str(path)


def _predict(
    path: str, data: str, text: dict[str, Any], target: str, others: list[str]
) -> tuple[tuple[Any, ...], Any, Any]:
    """Return the classes of a model, the rows that have a label, and their probabilities."""
    from hornbeam import load

    estimator = load(path)
    fitted = getattr(estimator, getattr(estimator, "_fitted", ""), estimator)  # it has the schema
    if fitted.schema.is_regression:
        raise DataError(f"{path!r} predicts a number; expected a model of classes.")
    rows = ModelFile(fitted, data, text, target, keep=others).read()
    return tuple(fitted.schema.classes), rows, estimator.predict_proba(rows.X)


def _read(data: str, text: dict[str, Any], target: str, others: list[str]) -> Any:
    """Read columns of probabilities without a model; rows without a label are left out."""
    from hornbeam.data.files.tabular import read_table

    table = read_table(data, columns=[target, *others], **text)
    for name in (target, *others):
        if name not in table.column_names:
            raise no_such_column(name, table.column_names, data)
    rows, n_unlabelled = Rows(table, [], target).labelled()
    tell_unlabelled(rows.table.num_rows, n_unlabelled, target)
    return rows
