"""The numbers of a learn page, and where each of them comes from.

A section of a page has a list of claims. A claim is a piece of the page in which ``#`` stands for a number, and the
values that belong there; or the code above an output, from its ``>>>`` on, and all numbers of the output.
A value is right if it rounds to the digits printed.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

__all__ = [
    "Claim",
    "computed",
    "count",
    "fitted",
    "given",
    "numbers",
    "printed",
    "quoted",
    "recomputed",
    "sections",
    "study",
]

NUMBER = r"-?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?|\.\d+)(?:e-\d+)?"
FILLED = r"[\s│├└─·]+"  # what a print-out has between two words
# In prose: decimals, thousands with a comma, percentages, "n of m", results of exercises. In outputs and tables: all.
PROSE = re.compile(
    r"(?<![\w.])(?:\d{1,3}(?:,\d{3})+|\d+)?\.\d+(?:e-\d+)?"
    r"|(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\w.])"
    r"|(?<![\w.])\d+(?=\s?\\?%)"
    r"|(?<![\w.])\d+(?= of (?:all )?\d)|(?<=\d of )\d+|(?<=^Answer: `)\d+(?=`)",
    re.MULTILINE,
)
RESULT = re.compile(r"(?<![\w.])(?<!\w-)(?:\d+\.\d*|\.\d+|\d+)(?:e-\d+)?(?![\w])")


@dataclass(frozen=True)
class Claim:
    """Numbers of a piece of text, and what they come from."""

    kind: str
    text: str
    values: tuple[float, ...] = ()
    source: str = ""

    def places(self, section: str) -> list[tuple[int, int]]:
        """Find the numbers in a section, or complain."""
        if self.text.startswith(">>> "):
            code = re.search(rf"^{re.escape(self.text)}.*\n(?:\.\.\. ?.*\n)*", section, re.MULTILINE)
            assert code, f"no such code: {self.text}"
            begin = code.end()
            end = re.compile(r"^>>> |^\n|^```", re.MULTILINE).search(section, begin).start()
            return [(begin + n.start(), begin + n.end()) for n in RESULT.finditer(section[begin:end])]
        words = [re.escape(word).replace(r"\#", f"({NUMBER})") for word in self.text.split()]
        found = re.search(FILLED.join(words), section)
        assert found, f"no such text: {self.text}"
        if self.kind == "given":
            begin = found.start()
            return [(begin + n.start(), begin + n.end()) for n in re.finditer(NUMBER, found[0])]
        return [found.span(i + 1) for i in range(len(found.groups()))]


def flat(values: Iterable) -> tuple[float, ...]:
    """All numbers of nested lists."""
    return tuple(
        number
        for value in values
        for number in (flat(value) if isinstance(value, list | tuple | np.ndarray) else (float(value),))
    )


def computed(text: str, *values) -> Claim:
    """By a program without Hornbeam."""
    return Claim("computed", text, flat(values))


def printed(text: str) -> Claim:
    """By a program without Hornbeam, which has made the text, such as a tree."""
    return computed(re.sub(NUMBER, "#", text), *map(float, re.findall(NUMBER, text)))


def given(text: str) -> Claim:
    """A premise, such as the error of a classifier of the example: the numbers of the text itself."""
    return Claim("given", text)


def quoted(text: str, source: str, *values) -> Claim:
    """As a document has it."""
    return Claim("quoted", text, flat(values), source)


def study(text: str, source: str, *values) -> Claim:
    """From a committed result of a study."""
    return Claim("study", text, flat(values), source)


def recomputed(text: str, *values) -> Claim:
    """From predictions or trees of a tuned or random method of Hornbeam, by a formula of NumPy."""
    return Claim("recomputed", text, flat(values))


def fitted(text: str, source: str, *values) -> Claim:
    """A parameter that Hornbeam's own optimiser has found."""
    return Claim("fitted", text, flat(values), source)


def sections(page: str) -> dict[str, str]:
    """Cut a page at its headings and exercises."""
    parts = re.split(r"^(?:##+ (.*)|\*\*(Exercise \d+)\*\* .*?\.)\s", page, flags=re.MULTILINE)
    found = {"": parts[0]}
    for heading, exercise, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        found[heading or exercise] = text + "\n"
    return found


def numbers(section: str) -> dict[tuple[int, int], bool]:
    """Find all numbers that need a claim; True: of an output or a table."""
    found, at, inside = {}, 0, ""
    for line in section.splitlines(keepends=True):
        if line.startswith("```"):
            inside = "" if inside else line.strip("`{} \n") or "text"
        elif inside == "pycon":
            if not line.startswith((">>>", "...")):
                found |= {(at + n.start(), at + n.end()): True for n in RESULT.finditer(line)}
        elif not inside:
            table = line.startswith("|") and any(character.isdigit() for character in line)
            pattern = RESULT if table else PROSE
            found |= {(at + n.start(), at + n.end()): table for n in pattern.finditer(line)}
        at += len(line)
    return found


def is_rounded(printed: str, value: float) -> bool:
    """Whether a value rounds to what is printed; halves may go either way."""
    digits = Decimal(printed.replace(",", "").rstrip("."))
    half = 10.0 ** digits.as_tuple().exponent / 2
    return abs(value - float(digits)) <= half * (1 + 1e-6) + 1e-12


def n_digits(printed: str) -> int:
    """Significant digits."""
    return len(re.sub(r"e-\d+|\D", "", printed).lstrip("0"))


def count(section: str, claims: list[Claim]) -> Counter:
    """Count the numbers of a section by the kind of their claims; every number must have one.

    Prose may repeat a value of another claim of the section, if it has three digits or more.
    """
    open_numbers, kinds, known = numbers(section), Counter(), []
    for claim in claims:
        if claim.kind == "given":
            values = [None] * len(claim.places(section))
        else:
            values = list(claim.values)
            known += [(claim.kind, value) for value in values]
        places = claim.places(section)
        shown = [section[begin:end] for begin, end in places]
        assert len(shown) == len(values), f"{claim.text}: {len(values)} values, on the page {shown}"
        for (begin, end), printed, value in zip(places, shown, values, strict=True):
            same_sign = value is None or printed.startswith("-") or section[begin - 1] != "-" or value >= 0
            size = value if value is None or same_sign else -value
            assert value is None or is_rounded(printed, size), f"{claim.text}: {printed} is {value}"
            for place in [p for p in open_numbers if p[0] < end and begin < p[1]]:
                del open_numbers[place]
                kinds[claim.kind] += 1
    for (begin, end), in_output in list(open_numbers.items()):
        printed = section[begin:end]
        if not in_output and n_digits(printed) >= 3:
            same = [kind for kind, value in known if is_rounded(printed, abs(value))]
            if same:
                del open_numbers[begin, end]
                kinds[same[0]] += 1
    left = [
        (section[begin:end], section[max(begin - 40, 0) : end + 15]) for begin, end in sorted(open_numbers)
    ]
    assert not left, "numbers of unknown origin:\n" + "\n".join(f"{n}  in  {around!r}" for n, around in left)
    return kinds
