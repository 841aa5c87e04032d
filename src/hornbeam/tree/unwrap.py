"""The tree of a model with its quantiles, and the model inside a scikit-learn search or pipeline."""

from typing import Any, NamedTuple, Protocol

import numpy as np

from hornbeam.checks import check_share
from hornbeam.errors import ParameterError, shown
from hornbeam.tree.tree import Tree


class HasTree(Protocol):
    """An estimator that holds one tree once it is fitted."""

    tree_: Tree


class Unwrapped(NamedTuple):
    """A model, and the steps of its pipeline that transform the rows; `before` is None if there are none."""

    model: Any
    before: Any = None

    @property
    def pipeline_error(self) -> str:
        """Text for errors where the rows cannot be transformed: what was found, expected and to do."""
        steps = ", ".join(repr(name) for name, _ in self.before.steps)
        return (
            f"a Pipeline with the steps {steps} before its model; expected the model alone. Pass pipeline[-1], which "
            "takes the rows that pipeline[:-1].transform(X) returns"
        )


def unwrap(model: Any) -> Unwrapped:
    """Return the best model of a fitted search, the last step of a pipeline, or the model itself.

    `ParameterError` if a search has no best model.
    """
    if hasattr(model, "best_estimator_"):
        return unwrap(model.best_estimator_)
    if hasattr(model, "refit") and hasattr(model, "estimator"):
        raise ParameterError(
            f"this {type(model).__name__} has no best_estimator_; expected a fitted search with refit=True: call fit "
            "first."
        )
    if hasattr(model, "named_steps") and hasattr(model, "steps"):
        before = [step for step in model.steps[:-1] if step[1] not in (None, "passthrough")]
        last = unwrap(model.steps[-1][1])
        return Unwrapped(last.model, model[:-1] if before else last.before)
    return Unwrapped(model)


def single_tree(model: Any) -> Tree:
    """Return a tree, or that of a fitted estimator, also inside a search.

    `ParameterError` if the model does not predict with one tree, or is a pipeline that transforms the rows before.
    """
    if isinstance(model, Tree):
        return model
    inner = unwrap(model)
    if inner.before is not None:
        raise ParameterError(f"This is {inner.pipeline_error}.")
    model = inner.model
    tree = model if isinstance(model, Tree) else getattr(model, "tree_", None)
    if isinstance(tree, Tree):
        return tree
    found = f"This is a {type(model).__name__}"
    expected = "expected a fitted TreeClassifier or TreeRegressor, or a Tree"
    held = getattr(
        model, "_fitted", None
    )  # of our estimators: the attribute that they have once they are fitted
    if isinstance(model, type):
        found, advice = f"This is the class {model.__name__}", f"; {expected}, an object and not a class."
    elif hasattr(model, "rules_"):
        advice = (
            ", which predicts with rules; expected one tree: print its rules_, which have to_sql and to_json, or pass "
            "source_tree_, the tree that they were made from, which predicts something else."
        )
    elif held == "rules_":
        advice = f", which predicts with rules; {expected}. Fit a TreeClassifier."
    elif held in ("forest_", "boosted_") or any(
        hasattr(model, name) for name in ("forest_", "boosted_", "trees")
    ):
        advice = (
            f", which predicts with several trees; {expected}: keep ensembles with hornbeam.save, or fit one tree to "
            "their predictions: TreeClassifier(teacher=model)."
        )
    elif hasattr(model, "trees_"):
        advice = f"; {expected}: pass one of its trees_."
    elif tree is not None:
        advice = f"; {expected}: make one of its tree with hornbeam.interop.from_sklearn."
    elif held is not None:
        advice = f"; {expected}: call fit first."
    elif hasattr(model, "predict"):
        advice = f"; {expected}: fit one tree to its predictions: TreeClassifier(teacher=model)."
    else:
        advice = f"; {expected}."
    raise ParameterError(found + advice)


def distribution_of(model: Any, what: str) -> Any:
    """Return the distribution of a fitted estimator; `ParameterError` if it has none, which `what` needs."""
    found = getattr(unwrap(model).model, "_distribution", None)
    if found is None:
        raise ParameterError(
            f"{what} needs the distribution of the target, which this model has not counted; expected a regressor "
            "that was fitted with distribution=True."
        )
    return found


def with_quantiles(model: Any, quantiles: Any) -> Tree:
    """Return the tree of a model; with quantiles of a numeric target beside its mean, unless they are None."""
    tree = single_tree(model)
    if quantiles is None:
        return tree
    if not isinstance(quantiles, (list, tuple, np.ndarray)) or np.ndim(quantiles) != 1 or not len(quantiles):
        raise ParameterError(
            f"quantiles is {shown(quantiles)}; expected probabilities between 0 and 1. Pass [0.1, 0.5, 0.9], say."
        )
    for one in quantiles:
        check_share("quantiles", one)
    wide: Tree = distribution_of(model, "quantiles").beside(tree, tuple(map(float, quantiles)))
    names = wide.schema.number_names
    if len(set(names)) < len(names):
        raise ParameterError(
            f"quantiles is {shown(quantiles)}; expected different probabilities. Name each once."
        )
    return wide
