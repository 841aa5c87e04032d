"""Trees that choose their own settings, on rows they have not seen."""

from hornbeam.tuning.calibrated import calibrate_intervals
from hornbeam.tuning.cross_validated import CrossValidated
from hornbeam.tuning.honest import Honest

__all__ = ["CrossValidated", "Honest", "calibrate_intervals"]
