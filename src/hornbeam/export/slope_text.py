"""Terms of nodes for people: odds ratios per step, and the text of them.

In classification with two classes a term multiplies the odds of a class by a factor that changes with the value of a
feature: by the same ratio with every step of the value. With more classes it multiplies the odds of each class against
the geometric mean of all classes. In regression it adds to the mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, floor, inf, log, log10

import numpy as np

from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.export.wording import rules_in_order
from hornbeam.tree import Slopes
from hornbeam.tree.condition import is_missing
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import path, with_ancestors
from hornbeam.tree.words import feature_name, label_text, number_text, threshold_text
from hornbeam.typing import Floats, Label

_MOST_CLASSES = 3  # listed in a term
_LARGE = 5  # powers of ten: larger and smaller factors are written as such


@dataclass(frozen=True, slots=True, eq=False)
class NodeTerm:
    """A feature that changes the prediction within a node; the terms of its categories together.

    `column` is the position of the feature; `codes` are the categories with a term of their own, empty if the feature
    is not nominal. The value is clipped to `low` and `high`, and adds nothing at the `centre`. `slope`, of shape
    (n_outputs,) or (n_codes, n_outputs), is added to the score of each class per unit of the value, or for each of the
    categories, beside the `intercept`, which a category without a term has alone. `classes` is empty in regression.
    """

    column: int
    feature: Feature
    codes: tuple[int, ...]
    low: float
    high: float
    centre: float
    intercept: Floats
    slope: Floats
    classes: tuple[Label, ...]

    @property
    def name(self) -> str:
        """The name of the feature, as text."""
        return feature_name(self.feature.name)

    @property
    def step(self) -> float:
        """The step that ratios are written for (`round_step`); 1 for categories."""
        return round_step(self.low, self.high) if self.feature.is_numeric else 1.0

    def change(self, value: float) -> Floats:
        """Compute what a value, as in the column of a table, adds to the score of each class, or to the mean."""
        if is_missing(self.feature, value):
            return np.zeros(len(self.intercept))
        if self.codes:
            chosen = [at for at, code in enumerate(self.codes) if code == value]
            added: Floats = self.intercept + self.slope[chosen].sum(axis=0)
            return added
        clipped: Floats = self.slope * (min(max(value, self.low), self.high) - self.centre)
        return clipped

    def contrast(self, scores: Floats, code: int) -> float:
        """Compute the change of the log odds of a class: against the other of two, else against the mean of all.

        Scores of a regression are returned as they are.
        """
        if not self.classes:
            return scores.item(0)
        rest = scores[1 - code] if len(scores) == 2 else scores.mean()
        return float(scores[code] - rest)

    def reference(self, code: int) -> float | None:
        """Compute the value at which the term changes nothing; None if no value does."""
        return self.centre if self.contrast(self.slope, code) else None

    def text(self, code: int | None = None) -> str:
        """Write the term: the effect of a step of the value, or of each category, and the range of the value.

        For the class with this `code`; by default for the last of two classes, and for all of more classes.
        """
        shown = self._shown(code)
        effect = self._effects_of_categories(shown) if self.codes else self._effect_of_steps(shown)
        return f"{self.name}: {self._subject(shown)}{effect}"

    def _shown(self, code: int | None) -> list[int]:
        """Choose the classes to list: one, or of many those that change most."""
        if code is not None or len(self.intercept) <= 2:
            return [len(self.intercept) - 1 if code is None else code]
        largest = np.abs(self.slope - self.slope.mean(axis=-1, keepdims=True)).reshape(
            -1, len(self.intercept)
        )
        return sorted(np.argsort(-largest.max(axis=0), kind="stable")[:_MOST_CLASSES].tolist())

    def _subject(self, shown: list[int]) -> str:
        """Write what the amounts belong to; several classes are named with their amounts."""
        if not self.classes:
            return "mean "
        return f"odds of {label_text(self.classes[shown[0]])} " if len(shown) == 1 else ""

    def _amounts(self, scores: Floats, shown: list[int]) -> str:
        """Write the effect of a change of the scores: factors of the odds, or the change of the mean."""
        if not self.classes:
            return change_text(scores.item(0))
        factors = [f"× {factor_text(self.contrast(scores, k))}" for k in shown]
        if len(shown) == 1:
            return factors[0]
        named = [f"{label_text(self.classes[k])} {factor}" for k, factor in zip(shown, factors, strict=True)]
        more = len(self.classes) - len(shown)
        return ", ".join([*named, f"… {more} more"] if more else named)

    def _effects_of_categories(self, shown: list[int]) -> str:
        effects = [
            f"{self._amounts(self.intercept + slope, shown)} if {label_text(self.feature.categories[code])}"
            for code, slope in zip(self.codes, self.slope, strict=True)
        ]
        if len(self.codes) < len(self.feature.categories):
            effects.append(f"{self._amounts(self.intercept, shown)} if another")
        return (", " if len(shown) == 1 else "; ").join(effects)

    def _effect_of_steps(self, shown: list[int]) -> str:
        if self.low == self.high or not any(self.contrast(self.slope, k) for k in shown):
            return f"{self._amounts(self.change(self.low), shown)} if known"
        per = "step up" if self.feature.kind is Kind.ORDINAL else f"+{step_text(self.step)}"
        low, high = (threshold_text(self.feature, bound, 4) for bound in (self.low, self.high))
        reference = self._reference_text(shown[0]) if len(self.classes) <= 2 else ""
        return f"{self._amounts(self.slope * self.step, shown)} per {per} ({low} to {high}{reference})"

    def _reference_text(self, code: int) -> str:
        at = self.reference(code)
        if at is None:
            return ""
        nothing = "× 1" if self.classes else "+0"
        if self.feature.kind is Kind.ORDINAL:
            place = self.between(at)
            return f"; {nothing} {place if ' and ' in place else f'at {place}'}" if place else ""
        return f"; {nothing} at {rounded_text(at, self.step)}"

    def between(self, at: float) -> str:
        """Write a position among the categories of an ordinal feature; empty beyond them."""
        categories = self.feature.categories
        below = floor(at + 0.05)
        if not 0 <= below <= at + 0.05 <= len(categories) - 0.95:
            return ""
        name = label_text(categories[below])
        if abs(at - below) <= 0.05:
            return name
        return f"between {name} and {label_text(categories[below + 1])}"


def node_terms(tree: Tree, node: int) -> tuple[NodeTerm, ...]:
    """Return the node's own terms, one per feature; empty for a node without terms."""
    return terms_of(tree.slopes, tree.schema, node)


