"""Numbers about a tree, for people: how sure it is, and why."""

from hornbeam.explain.intervals import interval, predict_interval
from hornbeam.explain.leaves import Leaves, leaves

__all__ = ["Leaves", "interval", "leaves", "predict_interval"]
