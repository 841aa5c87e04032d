"""Drift: compare new rows with the training rows, leaf by leaf, in number and in class rates or means."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.checks import check_whole
from hornbeam.data.engine import Engine, resolve_engine
from hornbeam.data.rows import open_rows
from hornbeam.data.sources import Source
from hornbeam.explain.leaf_sums import LeafCounter, LeafSums, count_leaves, used_features
from hornbeam.grid import Grid, Result, by_class
from hornbeam.smoothing.interval_calibration import effective_size, node_variances
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import evidence_stopping
from hornbeam.tree.words import label_text, pluralise
from hornbeam.typing import Floats

_HALF = 0.5  # rows added to every leaf on both sides, so that an empty leaf keeps the index finite


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Drift(Result[dict[str, Any]]):
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
    probability : ndarray of float64 of shape (n_leaves, n_classes)
        Predicted class probabilities; for a numeric target means, of shape (n_leaves, 1). With slopes, the
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
    probability: Floats
    decided: NDArray[np.intp]
    observed: Floats | None = None
    p_value: Floats | None = None

    @property
    def stability_index(self) -> float:
        """The population stability index, the sum of `psi`."""
        return float(self.psi.sum())

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns with a value per leaf.

        With labels also ``prediction``, the predicted class, and ``p_<class>`` and ``observed_<class>`` of each class;
        for a numeric target ``prediction`` is the mean, beside ``observed``.

        Examples
        --------
        >>> from hornbeam import TreeClassifier
        >>> drift = TreeClassifier().fit([[0], [1]] * 20, ["no", "yes"] * 20).drift([[0], [1], [1], [1]])
        >>> drift.to_frame().round(2)
           node  rows  expected  found   psi
        0     1   1.0       0.5   0.25  0.10
        1     2   3.0       0.5   0.75  0.07
        """
        columns = {
            name: getattr(self, name).tolist() for name in ("node", "rows", "expected", "found", "psi")
        }
        if self.observed is None or self.p_value is None:
            return columns
        columns["p_value"] = self.p_value.tolist()
        columns["prediction"] = self.probability[:, 0].tolist()
        if self.classes:
            columns["prediction"] = [self.classes[k] for k in self.decided.tolist()]
            columns |= by_class("p", self.classes, self.probability)
        return columns | by_class("observed", self.classes, self.observed)

    @property
    def summary(self) -> str:
        """The population stability index and its p-value in words."""
        return f"population stability index {self.stability_index:.3f}, p = {self.psi_p_value:.3f}"

    def _grid(self) -> Grid:
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
            for name, values in (("predicted", self.probability), ("observed", self.observed)):
                columns[name] = [
                    f"{values.item(at, k):{'.3f' if self.classes else '.5g'}}" for at, k in enumerate(decided)
                ]
            columns[f"{'p':>6}"] = [f"{p:.3f}" for p in self.p_value.tolist()]
        align = ">>>>><>" if "class" in columns else ">"
        return Grid("Drift", list(columns), list(zip(*columns.values(), strict=True)), align, self.summary)

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
        check_whole("n", n, 0)
        largest = np.sort(np.argsort(-self.psi, kind="stable")[:n])
        head, *lines = replace(self._grid(), note="").text().splitlines()
        shown = [self.summary, head, *(lines[leaf] for leaf in largest)]
        if n < len(lines):
            more = pluralise(len(lines) - n, "more leaf", "more leaves")
            shown.append(f"... {more}, with smaller terms of the index")
        return "\n".join(shown)


def drift(tree: Tree, rows: Any, engine: Engine | None = None) -> Drift:
    """Compare rows with the evidence and the predictions of a tree, leaf by leaf (`TreeClassifier.drift`)."""
    engine = resolve_engine(engine)
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
