"""Section of a report on stability: what changes if the model is fitted to other rows."""

from __future__ import annotations

from typing import Any

from hornbeam.errors import ParameterError, shown
from hornbeam.evaluation.stability import Stability, stability
from hornbeam.grid import Grid
from hornbeam.reporting.markup import Markup, element, framed
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.reporting.sections.tree import section

_MOST_LEAVES = 60
_TEXT = (
    "The model was fitted again to random halves of the training rows, with other seeds. The spread of these fits is "
    "about that between models of other tables of the same size. The 90 % range is that of the refits, widened to the "
    "prediction of the model itself; it tells how far predictions depend on the rows, and not how right they are."
)
_SEEDS = "The model was fitted again to the same rows; only the seeds of its random steps differ."


def as_stability(value: Any, model: Any, training: Any = None) -> Stability | None:
    """Return the result itself, or for True compute it from the training rows; None for None and False."""
    if value is None or value is False or isinstance(value, Stability):
        return value or None
    if value is not True:
        raise ParameterError(
            f"stability={shown(value)}: expected the result of hornbeam.evaluation.stability, or True."
        )
    if not isinstance(training, tuple):
        raise ParameterError(
            "stability=True needs the rows of the fit; expected training=(X, y), or X, y and weights. Or pass the "
            "result of hornbeam.evaluation.stability."
        )
    X, y, weight = (*training, None)[:3]
    return stability(model, X, y, sample_weight=weight)


def stability_section(reported: ReportedModel, found: Stability | None) -> Markup | None:
    """Write what changes between refits: decisions, root splits, and the probabilities of leaves."""
    if found is None:
        return None
    first, *others = found._sentences()
    parts = [
        element("p", _SEEDS if "seeds" in found.drawn else _TEXT),
        element("p", " ".join([first, *others])),
    ]
    if found.roots is not None:
        heads = ["Feature", "Share of refits", "Threshold (90 % range)"]
        parts.append(framed(Grid("Root splits of the refits", heads, list(found._root_cells()))))
    if found.leaves is not None:
        heads = [name[:1].upper() + name[1:] for name in found._leaf_header]
        code = reported.positive if found.classes == reported.tree.schema.classes else None
        leaves = [list(cells) for cells in found._leaf_cells(code)]
        align = "<><>>><" if found.classes else "<>>>><"
        parts.append(framed(Grid("Spread of each leaf", heads, leaves[:_MOST_LEAVES], align)))
        if len(leaves) > _MOST_LEAVES:
            parts.append(
                element("p", f"{len(leaves) - _MOST_LEAVES:,} further leaves not listed.", class_="note")
            )
    return section("stability", "Stability", *parts, wide=True)
