"""Notebooks of the pages in ``learn``: text becomes Markdown cells, examples code cells, and a solution begins a cell.

The build of the documentation writes them (`conf.py`); ``python docs/notebooks.py`` does so by hand.
"""

import re
from base64 import b64encode
from doctest import DocTestParser
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

LEARN = Path(__file__).parent / "learn"
EXAMPLE = re.compile(r"^```pycon\n(.*?)^```\n?", re.DOTALL | re.MULTILINE)
FENCE = re.compile(r"^(?=:{3,})", re.MULTILINE)  # begin or end of a fold
IMAGE = re.compile(r"!\[([^\]]*)\]\(([^)]+\.svg)\)")
NEEDS = "This notebook needs Hornbeam and pandas: `pip install 'hornbeam[frames]'`."


def notebook(page: Path) -> nbformat.NotebookNode:
    """Convert a page."""
    text = page.read_text(encoding="utf-8")
    title, _, text = text.partition("\n")
    pieces = EXAMPLE.split(text)
    cells = [new_markdown_cell(f"{title}\n\n{NEEDS}")]
    for words, example in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
        cells += [_markdown(part, page.parent) for part in FENCE.split(words)]
        cells.append(_code(example))
    kept = [cell for cell in cells if cell.source]
    for i, cell in enumerate(kept):
        cell.id = f"cell-{i}"  # the same bytes in every build
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return new_notebook(cells=kept, metadata={"kernelspec": kernel})


def _code(example: str) -> nbformat.NotebookNode:
    sources = (part.source for part in DocTestParser().get_examples(example))
    return new_code_cell("".join(sources).rstrip())


def _markdown(words: str, folder: Path) -> nbformat.NotebookNode:
    pictures = {}

    def embed(found: re.Match[str]) -> str:
        path = folder / found[2]
        pictures[path.name] = {
            "image/svg+xml": b64encode(path.read_bytes()).decode("ascii")
        }
        return f"![{found[1]}](attachment:{path.name})"

    cell = new_markdown_cell(IMAGE.sub(embed, plain(words)).strip())
    if pictures:
        cell.attachments = pictures
    return cell


def plain(words: str) -> str:
    """Replace what only the documentation can show: download links, folds, citations, links to other pages."""
    words = re.sub(r"^\{download\}.*\n", "", words, flags=re.MULTILINE)
    words = re.sub(
        r"^:{3,}\s*\{dropdown\}\s*(.*)$", r"**\1**\n", words, flags=re.MULTILINE
    )
    words = re.sub(r"^:{3,}.*\n?", "", words, flags=re.MULTILINE)
    words = re.sub(r"\{cite:\w+\}`([^`]+)`", r"[\1]", words)
    words = re.sub(r"\{\w+\}(`[^`]+`)", r"\1", words)
    return re.sub(r"(?<!!)\[([^\]]+)\]\((?!https?:)[^)]*\)", r"\1", words)


def install_first(content: dict, _filename: str) -> None:
    """Install Hornbeam and what its examples need at the start of an example of the gallery, for JupyterLite."""
    install = new_code_cell("%pip install hornbeam matplotlib pandas", id="install")
    content["cells"].insert(0, install)


def write(folder: Path = LEARN) -> None:
    """Write the notebook of each page into the folder ``notebooks`` beside the pages."""
    target = folder / "notebooks"
    target.mkdir(exist_ok=True)
    for page in sorted(folder.glob("*.md")):
        if page.stem != "index":
            nbformat.write(notebook(page), target / f"{page.stem}.ipynb")


if __name__ == "__main__":
    write()
