"""Rows that some tree has not seen."""

import warnings
from pathlib import Path

import numpy as np

from hornbeam.typing import Bools, Floats

__all__ = ["heard_rows"]

_HERE = (str(Path(__file__).parent),)  # a warning points to who called us


def heard_rows(answers: Floats) -> Bools:
    """Say which rows have an answer out of bag; warn if not all of them have."""
    heard: Bools = ~np.isnan(answers[:, 0])
    if not heard.all():
        warnings.warn(
            f"{np.count_nonzero(~heard)} of {len(heard)} rows do not have OOB scores: every tree has seen them. Grow "
            "more trees, or draw fewer rows for each (max_samples).",
            skip_file_prefixes=_HERE,
        )
    return heard
