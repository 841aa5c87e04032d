"""The pictures of the page "Pruning by frontiers": the tree of the note before, during and after pruning."""

import numpy as np
from svg import BLUE, GREY, ORANGE, line, picture, text

from hornbeam import Tree
from hornbeam.pruning import BayesRisk
from hornbeam.smoothing import Laplace
from hornbeam.tree import Feature, Schema, Skeleton
from hornbeam.tree.walk import heights

CHILDREN = {1: (2, 9), 2: (3, 6), 3: (4, 5), 6: (7, 8), 9: (10, 11)}
LEAVES = {4: (3, 1), 5: (2, 1), 7: (1, 4), 8: (1, 3), 10: (9, 0), 11: (1, 8)}
ORDER = (1, 2, 9, 3, 6, 10, 11, 4, 5, 7, 8)  # level by level
WIDTH, ROWS = 464, (265, 185, 105, 30)
BAND = "#dce8f4"


def counts() -> dict[int, tuple[int, int]]:
    """Rows of both classes at every node."""
    found = dict(LEAVES)
    for node in (3, 6, 9, 2, 1):
        left, right = (found[child] for child in CHILDREN[node])
        found[node] = (left[0] + right[0], left[1] + right[1])
    return found


def note_tree() -> Tree:
    inner = np.array([node in CHILDREN for node in ORDER])
    skeleton = Skeleton.of(
        2 * inner, np.where(inner, 0, -1), np.where(inner, 0.0, np.nan)
    )
    rows = counts()
    return Tree.raw(
        Schema((Feature("x"),), ("yes", "no")),
        skeleton,
        np.array([rows[node] for node in ORDER]),
    )


HEIGHT = dict(zip(ORDER, heights(note_tree().skeleton).tolist(), strict=True))


def cut_nodes() -> set[int]:
    """Those that the note's rule cuts under Laplace's estimate."""
    rule = BayesRisk(reading="per-example", strict=True, estimate=Laplace())
    return {ORDER[node] for node in np.flatnonzero(rule.cuts(note_tree()))}


def compared(node: int) -> str:
    """The risk of a node and the sum of its leaves', when its turn comes."""
    tree, cut = Laplace()(note_tree()), cut_nodes()
    each = (tree.evidence * (1 - tree.belief)).sum(axis=1)
    own = dict(zip(ORDER, each.tolist(), strict=True))

    def value(node: int) -> float:
        return own[node] if node in cut or node not in CHILDREN else below(node)

    def below(node: int) -> float:
        return sum(value(child) for child in CHILDREN[node])

    sign = "&lt;" if own[node] < below(node) else "&gt;"
    return f"{own[node]:.2f} {sign} {below(node):.2f}"


def place(node: int) -> tuple[float, float]:
    """Leaves side by side, and every parent in the middle above its children."""
    if node in CHILDREN:
        across = sum(place(child)[0] for child in CHILDREN[node]) / 2
    else:
        across = 42 + 76 * list(LEAVES).index(node)
    return across, ROWS[HEIGHT[node]]


def drawn(title: str, frontiers: tuple[int, ...], removed: str = "not yet") -> str:
    """The tree with some frontiers marked; the leaves of cut nodes are there, dashed or left out."""
    cut, rows = cut_nodes(), counts()
    below = {child for node in cut for child in CHILDREN[node]}
    shown = [node for node in rows if removed != "before" or node not in below]
    bands = [
        f'<rect x="2" y="{ROWS[row] - 27}" width="{WIDTH - 4}" height="54" rx="8" fill="{BAND}"/>'
        for row in frontiers
    ]
    edges, boxes = [], []
    for node in shown:
        x, y = place(node)
        dashes = ' stroke-dasharray="5 4"' if removed == "now" and node in below else ""
        edges += [
            line((x, y), place(child))
            for child in CHILDREN.get(node, ())
            if child in shown
        ]
        now = node in CHILDREN and HEIGHT[node] in frontiers
        colour = ORANGE if now and node in cut else BLUE if now else GREY
        first, second = f"{node}", f"{rows[node][0]} : {rows[node][1]}"
        if now:
            first, second = (
                f"{node}: {'cut' if node in cut else 'kept'}",
                compared(node),
            )
        width = 112 if now else 66
        boxes.append(
            f'<rect x="{x - width / 2}" y="{y - 22}" width="{width}" height="44" rx="5" fill="white" '
            f'stroke="{colour}" stroke-width="2"{dashes}/>'
            + text(x, y - 3, first, colour=colour, size=16)
            + text(x, y + 15, second, size=16)
        )
    return picture(title, WIDTH, ROWS[0] + 35, *bands, *edges, *boxes)


PICTURES = {
    "learn-frontiers-a": lambda: drawn("The leaves are frontier 0", (0,)),
    "learn-frontiers-b": lambda: drawn(
        "Frontier 1: nodes 3 and 6 are cut, node 9 is kept", (1,), "now"
    ),
    "learn-frontiers-c": lambda: drawn(
        "Frontiers 2 and 3: nodes 2 and 1 are kept", (2, 3), "before"
    ),
}
