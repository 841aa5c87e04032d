"""Words that docstrings, comments and messages of Hornbeam do not use, with the plain word for each.

python tests/support/prose.py src/hornbeam/data    # every line that breaks a rule
"""

from __future__ import annotations

import ast
import io
import random
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

THINGS = (
    r"(?:rows?|nodes?|trees?|leaf|leaves|models?|columns?|files?|values?|children|child|splits?|estimators?)"
)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)
BANNED = {
    r"\b(?:who|whom|nobody|somebody|anybody|everybody|someone|anyone)\b": "name the person or thing",
    rf"\b{THINGS} (?:says?|said|asks?|hears?|heard|lends?|lent|speaks?|tells?|told|knows?|thinks?|wants?)\b": (
        "name the operation"
    ),
    rf"\b(?:asked|told|said|heard) (?:of|by|to) (?:the |a |all |other |these )?{THINGS}\b": "name the operation",
    r"\bbeliev(?:e|es|ed|ing)\b": "predict; `belief` is the name of the array",
    r"\b(?:answers?|answered|answering)\b": "prediction, predict, result",
    r"\b(?:questions?)\b": "split, test",
    r"\bpulls?\b": "negative gradient",
    r"\b(?:grove|grafts?|sprouts?|whereabouts|heirs?|witness(?:es)?|shelf|trunk|lesson|loans?|lenders?)\b": (
        "the new name"
    ),
    r"\b(?:planted|planting|regrown|regrow)\b": "grown, grown without a fold",
    r"\bhonest(?:ly)?\b": "cross-fitted, held-out",
    r"\bmeasured (?:trees?|targets?)\b": "regression tree, numeric target",
    r"\b(?:house|shop window|engine room|strangers?|manners?|verbs?|doors?|shells?)\b": "package, interface, layer",
    r"\b(?:lay|lays|laid|laying) (?:down|open|out)\b": "write, read, arrange",
    r"\b(?:such|so) (?:a |an )?(?:share|many|much)\b": "this share, that many",
    r"\bone (?:\w+ ){1,2}an? (?:node|row|leaf|file|feature|class|line|thread|pass|set|tree|column|split|category)\b": (
        "per"
    ),
    r"\balike\b": "the same",
    r"\bthere is none\b|\bis none of ours\b": "say what is missing",
    r"\bthe same word\b|\bone word for\b": "hash, digest",
    r"\bof (?:numbers|a number)\b": "regression, numeric",
}
_PATTERNS = [(re.compile(pattern, re.IGNORECASE), plain) for pattern, plain in BANNED.items()]


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Docstring lines without examples, and comments, with their line numbers."""
    source = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            literal = node.body[0]
            for number, line in enumerate(
                source.splitlines()[literal.lineno - 1 : literal.end_lineno], literal.lineno
            ):
                if not line.lstrip().startswith((">>>", "...")):
                    yield number, line
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def violations(path: Path) -> list[str]:
    """One line per banned word: where, the word, and what to write instead."""
    found = []
    for number, line in texts(path):
        prose = re.sub(r"`[^`]*`|\"[^\"]*\"", "", line)  # names and quoted text are exact
        for pattern, plain in _PATTERNS:
            found += [
                f"{path}:{number}: {match[0]!r} ({plain}): {line.strip()}"
                for match in pattern.finditer(prose)
            ]
    return sorted(found)


def sample(paths: list[Path], seed: int) -> tuple[list[str], list[str]]:
    """100 first lines of docstrings and 50 comments, with their places."""
    first_lines, comments = [], []
    for path in paths:
        source = path.read_text(encoding="utf-8")
        documented = [node for node in ast.walk(ast.parse(source)) if isinstance(node, DOCUMENTED)]
        first_lines += [
            f"{path}:{node.body[0].lineno}: {text.splitlines()[0]}"
            for node in documented
            if (text := ast.get_docstring(node))
        ]
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        prose = [
            token for token in tokens if token.type == tokenize.COMMENT and " " in token.string.strip("# ")
        ]
        comments += [
            f"{path}:{token.start[0]}: {token.string}" for token in prose if "noqa" not in token.string
        ]
    draw = random.Random(seed).sample
    return draw(first_lines, 100), draw(comments, 50)


def main(arguments: list[str]) -> None:
    """List violations, or a sample."""
    seed = int(arguments.pop(1)) if arguments[0] == "--sample" else None
    places = [Path(argument) for argument in arguments if argument != "--sample"]
    paths = [
        file for place in places for file in (sorted(place.rglob("*.py")) if place.is_dir() else [place])
    ]
    lines = [line for path in paths for line in violations(path)]
    if seed is not None:
        first_lines, comments = sample(paths, seed)
        lines = [*first_lines, *comments]
    sys.stdout.write("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main(sys.argv[1:])
