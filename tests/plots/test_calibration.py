"""The reliability diagram shows the computed curve."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from hornbeam import TreeClassifier
from hornbeam.errors import MissingExtraError, ParameterError
from hornbeam.plots import ReliabilityDisplay
from hornbeam.plots.canvas import COLORS

mpl = pytest.importorskip("matplotlib", reason="pictures need the extra plots")
mpl.use("agg")


@pytest.fixture
def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.random((600, 2))
    return X, np.where(rng.random(600) < X[:, 0], "yes", "no")


def test_the_line_is_the_curve_of_an_estimator(rows: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    X, y = rows
    clf = TreeClassifier(smoothing="hgs").fit(X[:300], y[:300])
    display = ReliabilityDisplay.from_estimator(clf, X[300:], y[300:], n_bins=6)
    assert display.line_.get_xdata().tolist() == display.curve.predicted.tolist()
    assert display.line_.get_ydata().tolist() == display.curve.observed.tolist()
    ends = [segment[:, 1].tolist() for segment in display.band_.get_segments()]
    assert ends == np.column_stack([display.curve.low, display.curve.high]).tolist()
    assert display.ax_.get_xlabel() == "predicted probability of yes"
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["TreeClassifier"]
    display.figure_.savefig(tmp_path / "reliability.png")
    assert (tmp_path / "reliability.png").stat().st_size > 5000


def test_before_and_after_on_the_same_axes(rows: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = rows
    raw = ReliabilityDisplay.from_predictions(y, X[:, 0], name="raw")
    smooth = ReliabilityDisplay.from_predictions(y, X[:, 0], name="smooth", ax=raw.ax_)
    assert smooth.figure_ is raw.figure_
    assert [raw.line_.get_color(), smooth.line_.get_color()] == list(COLORS[:2])
    assert len(raw.ax_.lines) == 3  # one diagonal for both


def test_the_class_of_interest_is_drawn_against_the_rest() -> None:
    y = np.array(["a", "b", "c"] * 40)
    clf = TreeClassifier(smoothing="hgs", max_depth=1).fit(np.arange(120).reshape(-1, 1), y)
    display = ReliabilityDisplay.from_estimator(clf, np.arange(120).reshape(-1, 1), y, positive="b")
    assert display.positive == "b"
    assert np.average(display.curve.observed, weights=display.curve.weight) == pytest.approx(1 / 3)
    with pytest.raises(ParameterError, match="positive='d'"):
        ReliabilityDisplay.from_estimator(clf, [[0]], ["a"], positive="d")


def test_an_area_instead_of_bars(rows: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = rows
    display = ReliabilityDisplay.from_predictions(y, X[:, 0]).plot(band="area", color="black")
    low = display.band_.get_paths()[0].vertices[:, 1].min()
    assert low == pytest.approx(display.curve.low.min())
    assert display.line_.get_color() == "black"


def test_without_matplotlib_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"hornbeam\[plots\]"):
        ReliabilityDisplay.from_predictions([0, 1], [0.1, 0.9])
