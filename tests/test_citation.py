"""The citation file names the version of the package."""

from pathlib import Path

import hornbeam


def test_the_version_is_that_of_the_package():
    lines = (Path(__file__).parents[1] / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    assert f"version: {hornbeam.__version__}" in lines
