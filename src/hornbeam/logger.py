"""The logger of the package: plans, passes, sizes and retries, and nothing of the data."""

import logging
from collections.abc import Callable
from time import monotonic

INTERVAL = 5.0  # seconds between two lines of progress

logger = logging.getLogger("hornbeam")
logger.addHandler(logging.NullHandler())


def log_progress() -> Callable[..., None]:
    """Return a function that logs a message of progress: of level INFO once in five seconds, else DEBUG.

    Examples
    --------
    >>> log_progress()("%d of %d trees", 1, 100)
    """
    last = monotonic()

    def log(message: str, *values: object) -> None:
        nonlocal last
        due = monotonic() - last >= INTERVAL
        if due:
            last = monotonic()
        logger.log(logging.INFO if due else logging.DEBUG, message, *values)

    return log


def bytes_text(size: float) -> str:
    """Format a number of bytes.

    Examples
    --------
    >>> bytes_text(880_000_000), bytes_text(1_500_000_000)
    ('880 MB', '1.5 GB')
    """
    return f"{size / 1e9:.1f} GB" if size >= 10**9 else f"{max(1, round(size / 1e6))} MB"
