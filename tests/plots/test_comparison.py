"""Figures of comparisons: marks are the numbers, and every name is readable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hornbeam.errors import ParameterError
from hornbeam.evaluation import Comparison, compare
from hornbeam.results import ModelComparison

mpl = pytest.importorskip("matplotlib", reason="pictures need the extra plots")
mpl.use("agg")


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
    ax = comparison.plot()
    for method, rank in zip(comparison.methods, comparison.ranks(), strict=True):
        assert sum(method in text and f"{rank:.2f}" in text for text in texts(ax)) == 1
    assert not overlaps(ax)
    inside = ax.get_window_extent()
    assert all(inside.x0 <= text.get_window_extent().x0 for text in ax.texts)
    assert all(inside.x1 >= text.get_window_extent().x1 for text in ax.texts)
    ax.figure.savefig(tmp_path / "cd.png")
    assert (tmp_path / "cd.png").stat().st_size > 5000


def test_bars_join_exactly_the_methods_that_do_not_differ(comparison: Comparison) -> None:
    ax = comparison.plot()
    bars = [line.get_xdata() for line in ax.lines if line.get_linewidth() > 3]
    ranks = comparison.ranks()
    for i, one in enumerate(ranks):
        for other in ranks[:i]:
            joined = any(min(bar) <= min(one, other) and max(one, other) <= max(bar) for bar in bars)
            assert joined == (abs(one - other) <= comparison.critical_difference())


@pytest.fixture
def models() -> ModelComparison:
    rng = np.random.default_rng(0)
    p = rng.random(300)
    y = (rng.random(300) < p).astype(int)
    others = {"a model with a long name": 0.5 + (p - 0.5) / 2, "noise, $1": rng.random(300)}
    return compare(y, {"tree": p, **others}, costs=[[0, 1], [4, 0]], thresholds=0.2)


def shown_texts(figure: Any) -> list[Any]:
    figure.canvas.draw()
    found = []
    for ax in figure.axes:
        labels = [ax.title, ax.xaxis.label, ax.yaxis.label]
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            ticks = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
            labels += [text for at, text in ticks if low - 1e-9 <= at <= high + 1e-9]
        labels += [ax._left_title, *(ax.get_legend().get_texts() if ax.get_legend() else [])]
        found += [text for text in labels if text.get_text()]
    return found


def test_no_text_of_a_comparison_of_models_overlaps(models: ModelComparison) -> None:
    boxes = [text.get_window_extent() for text in shown_texts(models.plot())]
    assert len(boxes) > 30
    assert not [(a, b) for i, a in enumerate(boxes) for b in boxes[:i] if a.overlaps(b)]


def test_marks_are_the_differences_and_the_net_benefit(models: ModelComparison) -> None:
    figure = models.plot("log loss", "decision curve")
    differences, curve = figure.axes
    marks = [line.get_xdata()[0] for line in differences.lines if line.get_marker() == "o"]
    wanted = [one.difference for one in models if one.score == "log loss"]
    assert marks[::-1] == pytest.approx([0.0, *wanted[1:]])
    drawn = {line.get_label(): line.get_ydata() for line in curve.lines}
    for one in models:
        if one.score == "net benefit":
            assert drawn[one.model][19] == pytest.approx(one.value)  # at 0.2
    assert len({str(line.get_linestyle()) + str(line._dash_pattern) for line in curve.lines[:3]}) == 3


def test_panels_and_a_figure_may_be_named(models: ModelComparison) -> None:
    outer = mpl.figure.Figure(figsize=(9, 4))
    left, _ = outer.subfigures(1, 2)
    assert models.plot("calibration", figure=left) is left
    with pytest.raises(ParameterError, match="panels='roc'"):
        models.plot("roc")
    with pytest.raises(ParameterError, match="figure="):
        models.plot(figure=3)
    alone = compare([0, 1] * 20, {"tree": [0.2, 0.7] * 20}).plot()
    assert [ax.get_title(loc="left") for ax in alone.axes][:3] == [
        "log loss",
        "Brier score",
        "area under the curve",
    ]
