"""Bayes-risk pruning (Ahmed, Rizaner and Ulusoy, PLOS ONE 13(4), 2018; Chou, 2021), made to work."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from sys import float_info
from typing import Any

import numpy as np

from hornbeam.errors import ParameterError
from hornbeam.kernels.sums import row_dots, row_sums
from hornbeam.kernels.sweep import ExpectedCosts, GivenCosts, PruneSweep, least_costs
from hornbeam.pruning.bottom_up import settled, stopped
from hornbeam.pruning.held_out import PruningRows, held_out
from hornbeam.tree.decision.costs import Costs
from hornbeam.tree.edit import collapse
from hornbeam.tree.evidence.standardised import expect_classes
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Step, Tree
from hornbeam.typing import Bools, Floats

__all__ = ["BayesRisk"]

_TOLERANCE = 1e-12
_READINGS = ("bayes", "per-example", "rate")
_METHODS = ("frontier", "sequential")


@dataclass(frozen=True, slots=True)
class BayesRisk:
    """Replace a subtree by a leaf where the leaf risks no more.

    The risk of a node is what its rows are expected to cost if all of them get the answer that is cheapest
    under the node's probabilities. Smooth the tree first, or give an `estimate`: see Notes.

    Parameters
    ----------
    costs : array-like of shape (K, K), mapping or Costs, optional
        ``costs[true][predicted]``, in the order of the tree's classes, or ``{(true, predicted): cost}``, where
        other mistakes cost 1; default: every mistake costs 1.
    table : Table or HeldOutSource, optional
        Rows that growing did not see. Their costs are compared instead of expected ones; the answers are
        still those of the tree's belief.
    reading : {"bayes", "per-example", "rate"}, default "bayes"
        What the risk of a node is. ``bayes``: the node's weight times the least expected cost. The other
        two are there for comparison: ``per-example``, as the 2021 note writes it, is the sum over the
        node's rows of the expected cost of answering by lot, in proportion to the node's probabilities;
        ``rate`` is the least expected cost, not weighted by rows, so that a subtree's is the sum of its
        leaves' rates.
    strict : bool, default False
        Keep a subtree that risks as much as its root, as the note does; by default ties go to the smaller
        tree.
    method : {"frontier", "sequential"}, default "frontier"
        ``frontier``: in compiled code, nodes of the same height side by side if there is more than one
        thread. ``sequential``: one node after the other, children first, in plain Python; the reference.
        The tree is the same.
    n_jobs : int, default 1
        Threads that share a frontier. With few classes they cost more than they save.
    estimate : Smoother, optional
        The probabilities that are judged; default: what the tree believes. The pruned tree believes what the
        given one did, so smooth it afterwards; the string ``"bayes-risk"`` of an estimator does both with its
        smoother.

    Notes
    -----
    **With raw training frequencies the literal rule never prunes.** The least expected cost of a node's
    rows is the minimum, over answers, of linear functions of the class counts: a concave and homogeneous
    function of the counts, hence never smaller for the sum of the children's counts than the sum of the
    children's values. The same holds for ``per-example`` with equal costs, ``n - sum(n_k ** 2) / n``. So
    where every row reaches a leaf "prune if the parent risks strictly less" is never true, and "no more"
    only removes splits that change no answer. ``rate`` errs on the other side: a sum of rates grows with
    the number of leaves and flattens good trees.

    With smoothed probabilities a leaf of few rows risks more than its counts show, and splits have to earn
    that. Under Laplace's estimate and equal costs this is minimum-error pruning:
    (n - n_max + K - 1) / (n + K) a row.

    A tree of S nodes takes S * K * K operations; the rounds of the frontier method are as many as the tree
    is high (`work_span`).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam import TreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = TreeClassifier("c4.4").fit(X, y).tree_
    >>> tree.n_leaves, BayesRisk()(tree).n_leaves, BayesRisk([[0, 1], [5, 0]])(tree).n_leaves
    (17, 13, 7)
    """

    costs: Any = None
    table: PruningRows | None = field(default=None, repr=False)
    reading: str = "bayes"
    strict: bool = False
    method: str = "frontier"
    n_jobs: int = 1
    estimate: Callable[[Tree], Tree] | None = None

    def __post_init__(self) -> None:
        for name, known in (("reading", _READINGS), ("method", _METHODS)):
            if getattr(self, name) not in known:
                raise ParameterError(f"{name}={getattr(self, name)!r}: expected one of {', '.join(known)}.")
        if self.n_jobs < 1:
            raise ParameterError(f"n_jobs={self.n_jobs}: expected at least 1 thread.")
        if self.costs is not None and not isinstance(self.costs, Mapping):
            object.__setattr__(
                self, "costs", self.costs if isinstance(self.costs, Costs) else Costs(self.costs)
            )

    def __call__(self, tree: Tree) -> Tree:
        """Return the pruned tree."""
        expect_classes(tree, "Bayes-risk pruning")
        judged = self._judged(tree)
        costs = self._costs_for(tree)
        step = Step.of(
            "bayes-risk",
            costs=None if self.costs is None else tuple(map(tuple, costs.tolist())),
            estimate=", ".join(map(str, judged.history[len(tree.history) :])) or None,
            reading=self.reading,
            strict=self.strict,
        )
        return collapse(tree, self._verdicts(judged, costs), step)

    def verdicts(self, tree: Tree) -> Bools:
        """Say of every node whether it risks no more as a leaf than what is kept below it.

        Returns
        -------
        bool array of shape (n_nodes,)
        """
        return self._verdicts(self._judged(tree), self._costs_for(tree))

    def _judged(self, tree: Tree) -> Tree:
        return tree if self.estimate is None else self.estimate(tree)

    def _costs_for(self, tree: Tree) -> Floats:
        return Costs.of(self.costs, tree.schema.classes).matrix

    def _verdicts(self, tree: Tree, costs: Floats) -> Bools:
        return (self._sequential if self.method == "sequential" else self._frontier)(tree, costs)

    def _counts(self, tree: Tree) -> Floats:
        """The class weights whose risk is compared."""
        return tree.evidence * tree.unit if self.table is None else held_out(tree, self.table)

    @property
    def _margin(self) -> tuple[float, float]:
        """Slack in favour of the leaf, absolute and relative; against it if a tie is to be kept."""
        return (-float_info.min, -_TOLERANCE) if self.strict else (0.0, _TOLERANCE)

    # ------------------------------------------------------------------------------- frontier by frontier

    def _frontier(self, tree: Tree, costs: Floats) -> Bools:
        slack, relative = self._margin
        shape = tree.skeleton.first_child, tree.skeleton.n_children
        settler = PruneSweep(*shape, self._risks(tree, costs), slack=slack, relative=relative)
        return settled(tree.skeleton, settler, self.n_jobs)

    def _risks(self, tree: Tree, costs: Floats) -> GivenCosts | ExpectedCosts:
        """The risk of each node as a leaf, and of rows that stop there."""
        if self.reading == "per-example":
            return self._lots(tree, costs)
        if self.reading == "bayes" and self.table is None:
            return ExpectedCosts(tree.evidence, tree.unit.item(0), tree.belief, costs)
        return self._least(tree, costs)

    def _lots(self, tree: Tree, costs: Floats) -> GivenCosts:
        """If each node answers by lot."""
        counts = self._counts(tree)
        others = costs * (1 - np.eye(len(costs)))
        lot = np.column_stack([row_dots(tree.belief, np.broadcast_to(row, counts.shape)) for row in others])
        return GivenCosts(row_dots(counts, lot), row_dots(stopped(tree.skeleton, counts), lot))

    def _least(self, tree: Tree, costs: Floats) -> GivenCosts:
        """If each answers what is cheapest: rates, or what rows of a pruning set cost."""
        rate, action = least_costs(tree.belief, costs)
        none = np.zeros(tree.n_nodes)
        if self.table is None:
            return GivenCosts(rate, none)
        counts, charged = self._counts(tree), costs.T[action]
        risk = row_dots(counts, charged)
        if self.reading == "bayes":
            return GivenCosts(risk, row_dots(stopped(tree.skeleton, counts), charged))
        total = row_sums(counts)
        return GivenCosts(np.divide(risk, total, out=np.zeros_like(risk), where=total > 0), none)

    # ------------------------------------------------------------------------------------- node after node

    def _sequential(self, tree: Tree, costs: Floats) -> Bools:
        skeleton, belief = tree.skeleton, tree.belief.tolist()
        weight, prices = self._counts(tree).tolist(), costs.tolist()
        slack, relative = self._margin
        value = [0.0] * tree.n_nodes
        cut = np.zeros(tree.n_nodes, np.bool_)
        for node in _post_order(skeleton):
            value[node] = self._risk(belief[node], weight[node], prices)
            first, n_children = skeleton.first_child.item(node), skeleton.n_children.item(node)
            if n_children:
                children = range(first, first + n_children)
                rest = [w - _add(weight[c][k] for c in children) for k, w in enumerate(weight[node])]
                staying = 0.0 if self.reading == "rate" else self._risk(belief[node], rest, prices)
                below = _add((value[child] for child in children), staying)
                cut[node] = value[node] <= below + slack + relative * abs(below)
                if not cut[node]:
                    value[node] = below
        return cut

    def _risk(self, belief: list[float], weight: list[float], costs: list[list[float]]) -> float:
        """The risk of rows of these class weights at a node of this belief."""
        classes, total = range(len(belief)), _add(weight)
        if self.reading == "per-example":
            lot = [_add(costs[i][j] * belief[j] for j in classes if j != i) for i in classes]
            return _add(weight[i] * lot[i] for i in classes)
        expected = [_add(belief[j] * costs[j][a] for j in classes) for a in classes]
        action = expected.index(min(expected))
        if self.table is None:
            return expected[action] if self.reading == "rate" else total * expected[action]
        charged = _add(weight[j] * costs[j][action] for j in classes)
        if self.reading == "rate":
            return charged / total if total > 0 else 0.0
        return charged


def _add(values: Iterable[float], start: float = 0.0) -> float:
    """Add from left to right, as compiled code does; ``sum`` makes up for rounding."""
    return reduce(add, values, start)


def _post_order(skeleton: Skeleton) -> Iterator[int]:
    """Children before their parent, from left to right."""
    first_child, n_children = skeleton.first_child.tolist(), skeleton.n_children.tolist()
    stack = [(0, False)]
    while stack:
        node, done = stack.pop()
        if done or not n_children[node]:
            yield node
            continue
        stack.append((node, True))
        stack.extend((first_child[node] + c, False) for c in reversed(range(n_children[node])))
