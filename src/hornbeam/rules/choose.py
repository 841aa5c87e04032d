"""A list of rules from many: which to keep, in which order, and what holds if none fires."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.rules.belief import smooth_rules
from hornbeam.rules.code_length import CodeBook
from hornbeam.rules.coverage import Coverage
from hornbeam.rules.rule import RuleSet, default_rule
from hornbeam.rules.subset import Pool
from hornbeam.typing import Bools, Floats

__all__ = ["choose_rules"]

type _Rows = NDArray[np.intp]


def choose_rules(rules: RuleSet, table: Table, *, alpha: float = 1.0, seed: int = 0) -> RuleSet:
    """Choose rules and put them in order.

    Parameters
    ----------
    rules : RuleSet
        Rules that may overlap, as `simplify` gives them.
    table : Table
        The rows to judge by, usually those the tree was grown from.
    alpha : float, default 1.0
        Rows that wider circles lend to the probabilities of a rule, each (`hornbeam.rules.smooth_rules`).
    seed : int, default 0
        Of the starts of the searches where a class has more than ten rules.

    Returns
    -------
    RuleSet
        A list: the first rule that fires decides.

    Notes
    -----
    As in C4.5rules (Quinlan, C4.5, 1993, chapter 5, with the code of his release 8). Of each class those rules
    stay that take the fewest bits together with their exceptions. The class whose rules are wrong about the
    fewest rows comes first, then the one that is so about the rows left, and so on; within a class rules
    that are expected to err less come first. The default is the most frequent class among the rows on which no
    rule fires, of equals the more frequent among all. At last, first to last and one at a time, rules go that
    make more mistakes than what comes behind them would.

    Then the rows that each rule decides are counted, and every rule names the class it believes in most: nearly
    always the class it was made for.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hornbeam import TreeClassifier
    >>> from hornbeam.rules import extract, simplify
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = TreeClassifier("c4.5").fit(X, y).tree_
    >>> table = Table.read(X, y, schema=tree.schema)
    >>> choose_rules(simplify(extract(tree), table), table)
    RuleSet(5 rules, 8 conditions, default 0)
    """
    coverage = Coverage(table)
    fires = [coverage.rows(rule.conditions) for rule in rules]
    kept = _worth_telling(rules, coverage, fires, seed)
    order = _in_order(rules, coverage, fires, kept)
    default = _default_class(coverage, [fires[at] for at in order])
    order = _dropped(rules, coverage, fires, order, default)
    chosen = tuple([rules[at] for at in order])
    return smooth_rules(RuleSet(rules.schema, chosen, default_rule(coverage.classes, default)), table, alpha)


def _worth_telling(rules: RuleSet, coverage: Coverage, fires: Sequence[_Rows], seed: int) -> list[int]:
    """The rules of each class that take the fewest bits together with their exceptions."""
    book, kept = CodeBook.of(coverage), []
    for target in range(rules.schema.n_classes):
        own = [at for at, rule in enumerate(rules) if rule.target == target]
        if own:
            pool = Pool(
                fires=[fires[at] for at in own],
                right=coverage.target == target,
                weight=coverage.weight,
                unit=coverage.table.unit,
                bits=np.array([book.rule(rules[at].conditions) for at in own]),
            )
            inside = pool.best(np.random.default_rng([seed, target]))
            kept += [at for at, wanted in zip(own, inside.tolist(), strict=True) if wanted]
    return kept


def _in_order(rules: RuleSet, coverage: Coverage, fires: Sequence[_Rows], kept: Sequence[int]) -> list[int]:
    """Classes by the rows that their rules would be wrong about, rules of a class by their expected errors."""
    reach: dict[int, Bools] = {}
    for at in kept:
        reach.setdefault(rules[at].target, np.zeros(len(coverage.target), np.bool_))[fires[at]] = True
    left = np.ones(len(coverage.target), np.bool_)
    order: list[int] = []
    while reach:
        wrong = {
            target: coverage.weight[some & left & (coverage.target != target)].sum()
            for target, some in sorted(reach.items())
        }
        best = min(wrong, key=wrong.__getitem__)
        order += sorted((at for at in kept if rules[at].target == best), key=lambda at: rules[at].error)
        left &= ~reach.pop(best)
    return order


def _default_class(coverage: Coverage, fires: Sequence[_Rows]) -> int:
    """The most frequent class where no rule fires; of equals, that of most rows."""
    silent = np.ones(len(coverage.target), np.bool_)
    for rows in fires:
        silent[rows] = False
    left, everything = coverage.tally(np.flatnonzero(silent)), coverage.classes
    return max(range(len(left)), key=lambda target: (left[target], everything[target]))


def _dropped(
    rules: RuleSet, coverage: Coverage, fires: Sequence[_Rows], order: list[int], default: int
) -> list[int]:
    """Drop the first rule that is worse than what comes behind it, and look again."""
    n = len(coverage.target)
    place = np.repeat(np.arange(len(order)), [len(fires[at]) for at in order])
    rows = np.concatenate([fires[at] for at in order]) if order else np.zeros(0, np.intp)
    target = np.array([*[rules[at].target for at in order], default])
    while True:
        first = np.full(n, len(order))
        np.minimum.at(first, rows, place)
        second = np.full(n, len(order))
        behind = place > first[rows]
        np.minimum.at(second, rows[behind], place[behind])
        one, other, truth = target[first], target[second], coverage.target
        gain = np.where(one == other, 0, (one == truth).astype(np.int64) - (other == truth)) * coverage.weight
        worth: Floats = np.bincount(first, gain, minlength=len(order) + 1)[: len(order)]
        alive = np.isin(np.arange(len(order)), place)
        worse = np.flatnonzero(worth < 0)
        if not len(worse):
            return [at for at, stays in zip(order, alive.tolist(), strict=True) if stays]
        stays = place != worse[0]
        place, rows = place[stays], rows[stays]
