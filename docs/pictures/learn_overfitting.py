"""The pictures of the page "Overfitting"."""

import numpy as np
from svg import BLUE, GREY, ORANGE, Axes, line, picture, text

from hornbeam import TreeClassifier

NOISE = 0.2  # share of exchanged classes: no method has a smaller error on new rows
FILLS = {"train": BLUE, "validate": GREY, "test": ORANGE}


def sample(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of the page: a disc, and exchanged classes."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 4))
    disc = (X[:, 0] - 0.5) ** 2 + (X[:, 1] - 0.5) ** 2 < 0.16
    return X, np.where(disc ^ (rng.random(n) < NOISE), "in", "out")


def part(left: float, top: float, width: float, use: str, words: str = "") -> str:
    """A part of the rows, coloured by its use."""
    shape = (
        f'<rect x="{left}" y="{top}" width="{width}" height="30" fill="{FILLS[use]}"'
    )
    label = text(left + width / 2, top + 20, words or use, size=13)
    return f'{shape} fill-opacity=".3" stroke="white" stroke-width="2"/>{label}'


def sets() -> str:
    widths = {"train": 190, "validate": 125, "test": 125}
    titles = ("training rows", "validation rows", "test rows")
    uses = (
        ("grow", "the trees"),
        ("choose", "between them"),
        ("report", "the error, once"),
    )
    parts, left = [text(230, 28, "all rows, divided at random or by time", size=16)], 10
    for (use, width), title, words in zip(widths.items(), titles, uses, strict=True):
        middle = left + width / 2
        parts += [
            part(left, 45, width, use, title),
            line((middle, 82), (middle, 122), arrow=True),
            text(middle, 146, words[0], size=16, colour=FILLS[use]),
            text(middle, 168, words[1], size=15),
        ]
        left += width
    return picture("Training, validation and test rows", 460, 185, *parts)


def folds() -> str:
    k, wide, step, left, below = 5, 76, 36, 20, 265
    parts = [
        text(left, 28, "5 folds: each is the test set once", size=16, anchor="start")
    ]
    for i in range(k):
        parts += [
            part(left + wide * j, 42 + step * i, wide, "test" if i == j else "train")
            for j in range(k)
        ]
    parts += [
        text(
            left, below, "nested folds: for each test set ...", size=16, anchor="start"
        ),
        *(
            part(left + wide * j, below + 14, wide, "train" if j else "test")
            for j in range(k)
        ),
        text(
            left,
            below + 74,
            "... inner folds of its training rows",
            size=16,
            anchor="start",
        ),
    ]
    for i in range(1, k):
        for j in range(1, k):
            use = "validate" if i == j else "train"
            parts.append(part(left + wide * j, below + 52 + step * i, wide, use))
    return picture("Folds and nested folds", 420, 510, *parts)


def depth() -> str:
    (X, y), (X_new, y_new) = sample(400, 0), sample(20_000, 1)
    trees = [TreeClassifier("cart", max_depth=d).fit(X, y) for d in range(1, 17)]
    old = [(d, 1 - tree.score(X, y)) for d, tree in enumerate(trees, 1)]
    new = [(d, 1 - tree.score(X_new, y_new)) for d, tree in enumerate(trees, 1)]
    axes = Axes(40, 40, 410, 260, (1, 16), (0, 0.5))
    best = min(new, key=lambda point: point[1])
    x, y_best = axes.at(*best)
    parts = [
        axes.frame(
            "depth of the tree",
            "error",
            (1, *range(2, 17, 2)),
            (0, 0.1, 0.2, 0.3, 0.4, 0.5),
        ),
        axes.curve([(1, NOISE), (16, NOISE)], GREY, dashed=True),
        axes.curve(old, BLUE),
        axes.curve(new, ORANGE),
        f'<circle cx="{x}" cy="{y_best}" r="6" fill="{ORANGE}"/>',
        text(x + 12, y_best + 24, f"depth {best[0]}", colour=ORANGE, anchor="start"),
        text(420, axes.at(1, 0.395)[1], "new rows", colour=ORANGE),
        text(280, axes.at(1, 0.025)[1], "training rows", colour=BLUE),
        text(412, axes.at(1, NOISE)[1] - 8, "the noise", colour=GREY),
        text(105, axes.at(1, 0.475)[1], "underfits", size=15),
        text(310, axes.at(1, 0.475)[1], "overfits", size=15),
    ]
    return picture("Error against depth", 470, 355, *parts)


def learning_curve(preset: str, sizes: list[int]) -> list[tuple[float, float]]:
    """Mean error on new rows over four samples of each size; sizes as powers of two times 100."""
    X_new, y_new = sample(20_000, 1)
    curve = []
    for power, n in enumerate(sizes):
        trees = (TreeClassifier(preset).fit(*sample(n, seed)) for seed in range(10, 14))
        errors = [1 - tree.score(X_new, y_new) for tree in trees]
        curve.append((power, float(np.mean(errors))))
    return curve


def rows() -> str:
    sizes = [100 * 2**power for power in range(7)]
    axes = Axes(40, 40, 400, 260, (0, 6), (0.15, 0.45))
    raw, default = (learning_curve(name, sizes) for name in ("cart", "default"))
    parts = [
        axes.frame("training rows", "error on new rows", (), (0.2, 0.3, 0.4)),
        axes.curve([(0, NOISE), (6, NOISE)], GREY, dashed=True),
        axes.curve(raw, ORANGE),
        axes.curve(default, BLUE),
        text(
            axes.at(4, 0)[0],
            axes.at(4, raw[4][1])[1] - 12,
            "CART, not pruned",
            colour=ORANGE,
        ),
        text(
            axes.at(4.7, 0)[0],
            axes.at(4, default[4][1])[1] - 10,
            "Hornbeam's default",
            colour=BLUE,
        ),
        text(
            axes.at(1.6, 0)[0],
            axes.at(0, NOISE)[1] + 20,
            "the noise: no method is better",
            colour=GREY,
        ),
    ]
    for power, n in enumerate(sizes):
        parts.append(text(axes.at(power, 0)[0], 318, f"{n:,}", size=13))
    return picture("Error against the number of training rows", 470, 355, *parts)


PICTURES = {
    "learn-overfitting-sets": sets,
    "learn-overfitting-folds": folds,
    "learn-overfitting-depth": depth,
    "learn-overfitting-rows": rows,
}
