"""The pictures of the page "Many trees"."""

from functools import cache
from itertools import pairwise
from math import comb

import numpy as np
from svg import BLUE, GREY, ORANGE, Axes, box, line, picture, text

from hornbeam import ForestClassifier, ForestRegressor, TreeClassifier, TreeRegressor
from hornbeam.ensembles import Forest

# The ten rows of the lecture's AdaBoost example, as on the page.
X = [0.06, 0.14, 0.71, 0.68, 0.73, 0.56, 0.66, 0.25, 0.83, 0.85]
Y = [0.52, 0.41, 0.77, 0.76, 0.88, 0.66, 0.55, 0.28, 0.77, 0.59]
POINTS = np.column_stack([X, Y])
LABELS = np.repeat([1, -1], 5)
NEW_ROW = [0.7, 0.8]
PALE = {1: "#d6e6f4", -1: "#fbe3cf"}


def rectangle(
    a: tuple[float, float], b: tuple[float, float], colour: str, edge: str = "none"
) -> str:
    x, y = min(a[0], b[0]), min(a[1], b[1])
    width, height = abs(a[0] - b[0]), abs(a[1] - b[1])
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
        f'fill="{colour}" stroke="{edge}"/>'
    )


def majority_error(n_voters: int, error: float) -> float:
    return sum(
        comb(n_voters, k) * error**k * (1 - error) ** (n_voters - k)
        for k in range(n_voters // 2 + 1, n_voters + 1)
    )


def voting() -> str:
    shares = [comb(15, k) * 0.3**k * 0.7 ** (15 - k) for k in range(16)]
    left = Axes(35, 40, 180, 200, (-0.5, 15.5), (0, 0.25))
    parts = [
        rectangle(
            left.at(k - 0.4, share), left.at(k + 0.4, 0), ORANGE if k > 7 else BLUE
        )
        for k, share in enumerate(shares)
    ]
    parts.append(
        left.frame(
            "wrong voters of 15", "probability", (0, 4, 8, 12, 15), (0, 0.1, 0.2)
        )
    )
    wrong = majority_error(15, 0.3)
    parts += [
        text(*left.at(11.4, 0.19), "majority wrong:", colour=ORANGE),
        text(*left.at(11.4, 0.165), f"{wrong:.1%}", colour=ORANGE, size=16),
    ]
    right = Axes(270, 40, 190, 200, (0, 1), (0, 1))
    for n_voters, colour in ((1, GREY), (5, BLUE), (15, ORANGE)):
        points = [(e / 50, majority_error(n_voters, e / 50)) for e in range(51)]
        parts.append(right.curve(points, colour, dashed=n_voters == 1))
    parts.append(
        right.frame(
            "error of one voter",
            "error of the majority",
            (0, 0.5, 1),
            (0, 0.5, 1),
        )
    )
    parts += [
        text(*right.at(0.16, 0.36), "1 voter", colour=GREY),
        text(*right.at(0.70, 0.735), "5", colour=BLUE),
        text(*right.at(0.60, 0.93), "15", colour=ORANGE),
    ]
    return picture(
        "Votes of 15 independent voters, each wrong with probability 0.3",
        470,
        290,
        *parts,
    )


def sine_rows(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0, 6, 60))
    return x[:, None], np.sin(x) + rng.normal(0, 0.4, 60)


