"""Figures of comparisons: marks are the numbers, and every name is readable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hornbeam.evaluation import Comparison

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
