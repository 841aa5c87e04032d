"""Refits of an estimator on halves of its rows, or with other seeds alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.hashes import value_hash
from hornbeam.data.labels import read_labels
from hornbeam.data.numeric_target import read_numeric_target
from hornbeam.data.reading.frame import take_rows
from hornbeam.data.row_order import target_bits
from hornbeam.data.schema import Kind
from hornbeam.data.table import Table
from hornbeam.ensembles.prediction import parallel_map
from hornbeam.errors import DataError, ParameterError
from hornbeam.typing import Bools

type _Rows = NDArray[np.intp]


def fitted(estimator: Any, X: Any, y: Any, **rows: Any) -> Any:
    """Return an estimator that is fitted already, or else a copy that is fitted to these rows."""
    if isinstance(estimator, type) or not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise ParameterError(
            f"estimator is a {type(estimator).__name__} without fit and get_params; expected an estimator with the "
            "interface of scikit-learn. Pass the estimator that was fitted, not its tree."
        )
    return estimator if is_fitted(estimator) else _fit(_copy(estimator), X, y, rows)


def is_fitted(estimator: Any) -> bool:
    """Whether an estimator is fitted, as scikit-learn finds out."""
    told = getattr(estimator, "__sklearn_is_fitted__", None)
    if told:
        return bool(told())
    return any(name[-1] == "_" and name[0] != "_" for name in getattr(estimator, "__dict__", ()))


def seed_parameters(estimator: Any) -> list[str]:
    """Name the parameters of an estimator, and of those inside it, that are seeds."""
    names = sorted(estimator.get_params(deep=True))
    return [name for name in names if name.rpartition("__")[2] == "random_state"]


@dataclass(frozen=True, slots=True, eq=False)
class Refits:
    """Rows to refit an estimator to, and the rows and the seed of each refit.

    `n_units` is the number of rows, or of groups; `order` has all rows in an order that depends on their content alone.
    """

    estimator: Any
    X: Any
    y: NDArray[Any]
    weight: NDArray[Any] | None
    groups: NDArray[Any] | None
    n_units: int
    order: _Rows
    rows: list[_Rows]
    seeds: list[int]

    @classmethod
    def draw(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        n_refits: int,
        *,
        classification: bool,
        only_seeds: bool,
        random_state: int,
    ) -> Refits:
        """Draw the rows and the seed of each refit; the order of the rows does not matter.

        Two refits after each other have the two halves of the rows, or of the groups.
        """
        if classification:
            labels = read_labels(y)
            table, target = Table.read(X, labels), labels.classes[labels.codes]
        else:
            target = read_numeric_target(y)
            table = Table.read(X, target, target_kind=Kind.NUMERIC)
        n_rows = table.n_rows
        weight = None if sample_weight is None else _column(sample_weight, "sample_weight", n_rows)
        names = None if groups is None else _column(groups, "groups", n_rows)
        unit_of = np.zeros(n_rows, np.intp) if names is None else _group_codes(names)
        keys = (
            unit_of,
            np.zeros(n_rows) if weight is None else weight,
            target_bits(table),
            value_hash(table.columns),
        )
        order = np.lexsort(keys)
        if names is None:
            unit_of[order] = np.arange(n_rows)
        n_units, rng = int(unit_of.max()) + 1, np.random.default_rng(random_state)
        seeds = rng.integers(2**31, size=n_refits).tolist()
        if only_seeds:
            rows = [order] * n_refits
        else:
            rows = [order[half[unit_of[order]]] for half in _halves(n_units, n_refits, rng)]
        return cls(estimator, X, target, weight, names, n_units, order, rows, seeds)

    def map[T](self, measure: Callable[[Any], T], n_jobs: int = 1) -> Iterator[T]:
        """Fit and measure one model after another, on threads, and yield the results in order."""
        seeded = seed_parameters(self.estimator)

        def work(at: int) -> T:
            rows, model = self.rows[at], _copy(self.estimator)
            if seeded:
                model.set_params(**dict.fromkeys(seeded, self.seeds[at]))
            taken = {"sample_weight": self.weight, "groups": self.groups}
            some = {name: None if values is None else values[rows] for name, values in taken.items()}
            return measure(_fit(model, take_rows(self.X, rows), self.y[rows], some))

        return parallel_map(work, len(self.rows), n_jobs)


def _halves(n_units: int, n_refits: int, rng: np.random.Generator) -> list[Bools]:
    """Draw halves of rows or groups; two after each other have no unit in common."""
    if n_units < 2:
        raise DataError("there is one row, or one group; expected two at least, to draw half of them.")
    halves = []
    for _ in range(0, n_refits, 2):
        half = np.zeros(n_units, bool)
        half[rng.permutation(n_units)[: n_units // 2]] = True
        halves += [half, ~half]
    return halves[:n_refits]


def _group_codes(groups: NDArray[Any]) -> _Rows:
    try:
        return read_labels(groups).codes.astype(np.intp)
    except DataError:
        raise DataError(
            f"groups of the type {groups.dtype} have missing or mixed values; expected the label of a group for each "
            "row: text or whole numbers."
        ) from None


def _copy(estimator: Any) -> Any:
    """Return a new estimator with copies of all parameters."""
    return type(estimator)(**deepcopy(estimator.get_params(deep=False)))


def _fit(model: Any, X: Any, y: Any, rows: dict[str, Any]) -> Any:
    """Fit a model; weights are passed if there are any, and groups if its fit takes them too."""
    known = signature(model.fit).parameters
    given = {name: values for name, values in rows.items() if values is not None}
    if "groups" not in known:
        given.pop("groups", None)
    model.fit(X, y, **given)
    return model


def _column(values: Any, name: str, n_rows: int) -> NDArray[Any]:
    array = np.asarray(values)
    if array.shape != (n_rows,):
        raise DataError(f"{name} has the shape {array.shape}; expected ({n_rows},): one value for each row.")
    return array
