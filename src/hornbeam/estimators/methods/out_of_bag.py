"""Rows that some tree has not seen."""

import numpy as np

from hornbeam.estimators.inputs.warning import warn
from hornbeam.typing import Bools, Floats

__all__ = ["oob_mask"]


def oob_mask(answers: Floats) -> Bools:
    """Say which rows have an answer out of bag; warn if not all of them have."""
    heard: Bools = ~np.isnan(answers[:, 0])
    if not heard.all():
        warn(
            f"{np.count_nonzero(~heard)} of {len(heard)} rows do not have OOB scores: every tree has seen them. Grow "
            "more trees, or draw fewer rows for each (max_samples)."
        )
    return heard
