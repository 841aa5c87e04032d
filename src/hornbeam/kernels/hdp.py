"""The Gibbs sampler of the hierarchical Dirichlet process of a tree."""

from typing import NamedTuple

from hornbeam._native import HdpChain
from hornbeam.typing import Counts, Floats, Indices

__all__ = ["Posterior", "sample"]

_SWEEPS_PER_CALL = 20  # the interpreter can be interrupted between calls


class Posterior(NamedTuple):
    """Means over the recorded sweeps: probabilities, concentration and number of tables per node."""

    belief: Floats
    concentration: Floats
    tables: Floats


def sample(
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
    chain = HdpChain(
        parent, own, group, root_concentration, concentration, prior is not None, shape, rate, seed
    )
    for begin, end, record in ((0, burn_in, False), (burn_in, sweeps, True)):
        for done in range(begin, end, _SWEEPS_PER_CALL):
            chain.run(min(_SWEEPS_PER_CALL, end - done), record)
    return Posterior(*chain.means())