def path_terms(tree: Tree, node: int) -> tuple[NodeTerm, ...]:
    """Return the terms of a row that stops at a node: those of all nodes of its path, from the root down."""
    if not len(tree.slopes):
        return ()
    return tuple([term for at in path(tree.skeleton, node) for term in node_terms(tree, at)])


def terms_of(slopes: Slopes, schema: Schema, node: int) -> tuple[NodeTerm, ...]:
    """Return the terms of a node in a table of slopes: one per feature, on a path one per feature and node."""
    if not len(slopes):  # the usual case, for every node of a large tree
        return ()
    found = []
    for at in _by_feature(slopes, slopes.of_node(node)):
        column = slopes.feature.item(at[0])
        nominal = slopes.category[at[0]] >= 0
        found.append(
            NodeTerm(
                column,
                schema.features[column],
                tuple(slopes.category[at].tolist()) if nominal else (),
                slopes.low.item(at[0]),
                slopes.high.item(at[0]),
                slopes.centre.item(at[0]),
                -(slopes.slope[at] * slopes.centre[at, None]).sum(axis=0),
                slopes.slope[at] if nominal else slopes.slope[at[0]],
                schema.classes,
            )
        )
    return tuple(found)


def _by_feature(slopes: Slopes, terms: range) -> Iterator[list[int]]:
    """Group terms that follow each other: the categories of a feature in ascending order, any other term alone."""
    group: list[int] = []
    for at in terms:
        if group:
            last = group[-1]
            same = (
                slopes.feature[last] == slopes.feature[at]
                and 0 <= slopes.category[last] < slopes.category[at]
            )
            if not same:
                yield group
                group = []
        group.append(at)
    if group:
        yield group


