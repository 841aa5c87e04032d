"""Bayes-risk pruning (Ahmed, Rizaner and Ulusoy, PLOS ONE 13(4), 2018; Chou, 2021), on smoothed probabilities."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from sys import float_info
from typing import Any, ClassVar, Self

import numpy as np

from hornbeam.checks import check_choice, check_flags
from hornbeam.data.rows import unpack_rows
from hornbeam.kernels.elementary import row_dots, row_sums
from hornbeam.kernels.sweep import ExpectedCosts, GivenCosts, PruneSweep, least_costs
from hornbeam.pruning.bottom_up import run_sweep, stopping_at_inner
from hornbeam.pruning.pruner import NamedPruner
from hornbeam.pruning.reduced_error import held_out_evidence
from hornbeam.tree.decision import Costs
from hornbeam.tree.edit import collapse
from hornbeam.tree.evidence.standardised import expect_classes
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.unwrap import single_tree
from hornbeam.typing import Bools, Floats

_TOLERANCE = 1e-12
_READINGS = ("bayes", "per-example", "rate")
_METHODS = ("frontier", "sequential")


@dataclass(frozen=True, slots=True)
class BayesRisk(NamedPruner):
    """Replace a subtree by a leaf where the risk of the leaf is no higher.

    The risk of a node is the expected cost of its rows if all of them get the prediction that is cheapest under the
    node's probabilities. Smooth the tree first, or pass an `estimate`: see Notes.

    Parameters
    ----------
    costs : array-like of shape (K, K), mapping or Costs, optional
        ``costs[true][predicted]``, in the order of the tree's classes, or ``{(true, predicted): cost}``, where
        other mistakes cost 1; default: every mistake costs 1.
    held_out : tuple of X and y, or of X, y and weights, optional
        Held-out rows, in any form that `fit` takes. Their costs are compared instead of expected ones; predictions are
        still those of the tree.
    reading : {"bayes", "per-example", "rate"}, default "bayes"
        Definition of the risk of a node. ``bayes``: the node's weight times the least expected cost. The other
        two are there for comparison: ``per-example``, the definition of the 2021 note, is the sum over the
        node's rows of the expected cost of a class drawn from the node's probabilities; ``rate`` is the least
        expected cost, not weighted by rows, so that the risk of a subtree is the sum of its leaves' rates.
    strict : bool, default False
        Keep a subtree whose risk equals that of its root, as the note does; by default ties go to the smaller
        tree.
    method : {"frontier", "sequential"}, default "frontier"
        ``frontier``: in compiled code, nodes of the same height in parallel on the threads of an estimator's
        `n_jobs`, in trees of 32,768 nodes or more. ``sequential``: one node after the other, children first, in plain
        Python; the reference. The tree is the same.
    estimate : Smoother, optional
        Estimates the probabilities that risks are computed from; default: the predictions of the tree. The pruned
        tree keeps the predictions of the given one, so smooth it afterwards; ``pruning="bayes-risk"`` of an estimator
        does both with its smoother.

    Notes
    -----
    The method is by Ahmed, Rizaner and Ulusoy (2018). The risk of ``per-example``, and the processing of one frontier
    after the other in parallel, are by Chou (2021).

    **With raw training frequencies the literal rule never prunes.** The least expected cost of a node's
    rows is the minimum, over predictions, of linear functions of the class counts: a concave and homogeneous
    function of the counts, hence never smaller for the sum of the children's counts than the sum of the
    children's values. The same holds for ``per-example`` with equal costs, ``n - sum(n_k ** 2) / n``. So
    where every row reaches a leaf "prune if the parent risks strictly less" is never true, and "no more"
    only removes splits that change no prediction. ``rate`` has the opposite error: a sum of rates grows with
    the number of leaves, and good subtrees are removed.

    With smoothed probabilities a leaf of few rows has a higher risk than its counts show, and a split must save more
    than that. Under Laplace's estimate and equal costs this is minimum-error pruning:
    (n - n_max + K - 1) / (n + K) per row.

    A tree of S nodes takes S * K * K operations; the frontier method has one round more than the tree is deep
    (`work_span`).

    References
    ----------
    Ahmed, Rizaner and Ulusoy (2018) :cite:p:`ahmed2018`; Chou (2021) :cite:p:`chou2021`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam import TreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = TreeClassifier("c4.4").fit(X, y).tree_
    >>> tree.n_leaves, BayesRisk()(tree).n_leaves, BayesRisk([[0, 1], [5, 0]])(tree).n_leaves
    (17, 13, 7)
    """

    name: ClassVar[str] = "bayes-risk"

    costs: Any = None
    held_out: Any = field(default=None, repr=False, compare=False)
    reading: str = "bayes"
    strict: bool = False
    method: str = "frontier"
    estimate: Callable[[Tree], Tree] | None = None
    _threads: int = field(default=1, init=False, repr=False)

    def __post_init__(self) -> None:
        check_flags(strict=self.strict)
        for name, known in (("reading", _READINGS), ("method", _METHODS)):
            check_choice(name, getattr(self, name), known)
        if self.costs is not None and not isinstance(self.costs, Mapping):
            object.__setattr__(
                self, "costs", self.costs if isinstance(self.costs, Costs) else Costs(self.costs)
            )

    @property
    def compares_frequencies(self) -> bool:
        """Whether it compares training frequencies, from which the risk of a node is never less than its leaves'."""
        raw = self.estimate is None or getattr(self.estimate, "name", None) == "raw"
        concave = self.reading == "bayes" or (self.reading == "per-example" and self.costs is None)
        return raw and concave and self.held_out is None

    def _with_threads(self, n_threads: int) -> Self:
        """Return the pruner that shares a frontier among threads; with few classes they cost more than they save."""
        pruner = replace(self)
        object.__setattr__(pruner, "_threads", n_threads)
        return pruner

    def __call__(self, tree: Tree) -> Tree:
        """Return the pruned tree."""
        tree = single_tree(tree)
        expect_classes(tree, "Bayes-risk pruning")
        estimated = self._estimated(tree)
        costs = self._costs_for(tree)
        step = Step.of(
            self.name,
            costs=None if self.costs is None else tuple(map(tuple, costs.tolist())),
            estimate=", ".join(map(str, estimated.history[len(tree.history) :])) or None,
            reading=self.reading,
            strict=self.strict,
        )
        return collapse(tree, self._cuts(estimated, costs), step)

    def cuts(self, tree: Tree) -> Bools:
        """Find the nodes whose risk as a leaf is no higher than that of their pruned subtree.

        Returns
        -------
        bool array of shape (n_nodes,)
        """
        return self._cuts(self._estimated(tree), self._costs_for(tree))

    def _estimated(self, tree: Tree) -> Tree:
        return tree if self.estimate is None else self.estimate(tree)

    def _costs_for(self, tree: Tree) -> Floats:
        return Costs.of(self.costs, tree.schema.classes).matrix

    def _cuts(self, tree: Tree, costs: Floats) -> Bools:
        return (self._sequential if self.method == "sequential" else self._frontier)(tree, costs)

    def _counts(self, tree: Tree) -> Floats:
        """Return the class weights that risks are computed from."""
        if self.held_out is None:
            return tree.evidence * tree.unit
        return held_out_evidence(tree, *unpack_rows(self.held_out, "held_out"))

    @property
    def _margin(self) -> tuple[float, float]:
        """Slack in favour of the leaf, absolute and relative; negative if `strict` keeps ties."""
        return (-float_info.min, -_TOLERANCE) if self.strict else (0.0, _TOLERANCE)

    # ------------------------------------------------------------------------------- frontier by frontier

    def _frontier(self, tree: Tree, costs: Floats) -> Bools:
        slack, relative = self._margin
        shape = tree.skeleton.first_child, tree.skeleton.n_children
        sweep = PruneSweep(*shape, self._risks(tree, costs), slack=slack, relative=relative)
        return run_sweep(tree.skeleton, sweep, self._threads)

    def _risks(self, tree: Tree, costs: Floats) -> GivenCosts | ExpectedCosts:
        """Return the risk of each node as a leaf, and of the rows that stop there."""
        if self.reading == "per-example":
            return self._random_prediction(tree, costs)
        if self.reading == "bayes" and self.held_out is None:
            return ExpectedCosts(tree.evidence, tree.unit.item(0), tree.belief, costs)
        return self._cheapest_prediction(tree, costs)

    def _random_prediction(self, tree: Tree, costs: Floats) -> GivenCosts:
        """Return the risks if each node draws its prediction from its probabilities."""
        counts = self._counts(tree)
        others = costs * (1 - np.eye(len(costs)))
        cost = np.column_stack([row_dots(tree.belief, np.broadcast_to(row, counts.shape)) for row in others])
        return GivenCosts(row_dots(counts, cost), row_dots(stopping_at_inner(tree.skeleton, counts), cost))

    def _cheapest_prediction(self, tree: Tree, costs: Floats) -> GivenCosts:
        """Return the risks if each node has its cheapest prediction: rates, or the costs of held-out rows."""
        rate, action = least_costs(tree.belief, costs)
        none = np.zeros(tree.n_nodes)
        if self.held_out is None:
            return GivenCosts(rate, none)
        counts, charged = self._counts(tree), costs.T[action]
        risk = row_dots(counts, charged)
        if self.reading == "bayes":
            return GivenCosts(risk, row_dots(stopping_at_inner(tree.skeleton, counts), charged))
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
        """Return the risk of rows of these class weights at a node of this belief."""
        classes, total = range(len(belief)), _add(weight)
        if self.reading == "per-example":
            cost = [_add(costs[i][j] * belief[j] for j in classes if j != i) for i in classes]
            return _add(weight[i] * cost[i] for i in classes)
        expected = [_add(belief[j] * costs[j][a] for j in classes) for a in classes]
        action = expected.index(min(expected))
        if self.held_out is None:
            return expected[action] if self.reading == "rate" else total * expected[action]
        charged = _add(weight[j] * costs[j][action] for j in classes)
        if self.reading == "rate":
            return charged / total if total > 0 else 0.0
        return charged


def _add(values: Iterable[float], start: float = 0.0) -> float:
    """Add from left to right, as compiled code does; ``sum`` compensates for rounding."""
    return reduce(add, values, start)


def _post_order(skeleton: Skeleton) -> Iterator[int]:
    """Iterate over all nodes, children before their parent."""
    first_child, n_children = skeleton.first_child.tolist(), skeleton.n_children.tolist()
    stack = [(0, False)]
    while stack:
        node, done = stack.pop()
        if done or not n_children[node]:
            yield node
            continue
        stack.append((node, True))
        stack.extend((first_child[node] + c, False) for c in reversed(range(n_children[node])))
