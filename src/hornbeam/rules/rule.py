"""If conditions, then a class: a rule, and an ordered list of rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from hornbeam.data.schema import Schema
from hornbeam.data.table import Table
from hornbeam.errors import DataError
from hornbeam.tree.arrays import read_only
from hornbeam.tree.condition import Condition
from hornbeam.tree.decision.rule import DecisionRule
from hornbeam.tree.statistics.bounds import rate_bounds
from hornbeam.typing import Floats, Indices, Label

__all__ = ["Rule", "RuleSet", "default_rule", "raw_rule"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rule:
    """If all conditions hold, a class, with the rows that say so.

    Parameters
    ----------
    conditions : tuple of Condition
        One a feature, features in their order; none: every row.
    target : int
        Code of the class the rule names.
    covered : float64 array of shape (n_classes,)
        Weight of each class among the training rows that meet the conditions.
    decided : float64 array of shape (n_classes,)
        The same among those that no earlier rule of the list takes.
    belief : float64 array of shape (n_classes,)
        What the rule thinks of a row it decides.
    size : float
        Rows that speak for the belief: how many the rule decides, or what they are worth.
    error : float
        The rate of errors to expect among all rows that meet the conditions.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.data.schema import Feature
    >>> above = Condition(0, Feature("dose"), above=1.0)
    >>> rule = Rule((above,), 1, np.array([1, 9]), np.array([1, 7]), np.array([0.15, 0.85]), 8, 0.2)
    >>> rule.support, rule.errors, rule.n_conditions
    (10.0, 1.0, 1)
    >>> low, high = rule.interval()
    >>> low.round(2), high.round(2)
    (array([0.01, 0.55]), array([0.45, 0.99]))
    """

    conditions: tuple[Condition, ...]
    target: int
    covered: Floats
    decided: Floats
    belief: Floats
    size: float
    error: float

    def __post_init__(self) -> None:
        for name in ("covered", "decided", "belief"):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), np.float64)))

    @property
    def support(self) -> float:
        """Weight of the training rows that meet the conditions."""
        return float(self.covered.sum())

    @property
    def errors(self) -> float:
        """Weight of those among them that are of another class."""
        return float(self.covered.sum() - self.covered[self.target])

    @property
    def n_conditions(self) -> int:
        """Tests in the conditions: an interval between two bounds counts as two."""
        return sum(len(condition.parts) for condition in self.conditions)

    @property
    def probability(self) -> float:
        """What the rule thinks of the class it names."""
        return self.belief.item(self.target)

    def interval(self, level: float = 0.9) -> tuple[Floats, Floats]:
        """Give bounds between which the true rate of each class lies, most of the time.

        Parameters
        ----------
        level : float, default 0.9
            How often the true rate is to be within.

        Returns
        -------
        low, high : float64 arrays of shape (n_classes,)
            By the rows the rule decides (`hornbeam.tree.statistics.bounds.rate_bounds`).
        """
        return rate_bounds(self.belief, np.full_like(self.belief, self.size), level)

    def __repr__(self) -> str:
        tests = f"{self.n_conditions} condition{'s' * (self.n_conditions != 1)}"
        return f"Rule({tests}, class {self.target}, probability {self.probability:.3f})"

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), tuple(getattr(self, name) for name in self.__dataclass_fields__)


def raw_rule(conditions: tuple[Condition, ...], target: int, covered: Floats, error: float) -> Rule:
    """Make a rule that believes the frequencies of all rows it covers."""
    size = float(covered.sum())
    return Rule(conditions, target, covered, covered, covered / size, size, error)


def default_rule(classes: Floats, target: int) -> Rule:
    """Make the rule without conditions, for rows whose classes weigh so much."""
    return raw_rule((), target, classes, float(1 - classes[target] / classes.sum()))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RuleSet:
    """Rules in their order, and what holds if none of them fires: the first rule that fires decides.

    Parameters
    ----------
    schema : Schema
        Names, kinds and categories of the features, and the classes.
    rules : iterable of Rule
        First to last.
    default : Rule
        For rows that meet the conditions of no rule; it has no conditions.

    See Also
    --------
    hornbeam.rules.extract : the rules of a tree's leaves.
    hornbeam.export.rules_text : a list of rules for people.

    Examples
    --------
    >>> from hornbeam import Table, TreeClassifier
    >>> from hornbeam.rules import extract
    >>> tree = TreeClassifier("cart").fit([[0.0], [1.0], [2.0]], ["no", "yes", "yes"]).tree_
    >>> rules = extract(tree)
    >>> rules
    RuleSet(2 rules, 2 conditions, default 'yes')
    >>> rules.answer(Table.read([[2.0]], schema=tree.schema))
    array([[0., 1.]])
    """

    schema: Schema
    rules: tuple[Rule, ...]
    default: Rule
    _belief: Floats = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", tuple(self.rules))
        object.__setattr__(self, "_belief", np.stack([rule.belief for rule in (*self.rules, self.default)]))

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __getitem__(self, at: int) -> Rule:
        return self.rules[at]

    @property
    def n_conditions(self) -> int:
        """Tests in all rules together."""
        return sum(rule.n_conditions for rule in self.rules)

    def label(self, rule: Rule) -> Label:
        """The class a rule names."""
        return self.schema.classes[rule.target]

    def decide(self, table: Table) -> Indices:
        """Find the first rule that fires on each row of a table.

        Parameters
        ----------
        table : Table
            Read with the schema of the rules.

        Returns
        -------
        int32 array of shape (n_rows,)
            Its position in the list; the number of rules where the default decides.

        Raises
        ------
        DataError
            If the table has other columns.

        Examples
        --------
        >>> from hornbeam import Table, TreeClassifier
        >>> from hornbeam.rules import extract
        >>> tree = TreeClassifier("cart").fit([[0.0], [1.0], [2.0]], ["no", "yes", "yes"]).tree_
        >>> extract(tree).decide(Table.read([[0.1], [7.0], [None]], schema=tree.schema))
        array([0, 1, 2], dtype=int32)
        """
        if table.schema.features != self.schema.features:
            raise DataError(
                "the table's columns are not those of the rules, expected the same features: read it with "
                "Table.read(X, schema=rules.schema)"
            )
        decided = np.full(table.n_rows, len(self.rules), np.int32)
        waiting = np.arange(table.n_rows)
        for at, rule in enumerate(self.rules):
            fires = np.ones(len(waiting), np.bool_)
            for condition in rule.conditions:
                fires &= condition.holds_in(table.columns[condition.column][waiting])
            decided[waiting[fires]] = at
            waiting = waiting[~fires]
        return decided

    def decided_by(self, decision: DecisionRule) -> RuleSet:
        """Let every rule name the class that a decision rule gives for its probabilities.

        Parameters
        ----------
        decision : DecisionRule
            The rule that takes the most probable class changes nothing.

        Returns
        -------
        RuleSet

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> from hornbeam.rules import extract
        >>> from hornbeam.tree import Costs, DecisionRule
        >>> tree = TreeClassifier("cart", smoothing="laplace").fit([[0.0], [1.0], [2.0]], ["no", "yes", "yes"]).tree_
        >>> costly = extract(tree).decided_by(DecisionRule(Costs([[0, 9], [1, 0]])))
        >>> [costly.label(rule) for rule in costly]
        ['no', 'no']
        """
        if decision.is_default:
            return self
        made = [
            replace(rule, target=int(code))
            for rule, code in zip((*self.rules, self.default), decision(self._belief), strict=True)
        ]
        return RuleSet(self.schema, tuple(made[:-1]), made[-1])

    def answer(self, table: Table) -> Floats:
        """Give what the rule that decides thinks of each row.

        Parameters
        ----------
        table : Table
            Read with the schema of the rules.

        Returns
        -------
        float64 array of shape (n_rows, n_classes)
        """
        said: Floats = self._belief[self.decide(table)]
        return said

    def __repr__(self) -> str:
        n, tests = len(self.rules), self.n_conditions
        counted = f"{n} rule{'s' * (n != 1)}, {tests} condition{'s' * (tests != 1)}"
        return f"RuleSet({counted}, default {self.label(self.default)!r})"

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), (self.schema, self.rules, self.default)
