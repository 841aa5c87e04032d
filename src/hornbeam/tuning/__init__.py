"""Trees that choose their own settings, on rows they have not seen."""

from hornbeam.tuning.cross_fitted import CrossFitted
from hornbeam.tuning.cross_validated import CrossValidated
from hornbeam.tuning.interval_calibration import calibrate_intervals

__all__ = ["CrossFitted", "CrossValidated", "calibrate_intervals"]
