"""Figures 2 to 4 of the HGS paper, from the scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.quality.studies.figures import plot_forest_sizes
from benchmarks.quality.studies.forest import SIZES
from benchmarks.quality.studies.paper_tables import HGS, Paper
from hornbeam.plots.canvas import COLORS, GREY, axes

STARS = {"marker": "*", "s": 38, "color": COLORS[0], "linewidth": 0, "alpha": 0.85}
CIRCLES = {"marker": "o", "s": 24, "facecolor": "none", "edgecolor": COLORS[1], "linewidth": 1.0}


def figure2(paper: Paper) -> Any:
    """RMSE of HGS minus that of M-branch and of HDP, sets from large to small; HGS is better in the grey half."""
    ax = axes(size=(7.2, 4.4))
    order = np.argsort(-paper.rows, kind="stable")
    place = np.arange(1, len(order) + 1)
    for other, title, style in (("c4.4/m-branch", "M-branch", STARS), ("c4.4/hdp", "HDP", CIRCLES)):
        ax.scatter(
            place,
            (paper.rmse.of(HGS) - paper.rmse.of(other))[order],
            label=f"HGS minus {title}",
            zorder=3,
            **style,
        )
    low, high = ax.get_ylim()
    ax.axhspan(low, 0, color="#e8e8e8", linewidth=0)
    ax.axhline(0, color=GREY, linewidth=1)
    ax.set(
        ylim=(low, high),
        xlim=(0, len(order) + 1),
        xlabel="data sets, from the largest to the smallest",
        ylabel="difference of RMSE",
    )
    ax.legend(frameon=False)
    return ax


def figure3(paper: Paper) -> Any:
    """Seconds of training against rows, HGS and HDP."""
    ax = axes(size=(7.2, 4.4))
    for method, title, style in ((HGS, "HGS", STARS), ("c4.4/hdp", "HDP", CIRCLES)):
        ax.scatter(paper.rows, np.maximum(paper.seconds.of(method), 1e-4), label=title, **style)
    ax.set(xscale="log", yscale="log", xlabel="rows", ylabel="CPU seconds of growing and smoothing")
    ax.legend(frameon=False)
    return ax


def figure4(paper: Paper) -> Any:
    """RMSE against the number of trees, raw and smoothed, and one HGS tree."""
    losses = paper.forests.among(
        (HGS, *(f"sklearn-forest/rf-{n}{end}" for n in SIZES for end in ("", "-hgs")))
    )
    means = dict(zip(losses.methods, losses.means(), strict=True))
    curves = {
        title: [means[f"sklearn-forest/rf-{size}{end}"] for size in SIZES]
        for title, end in (("RF", ""), ("RF HGS", "-hgs"))
    }
    return plot_forest_sizes(SIZES, curves, {"one C4.4 tree with HGS": means[HGS]}, ax=axes(size=(7.2, 4.4)))


FIGURES = (figure2, figure3, figure4)


def draw(paper: Paper, out: Path) -> None:
    """Write the figures as PNG files."""
    import matplotlib as mpl

    mpl.use("agg")
    for figure in FIGURES:
        figure(paper).figure.savefig(out / f"{figure.__name__}.png", dpi=120)
