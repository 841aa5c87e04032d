"""The figure of score against size: one readable point per method."""

from __future__ import annotations

import numpy as np
import pytest

from hornbeam.plots import plot_sizes

mpl = pytest.importorskip("matplotlib", reason="pictures need the extra plots")
mpl.use("agg")


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
