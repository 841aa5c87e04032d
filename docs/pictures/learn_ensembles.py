"""The pictures of the page "Many trees"."""

from functools import cache
from itertools import pairwise
from math import comb

import numpy as np
from svg import BLUE, GREY, ORANGE, Axes, box, line, picture, text

from hornbeam import ForestClassifier, ForestRegressor, TreeClassifier, TreeRegressor
from hornbeam.data import Table
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
    left = Axes(45, 50, 225, 200, (-0.5, 15.5), (0, 0.25))
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
        text(*left.at(11.7, 0.07), "majority wrong:", colour=ORANGE),
        text(*left.at(11.7, 0.05), f"{wrong:.1%}", colour=ORANGE, size=16),
    ]
    right = Axes(345, 50, 225, 200, (0, 1), (0, 1))
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
        text(*right.at(0.13, 0.33), "1 voter", colour=GREY),
        text(*right.at(0.70, 0.735), "5", colour=BLUE),
        text(*right.at(0.60, 0.93), "15", colour=ORANGE),
    ]
    return picture(
        "Votes of 15 independent voters, each wrong with probability 0.3",
        600,
        300,
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
        axes = Axes(40 + 300 * number, 50, 245, 210, (0, 6), (-2, 2))
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
    return picture("Predictions of one tree and of a bag of 25 trees", 600, 315, *parts)


def forest() -> str:
    model = ForestClassifier(
        3, max_features=1, min_samples_leaf=2, smoothing=None, random_state=2
    ).fit(POINTS, np.where(LABELS == 1, "+", "-"))
    new = Table.read([NEW_ROW], schema=model.forest_.schema)
    parts = [
        text(60, 30, "training rows"),
        text(190, 30, "samples"),
        text(345, 30, "trees"),
        text(535, 30, f"a new row: ({NEW_ROW[0]}, {NEW_ROW[1]})"),
        box(60, 150, "5 +, 5 −", GREY, 90),
    ]
    plus = list(model.classes_).index("+")
    for number, tree in enumerate(model.forest_.trees):
        y, n_plus = 70 + 80 * number, tree.evidence[0, plus]
        root = f"{'xy'[tree.skeleton.feature[0]]} ≤ {tree.skeleton.threshold[0]:.2f}"
        chance = Forest((tree,)).predict(new)[0, plus]
        parts += [
            line((105, 150), (144, y), arrow=True),
            box(190, y, f"{n_plus:g} +, {10 - n_plus:g} −", GREY, 90),
            line((235, y), (264, y), arrow=True),
            box(345, y, f"{root}, {tree.n_leaves} leaves", BLUE, 160),
            line((425, y), (459, y), arrow=True),
            box(490, y, f"{chance:.2f}", ORANGE, 60),
            line((520, y), (554, 150)),
        ]
    parts += [
        box(586, 150, f"{model.forest_.predict(new)[0, plus]:.2f}", ORANGE, 64, 16),
        text(586, 125, "mean", colour=ORANGE),
        text(150, 275, "drawn with replacement", colour=GREY, size=13),
        text(345, 275, "m random columns per node", colour=GREY, size=13),
        text(535, 275, "probability of +", colour=GREY, size=13),
    ]
    return picture("A random forest: samples, trees, mean", 630, 295, *parts)


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
    parts = [
        text(320, 25, "weights of the rows: more for wrong ones", colour=GREY, size=13)
    ]
    for number, one in enumerate(rounds()):
        x, t = 45 + 205 * number, "₁₂₃"[number]
        parts += [
            box(x, 60, f"D{t}", GREY, 50),
            line((x + 25, 60), (x + 49, 60), arrow=True),
            box(x + 92, 60, f"stump h{t}", BLUE, 84),
            line((x + 92, 77), (x + 92, 146), arrow=True),
            text(x + 99, 103, f"ε{t} = {one['error']:.4f}", size=13, anchor="start"),
            text(x + 99, 123, f"α{t} = {one['alpha']:.4f}", size=13, anchor="start"),
            box(x + 92, 165, f"{one['alpha']:.2f} h{t}", ORANGE, 84),
        ]
        if number < 2:
            parts += [
                line((x + 134, 60), (x + 179, 60), arrow=True),
                text(x + 195, 171, "+", colour=ORANGE, size=18),
            ]
    parts.append(text(340, 215, "final classifier: the sign of the sum", colour=ORANGE))
    return picture("AdaBoost: three rounds and their sum", 650, 230, *parts)


def adaboost_rounds() -> str:
    parts = []
    for number in range(4):
        axes = Axes(
            40 + 310 * (number % 2), 50 + 330 * (number // 2), 250, 250, (0, 1), (0, 1)
        )
        parts.append(panel(axes, number))
    return picture(
        "Three rounds of AdaBoost on ten rows, and their sum", 620, 690, *parts
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
        (x, y), radius = axes.at(*point), 30 * weight**0.5
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
        text(left + 125, axes.top + 268, "x", size=13),
        text(left - 12, axes.top + 130, "y", size=13),
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
