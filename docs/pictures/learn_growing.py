"""The pictures of the page "Growing step by step"."""

from sklearn.datasets import load_iris
from svg import BLUE, GREY, ORANGE, Axes, box, line, picture, text

from hornbeam import Tree, TreeClassifier

BLACK = "#222"
THINGS = (
    "S R yes, S R yes, S G yes, S G yes, S B no, S B no, "
    "L R no, L R no, L G no, L G no, L B no, L B no, L B yes"
)
RESULT = "ffpffpppfppp"
MARKS = ("○", "□", "▲")  # setosa, versicolor, virginica
CLASSES = (BLUE, ORANGE, GREY)


def region(
    left: float, top: float, right: float, bottom: float, colour: str, edge: str = GREY
) -> str:
    """A rectangle with a light fill."""
    size = f'width="{right - left:.1f}" height="{bottom - top:.1f}"'
    return f'<rect x="{left:.1f}" y="{top:.1f}" {size} fill="{colour}" fill-opacity=".25" stroke="{edge}"/>'


def plane() -> str:
    rows = [thing.split() for thing in THINGS.split(",")]
    X, y = [row[:2] for row in rows], [row[2] for row in rows]
    titles = ("no split", "split by size", "then by colour")
    parts = [
        text(235, 318, "+ class yes, − class no"),
        text(150, 342, "blue: predicts yes", colour=BLUE),
        text(320, 342, "orange: predicts no", colour=ORANGE),
    ]
    for depth, title in enumerate(titles):
        axes = Axes(30 + 150 * depth, 40, 126, 210, (0, 2), (0, 3))
        parts.append(text(axes.left + 63, 26, title, size=15))
        tree = TreeClassifier("id3", max_depth=max(depth, 1)).fit(X, y)
        for i, size in enumerate("SL"):
            parts.append(text(axes.at(i + 0.5, 0)[0], 270, size))
            for j, colour in enumerate("RGB"):
                guess = tree.predict([[size, colour]])[0] if depth else "no"
                corners = *axes.at(i, j + 1), *axes.at(i + 1, j)
                fill = BLUE if guess == "yes" else ORANGE
                parts.append(region(*corners, fill, "none"))
                here = [label for *cell, label in rows if cell == [size, colour]]
                marks = " ".join("+" if label == "yes" else "−" for label in here)
                x, up = axes.at(i + 0.5, j + 0.5)
                parts.append(text(x, up + 7, marks, size=22))
        parts += [
            text(axes.left - 10, axes.at(0, j + 0.5)[1] + 5, colour)
            for j, colour in enumerate("RGB")
        ]
        if depth:
            parts.append(line(axes.at(1, 0), axes.at(1, 3), BLACK))
        if depth == 2:
            parts += [line(axes.at(0, j), axes.at(2, j), BLACK) for j in (1, 2)]
    return picture("Two splits in the plane of size and colour", 470, 356, *parts)


def regions(tree: Tree, axes: Axes) -> str:
    """The rectangles of the leaves, in the plane of two numeric features."""
    parts, open_nodes = [], [(0, [axes.x, axes.y])]
    skeleton = tree.skeleton
    while open_nodes:
        node, sides = open_nodes.pop()
        if skeleton.n_children[node] == 0:
            (left, right), (low, high) = sides
            colour = CLASSES[tree.decided[node]]
            parts.append(region(*axes.at(left, high), *axes.at(right, low), colour))
            continue
        feature, threshold = skeleton.feature[node], skeleton.threshold[node]
        low, high = sides[feature]
        for child, side in enumerate(((low, threshold), (threshold, high))):
            inner = [side if i == feature else old for i, old in enumerate(sides)]
            open_nodes.append((skeleton.first_child[node] + child, inner))
    return "".join(parts)


