"""The overview pages agree with the code: layers, paths and names."""

import ast
import importlib
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", "CONTRIBUTING.md", "docs/extending.md", "docs/design/index.md"]
ELSEWHERE = {
    "nox",
    "pre-commit",
    "importlib",
    "draw",
    "judge",
    "IN_CI",
    "HEAVY",
    "Base*",
    "utils",
    "common",
    "helpers",
    "m",
}


def linter_layers():
    """The layers of import-linter from the top, without the module that only starts the command line."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    layers = next(contract["layers"] for contract in contracts if contract["id"] == "layers")
    return [set(layer.split(" | ")) for layer in layers if layer != "__main__"]


def stated_layers(text):
    """The layers of one page: rows from the top, `>` between layers, `|` inside one."""
    return [set(layer.strip().split(" | ")) for row in text for layer in row.split(" > ")]


def test_layers_in_the_design():
    page = (ROOT / "docs/design/index.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \d [\w ]+ \| (.*?) \| ", page, re.MULTILINE)
    assert stated_layers(row.replace("`", "").replace("\\", "") for row in rows) == linter_layers()


@cache
def names_in_code():
    """Every identifier and every string constant that is one, in the package, the tests and the benchmarks."""
    found = set()
    for folder in ("src", "tests", "benchmarks", "examples"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                found |= {getattr(node, field, None) for field in ("name", "id", "attr", "arg", "asname")}
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.add(node.value)
    return found


def exists(path):
    """Whether a path is there, from the root, the package or the folder of the page."""
    places = [ROOT, ROOT / "src/hornbeam", ROOT / "docs", ROOT / "docs/design", ROOT / "native"]
    return any(list(place.glob(path.rstrip("/"))) for place in places)


@pytest.mark.parametrize("page", PAGES)
def test_paths_and_names_exist(page):
    text = re.sub(r"```.*?```", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    missing = []
    for token in re.findall(r"`([^`\n]+)`", text):
        if re.fullmatch(r"[\w.\-*/]+/[\w.\-*/]*", token):
            if not exists(token):
                missing.append(token)
        elif re.fullmatch(r"[A-Za-z_][\w.]*", token) and token not in ELSEWHERE:
            last = token.rsplit(".", 1)[-1]
            if last not in names_in_code() and not exists(token) and not exists(f"{token}.py"):
                missing.append(token)
    assert not missing


@pytest.mark.parametrize("page", ["docs/design/index.md"])
def test_files_of_the_flow_exist(page):
    flow = (ROOT / page).read_text(encoding="utf-8").split("## The flow")[1].split("\n## ")[0]
    paths = re.findall(
        r"[\w/]+/[\w]+\.py|[\w/]+/(?=[\s>]|$)", "\n".join(re.findall(r"```(.*?)```", flow, re.DOTALL))
    )
    assert len(paths) > 15
    assert [path for path in paths if not (ROOT / "src/hornbeam" / path).exists()] == []


# Names of other layers that users do not need: other packages import them from the package.
INTERNAL = {
    "hornbeam": {"__version__", "errors"},
}


def test_the_reference_lists_the_public_names():
    module, listed = None, []
    for line in (ROOT / "docs/api.md").read_text(encoding="utf-8").splitlines():
        if found := re.match(r"\.\. currentmodule:: ([\w.]+)", line):
            module = importlib.import_module(found[1])
        elif found := re.fullmatch(r"   (\w+)", line):
            listed.append((module, found[1]))
    assert len(listed) > 100
    assert [f"{module.__name__}.{name}" for module, name in listed if name not in module.__all__] == []
    names = {name for _, name in listed}
    missing = {
        module.__name__: set(module.__all__) - names
        for module in {module for module, _ in listed}
        if set(module.__all__) - names
    }
    assert missing == INTERNAL
