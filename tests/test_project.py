"""Files of the project as a package index, a forge and a citation show them."""

import json
import re
import tomllib
from doctest import SKIP, DocTestParser
from importlib import metadata
from pathlib import Path

import pytest

import hornbeam

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
URLS = PROJECT["project"]["urls"]
EXTRAS = PROJECT["project"]["optional-dependencies"]
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
    link_or_picture = r'(?:\]\(|\bsrc(?:set)?=")([^)"]+)[)"]'
    links = re.findall(link_or_picture, package_page)
    assert len(links) == len(re.findall(link_or_picture, README)) > 20
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
    pytest.importorskip("pandas", reason="the README uses data frames")
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
        assert eval(line, names).n_features_in_ == 30


def test_the_package_page_renders(package_page):
    markdown = pytest.importorskip("readme_renderer.markdown", reason="renders as a package index does")
    html = markdown.render(package_page)
    assert html
    assert 'href="docs' not in html
    assert 'src="https://raw.githubusercontent.com/' in html
    assert html.count("<table>") == len(re.findall(r"^\| ?---", README, re.MULTILINE))


def test_other_places_have_the_same_address():
    """Documentation: the links of estimators; repository: the citation. The name of the schema never changes."""
    schema = (ROOT / "src/hornbeam/storage/model-1.schema.json").read_text(encoding="utf-8")
    assert f'"$id": "{URLS["Homepage"]}/en/latest/model-1.schema.json"' in schema
    estimator = (ROOT / "src/hornbeam/estimators/methods/estimator.py").read_text(encoding="utf-8")
    assert f"{URLS['Documentation']}/api/" in estimator
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"repository-code: {URLS['Repository']}\n" in citation
    assert f"url: {URLS['Homepage']}\n" in citation


def test_the_version_switcher_has_addresses_that_exist():
    """`stable` is an address of the docs host from the first release on that is no pre-release."""
    versions = json.loads((ROOT / "docs/_static/switcher.json").read_text(encoding="utf-8"))
    assert all(v["url"] == f"{URLS['Homepage']}/en/{v['version']}/" for v in versions)
    preferred = [v["version"] for v in versions if v.get("preferred")]
    released = [v["version"] for v in versions if v["version"] != "latest"]
    assert preferred == released[:1]
    assert URLS["Documentation"] == f"{URLS['Homepage']}/en/{(preferred or ['latest'])[0]}"


def included(extra):
    """Names of the extras of this project that an extra includes."""
    found = (re.fullmatch(r"hornbeam\[(.*)\]", requirement) for requirement in EXTRAS[extra])
    return {name for match in found if match for name in match[1].split(",")}


def test_all_extras_of_users_are_in_everything():
    of_contributors = {"test", "test-core", "lint", "docs", "bench", "dev", "dev-core"}
    assert included("all") | included("everything") == set(EXTRAS) - {"everything"} - of_contributors
    assert included("everything") == {"all", "interop", "ray", "spark"}
    assert len(EXTRAS["all"]) == len(EXTRAS["everything"]) == 1


def test_all_replaces_no_library_of_a_user():
    """A variant, such as xgboost-cpu, installs the package of another distribution: pip writes one over the other."""
    names = {extra: {re.match(r"[\w-]+", line)[0] for line in EXTRAS[extra]} for extra in EXTRAS}
    variants = {
        extra for extra, found in names.items() if any(re.search("-(binary|cpu|headless)$", n) for n in found)
    }
    assert variants == {"bench", "interop"}
    assert not variants & included("all")


def test_contributors_have_the_build_requirements():
    """So that a build without isolation works."""
    names = {re.match(r"[\w-]+", requirement)[0] for requirement in EXTRAS["dev-core"]}
    required = {re.match(r"[\w-]+", requirement)[0] for requirement in PROJECT["build-system"]["requires"]}
    assert required | {"cmake", "ninja"} <= names


def test_the_citation_has_the_version_and_the_day_of_a_release():
    """Between releases the version ends with `.dev0`, and has no day."""
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    assert f"version: {hornbeam.__version__}" in lines
    days = [line.partition(": ")[2] for line in lines if line.startswith("date-released")]
    released = re.findall(r"^## (\S+) \((.*)\)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert days == [day for version, day in released if version == hornbeam.__version__]
    assert bool(days) != hornbeam.__version__.endswith(".dev0")


def test_the_changelog_has_every_fragment():
    """One of another kind would be left out without a word."""
    kinds = {kind["directory"] for kind in PROJECT["tool"]["towncrier"]["type"]}
    fragments = [path.name for path in (ROOT / "changelog.d").glob("*.md") if path.name != "README.md"]
    assert {name.split(".")[-2] for name in fragments} <= kinds
    rule = re.search("`<kind>` is (.*)", (ROOT / "changelog.d" / "README.md").read_text(encoding="utf-8"))[1]
    assert set(re.findall("`(.*?)`", rule)) == kinds


def test_every_wheel_is_checked_for_the_list_of_what_is_compiled_in():
    """By each of its makers: CI, nox, cibuildwheel for all systems, and zig."""
    check = ".ci/check_sbom.py"
    made = PROJECT["tool"]["cibuildwheel"]
    assert any(check in command for command in made["audit-command"])
    assert check in made["pyodide"]["audit-command"]
    for system in ("linux", "macos", "windows"):
        assert "audit-command" not in made.get(system, {})
    for path in (".ci/run", "noxfile.py"):
        assert check in (ROOT / path).read_text(encoding="utf-8")
    assert '".ci" / "check_sbom.py"' in (ROOT / "benchmarks/machines/wheels.py").read_text(encoding="utf-8")


def test_a_commit_meets_the_checks_of_ci():
    """The list of pre-commit is the only one, and its tools are those that CI installs."""
    pytest.importorskip("pre_commit", reason="the extra `lint` brings the tools")
    yaml = pytest.importorskip("yaml", reason="the list is YAML")
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    by_hand = {"actionlint"}
    hooks = [hook for hook in repository["hooks"] if hook["id"] not in by_hand]
    assert all(hook["language"] == "system" and "stages" not in hook for hook in hooks)
    commands = {hook["entry"].split()[0] for hook in hooks}
    installed = {re.match(r"[\w-]+", requirement)[0] for requirement in EXTRAS["lint"]}
    scripts = {
        script.name: library
        for library in installed
        for script in metadata.distribution(library).entry_points.select(group="console_scripts")
    }
    assert all(scripts.get(command, command) in installed for command in commands)
    assert commands >= {"clang-format", "codespell", "lint-imports", "numpydoc", "ruff", "zizmor"}
    for place in (".ci/run", "noxfile.py"):
        text = (ROOT / place).read_text(encoding="utf-8")
        assert re.search(r'pre-commit"?,? "?run"?,? "?--all-files', text), place
        assert not re.search(r"\b(ruff\W+check \.|codespell\b|numpydoc\W+lint|lint-imports)", text), place


def test_actions_are_pinned_by_hash():
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        for used in re.findall(r"uses: (\S+)", path.read_text(encoding="utf-8")):
            assert used.startswith("./") or re.search(r"@[0-9a-f]{40}$", used), used


def test_results_name_no_folder_of_a_machine():
    for path in sorted((ROOT / "benchmarks" / "results").rglob("*.json*")):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"/(root|work|home)/", text), f"{path.name}: write DIR instead of the folder"
