"""The sets stored with their rows: the textbook ones, and those that lean on a rule each."""

from __future__ import annotations

import random
from typing import Any

from dataset import Dataset

Header = dict[str, list[str] | None]

YES_NO = ["yes", "no"]

GOLF = """
sunny 85 85 no no; sunny 80 90 yes no; overcast 83 86 no yes; rainy 70 96 no yes; rainy 68 80 no yes;
rainy 65 70 yes no; overcast 64 65 yes yes; sunny 72 95 no no; sunny 69 70 no yes; rainy 75 80 no yes;
sunny 75 70 yes yes; overcast 72 90 yes yes; overcast 81 75 no yes; rainy 71 91 yes no
"""

RESTAURANT = """
yes no no yes some $$$ no yes french 0-10 yes; yes no no yes full $ no no thai 30-60 no;
no yes no no some $ no no burger 0-10 yes; yes no yes yes full $ no no thai 10-30 yes;
yes no yes no full $$$ no yes french >60 no; no yes no yes some $$ yes yes italian 0-10 yes;
no yes no no none $ yes no burger 0-10 no; no no no yes some $$ yes yes thai 0-10 yes;
no yes yes no full $ yes no burger >60 no; yes yes yes yes full $$$ no yes italian 10-30 no;
no no no no none $ no no thai 0-10 no; yes yes yes yes full $ no no burger 30-60 yes
"""

PIZZA = """
yes thin no great; no deep no bad; no stuffed yes good; yes stuffed yes great; yes deep no good;
yes deep yes great; no thin yes good; yes deep no good; no thin no bad
"""


def _cells(text: str) -> list[list[str]]:
    return [row.split() for row in text.replace("\n", " ").split(";")]


def golf_numeric() -> Dataset:
    header: Header = {
        "outlook": ["sunny", "overcast", "rainy"],
        "temperature": None,
        "humidity": None,
        "windy": YES_NO,
        "play": YES_NO,
    }
    rows: list[list[Any]] = [[o, float(t), float(h), w, p] for o, t, h, w, p in _cells(GOLF)]
    return Dataset.of_rows("golf-numeric", header, rows)


def golf_nominal() -> Dataset:
    header: Header = {
        "outlook": ["sunny", "overcast", "rainy"],
        "temperature": ["hot", "mild", "cool"],
        "humidity": ["high", "normal"],
        "windy": YES_NO,
        "play": YES_NO,
    }

    def warmth(degrees: str) -> str:
        return "hot" if int(degrees) >= 80 else "mild" if int(degrees) >= 70 else "cool"

    rows = [[o, warmth(t), "high" if int(h) > 80 else "normal", w, p] for o, t, h, w, p in _cells(GOLF)]
    return Dataset.of_rows("golf-nominal", header, rows)


def golf_missing() -> Dataset:
    """Golf with the outlook of the sixth row unknown."""
    whole = golf_nominal()
    rows = whole.rows()
    rows[5][0] = None
    return Dataset.of_rows("golf-missing", whole.header(), rows)


def restaurant() -> Dataset:
    header: Header = {
        "alternate": YES_NO,
        "bar": YES_NO,
        "friday": YES_NO,
        "hungry": YES_NO,
        "patrons": ["none", "some", "full"],
        "price": ["$", "$$", "$$$"],
        "raining": YES_NO,
        "reservation": YES_NO,
        "type": ["french", "thai", "burger", "italian"],
        "estimate": ["0-10", "10-30", "30-60", ">60"],
        "wait": YES_NO,
    }
    return Dataset.of_rows("restaurant", header, _cells(RESTAURANT))


def pizza() -> Dataset:
    header: Header = {
        "meat": ["no", "yes"],
        "crust": ["deep", "stuffed", "thin"],
        "veg": ["no", "yes"],
        "quality": ["bad", "good", "great"],
    }
    return Dataset.of_rows("pizza", header, _cells(PIZZA))


def mixed() -> Dataset:
    """Numeric, nominal and missing together, three classes, names that need quoting."""
    draw = random.Random(7)
    header: Header = {
        "a size, in 'mm'": None,
        "b colour": ["deep red", "it's blue", "100% green"],
        "c {count}": None,
        "d größe": ["x\\y", 'said "so"'],
        "class": ["one", "two", "three"],
    }
    colours, shapes = header["b colour"] or [], header["d größe"] or []
    rows: list[list[Any]] = []
    for _ in range(90):
        size, count = round(draw.gauss(10, 3), 2), float(draw.randrange(12))
        colour, shape = draw.randrange(3), draw.randrange(2)
        label = 0 if size < 9 and colour != 1 else 1 if count > 5 + 2 * shape else 2
        label = draw.randrange(3) if draw.random() < 0.15 else label
        row = [size, colours[colour], count, shapes[shape]]
        rows.append([v if draw.random() > 0.12 else None for v in row] + [["one", "two", "three"][label]])
    return Dataset.of_rows("mixed", header, rows)


def mostly_missing() -> Dataset:
    """Values known in four rows of ten: weights become small fractions."""
    draw = random.Random(11)
    header: Header = {"u": None, "v": None, "w": ["p", "q", "r", "s"], "x": None, "class": ["a", "b"]}
    rows: list[list[Any]] = []
    for _ in range(120):
        u, v, x = (float(draw.randrange(30)) for _ in range(3))
        w = draw.choice("pqrs")
        label = (u > 14) ^ (w in "pq") ^ (v > 20 and x > 10) ^ (draw.random() < 0.1)
        rows.append([value if draw.random() > 0.6 else None for value in (u, v, w, x)] + ["ab"[label]])
    return Dataset.of_rows("mostly-missing", header, rows)


