"""The documents of the guide are those that the script of the two examples makes."""

import importlib.util
from pathlib import Path
from xml.etree import ElementTree

import pytest

pd = pytest.importorskip("pandas")
for library in ("matplotlib", "sqlglot"):
    pytest.importorskip(library)

SCRIPT = Path(__file__).parents[1] / "examples" / "signed_documents.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location(SCRIPT.stem, SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def made(script, tmp_path_factory):
    folder = tmp_path_factory.mktemp("signed")
    found = script.write(folder)
    for name, files in found.items():
        assert {path.name for path in (folder / name).iterdir()} == files.keys()
    return found


def test_the_page_has_the_texts_of_the_script(script, made):
    page = script.PAGE.read_text(encoding="utf-8")
    assert page == script.filled(page, made), "python examples/signed_documents.py --page"


def test_nothing_is_left_for_the_author(made):
    for files in made.values():
        assert "TODO" not in files["model-card.md"]
        assert "Beside other models" in files["report.html"]
        assert "The decisions in use today cost" in files["report.html"]


def test_each_picture_has_every_test_in_both_widths(script, made):
    for name, files in made.items():
        for size, (width, height) in script.WIDTHS.items():
            picture = ElementTree.fromstring(files[f"tree-{size}.svg"])
            assert [picture.get("width"), picture.get("height")] == [
                f"{72 * side:g}pt" for side in (width, height)
            ]
            assert "2026" not in files[f"tree-{size}.svg"], name


def test_the_tables_are_those_of_the_repository(script):
    for file, rows, of_interest in (("german-credit", 1000, ("bad", 300)), ("heart", 303, ("present", 138))):
        found = pd.read_csv(script.DOCS / "guide" / "data" / f"{file}.csv")
        assert len(found) == rows
        label, n = of_interest
        assert (found["target"] == label).sum() == n
