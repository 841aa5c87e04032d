"""Time against the depth of a tree, its classes and its columns; function calls are counted where time is noisy."""

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hornbeam import RuleClassifier, TreeClassifier
from hornbeam.data.schema import Feature, Schema
from hornbeam.data.table import Table
from hornbeam.errors import ExportError, HornbeamWarning, ParameterError
from hornbeam.explain.explanation import explain
from hornbeam.explain.leaves import leaves
from hornbeam.explain.shapley import shap_values
from hornbeam.export import (
    to_c,
    to_dot,
    to_html,
    to_javascript,
    to_json,
    to_markdown,
    to_python,
    to_svg,
    to_text,
)
from hornbeam.recipe import PRESETS
from hornbeam.rules.extract import extract
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import pull_up
from hornbeam.tuning.cross_fitted import CrossFitted
from hornbeam.tuning.folds import end_nodes
from support.strategies import chain


def deep(depth: int) -> Tree:
    """A tree with a leaf at every depth; the classes of the leaves alternate."""
    skeleton = chain(depth)
    leaf = np.flatnonzero(skeleton.is_leaf)
    counts = np.zeros((skeleton.n_nodes, 2), np.int64)
    counts[leaf, np.arange(len(leaf)) % 2] = 1
    return Tree.raw(Schema((Feature("x"),), ("no", "yes")), skeleton, pull_up(skeleton, counts))


def rows(tree: Tree) -> Table:
    return Table.read([[0.0], [1e6]], schema=tree.schema)


def n_calls(call: Callable[[Any], object], argument: Any) -> int:
    """Count the Python and C functions that a call enters."""
    count = 0

    def count_call(_frame: Any, event: str, _arg: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(count_call)
    try:
        call(argument)
    finally:
        sys.setprofile(None)
    return count


LINEAR: dict[str, Callable[[Tree], object]] = {
    "text": to_text,
    "to_c": to_c,
    "to_dot": to_dot,
    "to_html": to_html,
    "to_javascript": to_javascript,
    "to_python": to_python,
    "to_svg": to_svg,
    "extract": extract,
    "leaves": lambda tree: leaves(tree).to_dict(),
    "leaves as rules": lambda tree: leaves(tree).as_rules(),
    "explain": lambda tree: str(explain(tree, rows(tree))),
    "shap_values": lambda tree: shap_values(tree, rows(tree)),
}


@pytest.mark.parametrize("name", LINEAR)
def test_the_work_is_linear_in_the_depth(name):
    call = LINEAR[name]
    call(deep(3))  # imports are not counted
    assert n_calls(call, deep(200)) < 2.3 * n_calls(call, deep(100))


@pytest.mark.parametrize("write", [to_json, to_markdown])
def test_an_export_that_repeats_paths_refuses_a_deep_tree_at_once(write):
    tree = deep(8000)
    begin = time.process_time()
    with pytest.raises(
        ExportError, match=r"32,\d{3},\d{3} tests together .* 2,000,000 at most\. Prune .* to_python"
    ):
        write(tree)
    assert time.process_time() - begin < 1
    assert write(deep(20))


def test_rules_of_a_very_deep_tree_are_refused_at_once():
    tree = deep(3200)
    begin = time.process_time()
    with pytest.raises(
        ParameterError, match=r"5,\d{3},\d{3} tests together, expected 5,000,000 at most.*max_depth"
    ):
        extract(tree, merge=False)
    assert time.process_time() - begin < 1


def test_rules_of_a_deep_tree_raise_a_warning():
    tree = deep(700)
    table = np.arange(700.0)[:, None], np.where(np.arange(700) % 2, "yes", "no")
    with warnings.catch_warnings():
        warnings.simplefilter("error", HornbeamWarning)
        with pytest.raises(HornbeamWarning, match=r"tests together.*may take minutes.*max_depth"):
            RuleClassifier(tree).fit(*table)


def test_end_nodes_are_found_in_time_linear_in_the_depth():
    skeleton = chain(8000)
    cut = np.zeros(skeleton.n_nodes, np.bool_)
    cut[0] = True
    begin = time.process_time()
    assert not end_nodes(skeleton, cut).any()
    assert time.process_time() - begin < 0.4


def test_selecting_a_column_does_not_depend_on_the_number_of_columns():
    table = Table.read(np.zeros((1, 20_000)))
    begin = time.process_time()
    for column in range(1000):
        table.select([column])
    assert time.process_time() - begin < 0.3


@pytest.mark.parametrize(("cells", "n_trees"), [(10**9, 10), (119 * 60 * 3, 3), (1, 2)])
def test_with_many_classes_there_are_fewer_fold_trees(cells, n_trees):
    table = Table.read(np.arange(60.0)[:, None], np.arange(60))
    recipe = PRESETS["cart"]
    bins = recipe.bin(table)
    n_folds, _ = CrossFitted(recipe, cells=cells).grow_fold_trees(recipe, table, bins, bins.encode(table))
    assert n_folds == n_trees


def test_with_many_classes_tuning_uses_fewer_rows():
    table = Table.read(np.arange(200.0)[:, None], np.arange(200))
    recipe = PRESETS["cart"]
    bins = recipe.bin(table)
    result = CrossFitted(recipe, cells=4 * 200 * 150).learn(recipe, table, bins, bins.encode(table))
    assert result.simulation.table.n_rows == 150


def test_a_class_per_row_raises_a_warning_before_a_tree_is_grown():
    X, y = np.arange(8000.0)[:, None], np.arange(8000)
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("error", HornbeamWarning)
        with pytest.raises(HornbeamWarning, match=r"8,000 classes in 8,000 rows.*GB.*regressor"):
            TreeClassifier().fit(X, y)
    assert time.process_time() - begin < 2
