"""The histogram of probabilities counts rows by true class."""

import numpy as np
import pytest

from hornbeam import TreeClassifier
from hornbeam.errors import DataError, ParameterError
from hornbeam.plots import ProbabilityDisplay

mpl = pytest.importorskip("matplotlib", reason="pictures need the extra plots")
mpl.use("agg")

Y = np.array(["no", "no", "no", "yes", "yes"])
P = [0.0, 0.1, 0.3, 0.3, 1.0]


def heights(bars):
    return [bar.get_height() for bar in bars]


def test_rows_of_the_class_go_up_and_all_others_down():
    display = ProbabilityDisplay.from_predictions(Y, P, n_bins=4, shares=False)
    assert heights(display.class_bars_) == [0, 1, 0, 1]
    assert heights(display.other_bars_) == [-2, -1, 0, 0]
    display.figure_.canvas.draw()
    assert "−" not in "".join(label.get_text() for label in display.ax_.get_yticklabels())
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["rows of yes: 2", "all others: 3"]


def test_shares_add_up_on_each_side_and_use_weights():
    display = ProbabilityDisplay.from_predictions(
        Y, P, n_bins=4, positive="no", sample_weight=[2, 1, 1, 1, 3]
    )
    assert heights(display.class_bars_) == [0.75, 0.25, 0, 0]
    assert heights(display.other_bars_) == [0, -0.25, 0, -0.75]


def test_a_class_without_rows_is_drawn():
    display = ProbabilityDisplay.from_predictions(Y, P, positive="never")
    assert sum(heights(display.class_bars_)) == 0
    assert sum(heights(display.other_bars_)) == pytest.approx(-1)


def test_an_estimator_predicts_the_named_class():
    X = np.arange(60).reshape(-1, 1)
    y = np.repeat(["$a$", "b", "c"], 20)
    clf = TreeClassifier("cart").fit(X, y)
    display = ProbabilityDisplay.from_estimator(clf, X, y, positive="$a$", name="$mine$", n_bins=2)
    assert (display.class_counts.tolist(), display.other_counts.tolist()) == ([0, 20], [40, 0])
    assert display.ax_.get_xlabel() == "predicted probability of $a$"
    assert display.ax_.get_title(loc="left") == "$mine$"
    display.figure_.canvas.draw()
    assert ProbabilityDisplay.from_estimator(clf, X, y).ax_.get_title(loc="left") == "TreeClassifier"


def test_invalid_arguments_raise():
    with pytest.raises(DataError, match=r"shape \(5, 2\)"):
        ProbabilityDisplay.from_predictions(Y, np.zeros((5, 2)))
    with pytest.raises(ParameterError, match="n_bins=0"):
        ProbabilityDisplay.from_predictions(Y, P, n_bins=0)
