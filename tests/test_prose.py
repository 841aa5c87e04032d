"""Docstrings and comments keep to plain words."""

from pathlib import Path

import pytest

from support.prose import violations

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "src/hornbeam").rglob("*.py"))


def test_no_banned_words():
    found = [line for path in FILES for line in violations(path)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("# Rows that nobody saw.", "nobody"),
        ("# What the tree says.", "tree says"),
        ("# One entry a node.", "One entry a node"),
    ],
)
def test_a_banned_word_is_found(tmp_path, line, word):
    path = tmp_path / "module.py"
    path.write_text(f"{line}\n")
    assert repr(word) in violations(path)[0]


def test_names_and_quotes_are_not_prose(tmp_path):
    path = tmp_path / "module.py"
    path.write_text('# `nobody` and "somebody" are exact text.\n')
    assert violations(path) == []
