"""Figures are closed after each test."""

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _close() -> Iterator[None]:
    yield
    if "matplotlib.pyplot" in sys.modules:  # where it is not installed, nobody has drawn
        sys.modules["matplotlib.pyplot"].close("all")
