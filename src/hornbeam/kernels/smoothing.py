"""The kernels of smoothing: several trees by borrowing, with the loss of held-out rows; a chain of an HDP."""

from typing import Any, NamedTuple

from hornbeam.kernels import _native
from hornbeam.typing import Counts, Floats, Indices

STRENGTH_NAMES = ("scale", "size", "depth", "impurity", "prior", "own")
"""Names of the strengths, in the order of the kernel."""
_SWEEPS_PER_CALL = 20  # the interpreter can be interrupted between calls


class StackedTrees:
    """Concatenated trees with their training rows and held-out rows, by class; the arrays are copied.

    `parent` is -1 for the roots; every other parent comes before its children. `held` are the held-out rows that stop
    at each node. `impurity` is the factor of the strength of that name; default: the entropy of the classes, 1 if all
    are equally frequent. The interpreter's lock is released during the calls; threads that use the same object wait for
    each other.
    """

    __slots__ = ("_trees",)

    def __init__(
        self, parent: Indices, evidence: Floats, held: Floats | None = None, impurity: Floats | None = None
    ) -> None:
        self._trees: Any = _native.StackedTrees(parent, evidence, held, impurity)

    def predict(self, strengths: Floats) -> tuple[Floats, Floats]:
        """Return the class probabilities of every node, and the rows that it borrows."""
        belief, borrowed = self._trees.probabilities(strengths)
        return belief, borrowed

    def loss(self, strengths: Floats) -> tuple[float, Floats]:
        """Return the squared loss of the held-out rows, summed over rows and classes, and its derivatives."""
        cost, slope = self._trees.loss(strengths)
        return cost, slope


class Posterior(NamedTuple):
    """Means over the recorded sweeps: probabilities, concentration and number of tables per node."""

    belief: Floats
    concentration: Floats
    tables: Floats


def sample_hdp(
    parent: Indices,
    own: Counts,
    group: Indices,
    *,
    sweeps: int,
    burn_in: int,
    seed: int,
    concentration: float,
    root_concentration: float,
    prior: tuple[float, float] | None = None,
) -> Posterior:
    """Run one chain and average its states.

    Nodes are in level order; `own` has the rows of each class that stop at each node, of shape (n, K). Nodes of one
    `group` have the same concentration; that of the root, whose base is uniform, is `root_concentration`. `burn_in` of
    the `sweeps` come before the first recorded one. The same seed, from 0 to 2**64 - 1, gives the same bits on every
    machine. `prior` has the shape (1 or more) and rate of the gamma prior of a sampled concentration, whose initial
    value is `concentration`; None keeps it fixed.
    """
    shape, rate = prior if prior is not None else (1.0, 1.0)
    chain = _native.HdpChain(
        parent, own, group, root_concentration, concentration, prior is not None, shape, rate, seed
    )
    for begin, end, record in ((0, burn_in, False), (burn_in, sweeps, True)):
        for done in range(begin, end, _SWEEPS_PER_CALL):
            chain.run(min(_SWEEPS_PER_CALL, end - done), record)
    return Posterior(*chain.means())
