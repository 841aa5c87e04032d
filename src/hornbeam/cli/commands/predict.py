"""``hornbeam predict``: a class, probabilities and intervals for every row of a file."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from hornbeam.cli.console import check_output, common_options, emit, message
from hornbeam.cli.rows import (
    FilePath,
    ModelFile,
    Rows,
    data_argument,
    engine_of,
    jobs_option,
    model_argument,
    quantiles_option,
    read_single_tree,
    read_with_quantiles,
    reading,
)
from hornbeam.errors import DataError


@click.command(short_help="Predict every row of a file.")
@model_argument
@data_argument
@click.option(
    "-o",
    "--output",
    default="-",
    type=FilePath(allow_dash=True),
    help="A .csv or .parquet file, or a folder/ of Parquet files; default: CSV on stdout.",
)
@click.option(
    "--level", type=click.FloatRange(0, 1, True, True), metavar="SHARE", help="Add intervals, of 0.9 say."
)
@click.option("--keep", multiple=True, metavar="COL", help="A column of DATA to carry over; repeatable.")
@click.option("--leaf", is_flag=True, help="Add the leaf of each row.")
@click.option("--reasons", type=click.IntRange(0), default=0, metavar="N", help="Add the N largest reasons.")
@quantiles_option
@jobs_option
@reading
@common_options
def predict(model: str, data: str, output: str, text: dict[str, Any], as_json: bool, **options: Any) -> None:
    """Predict the class and the probability of every class, or the mean, for every row of DATA.

    Columns are found by their names; other columns are ignored. The result has `prediction` and for each class
    p_<class>, with --level also low_<class> and high_<class>; in regression, `prediction`, low and high,
    with --quantiles also q10, q50 and so on.

    A folder, whose name ends in /, gets one file for each row group of Parquet files. If the command is killed,
    the same command continues.

    \b
    hornbeam predict income.hornbeam new.csv -o predictions.csv
    hornbeam predict income.hornbeam new.parquet -o predictions.parquet --level 0.9 --keep id
    hornbeam predict income.hornbeam rows/ -o predictions/ --keep id
    hornbeam predict price.hornbeam new.csv -o predictions.csv --quantiles .1,.5,.9
    cat new.csv | hornbeam predict income.hornbeam - | head
    """
    from hornbeam.estimators.inputs.prediction_columns import TreeColumns
    from hornbeam.tree.unwrap import with_quantiles

    saved, keep = read_single_tree(model), options["keep"]
    quantiles = options["quantiles"]
    wide = None if quantiles is None else with_quantiles(read_with_quantiles(model, quantiles), quantiles)
    columns = TreeColumns(saved.tree, options["level"], options["leaf"], options["reasons"], wide)
    if _is_folder(output):
        _write_folder(columns, data, output, keep, options["jobs"])
        return
    check_output(output)
    file = ModelFile(saved.tree, data, text, keep=keep)
    parts = (_columns(columns, rows, keep) for rows in file.parts())
    if as_json and output == "-":
        _give_json(parts, keep)
        return
    n_rows = _written(parts, output)
    emit({"rows": n_rows, "output": output})
    message(f"{n_rows:,} rows predicted" + ("" if output == "-" else f", saved as {output}"))


def _written(parts: Iterator[dict[str, Any]], output: str) -> int:
    """Write the result part by part; an existing file is replaced when the new one is complete."""
    from hornbeam.data.files.atomic_write import open_atomic
    from hornbeam.data.files.tabular import write_parts

    as_parquet = output.endswith(".parquet")
    if output == "-":
        return write_parts(parts, sys.stdout.buffer, as_parquet=False)
    with open_atomic(output) as file:
        return write_parts(parts, file, as_parquet=as_parquet)


def _give_json(parts: Iterator[dict[str, Any]], keep: Sequence[str]) -> None:
    from hornbeam.data.files.tabular import json_values

    lists: dict[str, list[Any]] = {}
    for part in parts:
        for name, column in part.items():
            if name in keep:
                column = json_values(name, column)
            lists.setdefault(name, []).extend(column if isinstance(column, list) else column.tolist())
    emit({"rows": len(next(iter(lists.values()))), "columns": lists})


def _columns(columns: Any, rows: Rows, keep: Sequence[str]) -> dict[str, Any]:
    """The columns of the result for some rows, after the columns to keep."""
    found: dict[str, Any] = columns(rows.read(schema=columns.tree.schema))
    clash = set(keep) & found.keys()
    if clash:
        raise click.UsageError(f"--keep {min(clash)}: the result has a column of this name. Rename yours.")
    return {name: rows.table[name] for name in keep} | found


def _is_folder(output: str) -> bool:
    from hornbeam.data.files.addresses import is_remote

    return output.endswith("/") or is_remote(output) or Path(output).is_dir()


def _write_folder(columns: Any, data: str, output: str, keep: Sequence[str], jobs: int) -> None:
    """Write one Parquet file for each row group of the data."""
    from hornbeam.data.files.tabular import parquet_files
    from hornbeam.data.rows import open_rows
    from hornbeam.estimators.methods.column_names import required_columns
    from hornbeam.out_of_core.predict import write_predictions

    if (files := parquet_files(data)) is None:
        raise DataError(
            f"{data!r} is no Parquet; expected Parquet files if the output is a folder. Name a file."
        )
    tree = columns.tree
    engine, used = engine_of(jobs), sorted(required_columns(tree))
    source = open_rows(files, schema=tree.schema, needed=used, engine=engine, keep=keep)
    written = write_predictions(
        source, tree.schema, used, columns, output, identity=columns.identity, engine=engine, keep=keep
    )
    emit({"rows": written.n_rows, "written": written.n_written, "output": output})
    before = written.n_rows - written.n_written
    message(
        f"{written.n_rows:,} rows predicted, saved in {output}"
        + f" ({before:,} of them before)" * (before > 0)
    )
