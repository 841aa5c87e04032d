"""Let these tests import each other and the hostile names of the exports, and give them a browser."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "export"))  # whichever way pytest imports them
sys.path.insert(0, str(Path(__file__).parent))

from support.browser import Browser, why_no_browser


@pytest.fixture(scope="session")
def browser():
    """A browser; the tests that ask for one are skipped where there is none."""
    if reason := why_no_browser():
        pytest.skip(reason)
    with Browser() as started:
        yield started
