"""Files of the project as a package index, a forge and a citation show them."""

import json
import re
import tomllib
from doctest import SKIP, DocTestParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
URLS = PROJECT["project"]["urls"]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def package_page():
    """The README as it is on a package page."""
    text = README
    for rule in PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(rule["pattern"], rule["replacement"], text)
    return text


def anchors(page):
    """Anchors of the headings of a page."""
    headings = re.findall(r"^#+ (.*)", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_link_of_the_package_page_is_absolute_and_leads_to_a_file(package_page):
    links = re.findall(r"\]\(([^)]+)\)", package_page)
    assert len(links) == len(re.findall(r"\]\(([^)]+)\)", README)) > 20
    repository = URLS["Repository"]
    raw = repository.replace("github.com", "raw.githubusercontent.com") + "/main/"
    for link in links:
        if link.startswith(URLS["Documentation"]):
            page = link.removeprefix(URLS["Documentation"]).removesuffix(".html")
            assert (ROOT / f"docs{page}.md").is_file(), link
            continue
        assert link.startswith((f"{repository}/blob/main/", raw)), link
        path, _, anchor = link.removeprefix(f"{repository}/blob/main/").removeprefix(raw).partition("#")
        assert (ROOT / path).is_file(), path
        assert not anchor or anchor in anchors(ROOT / path), link


def test_every_line_of_the_methods_runs(monkeypatch):
    """Below the examples above the table, in one session."""
    pytest.importorskip("pandas", reason="the README reads loans with pandas")
    pytest.importorskip("sqlglot", reason="the README exports to SQL")
    monkeypatch.chdir(ROOT)
    above, table, _ = re.split("<!-- methods: .* -->", README)
    names = {}
    for example in DocTestParser().get_examples(above):
        if SKIP not in example.options:
            exec(example.source, names)
    lines = re.findall(
        r"^\| [^|]+ \| `([^`]+)` \| .*\]\(", table.split("<!-- methods: end -->")[0], re.MULTILINE
    )
    assert len(lines) == table.count(".fit(X, ")
    assert len(lines) >= 10
    for line in lines:
        assert eval(line, names).n_features_in_ == 5


def test_the_package_page_renders(package_page):
    markdown = pytest.importorskip("readme_renderer.markdown", reason="renders as a package index does")
    html = markdown.render(package_page)
    assert html
    assert 'href="docs' not in html
    assert html.count("<table>") == len(re.findall(r"^\| ?---", README, re.MULTILINE))


def test_other_places_have_the_same_address():
    """Documentation: the schema and the links of estimators; repository: the citation."""
    documentation = URLS["Documentation"]
    schema = (ROOT / "src/hornbeam/storage/model-1.schema.json").read_text(encoding="utf-8")
    assert f'"$id": "{documentation}/' in schema
    estimator = (ROOT / "src/hornbeam/estimators/methods/estimator.py").read_text(encoding="utf-8")
    assert f"{documentation}/api/" in estimator
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"repository-code: {URLS['Repository']}\n" in citation
    assert f"url: {URLS['Homepage']}\n" in citation


def test_the_version_switcher_has_the_same_address():
    versions = json.loads((ROOT / "docs/_static/switcher.json").read_text(encoding="utf-8"))
    assert [v["version"] for v in versions[:2]] == ["latest", "stable"]
    assert all(v["url"] == f"{URLS['Homepage']}/en/{v['version']}/" for v in versions)
    assert [v["version"] for v in versions if v.get("preferred")] == ["stable"]


def test_all_extras_are_in_all():
    extras = PROJECT["project"]["optional-dependencies"]
    named = set(re.search(r"\[(.*)\]", extras["all"][0])[1].split(","))
    of_contributors = {"test", "test-core", "lint", "docs", "bench", "dev", "dev-core"}
    assert named == set(extras) - {"all", "ray", "spark"} - of_contributors


def test_contributors_have_the_build_requirements():
    """So that a build without isolation works."""
    extras = PROJECT["project"]["optional-dependencies"]
    names = {re.match(r"[\w-]+", requirement)[0] for requirement in extras["dev-core"]}
    required = {re.match(r"[\w-]+", requirement)[0] for requirement in PROJECT["build-system"]["requires"]}
    assert required | {"cmake", "ninja"} <= names


def test_actions_are_pinned_by_hash():
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        for used in re.findall(r"uses: (\S+)", path.read_text(encoding="utf-8")):
            assert used.startswith("./") or re.search(r"@[0-9a-f]{40}$", used), used


def test_results_name_no_folder_of_a_machine():
    for path in sorted((ROOT / "benchmarks" / "results").rglob("*.json*")):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"/(root|work|home)/", text), f"{path.name}: write DIR instead of the folder"