def near_values() -> Dataset:
    """Neighbours closer than the 1e-5 that allows a cut and the 1e-6 within which values count as equal."""
    draw = random.Random(3)
    header: Header = {"close": None, "closer": None, "tiny": None, "class": ["a", "b", "c"]}
    rows: list[list[Any]] = []
    for i in range(80):
        step, high = draw.randrange(8), i % 2
        # The classes change at step 4, but only the gap at step 6 is wide enough to be cut.
        close = 1.0 + step * 0.9e-5 + (0.5e-5 if step >= 6 else 0.0)
        closer = 5.0 + high * 0.1 + (0.8e-6, 0.0, 0.4e-6, 1.6e-6)[i // 2 % 4]
        label = "a" if not high else "b" if step >= 4 else "c"
        rows.append([close, closer, step * 1e-6, label])
    return Dataset.of_rows("near-values", header, rows)


def many_values() -> Dataset:
    """A nominal attribute of at least 0.3 N values: outside the average gain, yet it may win by its ratio."""
    draw = random.Random(5)
    names = [f"id{i:02d}" for i in range(20)]
    header: Header = {"who": names, "group": ["g", "h", "i"], "level": None, "class": ["a", "b"]}
    rows: list[list[Any]] = []
    for i in range(60):
        level, group = float(draw.randrange(10)), draw.choice("ghi")
        label = (level > 5) ^ (group == "g") ^ (draw.random() < 0.2)
        rows.append([names[i % 20], group, level, "ab"[label]])
    return Dataset.of_rows("many-values", header, rows)


def ties() -> Dataset:
    """Copied and mirrored attributes and symmetric cuts: everything is decided by the order of attributes."""
    header: Header = {
        "mirror": None,
        "x": None,
        "copy": None,
        "left": ["n", "y"],
        "right": ["y", "n"],
        "constant": ["only"],
        "class": ["a", "b", "c"],
    }
    rows: list[list[Any]] = []
    for i in range(48):
        x = float(i % 16)
        flag = "ny"[(i // 3) % 2]
        label = "b" if 4 <= x < 12 else "a" if flag == "n" else "c"
        rows.append([-x, x, x, flag, flag, "only", label])
    return Dataset.of_rows("ties", header, rows)


def crossed() -> Dataset:
    """One-decimal numbers whose midpoints are values too, and attributes that nearly repeat each other.

    The seed is one for which the slack of the average, the order of cuts and of attributes, and rounding
    at the midpoint all change the tree.
    """
    draw = random.Random(29)
    header: Header = {
        "x": None,
        "y": None,
        "p": ["k", "l", "m"],
        "q": ["u", "v", "w"],
        "z": ["0", "1"],
        "class": ["a", "b", "c"],
    }
    rows: list[list[Any]] = []
    seen = {"a": 0, "b": 0, "c": 0}
    for _ in range(72):
        x = draw.randrange(1, 40) / 10
        y = round(4 - x + draw.choice([0, 0, 0.1, 0.2]), 1)
        p = draw.randrange(3)
        label = "abc"[(p + (x > 2)) % 3 if draw.random() < 0.7 else draw.randrange(3)]
        q = "wuv"[p] if draw.random() < 0.9 else draw.choice("uvw")
        seen[label] += 1
        rows.append([x, y, "klm"[p], q, str(seen[label] % 2), label])
    return Dataset.of_rows("crossed", header, rows)


def edges() -> Dataset:
    """Pure runs at both ends of x: the one of 3 rows too light to cut off (4 is the least), the one of 5 not.

    The least weight of a side is a tenth of the node's weight divided by ALL classes, though only two are
    left there.
    """
    header: Header = {"side": ["l", "r"], "x": None, "class": ["a", "b", "c"]}
    rows: list[list[Any]] = [["l", float(4 * i), "c"] for i in range(30)]
    for i in range(120):
        end = i < 3 or i >= 115
        rows.append(["r", float(i), "b" if end or i % 5 == 0 else "a"])
    return Dataset.of_rows("edges", header, rows)


def balanced() -> Dataset:
    """Three attributes of no gain whatever: they lower the average, so a rare value may win by its ratio."""
    header: Header = {
        "rare": ["n", "y"],
        "quarter": ["1", "2", "3", "4"],
        "u": ["0", "1"],
        "v": ["0", "1"],
        "w": ["0", "1"],
        "class": ["a", "b"],
    }
    quarters = {"a": "1" * 8 + "2" * 5 + "3" * 3, "b": "2" * 3 + "3" * 5 + "4" * 8}
    rows: list[list[Any]] = []
    for label in "ab":
        for i, quarter in enumerate(quarters[label]):
            rare = "y" if label == "b" and i % 3 == 1 else "n"
            rows.append([rare, quarter, str(i % 2), str(i // 2 % 2), str(i // 4 % 2), label])
    return Dataset.of_rows("balanced", header, rows)


def small_sets() -> list[Dataset]:
    """Every set that is stored with its rows."""
    textbook = [golf_nominal(), golf_numeric(), golf_missing(), restaurant(), pizza()]
    unknowing = [mixed(), mostly_missing()]
    return [*textbook, *unknowing, near_values(), many_values(), ties(), crossed(), edges(), balanced()]
