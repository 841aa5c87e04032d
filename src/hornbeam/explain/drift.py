"""Drift: whether as many rows come to each leaf as before, and of the same classes, or the same mean."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.table import Table
from hornbeam.explain.notebook import drift_html
from hornbeam.smoothing.interval_calibration import effective_size
from hornbeam.smoothing.node_variance import node_variances
from hornbeam.tree.edit import count_evidence, sharing_unit
from hornbeam.tree.evidence.numeric import numeric_evidence_at, numeric_units
from hornbeam.tree.route import route
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import evidence_stopping
from hornbeam.typing import Floats

__all__ = ["Drift", "drift"]

_HALF = 0.5  # a row, added to every leaf on both sides: an empty one makes no infinite index


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Drift:
    """Leaves of a tree, who was expected there and who came, as columns; printed, a line each.

    Parameters
    ----------
    classes : tuple of hashable
        The class labels; empty where the target is numeric.
    node : ndarray of intp
        The leaves, and the inner nodes where rows stop, by their ids in the tree.
    rows : ndarray of float64
        Rows that came; parts of rows where missing values go to every child.
    expected, found : ndarray of float64
        Shares of all rows: of the tree's evidence, and of the rows that came.
    psi : ndarray of float64
        What each leaf adds to the population stability index.
    psi_p_value : float
        How often chance alone would make so large an index.
    believed : ndarray of float64 of shape (n_leaves, n_classes)
        Class rates, as the tree believes; of a numeric target means, of shape (n_leaves, 1).
    decided : ndarray of intp
        The class that each leaf decides for, by its position in `classes`; 0 of a numeric target.
    observed : ndarray of float64 of the same shape or None
        The same of the rows that came; NaN where none did, None without labels.
    p_value : ndarray of float64 or None
        How often chance alone would put rates so far apart in any of the leaves: corrected for their number.
        NaN where there is nothing to compare, None without labels.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> X, y = [[0.0]] * 50 + [[1.0]] * 50, ["no"] * 50 + ["no", "yes"] * 25
    >>> clf = TreeClassifier(smoothing="laplace").fit(X, y)
    >>> clf.drift([[0.0]] * 20 + [[1.0]] * 60, ["no"] * 30 + ["yes"] * 50)
     node   rows  expected   found    psi  class  believed  observed       p
        1     20    50.0 %  25.0 %  0.168  no        0.981     1.000   0.532
        2     60    50.0 %  75.0 %  0.099  no        0.500     0.167   0.000
    population stability index 0.267, p = 0.001
    """

    classes: tuple[Any, ...]
    node: NDArray[np.intp]
    rows: Floats
    expected: Floats
    found: Floats
    psi: Floats
    psi_p_value: float
    believed: Floats
    decided: NDArray[np.intp]
    observed: Floats | None = None
    p_value: Floats | None = None

    def __len__(self) -> int:
        return len(self.node)

    @property
    def stability_index(self) -> float:
        """The population stability index: the sum of what the leaves add to it."""
        return float(self.psi.sum())

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns with an entry for each leaf, or with labels for each leaf and class.

        Examples
        --------
        >>> import pandas as pd
        >>> from hornbeam import TreeClassifier
        >>> drift = TreeClassifier().fit([[0], [1]] * 20, ["no", "yes"] * 20).drift([[0], [1], [1], [1]])
        >>> pd.DataFrame(drift.to_dict()).round(2)
           node  rows  expected  found   psi
        0     1   1.0       0.5   0.25  0.10
        1     2   3.0       0.5   0.75  0.07
        """
        leaf = {name: getattr(self, name) for name in ("node", "rows", "expected", "found", "psi")}
        if self.observed is None:
            return {name: column.tolist() for name, column in leaf.items()}
        leaf["p_value"] = self.p_value
        k = len(self.classes) or 1
        named = {"class": list(self.classes) * len(self)} if self.classes else {}
        return {
            **{name: np.repeat(column, k).tolist() for name, column in leaf.items()},
            **named,
            "believed": self.believed.ravel().tolist(),
            "observed": self.observed.ravel().tolist(),
        }

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        return drift_html(self)

    def _lines(self) -> Iterator[str]:
        """Write each leaf, with labels the rates of the class it decides for, or its mean."""
        names = [f"{label!s}  " for label in self.classes] or [""]
        width = max(len("class  "), *map(len, names)) if self.classes else 0
        head = " node   rows  expected   found    psi"
        named = f"{'class'[:width]:<{width}}"
        yield head if self.p_value is None else f"{head}  {named}believed  observed       p"
        for i, k in enumerate(self.decided.tolist()):
            shares = f"{100 * self.expected[i]:>6.1f} %  {100 * self.found[i]:>4.1f} %  {self.psi[i]:.3f}"
            line = f"{self.node[i]:>5} {self.rows[i]:>6.0f}  {shares}"
            if self.observed is not None and self.p_value is not None:
                digits = ".3f" if self.classes else ".5g"
                rates = f"{self.believed[i, k]:>8{digits}}  {self.observed[i, k]:>8{digits}}"
                line = f"{line}  {names[k]:<{width}}{rates}  {self.p_value[i]:>6.3f}"
            yield line
        yield f"population stability index {self.stability_index:.3f}, p = {self.psi_p_value:.3f}"


