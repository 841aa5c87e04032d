"""What every test shares."""

import pytest
from hypothesis import settings

from support.browser import Browser, why_no_browser

# No deadline: the same laws run on kernels slowed down by the sanitizers.
settings.register_profile("hornbeam", deadline=None, print_blob=True)
# The same examples each time, so a quarter of them: a desk draws new ones, and searches.
settings.register_profile("ci", settings.get_profile("hornbeam"), derandomize=True, max_examples=25)
# For oldest libraries, other platforms and sanitizers, which are slower.
settings.register_profile("brief", settings.get_profile("ci"), max_examples=20)
settings.load_profile("hornbeam")


@pytest.fixture(scope="session")
def browser():
    """A browser, one for all pages; the tests that use one are skipped where none is installed."""
    if reason := why_no_browser():
        pytest.skip(reason)
    with Browser() as started:
        yield started
