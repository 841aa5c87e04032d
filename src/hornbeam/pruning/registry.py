"""The pruners of Hornbeam by name. A new one is a class, and its line in `PRUNERS`."""

from hornbeam.pruning.bayes_risk import BayesRisk
from hornbeam.pruning.cost_complexity import CostComplexity
from hornbeam.pruning.error_based import Collapse, ErrorBased
from hornbeam.pruning.minimum_error import MinimumError
from hornbeam.pruning.pruner import NamedPruner

_NAMED: tuple[type[NamedPruner], ...] = (BayesRisk, Collapse, CostComplexity, ErrorBased, MinimumError)
PRUNERS = {pruner.name: pruner for pruner in _NAMED}
"""`LeafBudget`, `LeafPrice` and `ReducedError` need a number or rows, and are passed as objects."""
