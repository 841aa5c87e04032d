"""Hierarchical Dirichlet process smoothing (Petitjean, Buntine, Webb, Zaidi, Machine Learning 107, 2018)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np

from hornbeam.checks import check_number, check_whole
from hornbeam.errors import ParameterError, shown
from hornbeam.kernels.smoothing import Posterior, sample_hdp
from hornbeam.smoothing.smoother import NamedSmoother, all_from_one
from hornbeam.tree.edit import with_belief
from hornbeam.tree.evidence.standardised import expect_classes
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.unwrap import single_tree
from hornbeam.tree.walk import depths, evidence_stopping
from hornbeam.typing import Counts, Floats, Indices

_MOST_ROWS = 10_000_000  # of a class at a node: the table of ratios takes seconds to reach that far
_MOST_CONCENTRATION = 1e6  # beyond it products of 21 ratios may overflow
_MOST_SWEEPS = 1_000_000  # a thousand are enough; a million take seconds even on a small tree
_SHAPE = 2.0  # of the gamma prior of a concentration, whose mean is 2 / K: as in the authors' program


class Tying(StrEnum):
    """Which nodes share a concentration: all, those of a level, those of a parent, or none of them."""

    SINGLE = "single"
    LEVEL = "level"
    PARENT = "parent"
    NONE = "none"

    def groups(self, skeleton: Skeleton) -> Indices:
        """Return the group of each node; the group of the root has no meaning.

        Examples
        --------
        >>> import numpy as np
        >>> skeleton = Skeleton.of([2, 2, 0, 0, 0], [0, 0, -1, -1, -1], [1.0, 0.5, np.nan, np.nan, np.nan])
        >>> for tying in Tying:
        ...     print(tying, tying.groups(skeleton)[1:].tolist())
        single [0, 0, 0, 0]
        level [0, 0, 1, 1]
        parent [0, 0, 1, 1]
        none [0, 1, 2, 3]
        """
        n = skeleton.n_nodes
        match self:
            case Tying.SINGLE:
                group = np.zeros(n, np.int32)
            case Tying.LEVEL:
                group = depths(skeleton) - np.int32(1)
            case Tying.PARENT:
                group = np.cumsum(~skeleton.is_leaf, dtype=np.int32)[skeleton.parent] - np.int32(1)
            case Tying.NONE:
                group = np.arange(-1, n - 1, dtype=np.int32)
        group[0] = 0
        return group


@dataclass(frozen=True, slots=True)
class HDP(NamedSmoother):
    """Posterior mean of a hierarchical Dirichlet process over the tree, by Gibbs sampling.

    Parameters
    ----------
    sweeps : int, default 1000
        Sweeps over the tree, at most 1,000,000.
    burn_in : int, default 100
        First sweeps, which are left out of the mean.
    tying : {"single", "level", "parent", "none"}, default "single"
        Which nodes share a concentration: all, those of a level, those of a parent, or none of them.
    concentration : float or None, default None
        Rows that each node borrows from its parent. None: sampled too, from a gamma prior of mean 2/K.
    root_concentration : float, default 2.0
        Rows that the root borrows from the uniform distribution.
    random_state : int, default 0
        The seed. The same one gives the same bits on every machine.

    Notes
    -----
    "Accurate parameter estimation for Bayesian network classifiers using hierarchical Dirichlet processes"
    (doi 10.1007/s10994-018-5718-0), equation 3 averaged over Gibbs sweeps; applied
    to trees in the HGS paper. Rows count where they stop, so the rows below an inner node enter it through their
    tables alone. The root, whose base is discrete, is integrated out exactly. For a class with more than 21 possible
    numbers of tables the number is sampled from a window of 21. The window is placed at random, so that the chain
    keeps its target distribution (windows centred on the present number, as in the authors' program, change it).
    A class has at most 2,047 tables at a node.

    ``borrowed`` is the mean concentration of each node.

    References
    ----------
    Zhang, Petitjean and Buntine (2020) :cite:p:`zhang2020`; Petitjean, Buntine, Webb and Zaidi (2018)
    :cite:p:`petitjean2018`; Teh, Jordan, Beal and Blei (2006) :cite:p:`teh2006`.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier(preset="cart").fit([[0], [1], [2]], [0, 1, 1]).tree_
    >>> HDP(sweeps=20_000)(tree).belief.round(1).tolist()
    [[0.5, 0.5], [0.8, 0.2], [0.1, 0.9]]
    """

    name: ClassVar[str] = "hdp"

    sweeps: int = 1000
    burn_in: int = 100
    tying: Tying = Tying.SINGLE
    concentration: float | None = None
    root_concentration: float = 2.0
    random_state: int = 0

    def __post_init__(self) -> None:
        tying: Any = self.tying
        if not isinstance(tying, str) or tying not in list(Tying):
            known = ", ".join(repr(str(tying)) for tying in Tying)
            raise ParameterError(f"tying={shown(self.tying)}: expected one of {known}.")
        object.__setattr__(self, "tying", Tying(self.tying))
        check_whole("sweeps", self.sweeps, 1, _MOST_SWEEPS)
        check_whole("burn_in", self.burn_in, 0, _MOST_SWEEPS)
        check_whole("random_state", self.random_state, 0, 2**64 - 1)
        if self.burn_in >= self.sweeps:
            raise ParameterError(
                f"burn_in={self.burn_in}, sweeps={self.sweeps}: expected sweeps after the burn-in."
            )
        for name in ("concentration", "root_concentration"):
            value = getattr(self, name)
            if value is not None or name == "root_concentration":
                check_number(name, value, 0, _MOST_CONCENTRATION, above=True)

    def __call__(self, tree: Tree) -> Tree:
        """Return the smoothed tree."""
        tree = single_tree(tree)
        expect_classes(tree, "HDP smoothing")
        posterior = self.sample(tree)
        belief = posterior.belief / posterior.belief.sum(axis=1, keepdims=True)
        settings = {name: getattr(self, name) for name in self.__slots__} | {"tying": str(self.tying)}
        return with_belief(tree, belief, posterior.concentration, Step.of(self.name, **settings))

    def pseudo_counts(self, tree: Tree, path: Sequence[int]) -> Floats:
        """All pseudo-counts are from the parent; they have its smoothed distribution."""
        return all_from_one(tree, path, -1)

    def sample(self, tree: Tree) -> Posterior:
        """Run the chain and return the means of belief, concentration and number of tables per node."""
        fixed = self.concentration
        return sample_hdp(
            tree.skeleton.parent,
            evidence_stopping(tree.skeleton, _whole_rows(tree)),
            self.tying.groups(tree.skeleton),
            sweeps=self.sweeps,
            burn_in=self.burn_in,
            seed=self.random_state,
            concentration=_SHAPE / tree.n_classes if fixed is None else fixed,
            root_concentration=self.root_concentration,
            prior=(_SHAPE, float(tree.n_classes)) if fixed is None else None,
        )


def _whole_rows(tree: Tree) -> Counts:
    weight = tree.evidence * tree.unit
    if weight.max() > _MOST_ROWS:
        raise ParameterError(
            f"a node has {weight.max():.3g} rows of a class, expected at most {_MOST_ROWS} for the HDP: "
            "with that many rows sampling has no advantage; smooth with HGS."
        )
    rows: Counts = np.rint(weight).astype(np.int64)
    if (rows != weight).any():
        raise ParameterError(
            f"the tree's evidence has fractions of rows (one step is worth {tree.unit[0]}), expected whole rows: "
            "fit with whole weights and missing='own' or 'learned', or smooth with HGS or MBranch."
        )
    return rows
