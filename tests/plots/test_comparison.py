"""Figures of comparisons: marks are the numbers, and every name is readable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hornbeam.evaluation import Comparison
from hornbeam.plots import plot_critical_difference, plot_difference, plot_forest_sizes, plot_times

mpl = pytest.importorskip("matplotlib", reason="pictures need the extra plots")
mpl.use("agg")
from matplotlib import pyplot  # noqa: E402


@pytest.fixture
def comparison() -> Comparison:
    noise = np.random.default_rng(0).random((40, 5))
    methods = ("cross-fitted", "hgs", "laplace", "raw", "a method with a rather long name")
    return Comparison(
        methods, tuple(map(str, range(40))), noise + np.array([0, 0.05, 0.3, 2.0, 2.02]), "RMSE"
    )


def texts(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.texts]


def overlaps(ax: Any) -> bool:
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    return any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_critical_difference_names_every_method_once(comparison: Comparison, tmp_path: Path) -> None:
    ax = plot_critical_difference(comparison)
    for method, rank in zip(comparison.methods, comparison.ranks(), strict=True):
        assert sum(method in text and f"{rank:.2f}" in text for text in texts(ax)) == 1
    assert not overlaps(ax)
    inside = ax.get_window_extent()
    assert all(inside.x0 <= text.get_window_extent().x0 for text in ax.texts)
    assert all(inside.x1 >= text.get_window_extent().x1 for text in ax.texts)
    ax.figure.savefig(tmp_path / "cd.png")
    assert (tmp_path / "cd.png").stat().st_size > 5000


def test_bars_join_exactly_the_methods_that_do_not_differ(comparison: Comparison) -> None:
    ax = plot_critical_difference(comparison)
    bars = [line.get_xdata() for line in ax.lines if line.get_linewidth() > 3]
    ranks = comparison.ranks()
    for i, one in enumerate(ranks):
        for other in ranks[:i]:
            joined = any(min(bar) <= min(one, other) and max(one, other) <= max(bar) for bar in bars)
            assert joined == (abs(one - other) <= comparison.critical_difference())


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


def test_forest_sizes_and_single_trees(tmp_path: Path) -> None:
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
