"""Steps that change the shape of a tree."""

from hornbeam.pruning.collapse import Collapse
from hornbeam.pruning.pruner import Pruner

__all__ = ["Collapse", "Pruner"]
