"""The figure of leaves shows the numbers of the leaf table."""

import numpy as np
import pytest

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.errors import ParameterError
from hornbeam.plots import LeafDisplay

mpl = pytest.importorskip("matplotlib", reason="pictures need the extra plots")
mpl.use("agg")


@pytest.fixture(scope="module")
def clf():
    rng = np.random.default_rng(0)
    X = rng.random((400, 2))
    y = np.where(rng.random(400) < X[:, 0], "$yes$", np.where(rng.random(400) < 0.3, "maybe", "no"))
    return TreeClassifier(max_leaf_nodes=12, smoothing="hgs").fit(X, y)


def test_dots_are_sorted_probabilities_with_intervals(clf):
    display = LeafDisplay.from_estimator(clf, positive="maybe", level=0.8, raw=True)
    leaves = clf.leaves(level=0.8)
    k = clf.classes_.tolist().index("maybe")
    order = np.argsort(leaves.probability[:, k], kind="stable")
    assert display.dots_.get_offsets().data.tolist() == [
        [p, i] for i, p in enumerate(leaves.probability[order, k])
    ]
    assert [band[:, 0].tolist() for band in display.bands_.get_segments()] == [
        [low, high] for low, high in zip(leaves.low[order, k], leaves.high[order, k], strict=True)
    ]
    assert display.rings_.get_offsets().data[:, 0].tolist() == leaves.raw[order, k].tolist()
    assert display.base_.get_xdata()[0] == pytest.approx(clf.tree_.evidence[0, k] / 400)
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == [str(n) for n in leaves.rows[order]]


def test_the_size_of_a_dot_is_the_number_of_rows(clf):
    display = LeafDisplay.from_estimator(clf)
    order = np.argsort(clf.leaves().probability[:, 2], kind="stable")
    rows = clf.leaves().rows[order]
    size = display.dots_.get_sizes() - 10
    assert size / size.max() == pytest.approx(rows / rows.max())


def test_names_are_drawn_verbatim(clf):
    display = LeafDisplay.from_estimator(clf, positive="$yes$")
    assert display.ax_.get_xlabel() == "probability of $yes$"
    assert not display.ax_.xaxis.label.get_parse_math()
    display.figure_.canvas.draw()


def test_many_leaves_have_no_labels_and_no_base_rate_by_default(clf):
    X = np.arange(600).reshape(-1, 1)
    many = TreeClassifier(smoothing=None, pruning=None).fit(X, X.ravel() // 7 % 2)
    display = LeafDisplay(many.leaves())
    display.plot()
    assert display.base_ is None
    assert display.ax_.get_yticks().tolist() == []
    assert display.ax_.get_ylabel() == f"{many.tree_.n_leaves} leaves"
    with pytest.raises(ParameterError, match="positive='never'"):
        LeafDisplay.from_estimator(clf, positive="never")


def test_leaves_of_a_number_have_densities():
    X, y = np.repeat([[0.0], [1.0]], 100, axis=0), np.r_[np.linspace(0, 1, 100), np.linspace(8, 10, 100)]
    model = TreeRegressor("cart", max_leaf_nodes=2, distribution=True).fit(X, y)
    display = LeafDisplay.from_estimator(model)
    leaves = model.leaves()
    assert display.dots_.get_offsets().data[:, 0].tolist() == sorted(leaves.probability[:, 0].tolist())
    assert display.base_ is None
    first, second = (one.get_paths()[0].vertices for one in display.densities_)
    for outline, place, values in ((first, 0, y[:100]), (second, 1, y[100:])):
        raised = outline[outline[:, 1] > place + 0.1, 0]  # where at least an eighth of the largest density is
        assert values.min() - 0.5 < raised.min() < raised.max() < values.max() + 0.5
        assert outline[:, 1].max() == pytest.approx(place + 0.8)


def test_leaves_of_a_number_need_its_distribution():
    plain = TreeRegressor().fit([[0.0], [1.0]] * 9, [1.0, 2.0] * 9)
    with pytest.raises(ParameterError, match="distribution=True"):
        LeafDisplay.from_estimator(plain)
    counted = TreeRegressor(distribution=True).fit([[0.0], [1.0]] * 9, [1.0, 2.0] * 9)
    with pytest.raises(ParameterError, match="Leave it out"):
        LeafDisplay.from_estimator(counted, positive=1)
