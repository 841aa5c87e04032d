"""The points of a row by hand: from the cells of a printed scorecard, with fractions, and nothing else."""

import csv
import io
import math
import re
from fractions import Fraction

__all__ = ["by_hand"]

_NUMBER = r"-?[\d.]+(?:e[-+]?\d+)?"


def by_hand(card, row, known, ordered=None):
    """Add up the points of a row, a dict of values, None where missing.

    `known` has the categories of each feature, `ordered` those of ordinal features in their order.
    """
    reader = _Reader(row, known, ordered or {})
    read = csv.DictReader(io.StringIO(card.to_csv().removeprefix("\ufeff")))
    lines = [{name: (cell or "").removeprefix("'") for name, cell in line.items()} for line in read]
    lines = lines[: next(at for at, line in enumerate(lines) if not line["segment"] and len(line["if"]) > 20)]
    total, inside, stops = Fraction(0), False, 0
    another = {}
    for line in lines:
        if line["segment"]:
            inside = reader.meets(line["if"])
            another = {}
            if inside and line["base points"] != "0":
                total, stops = total + Fraction(line["base points"]), stops + 1
        if inside and line["feature"]:
            total += reader.points(line, another)
    assert stops <= 1, "a row has the base points of one node"
    return int(total)


class _Reader:
    def __init__(self, row, known, ordered):
        self.row, self.known, self.ordered = row, known, ordered

    def meets(self, rule):
        return rule == "every row" or all(self.holds(one) for one in rule.split(" and "))

    def holds(self, text):
        """Test a condition: alternatives behind "or" belong to the same feature."""
        first, *others = text.split(" or ")
        name = re.match(r"(?:\S+ < )?(\w+)", first)[1]
        return self.part(name, first) or any(self.part(name, f"{name} {other}") for other in others)

    def part(self, name, text):
        value = self.row[name]
        if text == f"{name} missing":
            return value is None
        if text == f"{name} new":
            return value is not None and name in self.known and value not in self.known[name]
        if value is None or (name in self.known and value not in self.known[name]):
            return False
        if found := re.fullmatch(rf"{name} (=|≠|in|not in) (.*)", text):
            among = found[2].strip("{}").split(", ")
            return (str(value) in among) == (found[1] in ("=", "in"))
        if text == f"{name} known":
            return True
        found = re.fullmatch(rf"(?:(\S+) < )?{name}(?: ≤ (\S+)| > (\S+))?", text)
        low, high, above = (None if bound is None else self.number(name, bound) for bound in found.groups())
        value = self.number(name, value)
        return not (
            (low is not None and value <= low)
            or (high is not None and value > high)
            or (above is not None and value <= above)
        )

    def number(self, name, value):
        return self.ordered[name].index(value) if name in self.ordered else Fraction(str(value))

    def points(self, line, another):
        text, points = line["feature"], Fraction(line["points"])
        if text.endswith(": another"):
            name = text.removesuffix(": another")
            return 0 if self.row[name] is None or another.get(name) else points
        if line["from"]:
            return self.ramp(line, points)
        name = re.match(r"(?:\S+ < )?(\w+)", text)[1]
        found = re.fullmatch(rf"{name} = (.*)", text)
        if found and self.row[name] is not None and str(self.row[name]) == found[1]:
            another[name] = True
            return points
        return points if not found and self.part(name, text) else 0

    def ramp(self, line, points):
        value = self.row[line["feature"]]
        if value is None:
            return 0
        low, high = Fraction(line["from"]), Fraction(line["to"])
        value = min(max(Fraction(str(value)), low), high)
        if line["per"]:
            exact = points * (value - Fraction(line["0 points at"])) / Fraction(line["per"])
        else:
            exact = points + (Fraction(line["points at to"]) - points) * (value - low) / (high - low)
        return math.floor(exact + Fraction(1, 2))