def variance() -> str:
    grid = np.linspace(0.1, 5.9, 117)[:, None]
    methods = {
        "one tree": TreeRegressor("cart"),
        "a bag of 25 trees": ForestRegressor(25, max_features=None, smoothing=None),
    }
    parts = []
    for number, (name, method) in enumerate(methods.items()):
        axes = Axes(30 + 235 * number, 40, 195, 210, (0, 6), (-2, 2))
        predicted = np.array(
            [method.fit(*sine_rows(seed)).predict(grid) for seed in range(20)]
        )
        mean, spread = predicted.mean(axis=0), predicted.std(axis=0)
        top = list(zip(grid[:, 0], mean + spread, strict=True))
        bottom = list(zip(grid[:, 0], mean - spread, strict=True))
        corners = " ".join(
            f"{x:.1f},{y:.1f}" for x, y in (axes.at(*c) for c in top + bottom[::-1])
        )
        truth = zip(grid[:, 0], np.sin(grid[:, 0]), strict=True)
        parts += [
            f'<polygon points="{corners}" fill="{PALE[1]}"/>',
            axes.curve(zip(grid[:, 0], predicted[0], strict=True), ORANGE),
            axes.curve(truth, "#222", dashed=True),
            axes.frame("x", name, (0, 2, 4, 6), (-2, -1, 0, 1, 2)),
        ]
    return picture("Predictions of one tree and of a bag of 25 trees", 470, 300, *parts)


def forest() -> str:
    model = ForestClassifier(
        3, max_features=1, min_samples_leaf=2, smoothing=None, random_state=2
    ).fit(POINTS, np.where(LABELS == 1, "+", "-"))
    rows = {
        "training rows": 30,
        "samples": 105,
        "trees": 180,
        "new row": 255,
        "mean": 330,
    }
    parts = [text(5, y + 5, name, anchor="start") for name, y in rows.items()]
    top, sample, grown, new_row, mean = rows.values()
    middle, plus = 275, list(model.classes_).index("+")
    for number, tree in enumerate(model.forest_.trees):
        x, n_plus = middle + 125 * (number - 1), tree.evidence[0, plus]
        root = f"{'xy'[tree.skeleton.feature[0]]} ≤ {tree.skeleton.threshold[0]:.2f}"
        chance = Forest((tree,)).predict([NEW_ROW])[0, plus]
        parts += [
            line((middle, top + 17), (x, sample - 18), arrow=True),
            box(x, sample, f"{n_plus:g} +, {10 - n_plus:g} −", GREY, 100),
            line((x, sample + 17), (x, grown - 18), arrow=True),
            box(x, grown, root, BLUE, 100),
            line((x, grown + 17), (x, new_row - 18), arrow=True),
            box(x, new_row, f"{chance:.2f}", ORANGE, 100),
            line((x, new_row + 17), (middle, mean - 18), arrow=True),
        ]
    average = model.forest_.predict([NEW_ROW])[0, plus]
    parts += [
        box(middle, top, "5 +, 5 −", GREY, 100),
        box(middle, mean, f"{average:.2f}", ORANGE, 100, 16),
    ]
    return picture("A random forest: samples, trees, mean", 460, 360, *parts)


@cache
def rounds() -> list[dict[str, object]]:
    """Weights, stump, error and alpha of three rounds of AdaBoost."""
    found, weights = [], np.full(10, 0.1)
    for _ in range(3):
        stump = TreeClassifier("cart", criterion="entropy", max_depth=1)
        stump.fit(POINTS, LABELS, sample_weight=weights)
        h = stump.predict(POINTS)
        error = weights[h != LABELS].sum()
        alpha = np.log(1 / error - 1) / 2
        found.append({"D": weights, "stump": stump, "error": error, "alpha": alpha})
        weights = weights * np.exp(-alpha * LABELS * h)
        weights = weights / weights.sum()
    return found


def adaboost_flow() -> str:
    parts = []
    for number, one in enumerate(rounds()):
        y, t = 30 + 100 * number, "₁₂₃"[number]
        parts += [
            box(60, y, f"weights D{t}", GREY, 100),
            line((110, y), (139, y), arrow=True),
            box(190, y, f"stump h{t}", BLUE, 100),
            line((240, y), (359, y), arrow=True),
            text(298, y - 8, f"ε{t} = {one['error']:.4f}"),
            text(298, y + 20, f"α{t} = {one['alpha']:.4f}"),
            box(410, y, f"{one['alpha']:.2f} h{t}", ORANGE, 100),
        ]
        if number < 2:
            parts += [
                line((150, y + 17), (90, y + 82), arrow=True),
                text(135, y + 62, "more for wrong rows", anchor="start", colour=GREY),
                text(410, y + 56, "+", colour=ORANGE, size=18),
            ]
    parts.append(text(460, 285, "the sign of the sum", colour=ORANGE, anchor="end"))
    return picture("AdaBoost: three rounds and their sum", 470, 300, *parts)


