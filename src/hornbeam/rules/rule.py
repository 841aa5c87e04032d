"""A classification rule, and an ordered list of rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from hornbeam.data.rows import read_rows
from hornbeam.data.schema import Schema
from hornbeam.errors import ParameterError
from hornbeam.tree.arrays import read_only
from hornbeam.tree.condition import Condition
from hornbeam.tree.decision import DecisionRule
from hornbeam.tree.edit import with_belief, with_slopes
from hornbeam.tree.route import predict_rows
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.slopes import Slopes
from hornbeam.tree.statistics import rate_bounds
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats, Indices, Label


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rule:
    """Conditions and a class, with class weights and probabilities.

    Parameters
    ----------
    conditions : tuple of Condition
        One per feature, in the order of the features. Without conditions the rule fires on every row.
    target : int
        Code of the predicted class.
    covered : float64 array of shape (n_classes,)
        Weight of each class among the training rows that meet the conditions.
    decided : float64 array of shape (n_classes,)
        The same without the rows that an earlier rule of the list fires on.
    belief : float64 array of shape (n_classes,)
        Class probabilities.
    size : float
        Effective number of rows of the probabilities.
    error : float
        Pessimistic error rate on the rows that meet the conditions.
    slopes : Slopes, optional
        Terms that change the probabilities with the values of a row, of a leaf with the number 0. Default: none.

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
    slopes: Slopes = field(default_factory=Slopes.none)

    def __post_init__(self) -> None:
        for name in ("covered", "decided", "belief"):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), np.float64)))

    @property
    def support(self) -> float:
        """Weight of the training rows that meet the conditions."""
        return float(self.covered.sum())

    @property
    def errors(self) -> float:
        """Weight of the rows of other classes among them."""
        return float(self.covered.sum() - self.covered[self.target])

    @property
    def n_conditions(self) -> int:
        """Number of conditions; an interval with two bounds counts as two."""
        return sum(len(condition.parts) for condition in self.conditions)

    @property
    def probability(self) -> float:
        """Probability of the predicted class."""
        return self.belief.item(self.target)

    def interval(self, level: float = 0.9) -> tuple[Floats, Floats]:
        """Compute bounds that contain the true rate of each class with a given probability.

        Parameters
        ----------
        level : float, default 0.9
            Probability that the true rate is within the bounds.

        Returns
        -------
        low, high : float64 arrays of shape (n_classes,)
            From `belief` and `size` (`hornbeam.tree.statistics.rate_bounds`).
        """
        return rate_bounds(self.belief, np.full_like(self.belief, self.size), level)

    def __repr__(self) -> str:
        tests = f"{self.n_conditions} condition{'s' * (self.n_conditions != 1)}"
        return f"Rule({tests}, class {self.target}, probability {self.probability:.3f})"

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), tuple(getattr(self, name) for name in self.__dataclass_fields__)


def raw_rule(conditions: tuple[Condition, ...], target: int, covered: Floats, error: float) -> Rule:
    """Make a rule with the class frequencies of the rows it covers."""
    size = float(covered.sum())
    return Rule(conditions, target, covered, covered, covered / size, size, error)