def terms_text(tree: Tree, node: int, code: int | None = None) -> list[str]:
    """Write the node's own terms, a text per feature, for the class with this `code` as in `NodeTerm.text`."""
    return [term.text(code) for term in node_terms(tree, node)]


def path_terms_texts(
    tree: Tree, nodes: Sequence[int], code: int | None = None, *, once: bool = False
) -> list[list[str]]:
    """Write the terms of the paths of several nodes, as `terms_text`.

    Those of a node above begin with the rows that they hold for; with `once` the first of its leaves alone has them.
    """
    if not len(tree.slopes):
        return [[] for _ in nodes]
    paths = [path(tree.skeleton, node) for node in nodes]
    if once:
        paths = [_since_other_child(tree, above) for above in paths]
    shown = np.intersect1d([at for above in paths for at in above], tree.slopes.nodes).tolist()
    own = {node: terms_text(tree, node, code) for node in shown}
    rows = dict(rules_in_order(tree, own)) | {0: "all rows"}

    def written(above: list[int]) -> Iterator[str]:
        for at in above:
            scope = "" if at == above[-1] else f"for {rows.get(at)}: "
            yield from (f"{scope}{term}" for term in own.get(at, ()))

    return [list(written(above)) for above in paths]


def _since_other_child(tree: Tree, above: list[int]) -> list[int]:
    """Return the end of a path that takes the first child of each node alone."""
    first = tree.skeleton.first_child
    begin = max((at for at in range(1, len(above)) if first[above[at - 1]] != above[at]), default=0)
    return above[begin:]


def terms_above(tree: Tree, nodes: Sequence[int], code: int | None = None) -> list[str]:
    """Write the terms of all nodes above some nodes, each once with the rows that it holds for."""
    above = with_ancestors(tree.skeleton, np.asarray(nodes))
    others = np.setdiff1d(np.intersect1d(above, tree.slopes.nodes), nodes).tolist()
    rows = dict(rules_in_order(tree, set(others))) | {0: "all rows"}
    return [
        f"for {rows[node]}: {term}"
        for node in rows
        if node in others
        for term in terms_text(tree, node, code)
    ]


def scope_text(tree: Tree, node: int) -> list[str]:
    """Write the line above the terms of an inner node, where they stand below the node; none above those of a leaf."""
    if tree.skeleton.is_leaf[node] or not tree.slopes.of_node(node):
        return []
    return ["for these rows:" if node else "for all rows:"]


def round_step(low: float, high: float) -> float:
    """Choose the largest power of ten of which a range has two or more; at least 1 between integers."""
    width = high - low
    if not 0 < width < inf:
        return 1.0
    power = max(floor(log10(width) - log10(2)), -300)
    if power < 0 and low == floor(low) and high == floor(high):
        return 1.0
    return float(f"1e{power}")


def step_text(step: float) -> str:
    """Write a step, with commas."""
    return f"{step:,.0f}" if 1 <= step < 1e9 else f"{step:g}"


def rounded_text(value: float, step: float) -> str:
    """Format a value, rounded to a hundredth of a step."""
    decimals = 2 - round(log10(step))
    return number_text(round(value, decimals), 6)


def factor_text(log_factor: float) -> str:
    """Write a factor, given its logarithm, with three digits; very large and small ones as powers of ten."""
    power = log_factor / log(10)
    if abs(power) >= _LARGE:
        return f"10^{power:.3g}"
    return number_text(float(f"{exp(log_factor):.3g}"))


def change_text(change: float) -> str:
    """Write a change of a mean with its sign and four digits."""
    size = number_text(float(f"{abs(change):.4g}"), 4)
    return f"{'−' if change < 0 else '+'}{size}"
