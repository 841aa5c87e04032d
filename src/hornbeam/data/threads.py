"""The number of threads that a user asks for."""

from numbers import Integral
from typing import Any

from hornbeam.errors import ParameterError, shown

_MOST_THREADS = 1_024


def n_threads(n_jobs: Any) -> int:
    """Return the number of threads for scikit-learn's ``n_jobs``: None is 1, -1 all cores, -2 all but one.

    Only cores that this process may use count, within the limits of its container.

    Examples
    --------
    >>> n_threads(None), n_threads(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, Integral) or n_jobs == 0 or int(n_jobs) > _MOST_THREADS:
        raise ParameterError(
            f"n_jobs={shown(n_jobs)}: expected None, a whole number of threads up to {_MOST_THREADS:,}, or -1 for all "
            "cores. Pass n_jobs=1 for a single one."
        )
    count = int(n_jobs)
    if count > 0:
        return count
    from joblib import cpu_count

    return max(1, int(cpu_count()) + 1 + count)
