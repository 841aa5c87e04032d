"""Pruners: steps that remove nodes from a tree.

Reading order:

- `pruner`: the protocols
- `bottom_up`: the sweep from the leaves up, sequential or in parallel
- `error_based`, `raising`: the pruning of C4.5
- `cost_complexity`: the pruning of CART
- `minimum_error`, `bayes_risk`: by expected errors or costs
- `reduced_error`: by errors on held-out rows
- `leaf_price`: by a price per leaf, or a number of leaves
"""

from hornbeam.pruning.bayes_risk import BayesRisk
from hornbeam.pruning.bottom_up import work_span
from hornbeam.pruning.cost_complexity import CostComplexity, CostComplexityPath, cost_complexity_path
from hornbeam.pruning.error_based import Collapse, ErrorBased
from hornbeam.pruning.leaf_price import LeafBudget, LeafPrice
from hornbeam.pruning.minimum_error import MinimumError
from hornbeam.pruning.pruner import NamedPruner, Pruner, RowPruner
from hornbeam.pruning.reduced_error import ReducedError

__all__ = [
    "BayesRisk",
    "Collapse",
    "CostComplexity",
    "CostComplexityPath",
    "ErrorBased",
    "LeafBudget",
    "LeafPrice",
    "MinimumError",
    "Pruner",
    "ReducedError",
    "RowPruner",
    "cost_complexity_path",
    "work_span",
]

_NAMED: tuple[type[NamedPruner], ...] = (BayesRisk, Collapse, CostComplexity, ErrorBased, MinimumError)
PRUNERS = {pruner.name: pruner for pruner in _NAMED}
"""Pruners by name. `LeafBudget`, `LeafPrice` and `ReducedError` need a number or rows, and are passed as objects."""
