"""The documentation: names of code exist, and limits are those of the code."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from pkgutil import resolve_name

import pytest

import hornbeam.export

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
NAME = re.compile(r"(?<![\w./:@-])hornbeam((?:\.[A-Za-z_]\w*)+)")
IMPORT = re.compile(r"^(?:>>> )?(from hornbeam[\w.]* import (?:\([^)]*\)|[^(\n]+))", re.MULTILINE)
FORMULA = re.compile(r"^\$\$(?!\$).+?\$\$$", re.MULTILINE | re.DOTALL)


def said(page):
    """The text of a page without line breaks."""
    return " ".join(DOCS.joinpath(page).read_text(encoding="utf-8").split())


def names(text):
    """Dotted names, and the names that examples import, also in code that is not run."""
    found = {f"hornbeam{rest}" for rest in NAME.findall(text)}
    for statement in IMPORT.findall(re.sub(r"^\.\.\. ", "", text, flags=re.MULTILINE)):
        for node in ast.parse(statement.strip()).body:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_names_of_code_exist(page):
    for name in sorted(names(page.read_text(encoding="utf-8"))):
        resolve_name(name)


def test_a_name_that_does_not_exist_is_found():
    text = "`hornbeam.export.text(tree)`, https://hornbeam.example.org, model.hornbeam.gz\n"
    text += ">>> from hornbeam import (\n...     Tree,\n... )\n"
    assert names(text) == {"hornbeam.export.text", "hornbeam.Tree"}
    with pytest.raises(AttributeError, match="text"):
        resolve_name("hornbeam.export.text")


def test_the_table_of_exports_has_functions():
    lines = (
        DOCS.joinpath("guide/exports.md")
        .read_text(encoding="utf-8")
        .split("| to | function |")[1]
        .splitlines()
    )
    table = [line.split("|")[2] for line in lines[2:] if line.startswith("|")]
    functions = [name for cell in table for name in re.findall(r"`(\w+)`", cell)]
    assert len(functions) > 10
    assert set(functions) <= {*hornbeam.export.__all__, "to_sklearn"}


def test_the_counts_of_sources_are_those_of_its_rows():
    page = (DOCS / "sources.md").read_text(encoding="utf-8")
    statuses = ("complete", "example", "not built", "context")
    rows = re.findall(
        r"^\| ([A-Z])(\d+) \|.*? \| (complete|example|not built|context) \|", page, re.MULTILINE
    )
    assert len(rows) == len(re.findall(r"^\| [A-Z]\d+ \|", page, re.MULTILINE)), "a row without a status"
    counted = []
    for letter in "HBED":
        of_document = [(int(number), status) for first, number, status in rows if first == letter]
        assert [number for number, _ in of_document] == list(range(1, len(of_document) + 1))
        counted.append(
            [len(of_document), *([s for _, s in of_document].count(status) for status in statuses)]
        )
    counted.append([sum(column) for column in zip(*counted, strict=True)])
    table = re.findall(r"^\| [^|]*?((?: \| \*{0,2}\d+\*{0,2}){5}) \|$", page, re.MULTILINE)
    assert [[int(n) for n in re.findall(r"\d+", line)] for line in table] == counted


def test_record_21_has_the_number_of_recorded_digests():
    trees, models = (
        sum(map(len, json.loads((ROOT / f"tests/golden/{name}.json").read_text(encoding="utf-8")).values()))
        for name in ("digests", "models")
    )
    page = said("design/0021-same-bits.md")
    assert f"{trees + models} digests, {trees} of trees and {models} of whole models, are in" in page


def test_limits_of_synthetic_rows():
    from hornbeam.ensembles.distillation import synthetic_rows
    from hornbeam.ensembles.distillation.distillation import MOST_SEARCHED
    from hornbeam.estimators.parameters.recipes import small_tree_rows

    many, few = small_tree_rows(0, None), small_tree_rows(0, MOST_SEARCHED)
    assert many.per_row == few.per_row == 30
    for text in (said("guide/distillation.md"), " ".join(hornbeam.TreeClassifier.__doc__.split())):
        for number in (many.least, many.most, few.most):
            assert f"{number:,}" in text
        assert f"{synthetic_rows.SyntheticRows().most_values // 10**6} million values" in text
        assert re.search(rf"`max_leaf_nodes` (up to|is at most) {MOST_SEARCHED}\b", text)


def test_limit_of_groups_in_a_report():
    from hornbeam.reporting import group_column

    assert f"column of the file with at most {group_column._MOST_GROUPS} values" in said("guide/report.md")


def test_scheduler_of_boosting_on_a_cluster():
    """The argument of the page rests on the model of the costs."""
    cost_model = pytest.importorskip("benchmarks.scale.cost_model")
    rates, page = cost_model.Rates.read(), said("when-not.md")
    assert f"takes {rates.scheduling(600, 100):.0f} seconds for 600 passes on 100 cores" in page
    assert f"has about 20 passes and takes {rates.scheduling(20, 100):.1f} seconds" in page


def test_one_machine_beside_a_cluster():
    cost_model = pytest.importorskip("benchmarks.scale.cost_model")
    rates = cost_model.Rates.read()
    (small, shared), (large, spread) = (
        [round(cost_model.on_all(rates, rows, 100, cores).seconds / 60) for cores in (16, 100)]
        for rows in (10**9, 10**10)
    )
    page = said("scale.md")
    assert f"10^9 rows of 100 features in {small} minutes, and 100 cores do it in {shared}:" in page
    assert f"10^10 rows take {large} minutes and {spread}." in page


def test_formulas_are_in_the_pages_and_load_no_script(tmp_path):
    """With the extension of the documentation; formulas that it cannot convert end the build."""
    for module in ("sphinx", "myst_parser", "latex2mathml"):
        pytest.importorskip(module, reason="the extra 'docs' brings it")
    texts = {page.stem: page.read_text(encoding="utf-8") for page in PAGES}
    texts = {name: text for name, text in texts.items() if FORMULA.search(text)}
    assert {"impurity", "smoothing"} <= texts.keys()
    for name, text in texts.items():
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
    (tmp_path / "conf.py").write_text(
        f"import sys; sys.path.insert(0, {str(DOCS)!r})\nextensions = ['mathml', 'myst_parser']\n"
        "myst_enable_extensions = ['colon_fence', 'dollarmath']\nmaster_doc = 'impurity'\nhtml_theme = 'basic'\n",
        encoding="utf-8",
    )
    subprocess.run(
        [sys.executable, "-m", "sphinx", "-Q", tmp_path, tmp_path / "html"], check=True, capture_output=True
    )
    for name, text in texts.items():
        page = (tmp_path / "html" / f"{name}.html").read_text(encoding="utf-8")
        assert page.count('display="block"') == len(FORMULA.findall(text)) > 0
        assert not re.search(r'<script[^>]* src="http', page)
    assert "sphinx.ext.mathjax" not in (DOCS / "conf.py").read_text(encoding="utf-8")
