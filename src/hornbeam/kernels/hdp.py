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

    Parameters
    ----------
    parent : int32 array of shape (n,)
        In level order.
    own : int64 array of shape (n, K)
        Rows of each class that stop at each node.
    group : int32 array of shape (n,)
        Nodes of one group have the same concentration; the root's entry is ignored.
    sweeps, burn_in : int
        Total number of sweeps, and how many of them come before the first recorded one.
    seed : int
        From 0 to 2**64 - 1. The same seed gives the same bits on every machine.
    concentration : float
        Concentration of every node but the root; the initial value if it is sampled.
    root_concentration : float
        Concentration of the root, whose base is uniform.
    prior : (float, float), optional
        Shape (1 or more) and rate of the gamma prior of a sampled concentration; None keeps it fixed.

    Examples
    --------
    >>> import numpy as np
    >>> parent, own = np.array([-1, 0, 0], np.int32), np.array([[0, 0], [3, 0], [1, 2]])
    >>> settings = {"sweeps": 20_000, "burn_in": 100, "concentration": 1.0, "root_concentration": 2.0}
    >>> sample(parent, own, np.zeros(3, np.int32), seed=1, **settings).belief[:, 0].round(2).tolist()
    [0.61, 0.9, 0.4]
    """
    shape, rate = prior if prior is not None else (1.0, 1.0)
    chain = HdpChain(
        parent, own, group, root_concentration, concentration, prior is not None, shape, rate, seed
    )
    for begin, end, record in ((0, burn_in, False), (burn_in, sweeps, True)):
        for done in range(begin, end, _SWEEPS_PER_CALL):
            chain.run(min(_SWEEPS_PER_CALL, end - done), record)
    return Posterior(*chain.means())
