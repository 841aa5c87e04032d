"""A tree as a treelite model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hornbeam.errors import import_extra
from hornbeam.export.checks import check_no_slopes, check_not_fractional
from hornbeam.export.runtime.binary_splits import BinarySplit, binary_splits
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import HasTree, single_tree

if TYPE_CHECKING:
    from treelite import Model
    from treelite.model_builder import ModelBuilder


def to_treelite(model: Tree | HasTree) -> Model:
    """Make a treelite model of a tree, for GTIL, the Forest Inference Library and other readers of treelite.

    Parameters
    ----------
    model : Tree, or fitted TreeClassifier or TreeRegressor

    Returns
    -------
    treelite.Model
        From a float64 matrix to the class probabilities, or the mean. A category is its position among the feature's
        categories, NaN is missing, any other whole number is an unseen category. A treelite model has no class labels:
        ``tree.decision(probabilities)`` is the code of the class that `predict` returns.

    Raises
    ------
    ExportError
        If missing values go to every child, or the tree has slopes, which treelite cannot express.
    MissingExtraError
        Without the package treelite: ``pip install 'hornbeam[treelite]'``.

    Notes
    -----
    Where a row may stop at an inner node, the model has a leaf with the belief of that node.

    Examples
    --------
    >>> import numpy as np
    >>> import treelite
    >>> from hornbeam import TreeClassifier
    >>> from hornbeam.export import to_treelite
    >>> clf = TreeClassifier("cart").fit([[0]] * 5 + [[1]] * 5, ["ill"] * 4 + ["well"] * 5 + ["ill"])
    >>> rows = np.array([[0.0], [1.0], [np.nan]])
    >>> treelite.gtil.predict(to_treelite(clf), rows)[:, 0].tolist()
    [[0.8, 0.2], [0.2, 0.8], [0.5, 0.5]]
    """
    tree = single_tree(model)
    import_extra("treelite", "treelite")
    check_not_fractional(tree, "treelite")
    check_no_slopes(tree, "treelite")
    splits = binary_splits(tree.skeleton)
    builder = _builder(tree)
    builder.start_tree()
    # Leaves are numbered after all splits, one for each branch that ends.
    leaves: list[int] = []
    for key, split in enumerate(splits):
        children = []
        for target in (split.yes, split.no):
            children.append(target if target >= 0 else len(splits) + len(leaves))
            leaves.extend([~target] if target < 0 else [])
        builder.start_node(key)
        _add_split(builder, split, *children)
        builder.end_node()
    for key, node in enumerate(leaves if splits else [0], start=len(splits)):
        builder.start_node(key)
        builder.leaf(tree.belief.item(node) if tree.is_regression else tree.belief[node].tolist())
        builder.end_node()
    builder.end_tree()
    return builder.commit()


def _builder(tree: Tree) -> ModelBuilder:
    from treelite.model_builder import Metadata, ModelBuilder, PostProcessorFunc, TreeAnnotation

    n_outputs = tree.schema.n_outputs
    return ModelBuilder(
        threshold_type="float64",
        leaf_output_type="float64",
        metadata=Metadata(
            num_feature=max(tree.schema.n_features, 1),
            task_type="kRegressor" if tree.is_regression else "kMultiClf",
            average_tree_output=False,
            num_target=1,
            num_class=[n_outputs],
            leaf_vector_shape=(1, n_outputs),
        ),
        tree_annotation=TreeAnnotation(num_tree=1, target_id=[0], class_id=[0 if tree.is_regression else -1]),
        postprocessor=PostProcessorFunc(name="identity" if tree.is_regression else "identity_multiclass"),
        base_scores=[0.0] * n_outputs,
    )


def _add_split(builder: ModelBuilder, split: BinarySplit, yes: int, no: int) -> None:
    if split.among:
        builder.categorical_test(
            split.feature,
            default_left=split.missing,
            category_list=list(split.among),
            category_list_right_child=False,
            left_child_key=yes,
            right_child_key=no,
        )
    else:
        builder.numerical_test(
            split.feature,
            split.at_most,
            default_left=split.missing,
            opname="<=",
            left_child_key=yes,
            right_child_key=no,
        )
