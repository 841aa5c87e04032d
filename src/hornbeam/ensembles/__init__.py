"""Ensembles: random forests, gradient boosting, and distillation into one tree.

1. `prediction`: ordered parallel map over threads; votes, sums and means of tree predictions.
2. `temperature`: temperature scaling of class probabilities.
3. `canonical_rows`: encoded rows in canonical order.
4. `forest/`: random forests.
5. `boosting/`: gradient boosting.
6. `adaboost`: trees that vote with weights.
7. `distillation/`: one tree fitted to the predictions of a teacher.
"""

from hornbeam.ensembles.adaboost import VotingTrees
from hornbeam.ensembles.boosting.boosted_trees import BoostedTrees
from hornbeam.ensembles.boosting.losses import Loss, Poisson, SquaredError
from hornbeam.ensembles.boosting.quantile_loss import QuantileLoss
from hornbeam.ensembles.forest.forest import Forest

__all__ = [
    "BoostedTrees",
    "Forest",
    "Loss",
    "Poisson",
    "QuantileLoss",
    "SquaredError",
    "VotingTrees",
]
