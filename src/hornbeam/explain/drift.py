"""Drift: compare new rows with the training rows, leaf by leaf, in number and in class rates or means."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.engine import Engine, LocalEngine
from hornbeam.data.rows import open_rows
from hornbeam.data.sources import Source
from hornbeam.explain.leaf_sums import LeafCounter, LeafSums, count_leaves, used_features
from hornbeam.export.wording import label_text, pluralise
from hornbeam.grid import Grid
from hornbeam.smoothing.interval_calibration import effective_size, node_variances
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import HasTree, single_tree
from hornbeam.tree.walk import evidence_stopping
from hornbeam.typing import Floats

_HALF = 0.5  # rows added to every leaf on both sides, so that an empty leaf keeps the index finite


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Drift:
    """Expected and found rows of each leaf, as columns; printed, a line per leaf.

    Parameters
    ----------
    classes : tuple of hashable
        The class labels; empty if the target is numeric.
    node : ndarray of intp
        Node ids of the leaves, and of the inner nodes where rows stop.
    rows : ndarray of float64
        New rows at the leaf; fractional if missing values go to every child.
    expected, found : ndarray of float64
        Share of all rows, in the evidence of the tree and among the new rows.
    psi : ndarray of float64
        Term of each leaf in the population stability index.
    psi_p_value : float
        Probability of an index as large by chance.
    predicted : ndarray of float64 of shape (n_leaves, n_classes)
        Predicted class probabilities; for a numeric target means, of shape (n_leaves, 1). Of a leaf with slopes, the
        mean prediction of its new rows.
    decided : ndarray of intp
        Position in `classes` of the predicted class; 0 for a numeric target.
    observed : ndarray of float64 of the same shape or None
        Class rates, or means, of the new rows; NaN without rows, None without labels.
    p_value : ndarray of float64 or None
        Probability of a difference as large by chance in any of the leaves, corrected for their number. NaN if there
        is nothing to compare, None without labels.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> X, y = [[0.0]] * 50 + [[1.0]] * 50, ["no"] * 50 + ["no", "yes"] * 25
    >>> clf = TreeClassifier(smoothing="laplace").fit(X, y)
    >>> clf.drift([[0.0]] * 20 + [[1.0]] * 60, ["no"] * 30 + ["yes"] * 50)
     node   rows  expected   found    psi  class  predicted  observed       p
        1     20    50.0 %  25.0 %  0.168  no         0.981     1.000   0.532
        2     60    50.0 %  75.0 %  0.099  no         0.500     0.167   0.000
    population stability index 0.267, p = 0.001
    """

    classes: tuple[Any, ...]
    node: NDArray[np.intp]
    rows: Floats
    expected: Floats
    found: Floats
    psi: Floats
    psi_p_value: float
    predicted: Floats
    decided: NDArray[np.intp]
    observed: Floats | None = None
    p_value: Floats | None = None

    def __len__(self) -> int:
        return len(self.node)

    @property
    def stability_index(self) -> float:
        """The population stability index, the sum of `psi`."""
        return float(self.psi.sum())

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns with an entry per leaf; with labels, an entry per leaf and class.

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
            "predicted": self.predicted.ravel().tolist(),
            "observed": self.observed.ravel().tolist(),
        }

    def __repr__(self) -> str:
        return f"{self.grid().text()}\n{self.summary}"

    @property
    def summary(self) -> str:
        """The population stability index and its p-value in words."""
        return f"population stability index {self.stability_index:.3f}, p = {self.psi_p_value:.3f}"

    def _repr_html_(self) -> str:
        return replace(self.grid(), note=self.summary).html()

    def grid(self) -> Grid:
        """Return a table with a row per leaf; with labels, with the rates of its predicted class, or its mean."""
        columns = {
            " node": self.node.tolist(),
            " rows": [f"{rows:.0f}" for rows in self.rows.tolist()],
            "expected": [f"{100 * share:.1f} %" for share in self.expected.tolist()],
            " found": [f"{100 * share:.1f} %" for share in self.found.tolist()],
            "  psi": [f"{psi:.3f}" for psi in self.psi.tolist()],
        }
        decided = self.decided.tolist()
        if self.observed is not None and self.p_value is not None:
            if self.classes:
                columns["class"] = [label_text(self.classes[k]) for k in decided]
            for name, values in (("predicted", self.predicted), ("observed", self.observed)):
                columns[name] = [
                    f"{values.item(at, k):{'.3f' if self.classes else '.5g'}}" for at, k in enumerate(decided)
                ]
            columns[f"{'p':>6}"] = [f"{p:.3f}" for p in self.p_value.tolist()]
        align = ">>>>><>" if "class" in columns else ">"
        return Grid("Drift", list(columns), list(zip(*columns.values(), strict=True)), align)

    def head(self, n: int) -> str:
        """Describe the index, then the leaves with the largest terms of it, in the order of their nodes.

        Parameters
        ----------
        n : int
            Maximum number of leaves.

        Returns
        -------
        str

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> drift = TreeClassifier().fit([[0], [1]] * 20, ["no", "yes"] * 20).drift([[0], [1], [1], [1]])
        >>> print(drift.head(1))
        population stability index 0.169, p = 0.432
         node   rows  expected   found    psi
            1      1    50.0 %  25.0 %  0.102
        ... 1 more leaf, with smaller terms of the index
        """
        largest = np.sort(np.argsort(-self.psi, kind="stable")[:n])
        head, *lines = self.grid().text().splitlines()
        shown = [self.summary, head, *(lines[leaf] for leaf in largest)]
        if n < len(lines):
            more = pluralise(len(lines) - n, "more leaf", "more leaves")
            shown.append(f"... {more}, with smaller terms of the index")
        return "\n".join(shown)


def drift(tree: Tree | HasTree, rows: Any, engine: Engine | None = None) -> Drift:
    """Compare rows with the evidence and the predictions of a tree, leaf by leaf.

    Parameters
    ----------
    tree : Tree, or fitted estimator of one tree
    rows : array-like or data frame like the X of `fit`, Table, path, paths or Source
        New rows, not in the evidence of the tree; with a target, class rates or means are compared too.
    engine : Engine, optional
        Reads and counts a source; default: this thread. The result does not depend on it.

    Returns
    -------
    Drift

    Notes
    -----
    The population stability index is the sum of ``(found - expected) log(found / expected)`` over the leaves, with half
    a row added to each leaf. With m leaves, N training rows and n new rows, and without any change, it is about
    ``(1 / N + 1 / n)`` times a chi-square variable of m - 1 degrees of freedom. So it is large by chance for a large
    tree and few rows. By convention, below 0.1 is a small change and above 0.25 a large one (Siddiqi, Credit Risk
    Scorecards, 2006).

    Class rates are compared by the chi-square test of two samples: the new rows, and the effective size of the
    prediction, which is estimated from rows too. Means are compared by Welch's
    test of the same samples. Holm's correction (Scandinavian Journal of Statistics 6, 1979) allows for the number of
    leaves.

    Rows are added up exactly, a partition at a time, in one pass over the columns that the tree uses. If missing values
    go to every child, whole weights are added up before, in a pass of their own.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier().fit([[0.0], [1.0]] * 20, [0, 1] * 20).tree_
    >>> drift(tree, [[0.0]] * 30 + [[1.0]] * 30)
     node   rows  expected   found    psi
        1     30    50.0 %  50.0 %  0.000
        2     30    50.0 %  50.0 %  0.000
    population stability index 0.000, p = 1.000
    """
    tree = single_tree(tree)
    engine = LocalEngine() if engine is None else engine
    source = open_rows(rows, schema=tree.schema, needed=used_features(tree), engine=engine)
    counter = LeafCounter.of(tree, source, engine)
    [sums] = engine.reduce(count_leaves, source.partitions(), (source, counter))
    return drift_of_sums(counter, sums, source)


def drift_of_sums(counter: LeafCounter, sums: LeafSums, source: Source) -> Drift:
    """Compute the drift of the rows of a source from their sums."""
    tree, new = counter.tree, counter.evidence_at_end(sums, source)
    trained = evidence_stopping(tree.skeleton, tree.weight) * tree.unit[0]
    rows = new[:, 0] if tree.is_regression else new.sum(axis=1)
    node = np.flatnonzero(tree.skeleton.is_leaf | (trained > 0) | (rows > 0))
    new, trained, rows, predicted = new[node], trained[node], rows[node], counter.mean_predictions(sums)[node]
    expected = trained / (trained.sum() or 1.0)
    found = rows / rows.sum()
    n_trained = min(trained.sum(), tree.rows[0])  # a row of large weight is still one observation
    psi, psi_p_value = _stability(expected * n_trained, rows)
    without_labels = Drift(
        tree.schema.classes, node, rows, expected, found, psi, psi_p_value, predicted, tree.decided[node]
    )
    if not sums.labelled:
        return without_labels
    observed, some, size = np.full(predicted.shape, np.nan), rows > 0, effective_size(tree)[node]
    if tree.is_regression:
        observed[some] = new[some, 1:2] / rows[some, None]
        weight = np.maximum(rows, np.finfo(float).tiny)
        new_variance = np.maximum(new[:, 2] / weight - (new[:, 1] / weight) ** 2, 0.0)
        variance = np.stack([node_variances(tree)[node], new_variance])
        p_value = _welch(predicted[:, 0] - observed[:, 0], variance, np.stack([size, rows]))
    else:
        observed[some] = new[some] / rows[some, None]
        p_value = _chi_square(predicted, size, observed, rows)
    return replace(without_labels, observed=observed, p_value=_holm(p_value))


def _stability(trained: Floats, new: Floats) -> tuple[Floats, float]:
    """Compute the terms of the population stability index, and the p-value of their sum."""
    from scipy.special import chdtrc  # loaded here, because the import takes time

    before, now = ((rows + _HALF) / (rows + _HALF).sum() for rows in (trained, new))
    psi = (now - before) * np.log(now / before)
    by_chance = 1 / max(trained.sum(), _HALF) + 1 / new.sum()
    p_value = float(chdtrc(len(psi) - 1, psi.sum() / by_chance)) if len(psi) > 1 else 1.0
    return psi, p_value


def _chi_square(one: Floats, n_one: Floats, other: Floats, n_other: Floats) -> Floats:
    """Compute the p-value of equal class rates in two samples, per leaf, from rates and numbers of rows."""
    from scipy.special import chdtrc

    tested = (n_one > 0) & (n_other > 0)
    p = np.full(len(tested), np.nan)
    one, n_one, other, n_other = one[tested], n_one[tested], other[tested], n_other[tested]
    both = n_one + n_other
    pooled = (n_one[:, None] * one + n_other[:, None] * other) / both[:, None]
    difference = np.divide((one - other) ** 2, pooled, out=np.zeros_like(one), where=pooled > 0).sum(axis=1)
    freedom = np.maximum((pooled > 0).sum(axis=1) - 1, 1)
    p[tested] = chdtrc(freedom, difference * n_one * n_other / both)
    return p


def _welch(difference: Floats, variance: Floats, size: Floats) -> Floats:
    """Compute the p-value of equal means in two samples, per leaf, by Welch's test."""
    from scipy.special import stdtr

    tested = (size > 1).all(axis=0)
    p = np.full(len(tested), np.nan)
    error = variance[:, tested] / size[:, tested]
    both = np.maximum(error.sum(axis=0), np.finfo(float).tiny)
    share = error / both  # whose squares fit a float, however large the target is
    freedom = 1 / np.maximum((share**2 / (size[:, tested] - 1)).sum(axis=0), np.finfo(float).tiny)
    p[tested] = 2 * stdtr(np.maximum(freedom, 1.0), -np.abs(difference[tested]) / np.sqrt(both))
    return p


def _holm(p: Floats) -> Floats:
    """Correct p-values for their number by Holm's method."""
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested])]
    corrected = p.copy()
    steps = p[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return corrected
