"""Close all figures after each test."""

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _close() -> Iterator[None]:
    yield
    if "matplotlib.pyplot" in sys.modules:  # absent if matplotlib is not installed
        sys.modules["matplotlib.pyplot"].close("all")
