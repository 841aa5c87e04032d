"""`RuleSet`: an ordered list of rules, with predictions, simpler lists and exports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from hornbeam.checks import check_number, check_text, check_whole
from hornbeam.data.rows import read_rows
from hornbeam.data.schema import Kind, Schema
from hornbeam.data.table import Table
from hornbeam.errors import ParameterError, shown
from hornbeam.grid import Grid, Result, code_span
from hornbeam.rules.choose import choose_rules
from hornbeam.rules.rule import Rule, first_rules
from hornbeam.rules.simplify import simplify
from hornbeam.rules.text import rule_columns, rules_dict, rules_grid, rules_text
from hornbeam.tree.decision import DecisionRule, class_code
from hornbeam.tree.edit import with_belief
from hornbeam.tree.route import predict_rows
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Tree
from hornbeam.typing import Floats, Indices, Label


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RuleSet(Result[Rule]):
    """Ordered list of rules and a default: the first rule that fires decides; printed, the rules as text.

    Parameters
    ----------
    schema : Schema
        Names, kinds and categories of the features, and the classes.
    rules : iterable of Rule
        In order.
    default : Rule
        Without conditions, for rows on which no rule fires.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> rules = TreeClassifier("cart").fit([[0.0], [1.0], [2.0]], ["no", "yes", "yes"]).rules()
    >>> rules
    RuleSet(2 rules, 2 conditions, default 'yes')
    >>> print(rules)
    1. if x0 ≤ 0.5
       then no, 1.000 (0.098 to 1.000); covers 1 row, 0 wrong; decides 1
    2. if x0 > 0.5
       then yes, 1.000 (0.342 to 1.000); covers 2 rows, 0 wrong; decides 2
    otherwise yes, 0.667 (0.168 to 0.980); covers 3 rows, 1 wrong; decides 0
    >>> rules.predict_proba([[2.0]])
    array([[0., 1.]])
    """

    _ENTRIES: ClassVar = "rules"

    schema: Schema
    rules: tuple[Rule, ...]
    default: Rule
    _probability: Floats = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", tuple(self.rules))
        object.__setattr__(self, "_probability", np.stack([rule.probability for rule in self.listed]))

    @property
    def listed(self) -> tuple[Rule, ...]:
        """The rules, and the default last."""
        return (*self.rules, self.default)

    @property
    def n_conditions(self) -> int:
        """Number of conditions of all rules together."""
        return sum(rule.n_conditions for rule in self.rules)

    def apply(self, X: Any) -> Indices:
        """Find the first rule that fires on each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows like those of `fit`.

        Returns
        -------
        int32 array of shape (n_rows,)
            Its position; the number of rules if the default decides.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> rules = TreeClassifier("cart").fit([[0.0], [1.0], [2.0]], ["no", "yes", "yes"]).rules()
        >>> rules.apply([[0.1], [7.0], [None]])
        array([0, 1, 2], dtype=int32)
        """
        return first_rules(self.rules, read_rows(X, schema=self.schema))

    def predict_proba(self, X: Any) -> Floats:
        """Predict class probabilities: those of the rule that decides each row, changed by its terms.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
            Rows like those of `fit`.

        Returns
        -------
        float64 array of shape (n_rows, n_classes)
            Probabilities in the order of `schema.classes`.
        """
        table = read_rows(X, schema=self.schema)
        decided = first_rules(self.rules, table)
        probability: Floats = self._probability[decided]
        for at, rule in enumerate(self.listed):
            if len(rule.slopes):
                rows = np.flatnonzero(decided == at)
                probability[rows] = predict_rows(_leaf(self.schema, rule), table.take(rows))
        return probability

    def simplify(self, X: Any, y: Any, *, sample_weight: Any = None, confidence: float = 0.25) -> RuleSet:
        """Remove conditions from each rule while its error rate does not rise.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows to compute errors on, usually those of `fit`.
        y : array-like of shape (n_rows,)
            Their classes.
        sample_weight : array-like of shape (n_rows,), optional
            Row weights.
        confidence : float, default 0.25
            A smaller value gives higher error rates to rules with few rows, and removes more conditions.

        Returns
        -------
        RuleSet
            Distinct rules that are better than predicting their class for every row, in the order of the leaves. They
            overlap and are not ordered yet: `choose` makes a list of them. They have no terms: those of a leaf are for
            its own rows.

        Notes
        -----
        As in C4.5rules: while some condition can be removed without raising the pessimistic or the actual error rate,
        the condition is removed without which the pessimistic rate is lowest, the last of ties. Rules without rows or
        conditions are removed, and rules whose pessimistic rate is 1 - (n_class + 1) / (n + 2) or more.

        The two bounds of an interval are two conditions. With ``clf.rules(merge=False)`` a bound can also be replaced
        by an earlier threshold of the same path.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from hornbeam import TreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> rules = TreeClassifier("c4.5", pruning="collapse").fit(X, y).rules()
        >>> rules, rules.simplify(X, y)
        (RuleSet(5 rules, 11 conditions, default 0), RuleSet(5 rules, 8 conditions, default 0))
        """
        return self._of(simplify(self.rules, self._read(X, y, sample_weight), confidence=confidence))

    def choose(
        self, X: Any, y: Any, *, sample_weight: Any = None, alpha: float = 1.0, random_state: int = 0
    ) -> RuleSet:
        """Choose a subset of rules, order them and smooth their probabilities.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows to compute errors on, usually those of `fit`.
        y : array-like of shape (n_rows,)
            Their classes.
        sample_weight : array-like of shape (n_rows,), optional
            Row weights.
        alpha : float, default 1.0
            Pseudo-count that a rule borrows from each wider set of rows, as in `RuleClassifier`.
        random_state : int, default 0
            Seed of the search for the best subset, for classes with more than ten rules.

        Returns
        -------
        RuleSet
            A list: the first rule that fires decides.

        Notes
        -----
        As in C4.5rules (Quinlan, C4.5, 1993, chapter 5, with the code of his release 8):

        1. For each class, choose the rules with the shortest description, together with their exceptions.
        2. Order the classes: first the class whose rules have the fewest errors, then the class with the fewest errors
           on the remaining rows, and so on. Within a class, order rules by their pessimistic error rate.
        3. The default is the most frequent class among the rows on which no rule fires; of ties, the class more
           frequent among all rows.
        4. From first to last, remove a rule if the rules after it make fewer errors on its rows.
        5. Count the rows that each rule decides, and smooth. A rule predicts its most probable class, nearly always the
           class it was made for.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from hornbeam import TreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> rules = TreeClassifier("c4.5", pruning="collapse").fit(X, y).rules(merge=False)
        >>> rules.simplify(X, y).choose(X, y)
        RuleSet(4 rules, 6 conditions, default 0)
        """
        check_number("alpha", alpha, 0)
        check_whole("random_state", random_state, 0)
        table = self._read(X, y, sample_weight)
        return self._of(choose_rules(self.rules, table, alpha=alpha, seed=random_state))

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns with a value per rule, without the default.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> rules = TreeClassifier("cart").fit([[0.0], [1.0], [2.0]], ["no", "yes", "yes"]).rules()
        >>> rules.to_frame()[["if", "prediction", "p_yes", "covers", "wrong", "decides"]]
                 if prediction  p_yes  covers  wrong  decides
        0  x0 ≤ 0.5         no    0.0     1.0    0.0      1.0
        1  x0 > 0.5        yes    1.0     2.0    0.0      2.0
        """
        return rule_columns(self.schema, self.listed)

    def _grid(self) -> Grid:
        """Return a table with a row per rule, and one for the default."""
        return rules_grid(self.schema, self.listed)

    def __str__(self) -> str:
        return self.to_text()

    def to_text(
        self, *, level: float = 0.9, max_categories: int | None = None, positive: Label | None = None
    ) -> str:
        """Write the rules as text: conditions, class, probability with its interval, and the rows.

        Parameters
        ----------
        level : float, default 0.9
            Level of the intervals.
        max_categories : int, optional
            Longer lists of categories are cut, with the number of those left out; no list is cut if not given.
        positive : label, optional
            The class of interest: every rule has the probability of this class beside the class that it predicts.

        Returns
        -------
        str
            The number of a rule is its position in the list, from 1 on. A rule covers the rows that meet its
            conditions, and decides those of them that no earlier rule covers. The terms of a rule stand below it.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> X = [[36.5], [36.9], [37.2], [38.0], [38.5], [39.1]]
        >>> clf = TreeClassifier("cart", smoothing="hgs").fit(X, ["well", "well", "well", "ill", "ill", "ill"])
        >>> print(clf.rules().to_text(positive="ill"))
        1. if x0 ≤ 37.6
           then well, P(ill) 0.200 (0.002 to 0.729); covers 3 rows, 0 wrong; decides 3
        2. if x0 > 37.6
           then ill, P(ill) 0.800 (0.271 to 0.998); covers 3 rows, 0 wrong; decides 3
        otherwise ill, P(ill) 0.500 (0.169 to 0.831); covers 6 rows, 3 wrong; decides 0
        """
        return rules_text(self.schema, self.listed, level, max_categories, self._code(positive))

    def to_markdown(
        self, *, level: float = 0.9, max_categories: int | None = None, positive: Label | None = None
    ) -> str:
        """Write the rules as a Markdown table.

        Parameters
        ----------
        level : float, default 0.9
            Level of the intervals.
        max_categories : int, optional
            Longer lists of categories are cut, with the number of those left out; no list is cut if not given.
        positive : label, optional
            The class of interest: every rule has the probability of this class beside the class that it predicts.

        Returns
        -------
        str
            A table as GitHub and MyST read it. Names from the data stand in code spans, where no markup or link can
            begin.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> X = [[36.5], [36.9], [37.2], [38.0], [38.5], [39.1]]
        >>> clf = TreeClassifier("cart", smoothing="hgs").fit(X, ["well", "well", "well", "ill", "ill", "ill"])
        >>> print(clf.rules().to_markdown())
        | rule | if | class | probability | 90 % interval | covers | wrong | decides |
        |--:|---|---|--:|---|--:|--:|--:|
        | 1 | `x0 ≤ 37.6` | `well` | 0.800 | 0.271 to 0.998 | 3 | 0 | 3 |
        | 2 | `x0 > 37.6` | `ill` | 0.800 | 0.271 to 0.998 | 3 | 0 | 3 |
        |  | otherwise | `ill` | 0.500 | 0.169 to 0.831 | 6 | 3 | 0 |
        """
        code = self._code(positive)
        grid = rules_grid(self.schema, self.listed, level, max_categories, code, code_span)
        return grid.markdown(escaped=True)

    def to_json(self, *, level: float = 0.9, indent: int | None = None) -> str:
        """Write the rules as JSON, to apply them elsewhere; its field ``reading`` explains how.

        Parameters
        ----------
        level : float, default 0.9
            Level of the intervals.
        indent : int, optional
            Spaces of each level; one line if not given.

        Returns
        -------
        str

        Examples
        --------
        >>> import json
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier("cart").fit([[36.5], [36.9], [38.0]], ["well", "well", "ill"])
        >>> plain = json.loads(clf.rules().to_json())
        >>> plain["rules"][0]["if"], plain["rules"][0]["class"]
        ([{'feature': 'x0', 'at_most': 37.4}], 'well')
        """
        check_whole("indent", indent, 0, none="one line")
        return json.dumps(rules_dict(self.schema, self.listed, level), indent=indent, allow_nan=False)

    def to_sql(
        self, *, dialect: str = "duckdb", table: str | None = None, columns: Mapping[str, str] | None = None
    ) -> list[str]:
        """Write the conditions of each rule as SQL, for a WHERE clause.

        Parameters
        ----------
        dialect : str, default "duckdb"
            As in `hornbeam.export.to_sql`.
        table : str, optional
            The table, or its alias in the query, to write before each column. SQLite would read a misspelt column
            without a table as text.
        columns : mapping from feature to column, optional
            The name of a feature's column, if it is not the name of the feature.

        Returns
        -------
        list of str
            For each rule an expression that is true for the rows it covers: those that meet its conditions, also if an
            earlier rule decides them. NULL and NaN are missing.

        Raises
        ------
        ExportError
            If a name is empty, or two categories are the same as text.
        MissingExtraError
            Without the package sqlglot: ``pip install 'hornbeam[sql]'``.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> clf = TreeClassifier("cart").fit([[36.5], [36.9], [38.0]], ["well", "well", "ill"])
        >>> clf.rules().to_sql(dialect="sqlite", columns={"x0": "fever"})[1]
        'CAST("fever" AS REAL) > 37.4'
        """
        from hornbeam.export.sql.queries import where_clauses  # slow to import

        if table is not None:
            check_text("table", table)
        if columns is not None and not isinstance(columns, Mapping):
            raise ParameterError(
                f"columns={shown(columns)}: expected a dict from names of features to columns."
            )
        return where_clauses([rule.conditions for rule in self.rules], dialect, table, columns or {})

    def _code(self, positive: Label | None) -> int | None:
        return None if positive is None else class_code(self.schema.classes, positive)

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Table:
        return read_rows(X, y, sample_weight, schema=self.schema, target_kind=Kind.NOMINAL)

    def _of(self, listed: tuple[Rule, ...]) -> RuleSet:
        return RuleSet(self.schema, listed[:-1], listed[-1])

    def __repr__(self) -> str:
        n, k = len(self.rules), self.n_conditions
        size = f"{n} rule{'s' * (n != 1)}, {k} condition{'s' * (k != 1)}"
        return f"RuleSet({size}, default {self.default.prediction!r})"

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), (self.schema, self.rules, self.default)


def decided_by(rules: RuleSet, decision: DecisionRule) -> RuleSet:
    """Set the class of every rule by a decision rule; the default decision rule changes nothing."""
    if decision.is_default:
        return rules
    codes = decision(rules._probability).tolist()
    return rules._of(tuple(replace(rule, code=k) for rule, k in zip(rules.listed, codes, strict=True)))


def _leaf(schema: Schema, rule: Rule) -> Tree:
    """Make a tree of one leaf with the probabilities and terms of a rule."""
    leaf = Tree.raw(schema, Skeleton.leaf(), np.zeros((1, schema.n_classes), np.int64))
    return with_belief(leaf, rule.probability[None], np.zeros(1))._edited(slopes=rule.slopes)
