"""From binned rows to a tree."""

from hornbeam.growing.criterion import Criterion, Missing, Nominal
from hornbeam.growing.grower import Grower
from hornbeam.growing.levelwise.pass_report import PassReport
from hornbeam.growing.recount import count_encoded

__all__ = ["Criterion", "Grower", "Missing", "Nominal", "PassReport", "count_encoded"]
