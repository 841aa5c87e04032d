"""The pictures in the documentation are those of their scripts."""

import re
from xml.etree import ElementTree

import pytest

from hornbeam.smoothing import HGS
from support.docs_module import DOCS, docs_module
from support.worked_trees import T0

FOLDER = DOCS / "pictures"


@pytest.fixture(scope="module")
def draw():
    return docs_module("pictures/draw.py")


def test_the_files_are_what_the_scripts_draw(draw):
    assert {path.stem for path in FOLDER.glob("*.svg")} == set(draw.PICTURES)
    for name, draw_picture in draw.PICTURES.items():
        assert (FOLDER / f"{name}.svg").read_text(encoding="utf-8") == draw_picture(), name


def test_every_picture_has_a_title():
    for path in FOLDER.glob("*.svg"):
        assert ElementTree.parse(path).find("{http://www.w3.org/2000/svg}title").text


def test_the_numbers_are_those_of_the_worked_tree(draw):
    import how_it_works

    assert [list(counts) for counts in how_it_works.EVIDENCE] == T0.evidence.tolist()
    assert [float(text) for text in how_it_works.BELIEF] == HGS()(T0).belief[:, 1].round(2).tolist()


def test_every_picture_is_on_a_page(draw):
    pages = [path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md")]
    shown = {name for page in pages for name in re.findall(r"pictures/([\w-]+)\.svg", page)}
    assert shown == set(draw.PICTURES)


def test_the_front_picture_has_the_texts_of_its_tree():
    """Bytes of matplotlib change with its version, so the numbers are compared."""
    mpl = pytest.importorskip("matplotlib", reason="pictures need the extra plots")
    pytest.importorskip("pandas", reason="the script uses data frames")
    mpl.use("agg")
    script = docs_module("front_picture.py")
    for name, figure in script.figures(script.tree()).items():
        mpl.pyplot.close(figure)
        for theme in ("", "-dark"):
            drawn = script.words_of_file(script.FOLDER / f"{name}{theme}.svg")
            assert sorted(drawn) == sorted(script.words(figure)), f"python docs/front_picture.py: {name}"
