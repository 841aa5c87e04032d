"""How many threads ``n_jobs`` means."""

import os

from hornbeam.errors import ParameterError

__all__ = ["n_threads"]


def n_threads(n_jobs: int | None) -> int:
    """Translate scikit-learn's ``n_jobs``: None is 1, -1 all cores, -2 all but one.

    Examples
    --------
    >>> n_threads(None), n_threads(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ParameterError("n_jobs=0: expected None, a number of threads, or -1 for all cores.")
    return n_jobs if n_jobs > 0 else max(1, len(os.sched_getaffinity(0)) + 1 + n_jobs)
