"""Section of a report on several models compared on the same rows."""

from __future__ import annotations

from typing import Any

from hornbeam.errors import ParameterError, shown
from hornbeam.evaluation.model_comparison import ALERT_ALL, ALL_ROWS, ModelComparison
from hornbeam.grid import Grid
from hornbeam.reporting.markup import Markup, element, framed
from hornbeam.reporting.pictures import line_key, net_benefits, reliability
from hornbeam.reporting.sections.tree import section

_MOST_MODELS = 6  # in pictures


def as_comparison(value: Any) -> ModelComparison | None:
    """Return the result itself; `ParameterError` for anything else but None."""
    if value is not None and not isinstance(value, ModelComparison):
        raise ParameterError(
            f"comparison={shown(value)}: expected the result of hornbeam.evaluation.compare, or None."
        )
    return value


def comparison_text(found: ModelComparison) -> list[str]:
    """Describe the rows, the reference and the intervals, and how to read the scores."""
    rows, others = found._rows.words, len(found.models) - 1
    level = f"{100 * found.level:g} %"
    first = f"Scores on {rows}, with {level} intervals."
    if others:
        first += (
            f" Differences are those from {found.reference}, row by row; each interval holds for itself, not for all "
            "at once. The models are taken as they are: another training sample would have made others."
        )
    return [first, " ".join(found._note.splitlines())]


def comparison_grids(found: ModelComparison) -> list[Grid]:
    """Tabulate the scores of all rows, and those of subgroups."""
    whole = [one for one in found if one.subgroup == ALL_ROWS]
    parts = found._subgroup_table()
    return [found._table(whole, repeated=True), *([] if parts is None else [parts])]


def comparison_section(found: ModelComparison | None) -> Markup | None:
    """The table of scores, the reliability of each model, and the net benefit; None without a comparison."""
    if found is None:
        return None
    words = [element("p", text) for text in comparison_text(found)]
    parts: list[object] = [*words, *map(framed, comparison_grids(found))]
    if found.positive is not None:
        of = found.positive
        drawn = [*found._curves()][:_MOST_MODELS]
        figures = [
            element(
                "figure",
                reliability(curve, f"Calibration of {name}"),
                element("figcaption", f"{name}: probability of {of}"),
            )
            for name, curve in drawn
        ]
        thresholds, benefits = found._net_benefits()
        curves = [benefits[name] for name, _ in drawn]
        keys = [element("div", line_key(at), name) for at, (name, _) in enumerate(drawn)]
        keys.append(element("div", line_key(None), ALERT_ALL))
        picture = net_benefits(thresholds, curves, benefits[ALERT_ALL], "Decision curve")
        caption = f"Decision curve: alerts from a probability of {of} on"
        figures.append(element("figure", picture, element("figcaption", caption, *keys)))
        parts.append(element("div", *figures, class_="figures"))
    return section("comparison", "Beside other models", *parts, wide=True)
