"""From binned rows to a tree."""

from hornbeam.growing.criterion import Criterion, Missing, Nominal
from hornbeam.growing.grower import Grower

__all__ = ["Criterion", "Grower", "Missing", "Nominal"]
