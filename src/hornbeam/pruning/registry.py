"""The pruners of Hornbeam by name. A new one is a class, and its line in `PRUNERS`."""

from collections.abc import Callable
from functools import partial

from hornbeam.pruning.bayes_risk import BayesRisk
from hornbeam.pruning.cost_complexity import CostComplexity
from hornbeam.pruning.error_based import Collapse, ErrorBased
from hornbeam.pruning.minimum_error import MinimumError
from hornbeam.pruning.pruner import NamedPruner

_NAMED: tuple[type[NamedPruner], ...] = (BayesRisk, Collapse, CostComplexity, ErrorBased, MinimumError)
PRUNERS = {pruner.name: pruner for pruner in _NAMED}
"""`LeafBudget`, `LeafPrice` and `ReducedError` need a number or rows, and are passed as objects."""

PUBLISHED: dict[str, Callable[[], NamedPruner]] = {
    "bayes-risk-note": partial(BayesRisk, reading="per-example", strict=True)
}
"""Pruners with the settings of their paper, by a name of their own; the history has the name of the pruner."""
