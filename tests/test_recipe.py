"""The recipe for conda-forge has the version, the dependencies and the addresses of the project."""

import re
import tomllib
from pathlib import Path

import pytest

import hornbeam

yaml = pytest.importorskip("yaml", reason="the recipe is YAML")

ROOT = Path(__file__).parents[1]
FILE = ROOT / "packaging" / "conda" / "recipe.yaml"
RECIPE = yaml.safe_load(FILE.read_text(encoding="utf-8"))
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]


def _split(requirement):
    """Name and bounds of a requirement of pip or conda."""
    return tuple(re.fullmatch(r"([\w.-]+) ?(.*)", requirement).groups())


def test_it_has_the_version_and_the_oldest_python():
    assert RECIPE["context"]["version"] == hornbeam.__version__
    assert f">={RECIPE['context']['python_min']}" == PROJECT["requires-python"]


def test_it_has_the_dependencies():
    run, host, build = (set(map(_split, RECIPE["requirements"][part][-n:]))
                        for part, n in (("run", 4), ("host", 3), ("build", 2)))  # fmt: skip
    assert run == set(map(_split, PROJECT["dependencies"]))
    assert host == set(map(_split, PYPROJECT["build-system"]["requires"]))
    assert build == {("cmake", PYPROJECT["tool"]["scikit-build"]["cmake"]["version"]), ("ninja", "")}


def test_it_bounds_the_libraries_of_the_command_line():
    constraints = set(map(_split, RECIPE["requirements"]["run_constraints"]))
    assert constraints == set(map(_split, PROJECT["optional-dependencies"]["cli"]))


def test_it_has_the_entry_point_and_the_addresses():
    scripts = {f"{name} = {place}" for name, place in PROJECT["scripts"].items()}
    assert set(RECIPE["build"]["python"]["entry_points"]) == scripts
    about, urls = RECIPE["about"], PROJECT["urls"]
    assert (about["homepage"], about["documentation"]) == (urls["Homepage"], urls["Documentation"])
    assert (about["repository"], about["summary"]) == (urls["Repository"], PROJECT["description"])
    assert about["license"] == PROJECT["license"]
    files = sorted(
        str(path.relative_to(ROOT)) for name in PROJECT["license-files"] for path in ROOT.glob(name)
    )
    assert about["license_file"] == files
    assert RECIPE["source"]["url"].startswith(f"{urls['Repository']}/archive/")


@pytest.mark.parametrize("platform", ["linux-64", "linux-aarch64", "osx-arm64"])
def test_rattler_build_reads_it(platform):
    rattler = pytest.importorskip("rattler_build", reason="`nox -s recipe` brings it")
    recipe = rattler.Stage0Recipe.from_yaml(FILE.read_text(encoding="utf-8"))
    variants = rattler.VariantConfig.from_yaml('python: ["3.12.* *_cpython"]\nc_stdlib: [sysroot]\n')
    where = rattler.PlatformConfig(target_platform=platform, host_platform=platform)
    (made,) = recipe.render(variants, rattler.RenderConfig(platform=where))
    found = made.recipe.to_dict()
    assert found["package"] == {"name": "hornbeam", "version": hornbeam.__version__}
    assert found["build"]["python"]["version_independent"] is True
    assert f"python >={RECIPE['context']['python_min']}" in found["requirements"]["run"]
