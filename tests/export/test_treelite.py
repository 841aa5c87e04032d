"""A treelite model predicts in treelite's own predictor as the tree does."""

import numpy as np
import pytest

treelite = pytest.importorskip("treelite", reason="the extra 'test' brings treelite")

from databases import codes  # noqa: E402
from model_runners import run_treelite  # noqa: E402
from random_models import batches, models  # noqa: E402

from hornbeam.data.schema import Feature, Schema  # noqa: E402
from hornbeam.data.table import Table  # noqa: E402
from hornbeam.errors import ExportError, MissingExtraError, import_extra  # noqa: E402
from hornbeam.export import to_treelite  # noqa: E402
from hornbeam.tree import Skeleton  # noqa: E402
from hornbeam.tree.route import predict_rows  # noqa: E402
from hornbeam.tree.tree import Tree  # noqa: E402
from support.strategies import chain  # noqa: E402


def predict(tree, X):
    return treelite.gtil.predict(to_treelite(tree), X, nthread=1)[:, 0]


@batches
def test_gtil_predicts_the_same_bits(first, compare):
    cases = models(first, shared=False)
    compare("treelite", "treelite", cases, run_treelite(cases))


def test_a_single_leaf_a_single_class_and_a_long_chain():
    leaf = Tree.raw(Schema((), ("no", "yes")), Skeleton.leaf(), np.array([[1, 3]]))
    assert predict(leaf, np.zeros((2, 1))).tolist() == [[0.25, 0.75]] * 2
    deep = chain(2_000)
    evidence = np.zeros((deep.n_nodes, 1), np.int64)
    tree = Tree.raw(Schema((Feature("x"),), ("a",)), deep, evidence)
    table = Table(tree.schema, (np.array([-1.0, 500.0, 1e9, np.nan]),))
    assert (predict(tree, codes(table)) == predict_rows(tree, table)).all()


def test_trees_that_treelite_cannot_express_raise():
    missing = {"missing_slot": [-2, -1, -1]}
    skeleton = Skeleton.of([2, 0, 0], [0, -1, -1], [0.5, np.nan, np.nan], **missing)
    tree = Tree.raw(Schema((Feature("x"),), ("a",)), skeleton, np.array([[2], [1], [1]]))
    with pytest.raises(ExportError, match="treelite cannot express that"):
        to_treelite(tree)


def test_a_missing_library_raises_with_its_extra():
    with pytest.raises(MissingExtraError, match=r"needs vellum. Install it: pip install 'hornbeam\[books\]'"):
        import_extra("vellum", "books")
