"""Progress through scikit-learn's callbacks (1.9 and later; silent before).

A fit is one task of a hundred subtasks: each ends when another hundredth of the work is done, of rows that have reached
their leaf, of trees or of rounds.
"""

from collections.abc import Callable
from typing import Any, Self

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
    """Tells an estimator's callbacks that a fit begins, how far it is, and that it ends, well or not."""

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
            fitted = {}  # nothing to add: the estimator itself can answer
        self._root.call_on_fit_task_end(
            estimator=self._estimator, reconstruction_attributes=fitted, **self._data
        )

    def listener(self, n_all: int) -> Callable[[int], None] | None:
        """Who wants to know how many of all rows, trees or rounds are done; None if nobody does."""
        if self._root is None:
            return None
        return lambda n_done: self._advance(min(_PARTS, n_done * _PARTS // n_all))

    def _advance(self, parts: int) -> None:
        while self._n_done < parts:
            self._n_done += 1
            part = self._root.subcontext(task_name="rows settled")
            part.call_on_fit_task_begin(estimator=self._estimator)
            part.call_on_fit_task_end(estimator=self._estimator)
