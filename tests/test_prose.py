"""Docstrings, comments, messages and names keep to plain words."""

from pathlib import Path

import pytest

from support.prose import violations

ROOT = Path(__file__).parents[1]
FILES = [
    *(path for folder in ("src", "tests", "benchmarks", ".ci") for path in (ROOT / folder).rglob("*.py")),
    *(ROOT / "native").rglob("*.?pp"),
    *(ROOT / name for name in (".ci/run", ".pre-commit-config.yaml", "noxfile.py", "pyproject.toml")),
    ROOT / "CMakeLists.txt",
]
EARLIER = ROOT / "src/hornbeam/storage/earlier.py"  # has the words of earlier files


def test_no_banned_words():
    found = [line for path in sorted(FILES) if path != EARLIER for line in violations(path)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("file", "text", "word"),
    [
        ("module.py", "# Rows that nobody saw.", "nobody"),
        ("module.py", "# What the tree says.", "tree says"),
        ("module.py", "# One entry a node.", "One entry a node"),
        ("module.py", '"""What the tree says."""', "tree says"),
        ("module.py", '"""Rows.\n\nOf nobody.\n"""', "nobody"),
        ("module.py", 'def f():\n    """Answer a row."""', "Answer"),
        ("src/module.py", 'raise ValueError("expected answers")', "answers"),
        ("src/module.py", 'raise ValueError(f"{x}: expected answers")', "answers"),
        ("src/module.py", 'option(help="The verb.")', "verb"),
        ("src/module.py", "OF_GROVE = 1", "grove"),
        ("kernel.hpp", "int n;  // of at most so many leaves", "so many"),
        ("run", "lint  # floors and types", "floors"),
    ],
)
def test_a_banned_word_is_found(tmp_path, file, text, word):
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{text}\n")
    [found] = violations(path)
    assert f": {word!r} (" in found


@pytest.mark.parametrize(
    "line",
    [
        '# `nobody` and "somebody" are exact text.',
        "# One cut of a feature.",
        "# A question mark.",
        '"""Examples.\n\n>>> answer = 42\n"""',
        'DATA = "somebody"',
    ],
)
def test_exact_text_examples_and_data_are_not_prose(tmp_path, line):
    path = tmp_path / "module.py"
    path.write_text(f"{line}\n")
    assert violations(path) == []
