"""Words that docstrings, comments, messages and names of Hornbeam do not use, with the plain word for each.

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
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
LINKS = r"(?:as|at|by|for|from|in|is|not|of|on|per|than|to|with|within)"
BANNED = {
    r"\b(?:who|whom|nobody|somebody|anybody|everybody|someone|anyone)\b": "name the person or thing",
    rf"\b{THINGS} (?:says?|said|asks?|hears?|heard|lends?|lent|speaks?|tells?|told|knows?|thinks?|wants?)\b": (
        "name the operation"
    ),
    rf"\b(?:asked|told|said|heard) (?:of|by|to) (?:the |a |all |other |these )?{THINGS}\b": "name the operation",
    r"\bbeliev(?:e|es|ed|ing)\b": "predict; `belief` is the name of the array",
    r"\b(?:answers?|answered|answering)\b": "prediction, predict, result",
    r"\bquestions?\b(?! marks?\b)": "split, test",
    r"\bpulls?\b": "negative gradient",
    r"\b(?:grove|grafts?|sprouts?|whereabouts|heirs?|witness(?:es)?|shelf|trunk|lesson|lenders?)\b": "the new name",
    r"\b(?:planted|planting|regrown|regrow)\b": "grown, grown without a fold",
    r"\bhonest(?:ly)?\b": "cross-fitted, held-out",
    r"\bmeasured (?:trees?|targets?)\b": "regression tree, numeric target",
    r"\b(?:house|shop window|engine room|strangers?|manners?|verbs?|doors?|shells?)\b": "package, interface, layer",
    r"\b(?:lay|lays|laid|laying) (?:down|open|out)\b": "write, read, arrange",
    r"\b(?:such|so) (?:a |an )?(?:share|many|much)\b": "this share, that many",
    rf"\bone (?:(?!{LINKS}\b)\w+ ){{1,2}}an? "
    r"(?:node|row|leaf|file|feature|class|line|thread|pass|set|tree|column|split|category)\b": "per",
    r"\balike\b": "the same",
    r"\bthere is none\b|\bis none of ours\b": "say what is missing",
    r"\bthe same word\b|\bone word for\b": "hash, digest",
    r"\b(?:trees?|forests?|models?|targets?|boosting) of (?:numbers|a number)\b": "regression, numeric",
    r"\bfloors\b(?! of)": "layers",
}
NAMES = {
    *("answer", "answers", "everybody", "graft", "grove", "heir", "honest", "manners", "nobody"),
    *("shelf", "somebody", "sprout", "stranger", "verb", "whereabouts", "who", "whom", "witness"),
}
_PATTERNS = [(re.compile(pattern, re.IGNORECASE), plain) for pattern, plain in BANNED.items()]
_ANY = re.compile("|".join(BANNED), re.IGNORECASE)  # one search instead of many, as most lines have none


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Comments and docstrings without examples, line by line with their numbers; strings of the package too."""
    source = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        mark = "//" if path.suffix in {".hpp", ".cpp"} else "#"
        yield from ((number, line.partition(mark)[2]) for number, line in enumerate(source.splitlines(), 1))
        return
    yield from ((token.start[0], token.string) for token in _tokens(source) if token.type == tokenize.COMMENT)
    nodes = list(ast.walk(ast.parse(source)))
    docstrings = {
        node.body[0].value
        for node in nodes
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False)
    }
    for docstring in docstrings:
        for number, line in enumerate(docstring.value.split("\n"), docstring.lineno):
            if not line.lstrip().startswith((">>>", "...")):
                yield number, line
    if "src" not in path.parts:  # strings of tests and benchmarks are data
        return
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings:
            words = node.value.split()
            yield node.lineno, " ".join(words) if len(words) > 1 else ""  # one word is a key


def names(path: Path) -> dict[str, int]:
    """Names that a module uses, and its own, with a line of each."""
    tokens = _tokens(path.read_text(encoding="utf-8"))
    return {path.stem: 1} | {token.string: token.start[0] for token in tokens if token.type == tokenize.NAME}


def _tokens(source: str) -> Iterator[tokenize.TokenInfo]:
    return tokenize.generate_tokens(io.StringIO(source).readline)


def violations(path: Path) -> list[str]:
    """One line per banned word: where, the word, and what to write instead."""
    found = []
    for number, line in texts(path):
        prose = re.sub(r"`[^`]*`|\"[^\"]*\"", "", line)  # names and quoted text are exact
        for pattern, plain in _PATTERNS if _ANY.search(prose) else ():
            found += [
                f"{path}:{number}: {match[0]!r} ({plain}): {line.strip()}"
                for match in pattern.finditer(prose)
            ]
    if path.suffix == ".py" and "src" in path.parts:
        for name, number in names(path).items():
            words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().split("_")
            found += [
                f"{path}:{number}: {word!r} (a term of the field): the name {name}"
                for word in NAMES.intersection(words)
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
        prose = [
            token
            for token in _tokens(source)
            if token.type == tokenize.COMMENT and " " in token.string.strip("# ")
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
        file
        for place in places
        for file in (sorted(place.rglob("*.[cph][yp]*")) if place.is_dir() else [place])
        if file.suffix in {".py", ".hpp", ".cpp"} or not place.is_dir()
    ]
    lines = [line for path in paths for line in violations(path)]
    if seed is not None:
        first_lines, comments = sample(paths, seed)
        lines = [*first_lines, *comments]
    sys.stdout.write("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main(sys.argv[1:])
