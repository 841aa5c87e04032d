"""The notebooks of the learn pages have the examples and the pictures of their pages."""

import re
from doctest import DocTestParser
from pathlib import Path

import pytest

from support.docs_module import DOCS, docs_module

nbformat = pytest.importorskip("nbformat", reason="notebooks need nbformat")

PAGES = sorted(path.stem for path in docs_module("notebooks.py").pages())


@pytest.fixture(scope="module")
def notebooks():
    return docs_module("notebooks.py")


@pytest.mark.parametrize("page", PAGES)
def test_a_notebook_has_the_examples_and_pictures_of_its_page(notebooks, page):
    path = DOCS / "learn" / f"{page}.md"
    text, made = path.read_text(encoding="utf-8"), notebooks.notebook(path)
    nbformat.validate(made)
    code = "\n".join(cell.source for cell in made.cells if cell.cell_type == "code")
    sources = "".join(example.source for example in DocTestParser().get_examples(text))
    assert code.split() == sources.split()
    embedded = [name for cell in made.cells for name in cell.get("attachments", {})]
    assert embedded == [Path(name).name for _, name in notebooks.IMAGE.findall(text)]
    assert f"notebooks/{page}.ipynb" in text
    assert f"notebooks/{page}-exercises.ipynb" in text


@pytest.mark.parametrize("page", PAGES)
def test_no_directive_and_no_broken_link_is_left(notebooks, page):
    cells = notebooks.notebook(DOCS / "learn" / f"{page}.md").cells
    words = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    assert ":::" not in words
    assert "{download}" not in words
    assert "<figure" not in words
    assert "<script" not in words
    assert ".md)" not in words


def code_of(made):
    return [cell.source for cell in made.cells if cell.cell_type == "code"]


@pytest.mark.parametrize("page", PAGES)
def test_a_notebook_without_solutions(notebooks, page):
    """It has no solution, and its checks accept the right results and no others."""
    path = DOCS / "learn" / f"{page}.md"
    made = notebooks.notebook(path, solutions=False)
    nbformat.validate(made)
    assert not any("Solution" in cell.source or "Answer:" in cell.source for cell in made.cells)
    right = notebooks.right_answers(path.read_text(encoding="utf-8"))
    text = path.read_text(encoding="utf-8")
    assert 6 <= len(notebooks.EXERCISE.findall(text)) <= 8
    assert {"1", "2", "3"} == set(re.findall(r"^\*\*Exercise \d+\*\* \(level (\d)\)", text, re.MULTILINE))
    code, here = code_of(made), {}
    checker = next(source for source in code if "def check(" in source)
    exec(checker, here)
    assert not any(answer in checker for answer in right.values() if len(answer) > 3)
    for exercise, answer in right.items():
        assert f"print(check({exercise}, ...))" in code
        value = float(answer) if answer[0].isdigit() else answer
        assert here["check"](exercise, value).endswith(": right.")
        wrong = f"not {value}" if isinstance(value, str) else value + (1 if "." not in answer else 0.5)
        assert here["check"](exercise, wrong).endswith(": not yet.")
        assert "put your answer" in here["check"](exercise, ...)


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES)
def test_a_notebook_without_solutions_runs(notebooks, page, capsys):
    """No cell needs a name that only a solution has; the pages run as doctests."""
    pytest.importorskip("pandas")
    here = {}
    for source in code_of(notebooks.notebook(DOCS / "learn" / f"{page}.md", solutions=False)):
        exec(source, here)
    asked = capsys.readouterr().out.count("put your answer in place of the dots")
    assert asked == len(notebooks.right_answers((DOCS / "learn" / f"{page}.md").read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", PAGES)
def test_a_solution_can_be_deleted_without_its_exercise(notebooks, page):
    path = DOCS / "learn" / f"{page}.md"
    words = [cell.source for cell in notebooks.notebook(path).cells if cell.cell_type == "markdown"]
    folded = [text for text in words if "**Solution**" in text or "**Answer**" in text]
    assert len(folded) == path.read_text(encoding="utf-8").count("{dropdown}") > 0
    for text in folded:
        assert text.startswith(("**Solution**", "**Answer**"))
        assert "Exercise" not in text
        assert "## " not in text


def test_what_becomes_of_a_page(notebooks, tmp_path):
    (tmp_path / "p.svg").write_text("<svg/>", encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text(
        "# Title\n{download}`x <y>`\n\nSee [the guide](../guide/growing.md) and {cite:t}`quinlan1986`. "
        "![alt](p.svg)\n\n"
        "```pycon\n>>> for i in range(2):\n...     print(i)\n0\n1\n\n```\n\n:::{dropdown} Solution\n42\n:::\n",
        encoding="utf-8",
    )
    title, words, code, solution = notebooks.notebook(page).cells
    assert title.source.startswith("# Title\n")
    assert words.source == "See the guide and [quinlan1986]. ![alt](attachment:p.svg)"
    assert words.attachments == {"p.svg": {"image/svg+xml": "PHN2Zy8+"}}
    assert code.source == "for i in range(2):\n    print(i)"
    assert solution.source == "**Solution**\n\n42"
