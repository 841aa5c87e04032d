"""``hornbeam export``: the tree of a model as code, SQL, ONNX and more."""

from pathlib import Path
from typing import Any

import click

from hornbeam.cli.console import common_options, emit, message, write_output
from hornbeam.cli.rows import (
    FilePath,
    ModelFile,
    model_argument,
    quantiles_option,
    read_with_quantiles,
    reading,
)

# The function of hornbeam.export, the usual suffix of a file, and its options.
_TARGETS: dict[str, tuple[str, str, frozenset[str]]] = {
    "c": ("to_c", ".c", frozenset({"name", "layout", "quantiles", "vectors"})),
    "dot": ("to_dot", ".dot", frozenset()),
    "javascript": ("to_javascript", ".js", frozenset({"name", "quantiles", "vectors"})),
    "json": ("to_json", ".json", frozenset({"quantiles", "vectors"})),
    "markdown": ("to_markdown", ".md", frozenset()),
    "onnx": ("to_onnx", ".onnx", frozenset({"quantiles"})),
    "pmml": ("to_pmml", ".pmml", frozenset()),
    "python": ("to_python", ".py", frozenset({"quantiles", "vectors"})),
    "sql": ("to_sql", ".sql", frozenset({"dialect", "table", "keep", "quantiles"})),
    "svg": ("to_svg", ".svg", frozenset()),
    "text": ("to_text", ".txt", frozenset({"quantiles"})),
}
_MOST_VECTORS = 1_000


@click.command(short_help="Write a model's tree as C, SQL, ONNX, JavaScript, ...")
@model_argument
@click.option(
    "--to", type=click.Choice(list(_TARGETS)), help="The language; default: as the output's name ends."
)
@click.option("-o", "--output", default="-", type=FilePath(allow_dash=True), help="Default: stdout.")
@click.option("--name", help="c, javascript: what names begin with, or the object's name.")
@click.option("--layout", type=click.Choice(["if", "table", "bins"]), help="c: nested ifs, or tables.")
@click.option(
    "--dialect", metavar="NAME", help="sql: duckdb (default), sqlite, postgres, snowflake, spark, ..."
)
@click.option("--table", metavar="NAME", help="sql: the table to read; default rows.")
@click.option("--keep", multiple=True, metavar="COL", help="sql: a column to carry over; repeatable.")
@click.option(
    "--vectors",
    type=FilePath(),
    metavar="DATA",
    help=f"c, javascript, json, python: up to {_MOST_VECTORS:,} rows with their predictions are added, as a test.",
)
@quantiles_option
@reading
@common_options
def export(model: str, to: str | None, output: str, text: dict[str, Any], **options: Any) -> None:
    """Write the tree of MODEL as source code, SQL, ONNX and other formats.

    \b
    hornbeam export income.hornbeam -o income.c --vectors test.csv
    hornbeam export income.hornbeam --to sql --dialect sqlite --table people
    hornbeam export income.hornbeam -o income.onnx
    """
    from hornbeam import export as exports
    from hornbeam.tree.unwrap import single_tree
    from hornbeam.tree.words import pluralise

    to = _target(to, output)
    function, _, takes = _TARGETS[to]
    given = {name: value for name, value in options.items() if value and name not in ("quiet", "as_json")}
    wrong = given.keys() - takes
    if wrong:
        raise click.UsageError(f"--{min(wrong)} has no effect with --to {to}.")
    source = read_with_quantiles(model, given.get("quantiles"))
    tree = single_tree(source)
    if "vectors" in given:
        given["vectors"] = ModelFile(tree, given["vectors"], text).read().X.slice(0, _MOST_VECTORS)
    exported = getattr(exports, function)(source, **given)
    data = exported.SerializeToString() if to == "onnx" else exported.encode().removesuffix(b"\n") + b"\n"
    write_output(data, output)
    emit({"model": model, "to": to, "output": output, "bytes": len(data)}, aside=output == "-")
    if output != "-":
        message(f"{pluralise(tree.n_leaves, 'leaf', 'leaves')} in {to}, saved as {output}")


def _target(to: str | None, output: str) -> str:
    ends = {end: name for name, (_, end, _) in _TARGETS.items()}
    to = to or ends.get(Path(output).suffix.lower())
    if to is None:
        raise click.UsageError(f"Say the language with --to: {', '.join(_TARGETS)}.")
    return to
