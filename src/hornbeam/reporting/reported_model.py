"""The model of a report: a tree, with the reading of rows and the decisions of its estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self

from hornbeam.data.table import Table
from hornbeam.estimators.persistence.parameters import without_unset
from hornbeam.interop.input_conventions import OTHER_CATEGORY, InputConventions
from hornbeam.smoothing.distribution import Distribution
from hornbeam.tree.decision import Costs, class_code
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import single_tree, unwrap


@dataclass(frozen=True, slots=True, eq=False)
class ReportedModel:
    """A tree with the input conventions and the decision rule of its estimator.

    `read` reads X and y as the estimator does, `kind` is the name of its class, `settings` are its parameters.
    `positive` is the code of the class of interest: the one asked for, else the second of two classes. `reading`: how
    another library that grew the tree reads rows. `prepares`: steps of a pipeline change the rows before.
    `distribution` is that of a numeric target, if the estimator has one.
    """

    tree: Tree
    read: Callable[[Any, Any], Table]
    kind: str = "Tree"
    settings: dict[str, Any] = field(default_factory=dict)
    positive: int | None = None
    reading: InputConventions | None = None
    prepares: bool = False
    distribution: Distribution | None = None

    @classmethod
    def of(cls, model: Any, positive: Any = None) -> Self:
        """Take a tree or a fitted estimator with one, also inside a search or a pipeline, and the class of interest."""
        inner = unwrap(model)
        if inner.before is not None:
            reported = cls.of(inner.model, positive)
            return replace(reported, read=_after(inner.before, reported.read), prepares=True)
        model = inner.model
        if isinstance(model, Tree):
            return cls(model, _reader(model), positive=_code(model, positive))
        kind = type(model).__name__
        reading: InputConventions | None = getattr(model, "_reading", None)
        if reading is not None and len(model.trees_) == 1:  # a SmoothedClassifier
            [tree] = model.trees_
            return cls(tree, reading.read, kind, _settings(model), _code(tree, positive), reading)
        tree = single_tree(model)
        return cls(
            tree,
            getattr(model, "_read", _reader(tree)),
            kind,
            _settings(model),
            _code(tree, positive),
            distribution=getattr(model, "_distribution", None),
        )

    @property
    def costs(self) -> Costs | None:
        """The cost matrix, if the model decides by costs."""
        return self.tree.decision.costs

    def takes_unseen(self, feature: int) -> bool:
        """Whether the last category of a feature stands for all unseen values."""
        return self.reading is not None and self.tree.schema.features[feature].categories[-1:] == (
            OTHER_CATEGORY,
        )

    def zero(self, feature: int) -> float | None:
        """Largest absolute value of this feature that counts as missing; None if zero is not missing."""
        missing = self.reading is not None and feature in self.reading.zero_is_missing
        return self.reading.zero if missing and self.reading is not None else None


def _reader(tree: Tree) -> Callable[[Any, Any], Table]:
    return lambda X, y: Table.read(X, y, schema=tree.schema)


def _code(tree: Tree, positive: Any) -> int | None:
    """The code of the class of interest."""
    if positive is None:
        return 1 if tree.n_classes == 2 and not tree.is_regression else None
    return class_code(tree.schema.classes, positive)


def _after(before: Any, read: Callable[[Any, Any], Table]) -> Callable[[Any, Any], Table]:
    """Read rows after the preceding steps of a pipeline."""
    return lambda X, y: read(before.transform(X), y)


def _settings(model: Any) -> dict[str, Any]:
    return without_unset(model.get_params(deep=False)) if hasattr(model, "get_params") else {}
