"""Many trees that answer together."""

from hornbeam.ensembles.answers import mean_answer, sum_answers
from hornbeam.ensembles.boosted import Boosted
from hornbeam.ensembles.boosting import Boosting, BoostingResult
from hornbeam.ensembles.bootstrap import Bootstrap
from hornbeam.ensembles.distillation import Distillation
from hornbeam.ensembles.drawing import Drawing
from hornbeam.ensembles.encoded import Encoded
from hornbeam.ensembles.forest import Forest
from hornbeam.ensembles.importance import importance
from hornbeam.ensembles.losses import BinaryLogLoss, Loss, Poisson, SoftmaxLoss, SquaredError
from hornbeam.ensembles.mixing import Mixing
from hornbeam.ensembles.out_of_bag import OutOfBag
from hornbeam.ensembles.planting import STRENGTHS, Planted, Planting
from hornbeam.ensembles.quantile_loss import QuantileLoss
from hornbeam.ensembles.ranking import LambdaLoss, Queries
from hornbeam.ensembles.stopping import Stopping
from hornbeam.ensembles.temperature import apply_temperature, choose_temperature

__all__ = [
    "STRENGTHS",
    "BinaryLogLoss",
    "Boosted",
    "Boosting",
    "BoostingResult",
    "Bootstrap",
    "Distillation",
    "Drawing",
    "Encoded",
    "Forest",
    "LambdaLoss",
    "Loss",
    "Mixing",
    "OutOfBag",
    "Planted",
    "Planting",
    "Poisson",
    "QuantileLoss",
    "Queries",
    "SoftmaxLoss",
    "SquaredError",
    "Stopping",
    "apply_temperature",
    "choose_temperature",
    "importance",
    "mean_answer",
    "sum_answers",
]
