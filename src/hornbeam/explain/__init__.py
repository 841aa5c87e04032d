"""Numbers about a tree, for people: how sure it is, and why, and whether it is still right."""

from hornbeam.explain.intervals import interval, predict_interval
from hornbeam.explain.leaves import Leaves, leaves
from hornbeam.explain.stability import Drift, drift

__all__ = ["Drift", "Leaves", "drift", "interval", "leaves", "predict_interval"]
