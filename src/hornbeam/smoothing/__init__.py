"""Steps that change what a tree believes."""

from hornbeam.smoothing.estimates import Laplace
from hornbeam.smoothing.hgs import HGS
from hornbeam.smoothing.monotone import Monotone
from hornbeam.smoothing.smoother import Smoother

__all__ = ["HGS", "Laplace", "Monotone", "Smoother"]
