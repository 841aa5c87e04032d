"""Notebooks of the pages in ``learn``: text becomes Markdown cells, examples code cells, and a solution begins a cell.

Each page has two: with its solutions, and with a check of one's own answer in the place of each.
The build of the documentation writes them (`conf.py`); ``python docs/notebooks.py`` does so by hand.
"""

import inspect
import re
import sys
from base64 import b64encode
from doctest import DocTestParser
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

sys.path.insert(0, str(Path(__file__).parent))
import answers  # beside this file

LEARN = Path(__file__).parent / "learn"
EXAMPLE = re.compile(r"^```pycon\n(.*?)^```\n?", re.DOTALL | re.MULTILINE)
FENCE = re.compile(r"^(?=:{3,})", re.MULTILINE)  # begin or end of a fold
IMAGE = re.compile(r"!\[([^\]]*)\]\(([^)]+\.svg)\)")
FIGURE = re.compile(r"^```\{raw\} html\n<figure .*\n```$", re.MULTILINE)
SCRIPTS = re.compile(r"^```\{raw\} html\n<script .*?^```\n", re.DOTALL | re.MULTILINE)
SOLUTION = re.compile(
    r"^:::\{dropdown\} (?:Solution|Answer)\n(?:Answer: `([^`]+)`)?.*?^:::$",
    re.DOTALL | re.MULTILINE,
)
EXERCISE = re.compile(r"^\*\*Exercise (\d+)\*\*", re.MULTILINE)
NEEDS = "This notebook needs Hornbeam and pandas: `pip install 'hornbeam[frames]'`."


def pages(folder: Path = LEARN) -> list[Path]:
    """List the pages that have notebooks."""
    found = sorted(folder.glob("*.md"))
    return [page for page in found if "{download}" in page.read_text(encoding="utf-8")]


def right_answers(text: str) -> dict[int, str]:
    """Collect the answers of the exercises of a page that have a short one."""
    found = {}
    for exercise, solution in zip(
        EXERCISE.finditer(text), _solutions(text), strict=True
    ):
        if solution[1]:
            found[int(exercise[1])] = solution[1]
    return found


def _solutions(text: str) -> list[re.Match[str]]:
    """Find the solutions of numbered exercises, which come after all others."""
    return list(SOLUTION.finditer(text, text.index("\n## Exercises\n")))


def without_solutions(text: str) -> str:
    """Put a check of the answer in the place of each solution that has a short one."""
    hashed = {}
    for number, answer in right_answers(text).items():
        digits = len(answer.partition(".")[2]) if answer[0].isdigit() else None
        hashed[number] = digits, answers.digest(number, answer, digits)
    lines = inspect.getsource(answers).split("\n\n", 1)[1].splitlines()
    made = [f"RIGHT = {hashed}" if line.startswith("RIGHT") else line for line in lines]
    checker = "\n".join(f"... {line}" for line in made).replace("...", ">>>", 1)
    for number, solution in reversed(list(enumerate(_solutions(text), 1))):
        begin, end = solution.span()
        call = f"```pycon\n>>> print(check({number}, ...))\n```"
        space = call if solution[1] else "*Write your answer here.*"
        text = text[:begin] + space + text[end:]
    text = SOLUTION.sub("*Write your answer here.*", text)
    heading = "\n## Exercises\n"
    return text.replace(heading, f"{heading}\n```pycon\n{checker}\n```\n")


def notebook(page: Path, *, solutions: bool = True) -> nbformat.NotebookNode:
    """Convert a page."""
    text = SCRIPTS.sub("", page.read_text(encoding="utf-8"))
    text = FIGURE.sub("*(On the page: an interactive figure.)*", text)
    if not solutions:
        text = without_solutions(text)
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
    words = re.sub(r"\{download\}`([^<]+) <[^`]*`", r"\1", words)
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
    for page in pages(folder):
        nbformat.write(notebook(page), target / f"{page.stem}.ipynb")
        nbformat.write(
            notebook(page, solutions=False), target / f"{page.stem}-exercises.ipynb"
        )


if __name__ == "__main__":
    write()
