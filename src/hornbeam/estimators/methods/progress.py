"""Progress of a fit for scikit-learn's callbacks (1.9 and later; before, nothing is reported).

A fit is one task with 100 subtasks. Each ends when another 1 % of the work is done: of rows in their leaf, of trees, or
of rounds.
"""

from collections.abc import Callable
from typing import Any, Self

try:
    from sklearn import callback
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:
        """Placeholder: scikit-learn before 1.9 has no callbacks."""

    def with_callbacks(method: Any) -> Any:
        """Return the method unchanged."""
        return method
else:
    CallbackSupportMixin = callback.CallbackSupportMixin  # type: ignore[misc]
    with_callbacks = callback.with_callbacks

_PARTS = 100


class Progress:
    """Context manager that reports the begin, progress and end of a fit to the estimator's callbacks."""

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any) -> None:
        self._estimator = estimator
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        self._data = {"X": X, "y": y, "metadata": metadata}
        self._n_done = 0
        self._root: Any = None

    def __enter__(self) -> Self:
        if hasattr(self._estimator, "_skl_callbacks"):
            self._root = self._estimator._init_callback_context(max_subtasks=_PARTS)
            self._root.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if self._root is None:
            return
        fitted: dict[str, Any] | None = None
        if error is None:
            self._advance(_PARTS)
            fitted = {}  # the estimator itself has all fitted attributes
        self._root.call_on_fit_task_end(
            estimator=self._estimator, reconstruction_attributes=fitted, **self._data
        )

    def listener(self, n_total: int) -> Callable[[int], None] | None:
        """Return a callback for the number of rows, trees or rounds done; None if there are no callbacks."""
        if self._root is None:
            return None
        return lambda n_done: self._advance(min(_PARTS, n_done * _PARTS // n_total))

    def _advance(self, parts: int) -> None:
        while self._n_done < parts:
            self._n_done += 1
            part = self._root.subcontext(task_name="rows done")
            part.call_on_fit_task_begin(estimator=self._estimator)
            part.call_on_fit_task_end(estimator=self._estimator)
