"""Let these tests import each other and the hostile names of the exports, and give them a browser."""

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "export")]  # whichever way pytest imports them

from browser import Browser, why_no_browser  # noqa: E402


@pytest.fixture(scope="session")
def browser():
    """A browser; the tests that ask for one are skipped where there is none."""
    if reason := why_no_browser():
        pytest.skip(reason)
    with Browser() as started:
        yield started
