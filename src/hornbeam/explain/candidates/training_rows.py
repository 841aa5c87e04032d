"""The rows that a tree was grown from, encoded once, with the settings of its growth."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from hornbeam.checks import check_choice
from hornbeam.data.encoded_rows import EncodedTable
from hornbeam.data.rows import read_rows
from hornbeam.data.table import Table
from hornbeam.errors import DataError, ParameterError, shown
from hornbeam.growing.criterion import Criterion
from hornbeam.growing.grower import Grower
from hornbeam.growing.settings import CONSTRAINTS
from hornbeam.recipe import PRESETS, REGRESSION_PRESETS, Recipe
from hornbeam.smoothing.teacher_prior import DISTILLED
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.unwrap import single_tree, unwrap
from hornbeam.typing import Floats


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRows:
    """Rows with their target, encoded to search for splits as the growth of a tree did.

    `table` has the rows at their own weights, `encoded` with the class weights of the growth, without classes of
    weight 0.
    """

    table: Table
    grower: Grower
    encoded: EncodedTable

    @classmethod
    def of(
        cls, model: Any, X: Any, y: Any, sample_weight: Any = None, grower: Grower | None = None
    ) -> tuple[Tree, Self]:
        """Read and encode the rows of a model; return its tree with them. See `candidate_splits`."""
        tree, recipe = tree_and_recipe(model, grower)
        table = read_rows(X, y, sample_weight, schema=tree.schema, target_kind=tree.schema.target_kind)
        searched = read_rows(table, schema=tree.schema, class_weight=class_weight_of(tree))
        recipe.grower.check_target(table.schema)
        refuse_unseen(searched)
        return tree, cls(table, recipe.grower, EncodedTable(searched, *recipe.encode(searched), checked=True))


def tree_and_recipe(model: Any, grower: Grower | None) -> tuple[Tree, Recipe]:
    """Return the tree of a model, and how it was binned and grown."""
    if grower is not None and not isinstance(grower, Grower):
        raise ParameterError(f"grower={shown(grower)}: expected a Grower. Pass Grower('gini'), say.")
    tree, estimator = single_tree(model), unwrap(model).model
    max_bins: Any = getattr(estimator, "max_bins", "auto")
    if max_bins == "auto":
        presets = REGRESSION_PRESETS if tree.is_regression else PRESETS
        preset = getattr(estimator, "preset", "default")
        max_bins = presets[preset].max_bins if preset in presets else "auto"
    return tree, Recipe(max_bins, grower_of(tree) if grower is None else grower)


def grower_of(tree: Tree, criterion: str = "auto") -> Grower:
    """Return the growth settings in the history of a tree, with another criterion unless that is "auto".

    Those of the default if it was taught, with its constraints, or if Hornbeam did not grow it.
    """
    known = [one.value for one in Criterion if one.is_numeric == tree.is_regression]
    check_choice("criterion", criterion, ("auto", *known))
    grower = (REGRESSION_PRESETS if tree.is_regression else PRESETS)["default"].grower
    for step in reversed(tree.history):
        if step.name in ("grow", DISTILLED):
            own = {name: value for name, value in step.parameters if name in CONSTRAINTS}
            taught = Step.of("grow", **dict(grower.as_step().parameters) | own)
            grower = Grower.recorded(taught if step.name == DISTILLED else step, tree.schema)
            break
    return grower if criterion == "auto" else replace(grower, criterion=Criterion(criterion))


def class_weight_of(tree: Tree) -> Floats:
    """Return the class weights that the tree was grown with, from its history."""
    steps = [dict(step.parameters) for step in tree.history if step.name == "recount"]
    found = next((step["class_weight"] for step in steps if "class_weight" in step), None)
    return np.ones(tree.schema.n_classes) if found is None else np.asarray(found, dtype=np.float64)


def refuse_unseen(table: Table) -> None:
    """Raise `DataError` if a row has a category that the schema does not have."""
    for feature, column in zip(table.schema.features, table.columns, strict=True):
        if feature.is_nominal and (n := int((column == -2).sum())):
            raise DataError(
                f"{n} rows have a category of {feature.name!r} that the training rows did not have; expected known "
                "categories or missing values. Leave these rows out."
            )
