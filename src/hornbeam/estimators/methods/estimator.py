"""Base class of all estimators: documentation link, copying, pickling."""

from collections.abc import Mapping
from inspect import unwrap
from types import FunctionType
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator


class _Hidden:
    """An attribute that an estimator seems not to have."""

    def __get__(self, instance: Any, owner: type[Any]) -> Any:
        raise AttributeError("an estimator is not a dataclass")


class HornbeamEstimator(BaseEstimator):
    """Base class of all estimators: link to the documentation, copy, and state in plain values."""

    _doc_link_module = "hornbeam"
    _doc_link_template = (
        "https://hornbeam.readthedocs.io/en/latest/api/generated/hornbeam.{estimator_name}.html"
    )

    # Parameters are fields of dataclasses, but other libraries must not take an estimator for one: Dask would name
    # it by its parameters alone, whatever it learned.
    __dataclass_fields__: ClassVar[Any] = _Hidden()

    def __init_subclass__(cls, **arguments: Any) -> None:
        """Rename inherited functions: Python's message about a wrong argument begins with their qualified name."""
        super().__init_subclass__(**arguments)
        if not cls.__module__.startswith("hornbeam."):
            return
        inside = [base for base in cls.__mro__ if base.__module__.startswith("hornbeam.estimators.methods")]
        functions = [one for base in inside for one in vars(base).values() if isinstance(one, FunctionType)]
        for function in functions:
            unwrap(function).__qualname__ = function.__name__
        # A function that a subclass inherits has its name already.
        if isinstance(cls.__init__, FunctionType) and cls.__init__.__qualname__.endswith(".__init__"):
            cls.__init__.__qualname__ = cls.__name__

    def __copy__(self) -> Self:
        """Return a shallow copy, which shares the fitted attributes."""
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    def __getstate__(self) -> dict[str, Any]:
        """Return the state in plain values, which pickle and skops can store."""
        from hornbeam.estimators.persistence.state import to_plain  # imported only for pickles

        return to_plain(self, super().__getstate__())

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Restore the state that `__getstate__` returned."""
        from hornbeam.estimators.persistence.state import from_plain

        super().__setstate__(from_plain(state))
