"""Many trees that answer together."""

from hornbeam.ensembles.answers import mean_answer, sum_answers
from hornbeam.ensembles.bootstrap import Bootstrap
from hornbeam.ensembles.encoded import Encoded
from hornbeam.ensembles.forest import Forest
from hornbeam.ensembles.importance import importance
from hornbeam.ensembles.out_of_bag import OutOfBag
from hornbeam.ensembles.planting import STRENGTHS, Planted, Planting

__all__ = [
    "STRENGTHS",
    "Bootstrap",
    "Encoded",
    "Forest",
    "OutOfBag",
    "Planted",
    "Planting",
    "importance",
    "mean_answer",
    "sum_answers",
]
