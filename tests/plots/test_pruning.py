"""The pruning path: every point is the loss of the pruned tree on held-out rows."""

import numpy as np
import pytest

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.data.table import Table
from hornbeam.errors import DataError, ParameterError
from hornbeam.evaluation import brier_score, log_loss
from hornbeam.plots import PruningPathDisplay
from hornbeam.pruning import CostComplexity
from hornbeam.tree.route import predict_rows

mpl = pytest.importorskip("matplotlib", reason="pictures need the extra plots")
mpl.use("agg")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    X = rng.random((500, 3)).round(2)
    return X, (X[:, 0] + 0.5 * rng.normal(size=500) > 0.5).astype(int)


@pytest.mark.parametrize(("score", "twin"), [("brier", brier_score), ("log", log_loss)])
def test_points_are_the_losses_of_pruned_trees(rows, score, twin):
    X, y = rows
    clf = TreeClassifier("cart", smoothing="laplace").fit(X[:300], y[:300])
    display = PruningPathDisplay.from_estimator(clf, X[300:], y[300:], score=score)
    held = Table.read(X[300:], schema=clf.tree_.schema)
    for i in range(0, len(display.alphas), 7):
        pruned = CostComplexity(display.alphas[i])(clf.tree_)
        assert display.n_leaves[i] == pruned.n_leaves
        assert display.loss[i] == pytest.approx(twin(y[300:], predict_rows(pruned, held)))
    assert display.line_.get_xdata().tolist() == display.n_leaves.tolist()
    assert display.line_.get_ydata().tolist() == display.loss.tolist()
    assert display.chosen == display.loss.argmin()
    assert display.note_.get_text() == f"{display.n_leaves[display.chosen]:g} leaves"


def test_one_standard_error_chooses_a_smaller_tree_within_it(rows):
    X, y = rows
    clf = TreeClassifier("cart").fit(X[:300], y[:300])
    best = PruningPathDisplay.from_estimator(clf, X[300:], y[300:])
    small = PruningPathDisplay.from_estimator(clf, X[300:], y[300:], simplicity=1.0, by="alpha")
    assert small.n_leaves[small.chosen] < best.n_leaves[best.chosen]
    assert small.loss[small.chosen] <= best.loss[best.chosen] + best.error[best.chosen]
    assert small.line_.get_xdata().tolist() == small.alphas.tolist()
    small.figure_.canvas.draw()
    assert small.ax_.get_xlim()[0] == 0


def test_invalid_arguments_raise(rows):
    X, y = rows
    clf = TreeClassifier("cart").fit(X, y)
    with pytest.raises(ParameterError, match="by='size'"):
        PruningPathDisplay.from_estimator(clf, X, y, by="size")
    with pytest.raises(ParameterError, match="score='auc': expected one of"):
        PruningPathDisplay.from_estimator(clf, X, y, score="auc")
    with pytest.raises(ParameterError, match="simplicity='1'"):
        PruningPathDisplay.from_estimator(clf, X, y, simplicity="1")
    with pytest.raises(ParameterError, match="expected a tree of classes"):
        PruningPathDisplay.from_estimator(TreeRegressor("cart").fit(X, y), X, y)
    with pytest.raises(DataError):
        PruningPathDisplay.from_estimator(clf, X, None)
