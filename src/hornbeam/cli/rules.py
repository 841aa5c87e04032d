"""``hornbeam rules``: a model as rules, one for each place where rows stop."""

from typing import Any

import click

from hornbeam.cli.rows import model_argument
from hornbeam.cli.screen import deliver, manners, say

__all__ = ["rules"]

_FORMS = {"markdown": "to_markdown", "json": "to_json", "sql": "to_sql"}


@click.command(short_help="Write a model as rules.")
@model_argument
@click.option(
    "--to", type=click.Choice(list(_FORMS)), default="markdown", show_default=True, help="The form."
)
@click.option("-o", "--output", default="-", type=click.Path(allow_dash=True), help="Default: stdout.")
@manners
def rules(model: str, to: str, output: str, as_json: bool, **_: Any) -> None:
    """Write the tree of MODEL as rules: what leads to each leaf, and what it answers.

    --json is --to json.

    \b
    hornbeam rules income.hornbeam
    hornbeam rules income.hornbeam --to json -o rules.json
    """
    from hornbeam import export
    from hornbeam.storage import read

    tree = read(model).tree
    write = getattr(export, _FORMS["json" if as_json else to])
    deliver(write(tree).encode().removesuffix(b"\n") + b"\n", output)
    if output != "-":
        say(f"{tree.n_leaves:,} leaves, saved as {output}")
