"""From binned rows to a tree."""

from hornbeam.growing.coded import CodedSource, MemoryRows
from hornbeam.growing.criterion import Criterion, Missing, Nominal
from hornbeam.growing.evidence import count_coded
from hornbeam.growing.grower import Grower
from hornbeam.growing.passes import Pass

__all__ = ["CodedSource", "Criterion", "Grower", "MemoryRows", "Missing", "Nominal", "Pass", "count_coded"]