def branches(tree: Tree, left: float, top: float, width: float) -> str:
    """A small drawing of the tree: tests, and a mark for the class of each leaf."""
    skeleton, centre = tree.skeleton, {}

    def place(node: int, level: int, free: int) -> int:
        """Put the leaves side by side and each parent over the middle of its children."""
        if skeleton.n_children[node] == 0:
            at, free = free + 0.5, free + 1
        else:
            first = skeleton.first_child[node]
            free = place(first + 1, level + 1, place(first, level + 1, free))
            at = (centre[first][0] + centre[first + 1][0]) / 2
        centre[node] = at, level
        return free

    place(0, 0, 0)
    step = width / tree.n_leaves
    spot = {
        n: (left + step * at, top + 52 * level) for n, (at, level) in centre.items()
    }
    lines, boxes = [], []
    for node in sorted(spot):
        x, y = spot[node]
        if skeleton.n_children[node] == 0:
            kind = tree.decided[node]
            boxes.append(box(x, y, MARKS[kind], CLASSES[kind], width=34, size=18))
            continue
        name = ("length", "width")[skeleton.feature[node]]
        words = f"{name} ≤ {skeleton.threshold[node]:.3g}"
        boxes.append(box(x, y, words, BLACK, width=88, size=13))
        first = skeleton.first_child[node]
        lines += [line((x, y), spot[child]) for child in (first, first + 1)]
    return "".join(lines + boxes)


def depth() -> str:
    iris = load_iris()
    petals, y = iris.data[:, 2:], iris.target
    flowers = sorted({(x, up, kind) for (x, up), kind in zip(petals, y, strict=True)})
    parts = []
    for i, limit in enumerate((1, 2, 3)):
        axes = Axes(285, 45 + 250 * i, 185, 155, (0.5, 7.2), (0, 2.7))
        tree = TreeClassifier("cart", max_depth=limit).fit(petals, y).tree_
        parts += [
            text(8, axes.top - 10, f"max_depth={limit}", size=15, anchor="start"),
            branches(tree, 0, axes.top + 18, 240),
            regions(tree, axes),
        ]
        for x, up, kind in flowers:
            at, down = axes.at(x, up)
            parts.append(text(at, down + 3, MARKS[kind], size=8, colour=BLACK))
        names = "petal length (cm)", "petal width (cm)"
        parts.append(axes.frame(*names, (1, 3, 5, 7), (0, 1, 2)))
    for i, name in enumerate(iris.target_names):
        parts.append(text(90 + 150 * i, 775, f"{MARKS[i]} {name}", colour=CLASSES[i]))
    return picture("The same tree at depth 1, 2 and 3", 480, 790, *parts)


def gains() -> list[float]:
    """The gain of each threshold between two of the students."""
    hours = [[hour] for hour in range(1, len(RESULT) + 1)]
    tree = TreeClassifier("id3", max_depth=1).fit(hours, list(RESULT))
    return [
        split.gain for split in tree.candidate_splits(hours, list(RESULT), feature=0)
    ]


def thresholds() -> str:
    axes = Axes(40, 40, 420, 230, (0.5, 12.5), (0, 0.4))
    points = [(i + 1.5, gain) for i, gain in enumerate(gains())]
    parts = [
        axes.frame(
            "threshold, hours of study",
            "gain in bits",
            range(1, 13),
            (0, 0.1, 0.2, 0.3),
        ),
        axes.curve(points, GREY, dashed=True),
    ]
    for i, point in enumerate(points):
        x, y = axes.at(*point)
        fill = BLUE if RESULT[i] != RESULT[i + 1] else "white"
        parts.append(
            f'<circle cx="{x}" cy="{y}" r="6" fill="{fill}" stroke="{BLUE}" stroke-width="2"/>'
        )
    best = max(points, key=lambda point: point[1])
    x, y = axes.at(*best)
    parts.append(text(x, y - 14, f"{best[0]}: {best[1]:.3f}"))
    for i, label in enumerate(RESULT):
        x, y = axes.at(i + 1, 0)
        colour = BLUE if label == "p" else ORANGE
        parts.append(text(x, y - 8, label, colour=colour, size=16))
    parts.append(
        text(235, 335, "● the class changes here  ○ it does not", size=13, colour=BLUE)
    )
    return picture("Gain of every threshold", 470, 350, *parts)


PICTURES = {
    "learn-growing-plane": plane,
    "learn-growing-depth": depth,
    "learn-growing-thresholds": thresholds,
}
