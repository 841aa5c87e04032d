"""``hornbeam show``: summary of a model, and its tree as text."""

from typing import Any

import click

from hornbeam.cli.console import common_options, emit
from hornbeam.cli.rows import level_option, model_argument, positive_option, saved_distribution


@click.command(short_help="Print a model: what it is, and its tree.")
@model_argument
@click.option(
    "--max-depth",
    type=click.IntRange(min=0),
    default=4,
    show_default=True,
    metavar="N",
    help="Levels of the tree.",
)
@click.option("--all", "whole", is_flag=True, help="The whole tree.")
@click.option("--leaves", is_flag=True, help="A table of the leaves with intervals, instead of the tree.")
@positive_option
@level_option
@click.option(
    "--by",
    type=click.Choice(["node", "risk"]),
    default="node",
    show_default=True,
    help="Order of --leaves: by number, or the highest probability of --positive first.",
)
@common_options
def show(
    model: str,
    max_depth: int,
    whole: bool,
    leaves: bool,
    positive: str | None,
    level: float,
    by: Any,
    **_: Any,
) -> None:
    """Print a summary of MODEL and its tree as text.

    \b
    hornbeam show income.hornbeam
    hornbeam show income.hornbeam --all | less
    hornbeam show income.hornbeam --leaves
    hornbeam show income.hornbeam --leaves --positive ">50K" --by risk
    """
    from hornbeam.explain.leaves import leaves as leaves_of
    from hornbeam.export import to_text
    from hornbeam.storage.file import read
    from hornbeam.tree.decision import parse_class

    saved = read(model)
    tree = saved.tree
    label = None if positive is None else parse_class(tree.schema.classes, positive)
    result = _summary(saved)
    lines = [f"{name:<9} {words}" for name, words in _words(result)]
    if leaves:
        table = leaves_of(tree, level, distribution=saved_distribution(saved), positive=label, by=by)
        emit(result | {"leaf_table": table.to_dict()}, "\n".join([*lines, "", repr(table)]))
    else:
        picture = to_text(tree, max_depth=None if whole else max_depth, positive=label)
        emit(result | {"tree": picture}, "\n".join([*lines, "", picture]))


def _summary(model: Any) -> dict[str, Any]:

    tree, schema = model.tree, model.tree.schema
    tested = tree.skeleton.feature[tree.skeleton.feature >= 0]
    return {
        "model": model.estimator or "Tree",
        "digest": tree.digest,
        "rows": tree.rows.item(0),
        **_target(tree),
        "numeric": [feature.name for feature in schema.features if feature.is_numeric],
        "nominal": [feature.name for feature in schema.features if not feature.is_numeric],
        "tested": [schema.names[feature] for feature in sorted(set(tested.tolist()))],
        "leaves": tree.n_leaves,
        "depth": tree.depth,
        "history": [str(step) for step in tree.history],
    }


def _target(tree: Any) -> dict[str, Any]:
    """The shares of the classes, or the mean and the standard deviation."""
    from hornbeam.tree.evidence.means import variances
    from hornbeam.tree.tree import unsmoothed

    if tree.is_regression:
        deviation = variances(tree.evidence[:1], tree.unit).item() ** 0.5
        return {"mean": unsmoothed(tree).item(0), "deviation": deviation}
    shares = tree.evidence[0] / tree.evidence[0].sum()
    return {"classes": dict(zip(map(str, tree.schema.classes), shares.tolist(), strict=True))}


def _words(summary: dict[str, Any]) -> list[tuple[str, str]]:
    from hornbeam.tree.words import pluralise

    shares = [f"{label} {100 * share:.1f} %" for label, share in summary.get("classes", {}).items()]
    classes = ("classes", ", ".join(shares[:8]) + (", …" if len(shares) > 8 else ""))
    if "mean" in summary:
        classes = ("target", f"a number, mean {summary['mean']:.6g}, deviation {summary['deviation']:.4g}")
    n_features = len(summary["numeric"]) + len(summary["nominal"])
    tested = f"{len(summary['tested'])} of {n_features} are tested"
    return [
        ("model", f"{summary['model']} {summary['digest'][:12]}"),
        ("rows", f"{summary['rows']:,}"),
        classes,
        ("features", f"{len(summary['numeric'])} numeric, {len(summary['nominal'])} nominal; " + tested),
        ("tree", f"{pluralise(summary['leaves'], 'leaf', 'leaves')}, depth {summary['depth']}"),
        ("made by", " > ".join(step.partition("(")[0] for step in summary["history"])),
    ]
