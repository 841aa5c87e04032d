"""The pictures of the page "How it works"."""

from svg import BLUE, GREY, ORANGE, box, line, picture, text

ROOT, A, B, A1, A2 = (250, 45), (130, 125), (370, 125), (60, 205), (200, 205)
NODES, EDGES = (ROOT, A, B, A1, A2), ((ROOT, A), (ROOT, B), (A, A1), (A, A2))
LEVELS = (BLUE, ORANGE, ORANGE, GREY, GREY)
EVIDENCE = ((7, 3), (6, 1), (1, 2), (4, 0), (2, 1))
# Class 1 under HGS(), as the guide on smoothing works it out for A1.
BELIEF = ("0.32", "0.20", "0.56", "0.13", "0.32")


def tree(
    labels: tuple[str, ...], colours: tuple[str, ...], x: float, y: float, scale: float
) -> str:
    size = round(13 / scale)  # as large as the words around it
    edges = "".join(line(a, b) for a, b in EDGES)
    boxes = "".join(
        box(*node, *of, width=104, size=size)
        for node, *of in zip(NODES, labels, colours, strict=True)
    )
    return f'<g transform="translate({x} {y}) scale({scale})">{edges}{boxes}</g>'


def three() -> str:
    counts = tuple(f"{a} : {b}" for a, b in EVIDENCE)
    parts = {
        "skeleton: where a row goes": (
            ("x ≤ 0.5?", "x ≤ 0.2?", "leaf", "leaf", "leaf"),
            GREY,
        ),
        "evidence: who came": (counts, BLUE),
        "belief: what we think": (BELIEF, ORANGE),
    }
    drawn = [
        text(140 + 270 * i, 22, title, colour=colour)
        + tree(labels, (colour,) * 5, 270 * i + 8, 30, 0.6)
        for i, (title, (labels, colour)) in enumerate(parts.items())
    ]
    return picture(
        "A tree in three parts: skeleton, evidence and belief", 820, 180, *drawn
    )


def steps() -> str:
    names = ("grow", "prune", "smooth", "export")
    made = ("rows", "Tree", "Tree", "Tree", "text, C, SQL")
    parts = [
        box(70 + 170 * i, 60, word, BLUE if word == "Tree" else GREY, 104)
        for i, word in enumerate(made)
    ]
    for i, name in enumerate(names):
        parts += [
            line((122 + 170 * i, 60), (186 + 170 * i, 60), arrow=True),
            text(154 + 170 * i, 48, name, size=13),
        ]
    changes = ("", "shape and evidence", "another shape", "another belief", "")
    parts += [
        text(70 + 170 * i, 100, words, colour=GREY, size=12)
        for i, words in enumerate(changes)
    ]
    return picture("Steps from tree to tree", 820, 120, *parts)


def levels() -> str:
    parts = [tree(tuple("01234"), LEVELS, 0, 10, 0.8)]
    parts += [
        box(430 + 76 * i, 90, str(i), colour, 70) for i, colour in enumerate(LEVELS)
    ]
    for begin, end, name in ((0, 0, "level 0"), (1, 2, "level 1"), (3, 4, "level 2")):
        parts.append(text(430 + 38 * (begin + end), 135, name, size=13))
    parts += [
        line((400, 45), (765, 45), arrow=True),
        text(582, 35, "forward: parents before children", size=13),
    ]
    parts += [
        line((765, 165), (400, 165), arrow=True),
        text(582, 187, "backward: children before parents", size=13),
    ]
    return picture("Nodes in level order are slices", 820, 200, *parts)


def integers() -> str:
    rows = (
        (40, "doubles", "0.1 + 0.2 + 0.3", "0.6000000000000001", ORANGE),
        (75, "", "0.3 + 0.2 + 0.1", "0.6", ORANGE),
        (125, "integers", "1 + 2 + 3", "6", BLUE),
        (160, "", "3 + 2 + 1", "6", BLUE),
    )
    parts = []
    for y, kind, summed, total, colour in rows:
        parts += [
            text(90, y, kind, colour=colour),
            text(280, y, summed),
            line((370, y - 5), (440, y - 5), arrow=True),
        ]
        parts.append(text(455, y, total, colour=colour, anchor="start"))
    return picture("Integers add up to the same in any order", 820, 185, *parts)


def reduce_operation() -> str:
    parts = []
    for i in range(4):
        y = 40 + 48 * i
        parts += [
            box(80, y, f"unit {i}", GREY),
            line((122, y), (198, y), arrow=True),
            box(250, y, "counts", BLUE, 100),
        ]
        parts.append(line((300, y), (428, 112), arrow=True))
    parts += [
        box(490, 112, "sum", BLUE, 120),
        line((550, 112), (638, 112), arrow=True),
        box(710, 112, "best test", ORANGE, 140),
    ]
    parts += [
        text(160, 220, "task", size=13),
        text(365, 220, "combine", size=13),
        text(595, 220, "finish", size=13),
    ]
    return picture(
        "One operation: fold partitions, add up parts, finish", 820, 235, *parts
    )


PICTURES = {
    "three-parts": three,
    "steps": steps,
    "levels": levels,
    "integers": integers,
    "reduce": reduce_operation,
}
