"""A real browser that opens reports, and notes whatever a page should not do.

Chromium is found on the path or where HORNBEAM_CHROMIUM says; it is driven by playwright, whose own browsers are
not needed. `nox -s report` brings the driver.
"""

import os
import shutil
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

__all__ = ["Browser", "axe_source", "why_no_browser"]

REPOSITORY = Path(__file__).parents[2]


def _chromium():
    named = os.environ.get("HORNBEAM_CHROMIUM")
    return (
        named or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    )


def why_no_browser():
    """Why no page can be opened here, or None if one can."""
    if find_spec("playwright") is None:
        return "playwright is not installed: `nox -s report` brings it"
    if _chromium() is None:
        return "no chromium on the path: install it, or say in HORNBEAM_CHROMIUM where it is"
    return None


def axe_source():
    """The accessibility checker's source, or None; HORNBEAM_AXE may say where axe.min.js is."""
    package = find_spec("axe_playwright_python")
    places = [os.environ.get("HORNBEAM_AXE"), REPOSITORY / "node_modules" / "axe-core" / "axe.min.js"]
    places += [] if package is None else [Path(package.origin).with_name("axe.min.js")]
    found = [Path(place) for place in places if place and Path(place).is_file()]
    return found[0].read_text(encoding="utf-8") if found else None


class Browser:
    """Opens pages from files; each has the notes of what went wrong in `page.notes`."""

    def __enter__(self):
        from playwright.sync_api import sync_playwright

        self.driver = sync_playwright().start()
        self.chromium = self.driver.chromium.launch(executable_path=_chromium(), args=["--no-sandbox"])
        return self

    def __exit__(self, *_):
        self.chromium.close()
        self.driver.stop()

    @contextmanager
    def page(self, html, folder, **screen):
        """Write a page to a file, open it, and insist in the end that it requested nothing else."""
        path = folder / "report.html"
        path.write_text(html, encoding="utf-8", newline="\n")
        with self.visit(path, may_request=(path.as_uri(), "data:,"), **screen) as page:
            yield page

    @contextmanager
    def visit(self, place, *, may_request=None, may_log="", width=1280, height=900, scheme="light"):
        """Open a file, or an address; insist in the end that it ran clean and stayed in its folder."""
        address = place if isinstance(place, str) else place.as_uri()
        inside = (address[: address.rindex("/") + 1], "data:")
        if address.startswith("http:"):  # the workbench gives its page another path
            inside = (address[: address.index("/", 7) + 1], "data:")
        context = self.chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            offline=address.startswith("file:"),
        )
        page, notes = context.new_page(), []

        def note_message(message):
            expected = may_log and may_log in message.text
            if (
                not expected and "pydata-sphinx-theme" not in message.location["url"]
            ):  # it logs the colour mode
                notes.append(f"console: {message.text}")

        page.on("console", note_message)
        page.on("pageerror", lambda error: notes.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (notes.append(f"dialog: {dialog.message}"), dialog.dismiss()))

        def note_request(request):
            if request.url not in may_request if may_request else not request.url.startswith(inside):
                notes.append(f"request: {request.url}")

        page.on("request", note_request)
        try:
            page.goto(address)
            yield page
            page.wait_for_timeout(20)
            assert not notes, notes
        finally:
            context.close()
