"""``hornbeam rules``: a model as rules, one per leaf or a short list."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hornbeam.cli.console import common_options, message, write_output
from hornbeam.cli.rows import (
    FilePath,
    ModelFile,
    level_option,
    model_argument,
    positive_option,
    reading,
    saved_distribution,
)

if TYPE_CHECKING:
    from hornbeam.rules.rule_set import RuleSet

_ENDS = {".txt": "text", ".md": "markdown", ".json": "json", ".sql": "sql"}


@click.command(short_help="Write a model as rules.")
@model_argument
@click.option(
    "--to",
    type=click.Choice(list(_ENDS.values())),
    help="The form; default: as the output's name ends, else text. sql: a WHERE clause for each rule.",
)
@click.option("-o", "--output", default="-", type=FilePath(allow_dash=True), help="Default: stdout.")
@click.option(
    "--simplify",
    "data",
    type=FilePath(allow_dash=True),
    metavar="DATA",
    help="Make few and short rules, as C4.5rules does, judged by these rows.",
)
@click.option("-t", "--target", metavar="COL", help="Their column of class labels.")
@click.option(
    "--dialect", metavar="NAME", help="sql: duckdb (default), sqlite, postgres, snowflake, spark, ..."
)
@positive_option
@level_option
@reading
@common_options
def rules(
    model: str,
    to: str | None,
    output: str,
    data: str | None,
    target: str | None,
    dialect: str | None,
    positive: str | None,
    level: float,
    text: dict[str, Any],
    as_json: bool,
    **_: Any,
) -> None:
    """Write the tree of MODEL as rules: the conditions of each leaf, its prediction, and its training rows.

    With --simplify rules overlap, and the first that matches decides. --json is --to json.

    \b
    hornbeam rules income.hornbeam
    hornbeam rules income.hornbeam --simplify train.csv --target income
    hornbeam rules income.hornbeam --to sql --dialect sqlite
    """
    from hornbeam.rules.extract import extract
    from hornbeam.smoothing.interval_calibration import effective_size
    from hornbeam.storage.file import read
    from hornbeam.tree.decision import parse_class

    form = "json" if as_json else to or _ENDS.get(Path(output).suffix.lower(), "text")
    if (data is None) != (target is None):
        raise click.UsageError("--simplify DATA and --target COL go together.")
    if dialect is not None and form != "sql":
        raise click.UsageError(f"--dialect has no effect with --to {form}.")
    if positive is not None and form not in ("text", "markdown"):
        raise click.UsageError(
            f"--positive is for text and markdown: {form} has the probabilities of all classes."
        )
    saved = read(model)
    tree = saved.tree
    label = None if positive is None else parse_class(tree.schema.classes, positive)
    if tree.is_regression:
        write_output(f"{_regression_rules(saved, form, data, level)}\n".encode(), output)
        return
    if data is None or target is None:
        found = extract(tree, size=effective_size(tree))
    else:
        found = _short_list(tree, data, text, target)
    write_output(f"{_written(found, form, dialect or 'duckdb', label, level)}\n".encode(), output)
    if output != "-":
        message(f"{len(found):,} rules, saved as {output}")


def _regression_rules(saved: Any, form: str, data: str | None, level: float) -> str:
    """One rule per leaf of a regression tree."""
    from hornbeam.explain.leaves import leaves
    from hornbeam.export import to_json, to_markdown

    tree = saved.tree
    ways: dict[str, Any] = {
        "text": lambda: leaves(tree, level, distribution=saved_distribution(saved)).as_rules(),
        "markdown": lambda: to_markdown(tree),
    }
    ways["json"] = lambda: to_json(tree)
    if data is not None or form not in ways:
        raise click.UsageError(
            f"The model predicts numbers: it has one rule per leaf, as {', '.join(ways)}. "
            "Leave out --simplify; for SQL, hornbeam export --to sql."
        )
    return str(ways[form]())


def _short_list(tree: Any, data: str, text: dict[str, Any], target: str) -> Any:
    """The rules of `RuleClassifier(tree)`, without scikit-learn."""
    from hornbeam.rules.extract import extract

    table = ModelFile(tree, data, text, target).read().read(schema=tree.schema)
    return extract(tree, merge=False).simplify(table, None).choose(table, None)


def _written(found: "RuleSet", form: str, dialect: str, positive: Any, level: float) -> str:
    match form:
        case "json":
            return found.to_json(indent=2, level=level)
        case "sql":
            return "\n".join(_clauses(found, dialect))
        case "markdown":
            return found.to_markdown(positive=positive, level=level)
        case _:
            return found.to_text(positive=positive, level=level)


def _clauses(found: "RuleSet", dialect: str) -> Iterator[str]:
    """One line per rule, below a comment with its prediction."""
    from hornbeam.tree.words import label_text, probability_text

    def prediction(rule: Any) -> str:
        return f"{label_text(rule.prediction)} {probability_text(rule.probability.item(rule.code))}"

    for at, clause in enumerate(found.to_sql(dialect=dialect)):
        yield f"-- {at + 1}. {prediction(found[at])}"
        yield f"WHERE {clause}"
    yield f"-- otherwise {prediction(found.default)}"
