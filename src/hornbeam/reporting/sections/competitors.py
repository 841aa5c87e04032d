"""Section of a report on the splits that competed at each node of the tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from hornbeam.explain.candidates.held_out_gain import HeldOut
from hornbeam.explain.candidates.list_splits import competitors
from hornbeam.explain.candidates.table import CandidateSplit, CandidateSplits
from hornbeam.grid import Grid
from hornbeam.reporting.markup import Markup, element, framed
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.reporting.scored_rows import ScoredRows
from hornbeam.reporting.sections.tree import section
from hornbeam.reporting.summary import shown
from hornbeam.tree.condition import path_conditions
from hornbeam.tree.tree import Tree
from hornbeam.tree.words import feature_name, pluralise

_MOST_NODES, _MOST_SPLITS, _MOST_LETTERS = 40, 5, 90
_ANOTHER = (
    "The split of the tree is not the best of its feature here, so it is not listed; agreement is with it."
)
_SCORES = {"gain ratio": "Gain ratio", "S-value": "S\N{NON-BREAKING HYPHEN}value"}


def competitor_section(
    reported: ReportedModel, model: Any, training: Any, scored: ScoredRows | None
) -> Markup | None:
    """Write for each split of the tree the best splits of other features; None without training rows."""
    if training is None:
        return None
    tree = reported.tree
    inner = np.flatnonzero(tree.skeleton.feature >= 0).tolist()
    held_out = None if scored is None else HeldOut(scored.source, scored.engine)
    found = competitors(model, training, inner[:_MOST_NODES], held_out)
    text = (
        f"The best splits of up to {_MOST_SPLITS} features at each node, from the training rows. Agreement is 1 for a "
        "split that separates the rows as that of the tree does, and 0 for one that says nothing about them."
    )
    if scored is not None:
        text += (
            " The gain on the test rows has its standard error; that on the training rows, which chose the split, is "
            "too good."
        )
    more = len(inner) - len(found)
    note = element("p", f"{pluralise(more, 'further node')} not listed.", class_="note") if more > 0 else ""
    return section(
        "competitors", "Other splits", element("p", text), *(_node(tree, one) for one in found), note
    )


def _node(tree: Tree, found: CandidateSplits) -> Markup:
    grid = competitor_grid(found)
    if not grid.rows:
        return element("p", f"Node {found.node}: no feature has a split.", class_="note")
    where = " and ".join(one.text(3) for one in path_conditions(tree, found.node)) or "every row"
    if len(where) > _MOST_LETTERS:
        where = f"… {where[2 - _MOST_LETTERS :]}"
    name = shown(feature_name(tree.schema.names[tree.skeleton.feature.item(found.node)]))
    head = element(
        "summary",
        element("strong", f"Node {found.node}: {name}"),
        element("span", f" {where}, {pluralise(found.rows, 'row')}", class_="where"),
    )
    note = element("p", _ANOTHER, class_="note") if found.chosen is None else ""
    return element("details", head, framed(grid), note, class_="competitors")


def competitor_grid(found: CandidateSplits) -> Grid:
    """Tabulate the best splits of a node, that of the tree first."""
    splits = [split for split in found if split.chosen or split.rejected is None]
    splits = sorted(splits, key=lambda split: not split.chosen)[:_MOST_SPLITS]
    scores = [_SCORES[found.order]] if found.order in _SCORES else []  # beside the gain
    tested = any(split.held_out_gain is not None for split in splits)
    heads = ["Split", "Gain", *scores, "Agreement", *["Gain on test rows"] * tested]
    return Grid(f"Best splits at node {found.node}", heads, [_row(split, found) for split in splits])


def _row(split: CandidateSplit, found: CandidateSplits) -> list[str]:
    digits = found._digits
    cells = [split.condition + " (in the tree)" * split.chosen, digits(split.penalised_gain)]
    if found.order in _SCORES:
        value = split.gain_ratio if found.order == "gain ratio" else split.s_value
        cells.append("–" if value is None else f"{value:.3g}")
    cells.append("–" if split.association is None else f"{split.association:.2f}")
    if split.held_out_gain is not None and split.held_out_error is not None:
        cells.append(f"{digits(split.held_out_gain)} ± {digits(split.held_out_error)}".replace("-", "−"))
    return cells
