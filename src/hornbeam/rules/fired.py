"""`FiredRules`: the rule that decided each row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hornbeam.grid import Result
from hornbeam.rules.rule import Rule
from hornbeam.rules.rule_set import RuleSet
from hornbeam.rules.text import rule_columns
from hornbeam.typing import Indices


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FiredRules(Result[Rule]):
    """The rule that decided each row; printed, a line per row.

    Parameters
    ----------
    rules : RuleSet
        All rules.
    position : int32 array of shape (n_rows,)
        Position of the rule of each row; the number of rules where the default decided.

    Examples
    --------
    >>> from hornbeam import RuleClassifier
    >>> clf = RuleClassifier().fit([[36.6], [36.8], [39.0], [39.5]] * 5, ["well", "well", "ill", "ill"] * 5)
    >>> found = clf.explain([[38.9], [36.0]])
    >>> found
    row 0: rule 1: if x0 > 36.8 then ill 0.923
    row 1: rule 2: if x0 ≤ 36.8 then well 0.923
    >>> found[0].prediction, found.to_dict()["rule"]
    ('ill', [1, 2])
    """

    rules: RuleSet
    position: Indices

    @property
    def fired(self) -> tuple[Rule, ...]:
        """The rule of each row."""
        listed = self.rules.listed
        return tuple(listed[at] for at in self.position.tolist())

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns with a value per row: the number of its rule from 1, None for the default, and the rule.

        Examples
        --------
        >>> from hornbeam import RuleClassifier
        >>> clf = RuleClassifier().fit([[36.6], [36.8], [39.0], [39.5]] * 5, ["well", "well", "ill", "ill"] * 5)
        >>> clf.explain([[38.9], [36.0]]).to_frame()[["rule", "if", "prediction"]]
           rule         if prediction
        0     1  x0 > 36.8        ill
        1     2  x0 ≤ 36.8       well
        """
        numbers = [at + 1 if at < len(self.rules) else None for at in self.position.tolist()]
        return {"rule": numbers, **rule_columns(self.rules.schema, (*self.fired, self.rules.default))}

    def __len__(self) -> int:
        return len(self.position)

    def _entry(self, at: int) -> Rule:
        return self.rules.listed[self.position.item(at)]

    def __repr__(self) -> str:
        named = [f"rule {at + 1}" if at < len(self.rules) else "default" for at in self.position.tolist()]
        pairs = zip(named, self.fired, strict=True)
        return "\n".join(f"row {row}: {name}: {rule}" for row, (name, rule) in enumerate(pairs))