def drift(tree: Tree, table: Table) -> Drift:
    """Compare rows with the evidence and the beliefs of a tree, leaf by leaf.

    Parameters
    ----------
    tree : Tree
    table : Table
        Rows the tree has not counted; with a target, their classes or means are compared too.

    Returns
    -------
    Drift

    Notes
    -----
    The population stability index adds up ``(found - expected) log(found / expected)`` over the leaves,
    half a row being added to each. With m leaves, N rows counted and n found, it is about
    ``(1 / N + 1 / n)`` times a chi-square of m - 1 degrees of freedom where nothing has changed, so a large
    tree and few rows make a large one of nothing. By custom below 0.1 is little and above 0.25 much (Siddiqi,
    Credit Risk Scorecards, 2006).

    Class rates are compared by the chi-square test of two samples: the rows that came, and as many as speak
    for what the tree believes (`hornbeam.smoothing.effective_size`), for that is known from rows too; means by
    Welch's test of the same. Of several leaves some look odd by chance; Holm's correction (Scandinavian Journal
    of Statistics 6, 1979) allows for it.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier().fit([[0.0], [1.0]] * 20, [0, 1] * 20).tree_
    >>> drift(tree, Table.read([[0.0]] * 30 + [[1.0]] * 30, schema=tree.schema))
     node   rows  expected   found    psi
        1     30    50.0 %  50.0 %  0.000
        2     30    50.0 %  50.0 %  0.000
    population stability index 0.000, p = 1.000
    """
    came = _stops(tree, table)
    counted = evidence_stopping(tree.skeleton, tree.weight) * tree.unit[0]
    rows = came[:, 0] if tree.is_regression else came.sum(axis=1)
    node = np.flatnonzero(tree.skeleton.is_leaf | (counted > 0) | (rows > 0))
    came, counted, rows, believed = came[node], counted[node], rows[node], tree.belief[node]
    expected = counted / (counted.sum() or 1.0)
    found = rows / rows.sum()
    n_counted = min(counted.sum(), tree.rows[0])  # a heavy row is one observation all the same
    psi, psi_p_value = _stability(expected * n_counted, rows)
    shares = Drift(
        tree.schema.classes, node, rows, expected, found, psi, psi_p_value, believed, tree.decided[node]
    )
    if table.target is None and table.numeric_target is None:
        return shares
    observed, some, size = np.full(believed.shape, np.nan), rows > 0, effective_size(tree)[node]
    if tree.is_regression:
        observed[some] = came[some, 1:2] / rows[some, None]
        weight = np.maximum(rows, np.finfo(float).tiny)
        apart = np.maximum(came[:, 2] / weight - (came[:, 1] / weight) ** 2, 0.0)
        spread = np.stack([node_variances(tree)[node], apart])
        p_value = _two_means(believed[:, 0] - observed[:, 0], spread, np.stack([size, rows]))
    else:
        observed[some] = came[some] / rows[some, None]
        p_value = _two_samples(believed, size, observed, rows)
    return replace(shares, observed=observed, p_value=_holm(p_value))


def _stops(tree: Tree, table: Table) -> Floats:
    """Count the rows of each class that stop at each node, or add up their numbers; without labels all are alike."""
    if tree.is_regression:
        measured = table.numeric_target or NumericTarget.of(np.zeros(table.n_rows), table.weight, table.unit)
        own, _ = numeric_evidence_at(route(tree.skeleton, table), table, measured, tree.n_nodes)
        return own * numeric_units(measured, table.unit)
    if table.target is None:
        table = replace(table, target=np.zeros(table.n_rows, np.int32))
    unit = sharing_unit(tree.skeleton, table)
    evidence, _ = count_evidence(tree.skeleton, table, unit, np.einsum("ij->i", tree.evidence))
    return np.multiply(evidence_stopping(tree.skeleton, evidence), unit)


def _stability(counted: Floats, found: Floats) -> tuple[Floats, float]:
    """Compute what each leaf adds to the population stability index, and the p-value of the sum."""
    from scipy.special import chdtrc  # costs a moment to load: only for those who ask

    before, now = ((rows + _HALF) / (rows + _HALF).sum() for rows in (counted, found))
    psi = (now - before) * np.log(now / before)
    by_chance = 1 / max(counted.sum(), _HALF) + 1 / found.sum()
    p_value = float(chdtrc(len(psi) - 1, psi.sum() / by_chance)) if len(psi) > 1 else 1.0
    return psi, p_value


def _two_samples(one: Floats, n_one: Floats, other: Floats, n_other: Floats) -> Floats:
    """Test for each leaf whether two samples, of such rates and so many rows, are of the same classes."""
    from scipy.special import chdtrc

    tested = (n_one > 0) & (n_other > 0)
    p = np.full(len(tested), np.nan)
    one, n_one, other, n_other = one[tested], n_one[tested], other[tested], n_other[tested]
    both = n_one + n_other
    pooled = (n_one[:, None] * one + n_other[:, None] * other) / both[:, None]
    apart = np.divide((one - other) ** 2, pooled, out=np.zeros_like(one), where=pooled > 0).sum(axis=1)
    freedom = np.maximum((pooled > 0).sum(axis=1) - 1, 1)
    p[tested] = chdtrc(freedom, apart * n_one * n_other / both)
    return p


def _two_means(apart: Floats, spread: Floats, size: Floats) -> Floats:
    """Test for each leaf whether two samples, of such variances and sizes, have means so far apart (Welch)."""
    from scipy.special import stdtr

    tested = (size > 1).all(axis=0)
    p = np.full(len(tested), np.nan)
    error = spread[:, tested] / size[:, tested]
    both = np.maximum(error.sum(axis=0), np.finfo(float).tiny)
    freedom = both**2 / np.maximum((error**2 / (size[:, tested] - 1)).sum(axis=0), np.finfo(float).tiny)
    p[tested] = 2 * stdtr(np.maximum(freedom, 1.0), -np.abs(apart[tested]) / np.sqrt(both))
    return p


def _holm(p: Floats) -> Floats:
    """Correct p-values for their number, step by step from the smallest (Holm)."""
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested])]
    corrected = p.copy()
    steps = p[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return corrected
