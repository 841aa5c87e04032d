"""What a notebook shows of explanations, leaves, rules and drift: tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from hornbeam.export.condition_text import condition_text
from hornbeam.export.prediction_text import mean_text
from hornbeam.export.wording import label_text, pluralise, probability_text
from hornbeam.html_table import html_table
from hornbeam.rules import RuleSet

if TYPE_CHECKING:
    from hornbeam.explain.counterfactual import Counterfactual
    from hornbeam.explain.drift import Drift
    from hornbeam.explain.explanation import Explanation
    from hornbeam.explain.leaves import Leaves

__all__ = ["ShownRules", "counterfactuals_html", "drift_html", "explanations_html", "leaves_html"]

_MOST_ROWS = 10  # of which the explanation is shown


def leaves_html(leaves: Leaves) -> str:
    """Write a table of leaves."""
    sure = f"{100 * leaves.level:g} % interval"
    counted = [
        leaves.node.tolist(),
        leaves.rows.tolist(),
        [f"{rows:.1f}" for rows in leaves.borrowed.tolist()],
    ]
    if leaves.classes:
        decided = leaves.tree.decided[leaves.node].tolist()
        shown = decided if leaves.code is None else [leaves.code] * len(leaves)
        named, names = ["decided"], [[label_text(leaves.classes[k]) for k in decided]]
    else:
        shown, named, names = [0] * len(leaves), [], []
    said = probability_text if leaves.classes else mean_text
    raw, smoothed, low, high = (
        [said(values.item(at, k)) for at, k in enumerate(shown)]
        for values in (leaves.raw, leaves.smoothed, leaves.low, leaves.high)
    )
    spans = [f"{lowest} to {highest}" for lowest, highest in zip(low, high, strict=True)]
    columns = [*counted, *names, raw, smoothed, spans, leaves.rule]
    header = ["node", "rows", "borrowed", *named, "raw", "smoothed", sure, "rule"]
    rows = zip(*columns, strict=True)
    caption = pluralise(len(leaves), "leaf", "leaves")
    if leaves.code is not None:
        caption += f", rates of {label_text(leaves.classes[leaves.code])}"
    return html_table(caption, header, rows, text=("decided", "rule"))


def explanations_html(told: Sequence[Explanation]) -> str:
    """Write a table for each explanation, of ten rows at most."""
    more = len(told) - _MOST_ROWS
    tables = [_explained(row) for row in told[:_MOST_ROWS]]
    return "".join([*tables, f"<p>… and {pluralise(more, 'row')} more</p>"] if more > 0 else tables)


def _explained(told: Explanation) -> str:
    k = told.classes.index(told.label) if told.classes else 0
    said = probability_text if told.classes else mean_text
    answer = f"{label_text(told.label)} {said(told.probability[k])}" if told.classes else said(told.mean)
    caption = f"{answer}, {100 * told.level:g} % interval {said(told.low[k])} to {said(told.high[k])}"
    tables = []
    for way in sorted(told.paths, key=lambda way: -way.share):
        share = f"{100 * way.share:.1f} % of the row: " if way.share < 1 else ""
        rows = (
            (visit.node, visit.rows, f"{visit.borrowed:.1f}", said(visit.raw(k if told.classes else None)),
             said(visit.belief[k]), visit)
            for visit in way.visits
        )  # fmt: skip
        header = ("node", "rows", "borrowed", "raw", "smoothed", "because")
        note = f"stops at {way.end}"
        tables.append(html_table(share + caption, header, rows, text=("because",), note=note))
    return "".join(tables)


def drift_html(drift: Drift) -> str:
    """Write a table of what came to each leaf."""
    shares = (
        [f"{100 * share:.1f} %" for share in column.tolist()] for column in (drift.expected, drift.found)
    )
    rows = [f"{rows:.0f}" for rows in drift.rows.tolist()]
    columns = [drift.node.tolist(), rows, *shares, [f"{psi:.3f}" for psi in drift.psi.tolist()]]
    header = ["node", "rows", "expected", "found", "psi"]
    if drift.observed is not None and drift.p_value is not None:
        shown, said = drift.decided.tolist(), probability_text if drift.classes else mean_text
        if drift.classes:
            columns.append([label_text(drift.classes[k]) for k in shown])
            header.append("class")
        columns += [
            [said(values.item(at, k)) for at, k in enumerate(shown)]
            for values in (drift.believed, drift.observed)
        ]
        columns.append([f"{p:.3f}" for p in drift.p_value.tolist()])
        header += ["believed", "observed", "p"]
    note = f"population stability index {drift.stability_index:.3f}, p = {drift.psi_p_value:.3f}"
    return html_table("Drift", header, zip(*columns, strict=True), text=("class",), note=note)


def counterfactuals_html(found: Iterable[Sequence[Counterfactual]]) -> str:
    """Write a table of the ways that each row could be decided otherwise."""
    rows = [(row, way.answer, way.changes) for row, ways in enumerate(found) for way in ways]
    header = ("row", "would be", "if")
    return html_table("Counterfactuals", header, rows, text=("would be", "if"))


class ShownRules(RuleSet):
    """A list of rules that a notebook shows as a table.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> rules = TreeClassifier("cart").fit([[0.0], [1.0], [2.0]], ["no", "yes", "yes"]).rules()
    >>> "x0 ≤ 0.5" in rules._repr_html_()
    True
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        rows = []
        for at, rule in enumerate((*self.rules, self.default), start=1):
            tests = " and ".join(map(condition_text, rule.conditions)) or "otherwise"
            low, high = (bound.item(rule.target) for bound in rule.interval())
            sure = f"{probability_text(low)} to {probability_text(high)}"
            label = label_text(self.label(rule))
            rows.append((at, tests, label, probability_text(rule.probability), sure, f"{rule.support:.6g}"))
        header = ("", "if", "then", "probability", "90 % interval", "rows")
        return html_table(pluralise(len(self), "rule"), header, rows, text=("if", "then"))
