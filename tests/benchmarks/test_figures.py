"""Figures of studies: marks are the numbers, and labels do not overlap."""

from __future__ import annotations

import numpy as np
import pytest

mpl = pytest.importorskip("matplotlib", reason="pictures need the extra plots")
mpl.use("agg")
from benchmarks.quality.studies.figures import (  # noqa: E402
    plot_difference,
    plot_forest_sizes,
    plot_sizes,
    plot_times,
)
from matplotlib import pyplot  # noqa: E402

from hornbeam.evaluation import Comparison  # noqa: E402


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


@pytest.fixture
def comparison() -> Comparison:
    noise = np.random.default_rng(0).random((40, 4))
    methods = ("cross-fitted", "hgs", "laplace", "raw")
    return Comparison(methods, tuple(map(str, range(40))), noise + np.array([0, 0.05, 0.3, 2.0]), "RMSE")


def test_points_are_the_numbers_and_labels_do_not_overlap() -> None:
    rng = np.random.default_rng(0)
    series = {
        kind: {f"{kind} method {i}": (0.1 * 1.2**i, 0.3 + 0.002 * rng.random()) for i in range(8)}
        for kind in ("raw", "smoothed")
    }
    ax = plot_sizes(series, measure="loss")
    for line, points in zip(ax.lines, series.values(), strict=True):
        assert line.get_xydata() == pytest.approx(np.array(list(points.values())))
    assert [text.get_text() for text in ax.texts] == [name for some in series.values() for name in some]
    assert ax.get_xscale() == "log"
    ax.figure.canvas.draw()
    # Only the text: the line from a label to its point may cross others.
    boxes = [mpl.text.Text.get_window_extent(text) for text in ax.texts]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_differences_above_the_line_are_wins(comparison: Comparison) -> None:
    ax = plot_difference(comparison, "cross-fitted", "laplace", np.geomspace(100, 1e5, 40))
    won, lost = (np.asarray(marks.get_offsets()) for marks in ax.collections)
    record = comparison.record("cross-fitted", "laplace")
    assert (len(won), len(lost)) == (record.wins, record.losses)
    assert (won[:, 1] > 0).all()
    assert (lost[:, 1] < 0).all()
    assert f"cross-fitted better: {record.wins}" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_times_are_drawn_for_methods_that_have_any() -> None:
    rows = np.geomspace(100, 1e5, 12)
    seconds = np.column_stack([rows / 1e5, rows / 1e4, np.full(12, np.nan)])
    ax = plot_times(Comparison(("fast", "slow", "absent"), "abcdefghijkl", seconds), rows)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["fast", "slow"]
    fast, slow = (line.get_ydata() for line in ax.lines)
    assert slow == pytest.approx(fast * 10)


def test_forest_sizes_and_single_trees() -> None:
    ax = plot_forest_sizes([1, 10, 100], {"forest": [0.3, 0.25, 0.23]}, {"one tree": 0.245})
    curve, level = ax.lines
    assert curve.get_ydata().tolist() == [0.3, 0.25, 0.23]
    assert set(level.get_ydata()) == {0.245}
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "10", "100"]


def test_given_axes_are_used(comparison: Comparison) -> None:
    figure, (left, right) = pyplot.subplots(1, 2)
    assert plot_difference(comparison, "hgs", "raw", range(1, 41), ax=left) is left
    assert plot_forest_sizes([1], {"forest": [0.3]}, ax=right) is right
    assert pyplot.get_fignums() == [figure.number]
