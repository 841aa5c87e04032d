"""Stub until the cache is merged."""
from dataclasses import dataclass
from typing import Any
import numpy as np
from hornbeam.kernels.subtree import Rows

@dataclass(frozen=True)
class EncodedSource:
    source: Any
    bins: Any
    def units(self):
        return self.source.units()
    def read(self, unit):
        t = self.source.read(unit)
        return Rows(self.bins.encode(t), t.target.astype(np.uint16), t.weight)

class CodedCache:
    @classmethod
    def write(cls, source, bins, folder, engine):
        return EncodedSource(source, bins)