def default_rule(class_totals: Floats, target: int) -> Rule:
    """Make the rule without conditions, from the class weights of all rows."""
    return raw_rule((), target, class_totals, float(1 - class_totals[target] / class_totals.sum()))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RuleSet:
    """Ordered list of rules and a default: the first rule that fires decides.

    Parameters
    ----------
    schema : Schema
        Names, kinds and categories of the features, and the classes.
    rules : iterable of Rule
        In order.
    default : Rule
        Without conditions, for rows on which no rule fires.

    See Also
    --------
    hornbeam.rules.extract : the rules of the leaves of a tree.
    hornbeam.export.rules_text : a list of rules as text.

    Examples
    --------
    >>> from hornbeam import Table, TreeClassifier
    >>> from hornbeam.rules import extract
    >>> tree = TreeClassifier("cart").fit([[0.0], [1.0], [2.0]], ["no", "yes", "yes"]).tree_
    >>> rules = extract(tree)
    >>> rules
    RuleSet(2 rules, 2 conditions, default 'yes')
    >>> rules.predict(Table.read([[2.0]], schema=tree.schema))
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
        """Number of conditions of all rules together."""
        return sum(rule.n_conditions for rule in self.rules)

    @property
    def has_slopes(self) -> bool:
        """Whether a rule has terms that change its probabilities with the values of a row."""
        return any(len(rule.slopes) for rule in (*self.rules, self.default))

    def label(self, rule: Rule) -> Label:
        """Label of the predicted class of a rule."""
        return self.schema.classes[rule.target]

    def decide(self, table: Any) -> Indices:
        """Find the first rule that fires on each row of a table.

        Parameters
        ----------
        table : Table, array-like or data frame
            Rows; other than a table they are read with the schema of the rules.

        Returns
        -------
        int32 array of shape (n_rows,)
            Its index; the number of rules if the default decides.

        Raises
        ------
        SchemaError
            If the rows have other columns.

        Examples
        --------
        >>> from hornbeam import Table, TreeClassifier
        >>> from hornbeam.rules import extract
        >>> tree = TreeClassifier("cart").fit([[0.0], [1.0], [2.0]], ["no", "yes", "yes"]).tree_
        >>> extract(tree).decide(Table.read([[0.1], [7.0], [None]], schema=tree.schema))
        array([0, 1, 2], dtype=int32)
        """
        table = read_rows(table, schema=self.schema)
        decided = np.full(table.n_rows, len(self.rules), np.int32)
        left = np.arange(table.n_rows)
        for at, rule in enumerate(self.rules):
            fires = np.ones(len(left), np.bool_)
            for condition in rule.conditions:
                fires &= condition.holds_in(table.columns[condition.column][left])
            decided[left[fires]] = at
            left = left[~fires]
        return decided

    def with_decision(self, decision: DecisionRule) -> RuleSet:
        """Set the class of every rule by a decision rule.

        Parameters
        ----------
        decision : DecisionRule
            The default decision rule changes nothing.

        Returns
        -------
        RuleSet

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> from hornbeam.rules import extract
        >>> from hornbeam.tree import Costs, DecisionRule
        >>> tree = TreeClassifier("cart", smoothing="laplace").fit([[0.0], [1.0], [2.0]], ["no", "yes", "yes"]).tree_
        >>> costly = extract(tree).with_decision(DecisionRule(Costs([[0, 9], [1, 0]])))
        >>> [costly.label(rule) for rule in costly]
        ['no', 'no']
        """
        if decision.is_default:
            return self
        *rules, default = [
            replace(rule, target=int(code))
            for rule, code in zip((*self.rules, self.default), decision(self._belief), strict=True)
        ]
        return RuleSet(self.schema, tuple(rules), default)

    def predict(self, table: Any) -> Floats:
        """Predict class probabilities: those of the rule that decides each row, changed by its terms.

        Parameters
        ----------
        table : Table, array-like or data frame
            Rows; other than a table they are read with the schema of the rules.

        Returns
        -------
        float64 array of shape (n_rows, n_classes)
        """
        table = read_rows(table, schema=self.schema)
        decided = self.decide(table)
        probabilities: Floats = self._belief[decided]
        for at, rule in enumerate((*self.rules, self.default)):
            if len(rule.slopes):
                rows = np.flatnonzero(decided == at)
                probabilities[rows] = predict_rows(_leaf(self.schema, rule), table.take(rows))
        return probabilities

    def __repr__(self) -> str:
        n, k = len(self.rules), self.n_conditions
        size = f"{n} rule{'s' * (n != 1)}, {k} condition{'s' * (k != 1)}"
        return f"RuleSet({size}, default {self.label(self.default)!r})"

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), (self.schema, self.rules, self.default)


def rules_of(model: Any) -> RuleSet:
    """Return rules, or those of a fitted `RuleClassifier`."""
    rules = model if isinstance(model, RuleSet) else getattr(model, "rules_", None)
    if isinstance(rules, RuleSet):
        return rules
    raise ParameterError(
        f"This is a {type(model).__name__}; expected a RuleSet or a fitted RuleClassifier. Of a fitted TreeClassifier, "
        "pass clf.rules()."
    )


def _leaf(schema: Schema, rule: Rule) -> Tree:
    """Make a tree of one leaf with the probabilities and terms of a rule."""
    leaf = Tree.raw(schema, Skeleton.leaf(), np.zeros((1, schema.n_classes), np.int64))
    return with_slopes(with_belief(leaf, rule.belief[None], np.zeros(1)), rule.slopes)
