"""Whole fits on rows that do not fit memory, or that stay with an engine."""

from hornbeam.scale.count import HeldOutSource, count_on_all
from hornbeam.scale.fit import fit
from hornbeam.scale.plan import Plan
from hornbeam.scale.sample import draw_sample

__all__ = ["HeldOutSource", "Plan", "count_on_all", "draw_sample", "fit"]
