"""Draw the tree of the README's first lines: ``python docs/front_picture.py``.

It is drawn wide, and narrow for telephones, each for light and dark pages, and in a preview for links in other places.
"""

import re
from html import unescape
from io import StringIO
from pathlib import Path

import matplotlib
from matplotlib import pyplot
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer

from hornbeam import TreeClassifier
from hornbeam.plots import TreeDisplay

FOLDER = Path(__file__).parent / "_static" / "front"
NARROW = (3.25, 2.5)  # inches: an outline, a line for each node
PREVIEW = (12, 6.3)  # at 100 dots per inch: the size of a preview of a link
# What is nearly black, grey, pale and white on a light page, and on a dark one.
DARK = {
    "1a1a1a": "e8eaed",
    "000000": "e8eaed",
    "666666": "a8adb3",
    "cfd3d6": "565c63",
    "ffffff": "14181e",
}


def tree() -> TreeClassifier:
    """Fit the tree of the README."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = y.map({0: "malignant", 1: "benign"})
    return TreeClassifier(max_leaf_nodes=5).fit(X, y)


def figures(clf: TreeClassifier) -> dict[str, Figure]:
    """Draw the tree: wide and narrow."""
    _, ax = pyplot.subplots(figsize=NARROW, layout="constrained")
    return {
        "tree": TreeDisplay.from_estimator(clf).figure_,
        "tree-narrow": TreeDisplay.from_estimator(clf, ax=ax).figure_,
    }


def words(figure: Figure) -> list[str]:
    """Collect the texts of a figure, in the order in which they are drawn."""
    return [
        text.get_text()
        for text in figure.findobj(matplotlib.text.Text)
        if text.get_text()
    ]


def words_of_file(path: Path) -> list[str]:
    """Read the texts of a picture; its letters are curves, each text after a comment with its letters."""
    return re.findall("<!-- (.+) -->", unescape(path.read_text(encoding="utf-8")))


def svg(figure: Figure) -> str:
    """Write a figure without date, background and blanks at the ends of lines."""
    text = StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "hornbeam"}):
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return re.sub(" +$", "", text.getvalue(), flags=re.MULTILINE)


def preview(clf: TreeClassifier) -> Figure:
    """Draw the tree below the name."""
    figure = pyplot.figure(figsize=PREVIEW)
    figure.text(0.05, 0.86, "Hornbeam", fontsize=40, weight="bold")
    figure.text(0.05, 0.77, "One decision tree a person can read", fontsize=22)
    TreeDisplay.from_estimator(clf, ax=figure.add_axes((0.05, 0.05, 0.9, 0.65)))
    return figure


def main() -> None:
    """Write all pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    clf = tree()
    for name, figure in figures(clf).items():
        light = svg(figure)
        dark = re.sub(
            "#({})".format("|".join(DARK)), lambda found: "#" + DARK[found[1]], light
        )
        for path, text in ((f"{name}.svg", light), (f"{name}-dark.svg", dark)):
            (FOLDER / path).write_text(text, encoding="utf-8")
    preview(clf).savefig(FOLDER / "preview.png", dpi=100)


if __name__ == "__main__":
    matplotlib.use("agg")
    main()
