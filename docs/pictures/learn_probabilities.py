"""The pictures of the page "Probabilities"."""

from itertools import pairwise
from math import sqrt

import numpy as np
from svg import BLUE, GREY, ORANGE, box, line, picture, text

from hornbeam import Tree
from hornbeam.smoothing import HDP, HGS, Raw
from hornbeam.tree import Feature, Schema, Skeleton

# The tree of the page: its root, A, B, A1, A2, and rows of each that are dry and rainy.
EVIDENCE = np.array([[7, 3], [6, 1], [1, 2], [4, 0], [2, 1]])
TREE = Tree.raw(
    Schema((Feature("humidity"), Feature("cloud")), ("dry", "rain")),
    Skeleton.of([2, 2, 0, 0, 0], [0, 1, -1, -1, -1], [75, 40, np.nan, np.nan, np.nan]),
    EVIDENCE,
)
BRANCH = {"root": 0, "A": 1, "A1": 3}
HEIGHTS = dict(zip(("1/2", *BRANCH), (70, 150, 230, 310), strict=True))
RAIN = 1


def m_branch() -> tuple[list[float], list[float]]:
    """The m of each node of the branch from the root down to A1, and its probability of rain there."""
    counts = [EVIDENCE[node] for node in BRANCH.values()]
    sizes, values = [], [0.5]
    for height, rows in zip((3, 2, 1), counts, strict=True):
        m = 1 + (1 - 1 / height) * sqrt(counts[0].sum())
        sizes.append(m)
        values.append((rows[RAIN] + m * values[-1]) / (rows.sum() + m))
    return sizes, values[1:]


def node(x: float, name: str, value: float, counts: bool, colour: str) -> str:
    rows = EVIDENCE[BRANCH[name]]
    words = f"{name}  {rows[0]} : {rows[1]}" if counts else name
    y = HEIGHTS[name]
    shape = box(x, y, words, colour, width=90, size=15)
    return shape + text(
        x + 50, y + 5, f"{value:.2f}", colour=colour, size=15, anchor="start"
    )


def recursive(
    x: float, weights: list[str], values: list[float], counts: list[bool], colour: str
) -> str:
    """Each node is smoothed towards the estimate of its parent; the root towards one half."""
    parts = [box(x, HEIGHTS["1/2"], "1/2", GREY, width=60, size=15)]
    for name, value, count in zip(BRANCH, values, counts, strict=True):
        parts.append(node(x, name, value, count, colour))
    for (above, below), weight in zip(pairwise(HEIGHTS.values()), weights, strict=True):
        parts.append(line((x, below - 17), (x, above + 17), arrow=True))
        parts.append(
            text(x + 10, (above + below) / 2 + 5, weight, size=15, anchor="start")
        )
    return "".join(parts)


def at_once(x: float) -> str:
    """The leaf is smoothed towards all its ancestors, which keep their frequencies."""
    raw, smoothed = Raw()(TREE).belief[:, RAIN], HGS(prior=0.0)(TREE).belief[:, RAIN]
    values = {"root": raw[0], "A": raw[1], "A1": smoothed[3]}
    root, a, leaf = (HEIGHTS[name] for name in BRANCH)
    bend = x - 63
    parts = [
        node(x, name, value, True, BLUE if name == "A1" else GREY)
        for name, value in values.items()
    ]
    parts += [
        line((x, leaf - 17), (x, a + 17), arrow=True),
        text(x + 10, (a + leaf) / 2 + 5, "α = 1", size=15, anchor="start"),
        line((x - 45, leaf), (bend, leaf)),
        line((bend, leaf), (bend, root)),
        line((bend, root), (x - 45, root), arrow=True),
        text(bend + 8, (root + a) / 2 + 5, "α = 1", size=15, anchor="start"),
    ]
    return "".join(parts)


def backoff() -> str:
    hdp = HDP(sweeps=20_000)(TREE)
    nodes = list(BRANCH.values())
    concentrations = [f"c = {c:.1f}" for c in hdp.borrowed[nodes]]
    m, values = m_branch()
    titles = ("HDP", "M-branch", "HGS")
    return picture(
        "Three ways to smooth the leaf A1: by its parent, again and again, or by all its ancestors at once",
        480,
        345,
        *(
            text(x, 28, title, size=19)
            for x, title in zip((52, 204, 392), titles, strict=True)
        ),
        recursive(
            52,
            concentrations,
            hdp.belief[nodes, RAIN].tolist(),
            [False, False, True],
            ORANGE,
        ),
        recursive(204, [f"m = {x:.2f}" for x in m], values, [True] * 3, BLUE),
        at_once(392),
    )


PICTURES = {"learn-probabilities-backoff": backoff}
