"""HTML tables of explanations, leaves, candidate splits, rules, drift and counterfactuals, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from hornbeam.export.condition_text import condition_text
from hornbeam.export.prediction_text import mean_text
from hornbeam.export.slope_text import terms_of
from hornbeam.export.wording import label_text, pluralise, probability_text
from hornbeam.html_table import html_table
from hornbeam.rules import RuleSet

if TYPE_CHECKING:
    from hornbeam.explain.candidates.table import CandidateSplits
    from hornbeam.explain.counterfactual import Counterfactual
    from hornbeam.explain.drift import Drift
    from hornbeam.explain.explanation import Explanation
    from hornbeam.explain.leaves import Leaves

__all__ = [
    "ShownRules",
    "candidate_splits_html",
    "counterfactuals_html",
    "drift_html",
    "explanations_html",
    "leaves_html",
]

_MOST_ROWS = 10  # with a table each
_TERMS, _RULE_TERMS = "changes within the leaf", "changes within the rule"


def leaves_html(leaves: Leaves) -> str:
    """Write a table of leaves."""
    interval = f"{100 * leaves.level:g} % interval"
    counts = [
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
    number = probability_text if leaves.classes else mean_text
    raw, smoothed, low, high = (
        [number(values.item(at, k)) for at, k in enumerate(shown)]
        for values in (leaves.raw, leaves.smoothed, leaves.low, leaves.high)
    )
    intervals = [f"{lowest} to {highest}" for lowest, highest in zip(low, high, strict=True)]
    columns = [*counts, *names, raw, smoothed, intervals, leaves.rule]
    header = ["node", "rows", "borrowed", *named, "raw", "smoothed", interval, "rule"]
    if len(leaves.tree.slopes):
        columns.append(["; ".join(texts) for texts in leaves.terms])
        header.append(_TERMS)
    rows = zip(*columns, strict=True)
    caption = pluralise(len(leaves), "leaf", "leaves")
    if leaves.code is not None:
        caption += f", rates of {label_text(leaves.classes[leaves.code])}"
    return html_table(caption, header, rows, text=("decided", "rule", _TERMS))


def candidate_splits_html(splits: CandidateSplits) -> str:
    """Write a table of candidate splits."""
    header = splits._header()
    note = ". ".join([f"Not split: {splits.limit}"] * bool(splits.limit) + splits._notes())
    return html_table(
        splits._caption(), header, splits._cells(), text=header[header.index("split") :], note=note
    )


def explanations_html(explanations: Sequence[Explanation]) -> str:
    """Write a table for each of the first ten explanations."""
    more = len(explanations) - _MOST_ROWS
    tables = [_explanation_html(one) for one in explanations[:_MOST_ROWS]]
    return "".join([*tables, f"<p>… and {pluralise(more, 'row')} more</p>"] if more > 0 else tables)


def _explanation_html(one: Explanation) -> str:
    k = one.classes.index(one.label) if one.classes else 0
    number = probability_text if one.classes else mean_text
    prediction = f"{label_text(one.label)} {number(one.probability[k])}" if one.classes else number(one.mean)
    caption = f"{prediction}, {100 * one.level:g} % interval {number(one.low[k])} to {number(one.high[k])}"
    tables = []
    for path in sorted(one.paths, key=lambda path: -path.share):
        share = f"{100 * path.share:.1f} % of the row: " if path.share < 1 else ""
        rows: list[tuple[object, ...]] = [
            (step.node, step.rows, f"{step.borrowed:.1f}", number(step.raw(k if one.classes else None)),
             number(step.belief[k]), step)
            for step in path.steps
        ]  # fmt: skip
        rows += [("", "", "", "", number(term.belief[k]), term.text(k)) for term in path.terms]
        header = ("node", "rows", "borrowed", "raw", "smoothed", "because")
        note = f"stops at {path.end}"
        tables.append(html_table(share + caption, header, rows, text=("because",), note=note))
    return "".join(tables)


def drift_html(drift: Drift) -> str:
    """Write a table of the rows that reached each leaf."""
    shares = (
        [f"{100 * share:.1f} %" for share in column.tolist()] for column in (drift.expected, drift.found)
    )
    rows = [f"{rows:.0f}" for rows in drift.rows.tolist()]
    columns = [drift.node.tolist(), rows, *shares, [f"{psi:.3f}" for psi in drift.psi.tolist()]]
    header = ["node", "rows", "expected", "found", "psi"]
    if drift.observed is not None and drift.p_value is not None:
        shown, number = drift.decided.tolist(), probability_text if drift.classes else mean_text
        if drift.classes:
            columns.append([label_text(drift.classes[k]) for k in shown])
            header.append("class")
        columns += [
            [number(values.item(at, k)) for at, k in enumerate(shown)]
            for values in (drift.predicted, drift.observed)
        ]
        columns.append([f"{p:.3f}" for p in drift.p_value.tolist()])
        header += ["predicted", "observed", "p"]
    note = f"population stability index {drift.stability_index:.3f}, p = {drift.psi_p_value:.3f}"
    return html_table("Drift", header, zip(*columns, strict=True), text=("class",), note=note)


def counterfactuals_html(found: Iterable[Sequence[Counterfactual]]) -> str:
    """Write a table of the counterfactuals of each row."""
    rows = [(row, one.prediction, one.changes) for row, several in enumerate(found) for one in several]
    header = ("row", "would be", "if")
    return html_table("Counterfactuals", header, rows, text=("would be", "if"))


class ShownRules(RuleSet):
    """A rule set that notebooks show as a table.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> rules = TreeClassifier("cart").fit([[0.0], [1.0], [2.0]], ["no", "yes", "yes"]).rules()
    >>> "x0 ≤ 0.5" in rules._repr_html_()
    True
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        rows: list[tuple[object, ...]] = []
        sloped = self.has_slopes
        for at, rule in enumerate((*self.rules, self.default), start=1):
            tests = " and ".join(map(condition_text, rule.conditions)) or "otherwise"
            low, high = (bound.item(rule.target) for bound in rule.interval())
            interval = f"{probability_text(low)} to {probability_text(high)}"
            label = label_text(self.label(rule))
            terms = "; ".join(term.text() for term in terms_of(rule.slopes, self.schema, 0))
            cells = (
                at,
                tests,
                label,
                probability_text(rule.probability),
                interval,
                f"{rule.support:.6g}",
                terms,
            )
            rows.append(cells if sloped else cells[:-1])
        header = ("", "if", "then", "probability", "90 % interval", "rows", _RULE_TERMS)
        return html_table(
            pluralise(len(self), "rule"),
            header if sloped else header[:-1],
            rows,
            text=("if", "then", _RULE_TERMS),
        )
