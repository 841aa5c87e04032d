"""Pruners: steps that remove nodes from a tree.

Reading order:

- `pruner`: the protocols
- `bottom_up`: the sweep from the leaves up, sequential or in parallel
- `error_based`, `raising`: the pruning of C4.5
- `cost_complexity`: the pruning of CART
- `minimum_error`, `bayes_risk`: by expected errors or costs
- `reduced_error`: by errors on held-out rows
- `leaf_price`: by a price per leaf, or a number of leaves
- `registry`: all pruners by name
"""

from typing import TYPE_CHECKING, Any

from hornbeam.lazy import lazy_attribute

if TYPE_CHECKING:
    from hornbeam.pruning.bayes_risk import BayesRisk
    from hornbeam.pruning.cost_complexity import CostComplexity
    from hornbeam.pruning.error_based import Collapse, ErrorBased
    from hornbeam.pruning.leaf_price import LeafBudget, LeafPrice
    from hornbeam.pruning.minimum_error import MinimumError
    from hornbeam.pruning.pruner import Pruner, RowPruner
    from hornbeam.pruning.reduced_error import ReducedError

__all__ = [
    "BayesRisk",
    "Collapse",
    "CostComplexity",
    "ErrorBased",
    "LeafBudget",
    "LeafPrice",
    "MinimumError",
    "Pruner",
    "ReducedError",
    "RowPruner",
]

_MODULES = {
    "BayesRisk": ".bayes_risk",
    "Collapse": ".error_based",
    "CostComplexity": ".cost_complexity",
    "ErrorBased": ".error_based",
    "LeafBudget": ".leaf_price",
    "LeafPrice": ".leaf_price",
    "MinimumError": ".minimum_error",
    "Pruner": ".pruner",
    "ReducedError": ".reduced_error",
    "RowPruner": ".pruner",
}


def __getattr__(name: str) -> Any:
    return lazy_attribute(globals(), _MODULES, name)
