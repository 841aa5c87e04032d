"""Locks: only one thread at a time may fit or update an estimator.

A lock belongs to the object and not to its state: copies, clones and pickles have their own lock.
"""

import os
from collections.abc import Callable
from functools import wraps
from threading import Lock, RLock
from typing import Any
from weakref import finalize

from hornbeam.errors import BusyError

_TABLE_LOCK = Lock()
_LOCKS: dict[int, Any] = {}  # from the id of an estimator to its RLock

if hasattr(os, "register_at_fork"):  # a child process has no thread to release them

    def _forget_locks() -> None:
        global _TABLE_LOCK  # noqa: PLW0603 (the old one may stay locked for ever)
        _TABLE_LOCK = Lock()
        _LOCKS.clear()

    os.register_at_fork(after_in_child=_forget_locks)


def _lock(estimator: Any) -> Any:
    with _TABLE_LOCK:
        key = id(estimator)  # estimators may compare equal, or have no hash
        if key not in _LOCKS:
            _LOCKS[key] = RLock()
            finalize(estimator, _LOCKS.pop, key, None)
        return _LOCKS[key]


def exclusive[Method: Callable[..., Any]](method: Method) -> Method:
    """Let a method raise `BusyError` while another thread fits or updates the same estimator."""

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        lock = _lock(self)
        if not lock.acquire(blocking=False):
            name = type(self).__name__
            raise BusyError(
                f"Another thread fits or updates this {name}; expected one at a time. Fit a copy, "
                "sklearn.base.clone(estimator), in each thread, or wait until the other is done."
            )
        try:
            return method(self, *args, **kwargs)
        finally:
            lock.release()

    return call  # type: ignore[return-value]


def serialised[Method: Callable[..., Any]](method: Method) -> Method:
    """Let a method wait until no other thread fits or updates the same estimator."""

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        with _lock(self):
            return method(self, *args, **kwargs)

    return call  # type: ignore[return-value]
