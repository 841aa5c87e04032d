"""Worked numbers of functions of evaluation that the report and the editor use."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from hornbeam import TreeClassifier
from hornbeam.errors import DataError
from hornbeam.evaluation.calibration import wilson
from hornbeam.evaluation.discrimination import area_under_curve, mean_area, read_outcomes
from hornbeam.evaluation.estimates import group_sums, mean_estimate
from hornbeam.evaluation.refits import fitted, seed_parameters
from hornbeam.evaluation.row_counts import Cells, ValueCounts
from hornbeam.evaluation.score_intervals import (
    Score,
    area_score,
    class_scores,
    error_scores,
    half_width,
    mean_curve,
    paired,
    regression_scores,
)
from hornbeam.evaluation.scores import losses
from hornbeam.tree import Table


def test_scores_of_classes_beside_the_base_rate():
    p, y = np.array([0.1, 0.1, 0.9, 0.9]), np.array([0, 0, 0, 1])
    rows = SimpleNamespace(
        target=y, predicted=np.stack([1 - p, p], axis=1), decided=1 * (p > 0.5), count=np.full(4, 5)
    )
    found = [
        f"{score.name}: {score.value:.3f} ({score.low:.3f} to {score.high:.3f}), {score.base:.3f}"
        for score in class_scores(rows, np.array([0.5, 0.5]), positive=1)
    ]
    assert found == [
        "log loss: 0.655 (0.296 to 1.014), 0.693",
        "Brier score: 0.420 (0.159 to 0.681), 0.500",
        "accuracy: 0.750 (0.568 to 0.873), 0.750",
        "area under the curve: 0.833 (0.733 to 0.933), 0.500",
        "Gini: 0.667 (0.466 to 0.867), 0.000",
        "KS: 0.667 (0.466 to 0.867), 0.000",
    ]


def test_scores_and_curve_of_means():
    predicted = np.array([[0.0], [0.0], [4.0], [4.0]])
    rows = SimpleNamespace(target=np.array([1.0, -1.0, 3.0, 5.0]), predicted=predicted, count=np.ones(4, int))
    found = {
        score.name: (round(score.value, 3), round(score.base, 3)) for score in regression_scores(rows, 2.0)
    }
    assert found == {
        "root mean squared error": (1.0, 2.236),
        "mean absolute error": (1.0, 2.0),
        "R²": (0.8, 0.0),
    }
    rows.target = np.array([1.0, -1.0, 3.0, 7.0])
    curve = mean_curve(rows)
    assert (curve.predicted.tolist(), curve.observed.tolist()) == ([0.0, 4.0], [0.0, 5.0])
    assert curve.weight.tolist() == [2.0, 2.0]


def test_single_scores():
    root, absolute = error_scores(np.array([1.0, -1.0]), np.array([2.0, -2.0]))
    assert (root.value, root.base, absolute.gain) == (1.0, 2.0, 1.0)
    score = paired("log loss", np.array([0.5, 0.7]), np.array([1.0, 1.2]))
    assert [round(x, 2) for x in (score.value, score.base, score.gain)] == [0.6, 1.1, 0.5]
    assert half_width(np.array([0.0, 1.0, 2.0])) == pytest.approx(0.950, abs=5e-4)
    p = np.array([0.1, 0.4, 0.4, 0.8])
    y, both = np.array([0, 1, 0, 1]), np.column_stack([1 - p, p])
    assert area_score(y, both).value == mean_area(y, both)[0] == 0.875
    assert Score("accuracy", "rows named right", 0.8, 0.7, 0.9, 0.5, 0.3, 0.2, 0.4).convincing


def test_scores_of_rows():
    area, influence = area_under_curve(np.array([False, True, True]), np.array([0.5, 0.5, 0.9]))
    assert (area, influence.tolist()) == (0.75, [0.0, -0.375, 0.375])
    found = losses(np.array([[0.8, 0.2]]), np.array([0]), np.array([0]))
    assert {name: round(values.item(), 3) for name, values in found.items()} == {
        "log loss": 0.223,
        "Brier score": 0.08,
        "accuracy": 1.0,
    }
    assert [round(float(bound), 3) for bound in wilson(0.5, 20, 0.95)] == [0.299, 0.701]
    with pytest.raises(DataError, match="expected true and false, or the class of interest"):
        read_outcomes(["no", "yes"], [0.1, 0.9])


def test_a_mean_and_its_error():
    three = mean_estimate(np.array([1.0, 2.0, 3.0]), np.ones(3))
    assert (three.value, three.error()) == (2.0, pytest.approx(3**-0.5))
    pairs = mean_estimate(np.array([1.0, 1.0, 3.0, 3.0]), np.ones(4))
    assert (pairs.value, pairs.error(np.array([0, 0, 1, 1]))) == (2.0, 1.0)
    assert group_sums(np.array([1.0, 2.0, 4.0]), np.array([7, 3, 7])).tolist() == [2.0, 5.0]


def test_counts_of_rows_and_values_add_up():
    cells = Cells.of([np.array([0, 1, 1, 1])], [np.array([0.5, 0.25, 0.25, 0.5])])
    assert (cells.codes.ravel().tolist(), cells.numbers.ravel().tolist()) == ([0, 1, 1], [0.5, 0.25, 0.5])
    cells += cells
    assert cells.count.tolist() == [2, 4, 2]
    values = ValueCounts.of(Table.read([[1.0], [4.0], [np.nan]]))
    assert (values.low.item(), values.high.item(), values.missing(0), values.varies(0)) == (1.0, 4.0, 1, True)


def test_a_fitted_estimator_is_returned_and_another_is_copied():
    clf = TreeClassifier()
    model = fitted(clf, [[0], [1]], ["no", "yes"])
    assert fitted(model, [[0], [1]], ["no", "yes"]) is model
    assert not hasattr(clf, "tree_")
    assert seed_parameters(make_pipeline(clf)) == ["treeclassifier__random_state"]
