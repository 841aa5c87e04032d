"""The pictures in the documentation are those of their script."""

import importlib.util
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from hornbeam.smoothing import HGS
from support.worked_trees import T0

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"


@pytest.fixture(scope="module")
def draw():
    spec = importlib.util.spec_from_file_location("draw", FOLDER / "draw.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_files_are_what_the_script_draws(draw):
    assert {path.stem for path in FOLDER.glob("*.svg")} == set(draw.PICTURES)
    for name, draw_picture in draw.PICTURES.items():
        assert (FOLDER / f"{name}.svg").read_text(encoding="utf-8") == draw_picture()


def test_every_picture_has_a_title(draw):
    for draw_picture in draw.PICTURES.values():
        assert ElementTree.fromstring(draw_picture()).find("{http://www.w3.org/2000/svg}title").text


def test_the_numbers_are_those_of_the_worked_tree(draw):
    assert [list(counts) for counts in draw.EVIDENCE] == T0.evidence.tolist()
    assert [float(text) for text in draw.BELIEF] == HGS()(T0).belief[:, 1].round(2).tolist()


def test_the_page_shows_all_pictures(draw):
    page = (FOLDER.parent / "how-it-works.md").read_text(encoding="utf-8")
    assert re.findall(r"pictures/([\w-]+)\.svg", page) == list(draw.PICTURES)
