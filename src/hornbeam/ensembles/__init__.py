"""Many trees that answer together."""

from hornbeam.ensembles.boosting.boosted_trees import BoostedTrees
from hornbeam.ensembles.boosting.early_stopping import EarlyStopping
from hornbeam.ensembles.boosting.lambdamart import LambdaLoss, Queries
from hornbeam.ensembles.boosting.losses import BinaryLogLoss, Loss, Poisson, SoftmaxLoss, SquaredError
from hornbeam.ensembles.boosting.quantile_loss import QuantileLoss
from hornbeam.ensembles.boosting.row_sampler import RowSampler
from hornbeam.ensembles.boosting.trainer import Boosting, BoostingResult
from hornbeam.ensembles.distillation.distillation import Distillation
from hornbeam.ensembles.distillation.synthetic_rows import SyntheticRows
from hornbeam.ensembles.encoded_table import EncodedTable
from hornbeam.ensembles.forest.bootstrap import Bootstrap
from hornbeam.ensembles.forest.forest import Forest
from hornbeam.ensembles.forest.out_of_bag import OutOfBag
from hornbeam.ensembles.forest.trainer import SMOOTHING_CANDIDATES, ForestResult, ForestTrainer
from hornbeam.ensembles.importance import importance
from hornbeam.ensembles.prediction import mean_prediction, sum_predictions
from hornbeam.ensembles.temperature import apply_temperature, choose_temperature

__all__ = [
    "SMOOTHING_CANDIDATES",
    "BinaryLogLoss",
    "BoostedTrees",
    "Boosting",
    "BoostingResult",
    "Bootstrap",
    "Distillation",
    "EarlyStopping",
    "EncodedTable",
    "Forest",
    "ForestResult",
    "ForestTrainer",
    "LambdaLoss",
    "Loss",
    "OutOfBag",
    "Poisson",
    "QuantileLoss",
    "Queries",
    "RowSampler",
    "SoftmaxLoss",
    "SquaredError",
    "SyntheticRows",
    "apply_temperature",
    "choose_temperature",
    "importance",
    "mean_prediction",
    "sum_predictions",
]