def adaboost_rounds() -> str:
    parts = []
    for number in range(4):
        axes = Axes(
            25 + 235 * (number % 2), 50 + 285 * (number // 2), 205, 205, (0, 1), (0, 1)
        )
        parts.append(panel(axes, number))
    return picture(
        "Three rounds of AdaBoost on ten rows, and their sum", 470, 575, *parts
    )


def panel(axes: Axes, number: int) -> str:
    """One round, or for number 3 the sum of all: regions, and points as large as their weights."""
    found = rounds()
    used = found if number == 3 else [found[number]]
    cuts: list[list[float]] = [[0.0, 1.0], [0.0, 1.0]]
    for one in used:
        skeleton = one["stump"].tree_.skeleton
        cuts[skeleton.feature[0]].append(float(skeleton.threshold[0]))
    parts = []
    for x0, x1 in pairs(cuts[0]):
        for y0, y1 in pairs(cuts[1]):
            total = score(used, [[(x0 + x1) / 2, (y0 + y1) / 2]])[0]
            parts.append(
                rectangle(
                    axes.at(x0, y0), axes.at(x1, y1), PALE[1 if total > 0 else -1], GREY
                )
            )
            if number == 3:
                x, top = axes.at((x0 + x1) / 2, y1)
                y = axes.at(x0, y0)[1] - 6 if y0 == 0.0 else top + 16
                parts.append(text(x, y, f"{total:+.2f}", size=13))
    weights = np.full(10, 0.1) if number == 3 else found[number]["D"]
    wrong = np.sign(score(used, POINTS)) != LABELS
    for point, label, weight, missed in zip(
        POINTS, LABELS, weights, wrong, strict=True
    ):
        (x, y), radius = axes.at(*point), 27 * weight**0.5
        colour = BLUE if label == 1 else ORANGE
        edge = "#222" if missed else "white"
        parts.append(
            f'<circle cx="{x}" cy="{y}" r="{radius:.1f}" fill="{colour}" opacity="0.85" '
            f'stroke="{edge}" stroke-width="{3 if missed else 1}"/>'
            + text(x, y + 5, "+" if label == 1 else "−", colour="white", size=15)
        )
    if number < 3:
        one = found[number]
        skeleton = one["stump"].tree_.skeleton
        test = f"{'xy'[skeleton.feature[0]]} ≤ {skeleton.threshold[0]:g}"
        heads = (
            f"round {number + 1}: {test}",
            f"ε = {one['error']:.4f}, α = {one['alpha']:.4f}",
        )
    else:
        heads = "sum of the three", f"{wrong.sum()} of 10 rows are wrong"
    left = axes.left
    parts += [
        text(left, axes.top - 26, heads[0], anchor="start"),
        text(left, axes.top - 8, heads[1], colour=GREY, size=13, anchor="start"),
        text(left + 102, axes.top + 223, "x", size=13),
        text(left - 12, axes.top + 106, "y", size=13),
    ]
    return "".join(parts)


def pairs(cuts: list[float]) -> list[tuple[float, float]]:
    return list(pairwise(sorted(cuts)))


def score(found: list[dict[str, object]], points: object) -> np.ndarray:
    return sum(one["alpha"] * one["stump"].predict(points) for one in found)


PICTURES = {
    "learn-ensembles-voting": voting,
    "learn-ensembles-variance": variance,
    "learn-ensembles-forest": forest,
    "learn-ensembles-adaboost-flow": adaboost_flow,
    "learn-ensembles-adaboost-rounds": adaboost_rounds,
}
