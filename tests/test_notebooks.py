"""The notebooks of the learn pages have the examples and the pictures of their pages."""

from doctest import DocTestParser
from pathlib import Path

import pytest

from support.docs_module import DOCS, docs_module

nbformat = pytest.importorskip("nbformat", reason="notebooks need nbformat")

PAGES = sorted(path.stem for path in (DOCS / "learn").glob("*.md") if path.stem != "index")


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


@pytest.mark.parametrize("page", PAGES)
def test_no_directive_and_no_broken_link_is_left(notebooks, page):
    cells = notebooks.notebook(DOCS / "learn" / f"{page}.md").cells
    words = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    assert ":::" not in words
    assert "{download}" not in words
    assert ".md)" not in words


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
