"""Progress through scikit-learn's callbacks (1.9 and later; silent before).

A fit is one task of a hundred subtasks: each ends when another hundredth of the rows has reached its leaf.
"""

from collections.abc import Callable
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """scikit-learn before 1.9 has no callbacks."""

    def with_callbacks(method: Any) -> Any:
        """Leave the method as it is."""
        return method


__all__ = ["CallbackSupportMixin", "Progress", "with_callbacks"]

_PARTS = 100


class Progress:
    """Tells an estimator's callbacks how far its fit has come."""

    def __init__(self, estimator: Any, n_rows: int, X: Any, y: Any) -> None:
        self._estimator = estimator
        self._n_rows = n_rows
        self._n_done = 0
        self._root: Any = None
        if hasattr(estimator, "_skl_callbacks"):
            self._root = estimator._init_callback_context(max_subtasks=_PARTS)
            self._root.call_on_fit_task_begin(estimator=estimator, X=X, y=y)

    @property
    def listener(self) -> Callable[[int], None] | None:
        """Who wants to know how many rows are settled; None if nobody does."""
        return None if self._root is None else self._advance

    def _advance(self, n_settled: int) -> None:
        for _ in range(self._n_done, min(_PARTS, n_settled * _PARTS // self._n_rows)):
            part = self._root.subcontext(task_name="rows settled")
            part.call_on_fit_task_begin(estimator=self._estimator)
            part.call_on_fit_task_end(estimator=self._estimator)
            self._n_done += 1

    def end(self, X: Any, y: Any) -> None:
        """Close the task: all rows are settled."""
        if self._root is not None:
            self._advance(self._n_rows)
            self._root.call_on_fit_task_end(estimator=self._estimator, X=X, y=y)
